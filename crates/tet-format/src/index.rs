//! The chunk index: the position of each chunk (format section 4).
//!
//! A header and rows of 104 bytes. Rows are decoded one by one on request.

mod notes;
mod payloads;
mod rows;

pub use notes::{notes, row_notes};
pub use payloads::{check_payload, check_payloads, gaps};
pub use rows::{Order, RowContext, check_dataset_id, check_row, check_rows};

use crate::error::{Error, Faults, Result, Strict};
use crate::layout;
pub use crate::records::{IndexHeader, IndexRow};
use crate::rule::Rule;
use crate::span::Span;
use crate::superblock::WireSuperblock;
use crate::wire;

/// The length of the header.
pub const HEADER_LEN: u64 = IndexHeader::LEN as u64;

/// The length of a row.
pub const ROW_LEN: u64 = IndexRow::LEN as u64;

/// The first four bytes of the index.
pub const MAGIC: [u8; 4] = *b"TIDX";

/// The `index_version` this crate reads and writes.
pub const INDEX_VERSION: u32 = 1;

impl IndexHeader {
    /// Reads the header from the first bytes of the index.
    ///
    /// `bytes` may be longer than 32 bytes. `base` is the file offset of the index and `region_len`
    /// is the superblock's `index_len`.
    ///
    /// # Errors
    ///
    /// The first rule of section 4 that the header breaks.
    pub fn read(bytes: &[u8], base: u64, region_len: u64) -> Result<IndexHeader> {
        match read_header(bytes, base, region_len, &mut Strict)? {
            Some(header) => Ok(header),
            None => Err(truncated(region_len)),
        }
    }

    /// The header of an index of `row_count` rows, without hints.
    #[must_use]
    pub const fn new(row_count: u64) -> IndexHeader {
        IndexHeader {
            magic: MAGIC,
            index_version: INDEX_VERSION,
            row_count,
            memory_budget_bps: 0,
            reserved: 0,
            memory_budget_len: 0,
            reserved_tail: 0,
        }
    }

    /// The memory limit that the file suggests to readers, in bytes, on a host with `host_len`
    /// bytes; `None` without a hint. A hint may lower a limit, never raise it.
    #[must_use]
    pub fn memory_hint(&self, host_len: u64) -> Option<u64> {
        if self.memory_budget_len != 0 {
            return Some(self.memory_budget_len.into());
        }
        let bps = u64::from(self.memory_budget_bps.min(10_000));
        (bps != 0).then(|| (host_len / 10_000).saturating_mul(bps))
    }
}

/// Reads the header and checks its rules; `None` if its bytes are incomplete.
///
/// # Errors
///
/// A fault, only when `faults` asks to stop.
pub fn read_header(
    bytes: &[u8],
    base: u64,
    region_len: u64,
    faults: &mut impl Faults,
) -> Result<Option<IndexHeader>> {
    let (Some(bytes), true) = (bytes.first_chunk(), region_len >= HEADER_LEN) else {
        faults.fault(truncated(region_len))?;
        return Ok(None);
    };
    let header = IndexHeader::decode(bytes);
    if header.magic != MAGIC {
        let [found, wanted] = [header.magic, MAGIC].map(u32::from_le_bytes).map(u64::from);
        faults.fault(Error { rule: Rule::IndexMagic, at: base, found, wanted })?;
    }
    if header.index_version != INDEX_VERSION {
        let at = base.saturating_add(const { IndexHeader::offset_of("index_version") });
        let [found, wanted] = [header.index_version, INDEX_VERSION].map(u64::from);
        faults.fault(Error { rule: Rule::IndexVersion, at, found, wanted })?;
    }
    let wanted = layout::index_len(header.row_count);
    if wanted != Some(region_len) {
        let at = base.saturating_add(const { IndexHeader::offset_of("row_count") });
        let wanted = wanted.unwrap_or(u64::MAX);
        faults.fault(Error { rule: Rule::IndexLen, at, found: region_len, wanted })?;
    }
    Ok(Some(header))
}

fn truncated(region_len: u64) -> Error {
    let at = const { WireSuperblock::offset_of("index_len") };
    Error { rule: Rule::IndexTruncated, at, found: region_len, wanted: HEADER_LEN }
}

impl IndexRow {
    /// The span of the payload in the file; `None` if its end overflows.
    #[must_use]
    #[inline]
    pub const fn payload(&self) -> Option<Span> {
        Span::new(self.payload_offset, self.stored_len)
    }

    /// Whether the row belongs to the chunk at `coord` of this dataset. Slots past the rank are
    /// ignored.
    #[must_use]
    #[inline]
    pub fn is_chunk(&self, dataset_id: u64, coord: &[u64]) -> bool {
        self.dataset_id == dataset_id && self.coord.get(..coord.len()) == Some(coord)
    }
}

/// The rows of an index, borrowed from its bytes.
#[derive(Clone, Copy, Debug)]
pub struct ChunkIndex<'a> {
    header: IndexHeader,
    rows: &'a [[u8; IndexRow::LEN]],
    base: u64,
}

