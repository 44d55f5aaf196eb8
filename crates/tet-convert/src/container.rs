//! Every container that is read or written, in one table.
//!
//! A container joins with a folder of its own and a line of [`CONTAINERS`]; a container of another
//! crate joins with [`register`]. The readers, the writers, the command and its documents go through
//! the table, and compare containers by their [`Format`](crate::Format).

pub(crate) mod left_out;
mod sniff;
mod table;
pub(crate) mod tet;
pub(crate) mod tets;

pub(crate) use tet_container::*;

pub use self::left_out::{reading_advice, writing_advice};
pub use self::sniff::sniff;
pub use self::table::has_reader;
pub use self::table::{CONTAINERS, container, containers, register, writable};
pub(crate) use self::table::{has_same_names, holds_one, untied};
