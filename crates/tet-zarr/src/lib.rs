//! Zarr hierarchies of versions 2 and 3, read in place: metadata, and where each chunk is stored;
//! and the documents of new ones.
//!
//! ```text
//!   folder, zip file or references -> Store -> Hierarchy: groups, arrays, findings
//!   Hierarchy + array -> ChunkFinder: coordinate of a chunk -> object and span
//!   NewHierarchy -> documents
//! ```
//!
//! This crate follows the Zarr storage specification 2, the Zarr core specification 3 with its
//! codec `sharding_indexed`, and the references of kerchunk (versions 0 and 1). It decodes no
//! chunk: it gives the codecs and the place, and `tet-codec` undoes the codecs.

#![forbid(unsafe_code)]

#[cfg(feature = "container")]
pub mod container;
mod store;

mod hierarchy;

mod array;
mod codec;
mod element;
mod fill;
mod key;

mod finder;
mod objects;
mod shard;
mod stored;

mod write;
mod xarray;

mod base64;
mod check;
mod checked_index;
mod error;
mod json;
pub mod rule;

pub use array::{ArrayMeta, DIMENSIONS, ZarrFormat};
pub use base64::inline_reference;
pub use check::{ChunkCounts, check, count_chunks};
pub use checked_index::{CheckedIndex, each_checked_index};
pub use codec::{CodecFamily, ZarrCodec};
pub use element::{TimeKind, ZarrElement, ZarrField, ZarrOrder};
pub use error::{Error, Result, ZarrFault};
pub use finder::{ChunkFinder, Located};
pub use hierarchy::{Hierarchy, UnreadableNode, ZarrGroup, ZarrMetadata};
pub use key::{KeyEncoding, KeyStyle};
pub use objects::{ObjectId, Objects};
pub use shard::{IndexLocation, ShardLevel};
pub use store::{KeyPlace, ObjectName, References, Store, ZipStore};
pub use stored::each_stored;
pub use write::{
    NewArray, NewElement, NewHierarchy, ZarrCompression, fill_json, shard_index, text_chunk,
};
pub use xarray::fill_attribute;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
