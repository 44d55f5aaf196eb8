//! An open file, and the ways to read its arrays that several containers share.

pub mod bands;
pub mod checked;
pub mod chunk_check;
pub mod damage;
pub mod header;
pub mod json;
pub mod losses;
pub mod opened;
pub mod pieces;
pub mod positions;
pub mod room;
pub mod set;
pub mod slabs;
pub mod spool;
pub mod stored;
pub mod touched;
pub mod zip;
