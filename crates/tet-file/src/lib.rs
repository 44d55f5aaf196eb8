//! Complete `.tet` files: open, describe, write.
//!
//! [`TetFile::open`] reads superblock, directory, index header and footer once into memory; index
//! rows are read on demand. [`metadata`] is the content of the footer JSON, including unknown
//! members. [`write::Writer`] streams a new file. `tet-format` parses the binary structures; the
//! rules for the footer JSON (format section 5, `TET-M`) are checked here.

#![forbid(unsafe_code)]

mod dataset;
pub mod edit;
mod error;
pub mod footer;
pub mod integrity;
pub mod metadata;
mod open;
mod page_cache;
pub mod parts;
mod rows;
mod statistics;
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
pub use statistics::{
    Statistics, StatisticsCheck, StatisticsKey, check_statistics, statistics_block, statistics_fit,
};
pub use tet_io::Kind;
pub use warning::Warning;
pub use write::{CodecChoice, DigestChoice, StatisticsChoice, WriteOptions, Writer, Written};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
