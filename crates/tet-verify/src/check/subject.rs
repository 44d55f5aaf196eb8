//! What the checks look at, and what they find out for those that come after.

use tet_file::DatasetEntry;
use tet_format::Superblock;
use tet_io::Source;
use tet_report::Integrity;

use crate::VerifyOptions;

/// What the checks read, for naming places.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The file's first bytes: superblock and directory, as far as they could be read.
    pub(crate) head: Vec<u8>,
    /// The file's last 16 bytes or fewer.
    pub(crate) tail: Vec<u8>,
    /// The datasets, once the directory holds.
    pub(crate) datasets: Vec<DatasetEntry>,
    /// How many rows were looked at.
    pub(crate) row_count: u64,
    /// Bytes between payloads that were not looked at.
    pub(crate) gap_len_left: u64,
    /// Bytes in payloads, and the bytes that these decode to.
    pub(crate) stored_len: u64,
    pub(crate) decoded_len: u64,
    /// Bytes of payloads that were looked at.
    pub(crate) payload_len: u64,
    /// Whether the bytes are those that were written.
    pub(crate) integrity: Integrity,
}

/// One file under inspection.
pub(crate) struct Subject<'a> {
    pub(crate) source: &'a Source,
    pub(crate) options: &'a VerifyOptions,
    pub(crate) superblock: Superblock,
}

/// Whether a part held well enough to go on from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Yes,
    No,
}