impl<'a> ChunkIndex<'a> {
    /// Reads the header of the index with the bytes `region`, at file offset `base`.
    ///
    /// # Errors
    ///
    /// The first rule of section 4 that the header breaks.
    pub fn read(region: &'a [u8], base: u64) -> Result<ChunkIndex<'a>> {
        let header = IndexHeader::read(region, base, wire::len_of(region))?;
        let (rows, _) = region.get(IndexHeader::LEN..).unwrap_or(&[]).as_chunks();
        Ok(ChunkIndex { header, rows, base })
    }

    /// The index of a file without datasets.
    #[must_use]
    pub const fn empty() -> ChunkIndex<'a> {
        let base = WireSuperblock::LEN as u64;
        ChunkIndex { header: IndexHeader::new(0), rows: &[], base }
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> &IndexHeader {
        &self.header
    }

    /// The number of rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Row number `row`.
    #[must_use]
    #[inline]
    pub fn row(&self, row: u64) -> Option<IndexRow> {
        self.rows.get(usize::try_from(row).ok()?).map(IndexRow::decode)
    }

    /// The file offset of row number `row`.
    #[must_use]
    pub const fn row_at(&self, row: u64) -> u64 {
        layout::row_at(self.base, row)
    }

    /// The rows in file order.
    #[must_use]
    pub fn rows(&self) -> Rows<'a> {
        Rows { bytes: self.rows.iter() }
    }

    /// The rows in file order, each with its file offset.
    pub fn placed_rows(&self) -> impl Iterator<Item = (u64, IndexRow)> + use<'a> {
        let base = self.base;
        (0..).zip(self.rows()).map(move |(row, decoded)| (layout::row_at(base, row), decoded))
    }
}

/// The rows of an index in file order.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    bytes: core::slice::Iter<'a, [u8; IndexRow::LEN]>,
}

impl Iterator for Rows<'_> {
    type Item = IndexRow;

    #[inline]
    fn next(&mut self) -> Option<IndexRow> {
        self.bytes.next().map(IndexRow::decode)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.bytes.size_hint()
    }
}

impl ExactSizeIterator for Rows<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn region(header: IndexHeader, rows: u8) -> Vec<u8> {
        let mut bytes = header.encode().to_vec();
        for row in 0..rows {
            bytes.extend([row; 104]);
        }
        bytes
    }

    #[test]
    fn each_rule_breaks_alone_and_holds_one_byte_away() {
        let good = IndexHeader::new(2);
        let cases = [
            (IndexHeader { magic: *b"TIDY", ..good }, Rule::IndexMagic, 96),
            (IndexHeader { index_version: 0, ..good }, Rule::IndexVersion, 100),
            (IndexHeader { row_count: 1, ..good }, Rule::IndexLen, 104),
            (IndexHeader { row_count: 3, ..good }, Rule::IndexLen, 104),
            (IndexHeader { row_count: u64::MAX, ..good }, Rule::IndexLen, 104),
        ];
        for (header, rule, at) in cases {
            let bytes = region(header, 2);
            let mut faults = Vec::new();
            read_header(&bytes, 96, bytes.len() as u64, &mut faults).unwrap();
            assert_eq!(faults.len(), 1, "{rule} alone: {faults:?}");
            assert_eq!((faults[0].rule, faults[0].at), (rule, at));
            assert_eq!(ChunkIndex::read(&bytes, 96).unwrap_err(), faults[0]);
        }
        assert_eq!(ChunkIndex::read(&region(good, 2), 96).unwrap().len(), 2);
    }

    #[test]
    fn every_prefix_is_refused() {
        let bytes = region(IndexHeader::new(1), 1);
        for len in 0..bytes.len() {
            let rule = ChunkIndex::read(&bytes[..len], 96).unwrap_err().rule;
            let wanted = if len < 32 { Rule::IndexTruncated } else { Rule::IndexLen };
            assert_eq!(rule, wanted, "{len}");
        }
        assert!(ChunkIndex::read(&region(IndexHeader::new(0), 0), 96).unwrap().is_empty());
    }

    #[test]
    fn rows_are_decoded_where_they_lie() {
        let bytes = region(IndexHeader::new(3), 3);
        let index = ChunkIndex::read(&bytes, 96).unwrap();
        assert_eq!(index.header().row_count, 3);
        let row = index.row(2).unwrap();
        assert_eq!(row.coord, [0x0202_0202_0202_0202; 8]);
        assert_eq!(row.reserved, 0x0202_0202);
        assert_eq!(index.row(3), None);
        let placed: Vec<_> = index.placed_rows().collect();
        assert_eq!(placed[2], (96 + 32 + 208, row));
        assert_eq!(index.row_at(2), placed[2].0);
        assert_eq!(index.rows().len(), 3);
        assert_eq!(ChunkIndex::empty().rows().count(), 0);
    }

    #[test]
    fn hints_ask_for_bytes_before_shares() {
        let header = IndexHeader::new(0);
        assert_eq!(header.memory_hint(1 << 30), None);
        let share = IndexHeader { memory_budget_bps: 2_500, ..header };
        assert_eq!(share.memory_hint(40_000), Some(10_000));
        let bytes = IndexHeader { memory_budget_len: 7, ..share };
        assert_eq!(bytes.memory_hint(40_000), Some(7));
        let greedy = IndexHeader { memory_budget_bps: u16::MAX, ..header };
        assert_eq!(greedy.memory_hint(u64::MAX), Some(u64::MAX / 10_000 * 10_000));
    }

    #[test]
    fn rows_know_their_chunk_by_the_slots_of_the_rank() {
        let row = IndexRow { coord: [1, 2, 9, 0, 0, 0, 0, 0], ..IndexRow::decode(&[0; 104]) };
        assert!(row.is_chunk(0, &[1, 2]) && row.is_chunk(0, &[1, 2, 9]));
        assert!(
            !row.is_chunk(1, &[1, 2]) && !row.is_chunk(0, &[1, 3]) && !row.is_chunk(0, &[1; 9])
        );
    }
}
