//! HDF5 files, read in place: objects, types, attributes, and where each chunk is stored; and the metadata
//! of new files.
//!
//! This crate follows the HDF5 File Format Specification, versions 3.0 and 4.0; section numbers are those of the
//! former. It decodes no chunk: it gives the filters and the place, and `tet-codec` undoes the filters.

mod check;
mod checksum;
#[cfg(feature = "container")]
pub mod container;
mod edit;
mod error;
mod file;
mod group;
mod header;
mod heap;
mod index;
mod lru;
mod message;
mod reader;
pub mod rule;
mod superblock;
mod text;
mod tree;
mod walk;
pub mod write;

pub use edit::Hdf5Edit;
pub use error::{Error, Result, StoredFault};
pub use file::{Described, Hdf5File, StoredLayout};
pub use index::{StoredChunk, StoredIndex};
pub use message::attribute::StoredAttribute;
pub use message::datatype::{Class, Datatype, FloatBits, NumberOrder, StoredMember, TextEnd};
pub use message::filters::StoredFilter;
pub use message::layout::ExternalPart;
pub use message::space::Space;
pub use superblock::find;
pub use walk::{ObjectKind, StoredObject};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
