//! How references are made, and what was written.

use std::path::PathBuf;

use tet_io::Overwrite;
use tet_io::publish::Sync;
use tet_query::Execution;
use tet_zarr::ZarrFormat;

use super::address::RefsAddress;
use super::edges::EdgeChoice;
use crate::Note;
use tet_container::read::opened::OpenOptions;
use tet_container::write::conversion::UnsupportedChoice;

/// How references are made.
///
/// # Examples
///
/// ```
/// use tet_convert::{EdgeChoice, RefsOptions};
///
/// let options = RefsOptions { edges: EdgeChoice::Inline, ..RefsOptions::default() };
/// assert_eq!(options.inline_len, 4096);
/// ```
#[derive(Clone, Debug)]
pub struct RefsOptions {
    /// Only these datasets, by name or pattern; none means all.
    pub include: Vec<String>,
    /// All but these datasets, by name or pattern.
    pub exclude: Vec<String>,
    /// The version of Zarr that the metadata are of.
    pub format: ZarrFormat,
    /// Treatment of chunks at the edges that have fewer elements than the others.
    pub edges: EdgeChoice,
    /// Datasets of at most this many bytes are copied into the document.
    pub inline_len: u64,
    /// Form of the paths of files in references.
    pub address: RefsAddress,
    /// Treatment of datasets that cannot have references.
    pub unsupported: UnsupportedChoice,
    /// The axis along which several files are one, by its name or its number.
    pub concat: Option<String>,
    /// Whether a document that exists is replaced.
    pub overwrite: Overwrite,
    /// How durable the document is on return.
    pub sync: Sync,
    /// How files are opened.
    pub open: OpenOptions,
    /// How elements are read, of which few are.
    pub execution: Execution,
}

impl Default for RefsOptions {
    fn default() -> Self {
        RefsOptions {
            include: Vec::new(),
            exclude: Vec::new(),
            format: ZarrFormat::V2,
            edges: EdgeChoice::Refused,
            inline_len: 4096,
            address: RefsAddress::Path,
            unsupported: UnsupportedChoice::Refused,
            concat: None,
            overwrite: Overwrite::Refuse,
            sync: Sync::Full,
            open: OpenOptions::default(),
            execution: Execution::default(),
        }
    }
}

/// Report of the references that were written.
///
/// ```
/// assert_eq!(tet_convert::RefsReport::default().array_count, 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct RefsReport {
    /// How many arrays there are, those of labels among them.
    pub array_count: usize,
    /// How many chunks are read from files.
    pub stored_count: u64,
    /// How many chunks are in the document.
    pub inlined_count: u64,
    /// Bytes of the document.
    pub output_len: u64,
    /// The file of filled edge chunks with its bytes, if there is one.
    pub sidecar: Option<(PathBuf, u64)>,
    /// Differences from the input.
    pub notes: Vec<Note>,
}
