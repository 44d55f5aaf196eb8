//! Digests: their form, and the block that lists those of pages and chunks (format section 6.2).
//!
//! ```text
//!   ... last payload | "TDIG" | version | page_count | chunk_count | pages ... | chunks ... | spills
//!                      \_________________ 24 bytes _______________/   12 bytes each
//! ```
//!
//! This module defines the form and the position of digests; `tet-codec` computes them.

use crate::error::{Error, Result};
use crate::index;
use crate::layout;
use crate::rule::Rule;
use crate::superblock::Superblock;
use core::fmt;

record! {
    /// The header of a block.
    pub struct WireDigestBlock[24] {
        /// Always `TDIG`.
        0  magic: [u8; 4],
        /// Always 1.
        4  version: u32,
        /// The number of pages of the index.
        8  page_count: u64,
        /// The number of rows of the index.
        16 chunk_count: u64,
    }
}

/// The length of the header of a block.
pub const BLOCK_HEADER_LEN: u64 = WireDigestBlock::LEN as u64;

/// The first four bytes of a block.
pub const BLOCK_MAGIC: [u8; 4] = *b"TDIG";

/// The only version of a block.
pub const BLOCK_VERSION: u32 = 1;

/// The rows of the index that share a digest.
pub const PAGE_ROW_COUNT: u64 = 8192;

/// The length of a digest in a block.
pub const DIGEST_LEN: u64 = Digest::LEN as u64;

/// Two checksums of the same bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Digest {
    /// CRC-32C: finds every single bit and every burst of up to 32 bits that changed.
    pub crc32c: u32,
    /// XXH3 of 64 bits: finds any other change but one in 2^64.
    pub xxh3: u64,
}

#[expect(clippy::big_endian_bytes, reason = "the bytes are in the order of the digits")]
impl Digest {
    /// The bytes of a digest.
    pub const LEN: usize = 12;

    /// The digest's bytes: both numbers big-endian, CRC-32C first.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; Self::LEN] {
        let [a, b, c, d] = self.crc32c.to_be_bytes();
        let [e, f, g, h, i, j, k, l] = self.xxh3.to_be_bytes();
        [a, b, c, d, e, f, g, h, i, j, k, l]
    }

    /// The digest with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = bytes;
        Digest {
            crc32c: u32::from_be_bytes([a, b, c, d]),
            xxh3: u64::from_be_bytes([e, f, g, h, i, j, k, l]),
        }
    }

    /// The consecutive digests in these bytes.
    pub fn all(bytes: &[u8]) -> impl Iterator<Item = Self> {
        bytes.as_chunks().0.iter().map(|&bytes| Self::from_bytes(bytes))
    }

    /// The digest written as 24 lower-case hexadecimal digits.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let mut bytes = [0; Self::LEN];
        if pairs.len() != bytes.len() || !rest.is_empty() {
            return None;
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = hex(*high)? << 4 | hex(*low)?;
        }
        Some(Self::from_bytes(bytes))
    }

    /// The numbers in which this digest differs from the wanted one, as (found, wanted); `None` if
    /// they are equal.
    #[must_use]
    pub const fn differs(self, wanted: Digest) -> Option<(u64, u64)> {
        if self.xxh3 != wanted.xxh3 {
            Some((self.xxh3, wanted.xxh3))
        } else if self.crc32c != wanted.crc32c {
            Some((self.crc32c as u64, wanted.crc32c as u64))
        } else {
            None
        }
    }
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => digit.checked_sub(b'0'),
        b'a'..=b'f' => digit.checked_sub(b'a')?.checked_add(10),
        _ => None,
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}{:016x}", self.crc32c, self.xxh3)
    }
}

/// The number of pages of an index with `row_count` rows.
#[must_use]
pub const fn page_count(row_count: u64) -> u64 {
    row_count.div_ceil(PAGE_ROW_COUNT)
}

/// The length of the block of a file with `row_count` rows; `None` if it overflows.
#[must_use]
pub const fn block_len(row_count: u64) -> Option<u64> {
    let Some(count) = row_count.checked_add(page_count(row_count)) else { return None };
    match count.checked_mul(DIGEST_LEN) {
        Some(len) => len.checked_add(BLOCK_HEADER_LEN),
        None => None,
    }
}

/// One past the last byte under the digest of the head: superblock, directory and index header.
#[must_use]
pub fn head_end(superblock: &Superblock) -> u64 {
    superblock.index_offset.saturating_add(superblock.index_len.min(index::HEADER_LEN))
}

/// The positions of the digests of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestBlock {
    offset: u64,
    row_count: u64,
}

