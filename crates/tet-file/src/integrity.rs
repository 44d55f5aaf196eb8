//! Checks whether the bytes of a file were changed (format section 6.2).
//!
//! ```text
//!   self     the footer JSON and the tail     compared when the footer is read
//!   head     superblock to index header       compared at open
//!   index    pages of rows                    compared at open, or when a page is first touched
//!   chunks   payloads                         compared when they are read whole
//! ```

mod block;
mod digests;
mod key;

pub(crate) use block::{IntegrityBlock, IntegrityBuilder};
pub use digests::{Digests, RowsDigester, chunk_digests, digest_of, rows_digest};
pub(crate) use key::fill_self;
pub use key::{IntegrityKey, KeyState, Listed, SelfDigest, self_digest};

use tet_format::digest::{BLOCK_HEADER_LEN, DigestBlock, WireDigestBlock, block_len};
use tet_format::{Error as Fault, Integrity, Note, NoteCode, statistics};
use tet_io::Source;

use crate::error::Result;

/// The integrity protection of a file.
#[derive(Clone, Debug, Default)]
pub enum Protection {
    /// None: changes cannot be detected.
    #[default]
    None,
    /// Stale digests: a program that does not support digests rewrote the footer.
    Stale,
    /// Not read, or of an unknown version.
    Unknown,
    /// Digests that do not match the structure; the file was opened nevertheless.
    Broken(Fault),
    /// Digests; those of the structure match.
    Digests(Digests),
}

impl Protection {
    /// The integrity state of data that is read with this protection.
    #[must_use]
    pub const fn integrity(&self) -> Integrity {
        match self {
            Protection::None => Integrity::Unprotected,
            Protection::Stale => Integrity::Stale,
            Protection::Unknown => Integrity::Unchecked,
            Protection::Broken(_) => Integrity::Mismatch,
            Protection::Digests(_) => Integrity::Verified,
        }
    }

    /// The digests, if they can be trusted.
    #[must_use]
    pub const fn digests(&self) -> Option<&Digests> {
        match self {
            Protection::Digests(digests) => Some(digests),
            _ => None,
        }
    }
}

/// Notes a block of digests that ends at `end` and that no footer refers to.
///
/// # Errors
///
/// Returns an error when the bytes cannot be read.
pub fn stale_block(
    source: &Source,
    row_count: u64,
    index_end: u64,
    end: u64,
) -> Result<Option<Note>> {
    // Statistics may come between.
    let statistics_len = statistics::block_len(row_count).unwrap_or(u64::MAX);
    for end in [Some(end), end.checked_sub(statistics_len)].into_iter().flatten() {
        let at = block_len(row_count).and_then(|len| end.checked_sub(len));
        let Some(at) = at.filter(|&at| index_end <= at && end <= source.len()) else { continue };
        let mut header = [0; WireDigestBlock::LEN];
        source.read_exact_at(at, &mut header)?;
        if DigestBlock::read(&header, at, row_count).is_ok() {
            let found = end - at - BLOCK_HEADER_LEN;
            return Ok(Some(Note { code: NoteCode::DigestsStale, at, found }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
