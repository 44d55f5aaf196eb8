//! The input of the checks, and results that later checks and the report use.

use tet_file::DatasetEntry;
use tet_format::Superblock;
use tet_io::Source;
use tet_report::Integrity;

use crate::VerifyOptions;

/// The results that are used to map findings to places.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The first bytes of the file: superblock and directory, as far as they could be read.
    pub(crate) head: Vec<u8>,
    /// The last 16 bytes of the file, or fewer.
    pub(crate) tail: Vec<u8>,
    /// The datasets, if the directory is valid.
    pub(crate) datasets: Vec<DatasetEntry>,
    /// The number of rows checked.
    pub(crate) row_count: u64,
    /// The number of bytes between payloads that were not checked.
    pub(crate) gap_len_left: u64,
    /// The length of all payloads, stored and decoded.
    pub(crate) stored_len: u64,
    pub(crate) decoded_len: u64,
    /// The number of payload bytes checked.
    pub(crate) payload_len: u64,
    /// The integrity state.
    pub(crate) integrity: Integrity,
}

pub(crate) struct Subject<'a> {
    pub(crate) source: &'a Source,
    pub(crate) options: &'a VerifyOptions,
    pub(crate) superblock: Superblock,
}

/// Whether the checks that depend on a part can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Yes,
    No,
}