impl DigestBlock {
    /// The block at `offset` of a file with `row_count` rows; `header` are its first bytes.
    ///
    /// # Errors
    ///
    /// The block breaks a rule of section 6.2.
    pub fn read(
        header: &[u8; WireDigestBlock::LEN],
        offset: u64,
        row_count: u64,
    ) -> Result<DigestBlock> {
        let wire = WireDigestBlock::decode(header);
        let fault = |name: u64, found: u64, wanted: u64| {
            let at = offset.saturating_add(name);
            Err(Error { rule: Rule::DigestBlock, at, found, wanted })
        };
        if wire.magic != BLOCK_MAGIC {
            let [found, wanted] = [wire.magic, BLOCK_MAGIC].map(u32::from_le_bytes).map(u64::from);
            return fault(const { WireDigestBlock::offset_of("magic") }, found, wanted);
        }
        if wire.version != BLOCK_VERSION {
            let [found, wanted] = [wire.version, BLOCK_VERSION].map(u64::from);
            return fault(const { WireDigestBlock::offset_of("version") }, found, wanted);
        }
        if wire.page_count != page_count(row_count) {
            let at = const { WireDigestBlock::offset_of("page_count") };
            return fault(at, wire.page_count, page_count(row_count));
        }
        if wire.chunk_count != row_count {
            let at = const { WireDigestBlock::offset_of("chunk_count") };
            return fault(at, wire.chunk_count, row_count);
        }
        Ok(DigestBlock { offset, row_count })
    }

    /// The header of the block of a file with `row_count` rows.
    #[must_use]
    pub fn header(row_count: u64) -> [u8; WireDigestBlock::LEN] {
        let (magic, version) = (BLOCK_MAGIC, BLOCK_VERSION);
        let (page_count, chunk_count) = (page_count(row_count), row_count);
        WireDigestBlock { magic, version, page_count, chunk_count }.encode()
    }

    /// The file offset of the digests of the pages; there are [`page_count`].
    #[must_use]
    pub const fn pages_at(&self) -> u64 {
        self.offset.saturating_add(BLOCK_HEADER_LEN)
    }

    /// The file offset of the payload digest of row number `row`.
    #[must_use]
    pub const fn chunk_at(&self, row: u64) -> u64 {
        let before = page_count(self.row_count).saturating_add(row);
        self.pages_at().saturating_add(before.saturating_mul(DIGEST_LEN))
    }

    /// The rows that share a page with this one.
    #[must_use]
    pub fn page_rows(&self, page: u64) -> core::ops::Range<u64> {
        let start = page.saturating_mul(PAGE_ROW_COUNT).min(self.row_count);
        start..start.saturating_add(PAGE_ROW_COUNT).min(self.row_count)
    }

    /// The file offset of the rows of a page, in an index at `index_offset`.
    #[must_use]
    pub fn page_at(&self, page: u64, index_offset: u64) -> u64 {
        layout::row_at(index_offset, self.page_rows(page).start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn a_digest_is_the_same_in_bytes_and_in_hex() {
        let digest = Digest { crc32c: 0x0102_0304, xxh3: 0xa0b0_c0d0_e0f0_0102 };
        let bytes = [1, 2, 3, 4, 0xa0, 0xb0, 0xc0, 0xd0, 0xe0, 0xf0, 1, 2];
        assert_eq!((digest.to_bytes(), Digest::from_bytes(bytes)), (bytes, digest));
        let text = format!("{digest}");
        assert_eq!(text, "01020304a0b0c0d0e0f00102");
        assert_eq!(Digest::from_hex(&text), Some(digest));
        for wrong in
            ["", "01020304a0b0c0d0e0f0010", "01020304A0b0c0d0e0f00102", &format!("{text}00")]
        {
            assert_eq!(Digest::from_hex(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn either_half_tells_a_difference() {
        let wanted = Digest { crc32c: 7, xxh3: 9 };
        assert_eq!(wanted.differs(wanted), None);
        assert_eq!(Digest { xxh3: 8, ..wanted }.differs(wanted), Some((8, 9)));
        assert_eq!(Digest { crc32c: 6, ..wanted }.differs(wanted), Some((6, 7)));
    }

    #[test]
    fn pages_cover_the_rows() {
        let pages = [0, 1, 8192, 8193].map(page_count);
        assert_eq!(pages, [0, 1, 1, 2]);
        assert_eq!(block_len(8193), Some(24 + 12 * (2 + 8193)));
        assert_eq!(block_len(u64::MAX / 12), None);
        let block = DigestBlock::read(&DigestBlock::header(8193), 1000, 8193).unwrap();
        assert_eq!((block.pages_at(), block.chunk_at(0)), (1024, 1024 + 24));
        assert_eq!(block.chunk_at(8192) + 12, 1000 + block_len(8193).unwrap());
        assert_eq!([block.page_rows(0), block.page_rows(1)], [0..8192, 8192..8193]);
        assert_eq!(block.page_at(1, 40), 40 + 32 + 8192 * 104);
    }

    #[test]
    fn every_byte_of_the_header_counts() {
        let good = DigestBlock::header(5);
        for at in 0..good.len() {
            let mut bad = good;
            bad[at] ^= 1;
            let fault = DigestBlock::read(&bad, 100, 5).unwrap_err();
            assert_eq!(fault.rule, Rule::DigestBlock);
            assert!((100..=100 + at as u64).contains(&fault.at), "{fault:?}");
        }
    }
}
