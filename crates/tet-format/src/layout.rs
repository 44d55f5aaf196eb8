//! The arithmetic of positions and lengths (format sections 2 to 6).
//!
//! ```text
//!   0            32                 40               index_offset      index_end
//!   | superblock | records_len: u64 | records | pad  | header | rows   | gap | payloads ...
//! ```
//!
//! Functions for writers return `None` if a position overflows 64 bits.

use crate::records::{IndexHeader, IndexRow, WireDirectory, WireRecord, WireSuperblock, WireTail};

/// Bytes before the first record: the superblock and `records_len`.
pub const RECORDS_OFFSET: u64 = (WireSuperblock::LEN + WireDirectory::LEN) as u64;

/// The shortest record: its fixed fields, no name, one axis.
pub const RECORD_LEN_MIN: u64 = WireRecord::LEN as u64 + AXIS_LEN;

/// The length of the extents of one axis: one of the shape and one of the chunk shape.
pub const AXIS_LEN: u64 = 16;

/// The greatest rank.
pub const RANK_MAX: u32 = 8;

/// Rounds up to a multiple of 8; `None` on overflow.
#[must_use]
pub const fn align8(offset: u64) -> Option<u64> {
    offset.checked_next_multiple_of(8)
}

/// The length of the padding after a name, so that the shape starts at a multiple of 8.
#[must_use]
pub const fn name_padding(name_len: u64) -> u64 {
    // The fixed fields before the name are a multiple of 8, so only the name matters.
    name_len.wrapping_neg() & 7
}

/// The length of a directory record.
#[must_use]
pub const fn record_len(name_len: u32, rank: u32) -> u64 {
    // At most 16 + 2^32 + 7 + 16 * 2^32: no overflow.
    let name_len = name_len as u64;
    (WireRecord::LEN as u64)
        .saturating_add(name_len)
        .saturating_add(name_padding(name_len))
        .saturating_add(AXIS_LEN.saturating_mul(rank as u64))
}

/// The offset of the index, after records of `records_len` bytes; `None` on overflow.
#[must_use]
pub const fn index_offset(records_len: u64) -> Option<u64> {
    match records_len.checked_add(RECORDS_OFFSET) {
        Some(end) => align8(end),
        None => None,
    }
}

/// The length of an index of `row_count` rows; `None` on overflow.
#[must_use]
pub const fn index_len(row_count: u64) -> Option<u64> {
    match row_count.checked_mul(IndexRow::LEN as u64) {
        Some(rows_len) => rows_len.checked_add(IndexHeader::LEN as u64),
        None => None,
    }
}

/// The file offset of row number `row` of the index at `index_offset`; saturated.
#[must_use]
#[inline]
pub const fn row_at(index_offset: u64, row: u64) -> u64 {
    index_offset
        .saturating_add(IndexHeader::LEN as u64)
        .saturating_add(row.saturating_mul(IndexRow::LEN as u64))
}

/// The offset of the footer JSON; `None` if tail and JSON are longer than the file.
#[must_use]
pub const fn json_offset(file_len: u64, json_len: u64) -> Option<u64> {
    match file_len.checked_sub(WireTail::LEN as u64) {
        Some(tail_at) => tail_at.checked_sub(json_len),
        None => None,
    }
}

/// The alignment of the payloads of a dataset.
///
/// Readers accept any offset. 64 bytes keep raw elements aligned to their size and to a cache line;
/// 4096 keeps them aligned to a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Align {
    /// At a multiple of 8 bytes.
    A8,
    /// At a multiple of 64 bytes.
    #[default]
    A64,
    /// At a multiple of 4096 bytes.
    A4096,
}

impl Align {
    /// The multiple, in bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Align::A8 => 8,
            Align::A64 => 64,
            Align::A4096 => 4096,
        }
    }

    /// The alignment of this number of bytes, if writers support it.
    #[must_use]
    pub const fn from_bytes(bytes: u64) -> Option<Align> {
        match bytes {
            8 => Some(Align::A8),
            64 => Some(Align::A64),
            4096 => Some(Align::A4096),
            _ => None,
        }
    }

    /// The first aligned offset at or after `offset`; `None` on overflow.
    #[must_use]
    pub const fn place(self, offset: u64) -> Option<u64> {
        offset.checked_next_multiple_of(self.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_the_format() {
        assert_eq!((RECORDS_OFFSET, RECORD_LEN_MIN), (40, 32));
        assert_eq!(record_len(0, 1), RECORD_LEN_MIN);
    }

    #[test]
    fn records_are_padded_to_eight() {
        for name_len in 0..100 {
            let padding = name_padding(name_len.into());
            assert!(padding < 8);
            for rank in 1..=8 {
                let len = record_len(name_len, rank);
                assert_eq!(len, 16 + u64::from(name_len) + padding + 16 * u64::from(rank));
                assert_eq!(len % 8, 0);
            }
        }
        assert_eq!(record_len(u32::MAX, u32::MAX), 16 + (1 << 32) + 16 * u64::from(u32::MAX));
    }

    #[test]
    fn places_past_the_end_are_none() {
        assert_eq!(align8(u64::MAX - 7), Some(u64::MAX - 7));
        assert_eq!(align8(u64::MAX - 6), None);
        assert_eq!([0, 1, 8].map(index_offset), [Some(40), Some(48), Some(48)]);
        assert_eq!(index_offset(u64::MAX - 39), None);
        assert_eq!([0, 1].map(index_len), [Some(32), Some(136)]);
        assert_eq!(index_len(u64::MAX / 104), None);
        assert_eq!(json_offset(32, 16), Some(0));
        assert_eq!(json_offset(32, 17), None);
        assert_eq!(json_offset(15, 0), None);
        assert_eq!(row_at(u64::MAX, 5), u64::MAX);
        assert_eq!(row_at(40, 2), 40 + 32 + 208);
    }

    #[test]
    fn payloads_are_placed_at_or_after() {
        for align in [Align::A8, Align::A64, Align::A4096] {
            assert_eq!(Align::from_bytes(align.bytes()), Some(align));
            for offset in [0, 1, align.bytes() - 1, align.bytes(), align.bytes() + 1] {
                let place = align.place(offset).unwrap();
                assert!(offset <= place && place - offset < align.bytes());
                assert_eq!(place % align.bytes(), 0);
            }
            assert_eq!(align.place(u64::MAX), None);
        }
        assert_eq!(Align::from_bytes(16), None);
        assert_eq!(Align::default().bytes(), 64);
    }
}
