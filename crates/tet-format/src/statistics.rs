//! Statistics of chunks: the block that lists them (format section 6.3).
//!
//! ```text
//!   ... TDIG block | "TSTA" | version | chunk_count | a record for every row ... | other spills
//!                    \_________ 16 bytes _________/   32 bytes each
//! ```
//!
//! This module defines the form and the position of statistics; `tet-codec` computes them.

use crate::error::{Error, Result};
use crate::rule::Rule;

record! {
    /// The header of a block of statistics.
    pub struct WireStatisticsBlock[16] {
        /// Always `TSTA`.
        0 magic: [u8; 4],
        /// Always 1.
        4 version: u32,
        /// The number of rows of the index.
        8 chunk_count: u64,
    }
}

record! {
    /// The statistics of one chunk. Elements are the bytes of an element and zeros after them.
    pub struct ChunkStatistics[32] {
        /// The least element that is not NaN, -0.0 before 0.0; 0 without any.
        0  min: u64,
        /// The greatest element that is not NaN; 0 without any.
        8  max: u64,
        /// Integers: the low and the high half of their sum, which is signed. Floats: how many are NaN, and how many
        /// are infinite.
        16 totals: [u64; 2],
    }
}

/// The length of the header of a block.
pub const BLOCK_HEADER_LEN: u64 = WireStatisticsBlock::LEN as u64;

/// The first four bytes of a block.
pub const BLOCK_MAGIC: [u8; 4] = *b"TSTA";

/// The only version of a block.
pub const BLOCK_VERSION: u32 = 1;

/// The length of the record of a chunk.
pub const RECORD_LEN: u64 = ChunkStatistics::LEN as u64;

/// The length of a block for an index with `row_count` rows, if it fits in 64 bits.
#[must_use]
pub fn block_len(row_count: u64) -> Option<u64> {
    row_count.checked_mul(RECORD_LEN)?.checked_add(BLOCK_HEADER_LEN)
}

/// The header of a block with `row_count` records.
///
/// ```
/// let header = tet_format::statistics::header(2);
/// assert_eq!(header, *b"TSTA\x01\0\0\0\x02\0\0\0\0\0\0\0");
/// ```
#[must_use]
pub fn header(row_count: u64) -> [u8; WireStatisticsBlock::LEN] {
    let (magic, version) = (BLOCK_MAGIC, BLOCK_VERSION);
    WireStatisticsBlock { magic, version, chunk_count: row_count }.encode()
}

/// Checks the header of a block at `at` of an index with `row_count` rows.
///
/// # Errors
///
/// [`Rule::StatisticsBlock`] when it is not the header of such a block.
pub fn check_header(bytes: &[u8; WireStatisticsBlock::LEN], at: u64, row_count: u64) -> Result<()> {
    let wire = WireStatisticsBlock::decode(bytes);
    let number = |magic: [u8; 4]| u64::from(u32::from_le_bytes(magic));
    let fields = [
        ("magic", number(wire.magic), number(BLOCK_MAGIC)),
        ("version", wire.version.into(), BLOCK_VERSION.into()),
        ("chunk_count", wire.chunk_count, row_count),
    ];
    for (field, found, wanted) in fields {
        if found != wanted {
            let at = at.saturating_add(WireStatisticsBlock::offset_of(field));
            return Err(Error { rule: Rule::StatisticsBlock, at, found, wanted });
        }
    }
    Ok(())
}

/// The file offset of the record of row number `row`, in a block at `at`.
#[must_use]
pub const fn record_at(at: u64, row: u64) -> u64 {
    at.saturating_add(BLOCK_HEADER_LEN).saturating_add(row.saturating_mul(RECORD_LEN))
}

impl ChunkStatistics {
    /// The sum of integers.
    #[must_use]
    pub const fn sum(&self) -> i128 {
        let [low, high] = self.totals;
        ((high as i128) << 64) | low as i128
    }

    /// The totals of integers with this sum.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the two halves")]
    pub const fn totals_of(sum: i128) -> [u64; 2] {
        [sum as u64, (sum >> 64) as u64]
    }

    /// How many floats are NaN.
    #[must_use]
    pub const fn nan_count(&self) -> u64 {
        self.totals[0]
    }

    /// How many floats are infinite.
    #[must_use]
    pub const fn inf_count(&self) -> u64 {
        self.totals[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_the_header_counts() {
        let good = header(5);
        assert_eq!(check_header(&good, 100, 5), Ok(()));
        for at in 0..good.len() {
            let mut bad = good;
            bad[at] ^= 1;
            let fault = check_header(&bad, 100, 5).unwrap_err();
            assert_eq!(fault.rule, Rule::StatisticsBlock);
            assert!((100..=100 + at as u64).contains(&fault.at), "{fault:?}");
        }
    }

    #[test]
    fn records_follow_the_header() {
        assert_eq!(block_len(3), Some(16 + 3 * 32));
        assert_eq!(block_len(u64::MAX / 16), None);
        assert_eq!(record_at(100, 2), 100 + 16 + 64);
    }

    #[test]
    fn sums_are_kept_in_two_halves() {
        for sum in [0, 1, -1, i128::MAX, i128::MIN, i128::from(u64::MAX) + 1, -(1 << 70)] {
            let totals = ChunkStatistics::totals_of(sum);
            assert_eq!(ChunkStatistics { min: 0, max: 0, totals }.sum(), sum);
        }
    }
}
