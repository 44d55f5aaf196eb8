//! An open file, and the ways to read its arrays that several containers share.

pub(crate) mod checked;
pub(crate) mod chunk_check;
pub(crate) mod damage;
pub(crate) mod json;
mod losses;
pub(crate) mod opened;
pub(crate) mod pieces;
pub(crate) mod positions;
pub(crate) mod room;
pub(crate) mod set;
pub(crate) mod slabs;
pub(crate) mod spool;
pub(crate) mod stored;
pub(crate) mod touched;
pub(crate) mod zip;
