//! The checks, in the order in which a reader meets the parts of a file.
//!
//! A check that finds its part broken ends the chain for what rests on it; the footer rests on the
//! superblock alone and is looked at whatever the index says.

mod directory;
pub(crate) mod footer;
pub(crate) mod index;
mod payload;
mod superblock;

use tet_file::DatasetEntry;
use tet_format::Superblock;
use tet_io::Source;

use crate::VerifyOptions;
use crate::collect::Collector;
use crate::error::Result;

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
}

/// One file under inspection.
pub(crate) struct Subject<'a> {
    pub(crate) source: &'a Source,
    pub(crate) options: &'a VerifyOptions,
    pub(crate) superblock: Superblock,
}

/// Checks a whole file.
pub(crate) fn file(source: &Source, options: &VerifyOptions, out: &mut Collector) -> Result<Seen> {
    let mut seen = Seen { tail: footer::tail_bytes(source)?, ..Seen::default() };
    let Some(superblock) = superblock::check(source, &mut seen, out)? else { return Ok(seen) };
    let subject = Subject { source, options, superblock };
    let listed = directory::check(&subject, &mut seen, out)?;
    let index = index::check(&subject, listed, &mut seen, out)?;
    let footer = footer::check(&subject, listed, &seen, out)?;
    if let Some(index) = index {
        payload::check(&subject, index, &footer, &mut seen, out)?;
    }
    Ok(seen)
}

/// Whether a part held well enough to go on from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Yes,
    No,
}
