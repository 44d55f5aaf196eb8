//! Files of versions 1 and 2 of the format: named objects, each of one or several parts.
//!
//! ```text
//!   version 1   magic | blobs, at multiples of 64   | manifest | its length, magic
//!   version 2   magic | blobs, at multiples of 4096 | manifest | its place and hash, version, magic
//! ```
//!
//! The manifest is a CBOR map from names to objects. An object has a shape, a layout and parts: one
//! part for a dense tensor, several for a sparse or quantized one. Version 2 demands deterministic CBOR,
//! states digests of decoded bytes, and may place blobs in other files, its shards. The layouts are those of
//! the zTensor specifications 1.1 and 2 (draft 3), with the profiles `zt.sparse_csr/1`,
//! `zt.sparse_coo/1` and `zt.zstd-seekable/1`. Files are read and checked, not written.

mod check;
mod container;
mod dtype;
mod file;
mod judge;
pub(crate) mod manifest;
mod object;
mod overlap;
mod part;
mod shard;
mod sparse;
mod values;

pub mod rule;

pub use check::verify;
pub use container::Version;
pub use dtype::ElementType;
pub use file::ObjectFile;
pub use object::{ManifestObject, ObjectLayout};
pub use part::{ObjectPart, PartEncoding};
pub use shard::{OpenShard, Shard};

#[cfg(test)]
mod tests;
