//! The whole `.tet` file: opened, described, written.
//!
//! [`TetFile::open`] reads superblock, directory, index header and footer once into memory; index
//! rows come on demand. [`metadata`] is what the footer's JSON says, without losing what it does
//! not know. [`write::Writer`] streams a new file into place. The bytes themselves are the
//! business of `tet-format`; the rules about the footer's JSON (format section 5, `TET-M`) live
//! here.

#![forbid(unsafe_code)]

mod dataset;
pub mod edit;
mod error;
pub mod footer;
pub mod integrity;
mod kept;
pub mod metadata;
mod open;
mod rows;
#[cfg(test)]
mod testing;
mod warning;
pub mod write;

pub use dataset::{DatasetEntry, RowOrder};
pub use error::{Error, Result, codec_kind};
pub use integrity::{Digests, Protection};
pub use metadata::{AttrValue, DatasetMetadata, HistoryRow, Metadata};
pub use open::{FooterMode, OpenOptions, TetFile};
pub use rows::Index;
pub use tet_io::Kind;
pub use warning::Warning;
pub use write::{CodecChoice, DigestChoice, WriteOptions, Writer, Written};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
