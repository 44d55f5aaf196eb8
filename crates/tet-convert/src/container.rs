//! Every container that is read or written, in one table.
//!
//! A container joins with a folder of its own and a line of [`CONTAINERS`]; a container of another
//! crate joins with [`register`]. The readers, the writers, the command and its documents go through
//! the table, and compare containers by their [`Format`](crate::Format).

pub(crate) mod axes_fields;
pub(crate) mod csv;
pub(crate) mod edit_kind;
pub(crate) mod edited;
pub(crate) mod editor;
mod entry;
mod fits;
mod gguf;
mod hdf5;
pub(crate) mod json;
mod netcdf3;
pub(crate) mod npy;
pub(crate) mod npz;
mod others;
mod plain;
mod repairer;
pub(crate) mod rewrite;
pub(crate) mod safetensors;
mod sniff;
mod stored_checksum;
mod table;
pub(crate) mod tensogram;
pub(crate) mod tet;
pub(crate) mod tets;
mod torch;
mod traits;
pub(crate) mod zarr;
pub(crate) mod ztensor;
mod ztensor2;

pub use self::edit_kind::EditKind;
pub use self::editor::{EditMode, EditOptions, Editor, FileEdit, RewriteOptions};
pub use self::npy::NpyFault;
pub(crate) use self::others::OTHER_DOCUMENT;
pub use self::others::{reading_advice, writing_advice};
pub use self::repairer::{CheckedRegion, ChecksumField, ChecksumOrder, Repairer, TakeRegion};
pub use self::rewrite::{Rewrite, Rewritten, StorageChange};
pub use self::sniff::sniff;
pub use self::stored_checksum::StoredChecksum;
pub use self::table::has_reader;
pub(crate) use self::table::holds_one;
pub use self::table::{CONTAINERS, container, containers, register, writable};
pub use self::traits::{Capabilities, Container, Head, Input, Output, Writer};
