//! The byte map of a file: byte -> region, record, field.
//!
//! Also maps damaged files: parts that cannot be separated are one place of their region, and so is
//! everything between index and footer. The names are those of the record tables.

mod places;
mod value;

use crate::directory::{RECORD_HEADER_LEN, RawRecord, WireDirectory, WireRecord};
use crate::footer::{TAIL_LEN, WireTail};
use crate::index::{HEADER_LEN, IndexHeader, IndexRow, ROW_LEN};
use crate::layout;
use crate::rule::Rule;
use crate::span::Span;
use crate::superblock::{self, FLAG_FOOTER, WireSuperblock};
use crate::wire::{Field, field_at};
use alloc::vec::Vec;

pub use crate::region::Region;
pub use places::Places;
use places::Records;
pub use value::{Numbers, Value, value};

/// The meaning of a byte of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteField {
    /// The region.
    pub region: Region,
    /// The dataset in the directory, the row in the index, or the row of a payload.
    pub record: Option<u64>,
    /// The name of the field, or the kind of bytes.
    pub field: &'static str,
    /// The file offset of the field.
    pub offset: u64,
    /// The length of the field.
    pub len: u64,
}

impl ByteField {
    /// The end of the field.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }

    /// Whether it holds the byte at `offset`.
    #[must_use]
    pub const fn holds(&self, offset: u64) -> bool {
        self.offset <= offset && offset < self.end()
    }
}

/// The map of a file with only its start and end in memory.
#[derive(Clone, Copy, Debug)]
pub struct Map<'a> {
    head: &'a [u8],
    file_len: u64,
    dataset_count: u32,
    index: Span,
    tail: Option<WireTail>,
    is_foreign: bool,
}

impl<'a> Map<'a> {
    /// The map of a file of `file_len` bytes.
    ///
    /// `head` are its first bytes: those up to the end of the directory determine the records.
    /// `tail` are its last bytes, 16 or more.
    #[must_use]
    pub fn new(head: &'a [u8], tail: &[u8], file_len: u64) -> Map<'a> {
        let superblock = head.first_chunk().map(WireSuperblock::decode);
        let is_foreign = superblock.is_some_and(|wire| is_foreign(&wire, file_len));
        let superblock = superblock.filter(|_| !is_foreign);
        let wire = superblock.filter(|wire| wire.dataset_count != 0);
        // Wherever a damaged superblock points, the index is between it and the end of the file.
        let index_start = wire.map_or(superblock::LEN, |wire| wire.index_offset);
        let index_start = index_start.max(superblock::LEN).min(file_len);
        let index_len = wire.map_or(0, |wire| wire.index_len);
        let index_end = index_start.saturating_add(index_len).min(file_len);
        let index = Span::from_range(index_start..index_end).unwrap_or(WHOLE);
        let has_footer = superblock.is_some_and(|wire| wire.flags & FLAG_FOOTER != 0);
        let room = file_len.saturating_sub(index_end) >= TAIL_LEN;
        let tail = tail.last_chunk().map(WireTail::decode).filter(|_| has_footer && room);
        let dataset_count = wire.map_or(0, |wire| wire.dataset_count);
        Map { head, file_len, dataset_count, index, tail, is_foreign }
    }

    /// Whether the superblock is wrong in more than its magic, so that none of its fields is used:
    /// the file has another format, and everything after the 32 bytes is one place.
    #[must_use]
    pub const fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// The part of the index that is in the file.
    #[must_use]
    pub const fn index_span(&self) -> Span {
        self.index
    }

    /// The bytes between the index and the JSON or, without a footer, the end of the file:
    /// payloads, gaps and spills.
    #[must_use]
    pub fn body_span(&self) -> Span {
        let end = self.footer_offset().unwrap_or(self.file_len);
        Span::from_range(self.index.end()..end).unwrap_or(WHOLE)
    }

    /// All places of the file, in order.
    ///
    /// They cover the file without gaps or overlaps.
    #[must_use]
    pub fn places(&self) -> Places<'a> {
        Places::new(*self)
    }

    /// The place of the byte at `offset`; `None` at or past the end of the file.
    #[must_use]
    pub fn locate(&self, offset: u64) -> Option<ByteField> {
        self.locate_from(&mut Records::new(self), offset)
    }

    /// As `locate`, for ascending offsets, in one walk through the records.
    fn locate_from(&self, records: &mut Records<'a>, offset: u64) -> Option<ByteField> {
        if offset >= self.file_len {
            return None;
        }
        let (place, end) = if offset < superblock::LEN {
            let fields = WireSuperblock::FIELDS;
            (field(Region::Superblock, None, 0, fields, offset), superblock::LEN)
        } else if offset < self.index.start() {
            (self.in_directory(records, offset), self.index.start())
        } else if offset < self.index.end() {
            (self.in_index(offset), self.index.end())
        } else {
            (self.after_index(offset), self.file_len)
        };
        let mut place = place?;
        // A region or the file may end inside a field.
        place.len = place.end().min(end).min(self.file_len).saturating_sub(place.offset);
        Some(place)
    }

    fn in_directory(&self, records: &mut Records<'a>, offset: u64) -> Option<ByteField> {
        if offset < layout::RECORDS_OFFSET {
            let fields = WireDirectory::FIELDS;
            return field(Region::Directory, None, superblock::LEN, fields, offset);
        }
        if let Some(place) = records.locate(offset) {
            return Some(place);
        }
        let (reach, end) = (records.reach(), records.end());
        if offset < end {
            stretch(Region::Directory, "records", reach, end)
        } else {
            stretch(Region::Padding, "padding", end, self.index.start())
        }
    }

    fn in_index(&self, offset: u64) -> Option<ByteField> {
        let base = self.index.start();
        let within = offset.saturating_sub(base);
        let Some(rows) = within.checked_sub(HEADER_LEN) else {
            return field(Region::Index, None, base, IndexHeader::FIELDS, offset);
        };
        let row = rows / ROW_LEN;
        let row_at = layout::row_at(base, row);
        field(Region::Index, Some(row), row_at, IndexRow::FIELDS, offset)
    }

    fn after_index(&self, offset: u64) -> Option<ByteField> {
        let Some(json_at) = self.footer_offset().filter(|&at| at <= offset) else {
            // Only the rows determine which of these bytes are payloads.
            let (region, field) = match self.index.is_empty() {
                true => (Region::Gap, "unused"),
                false => (Region::Payload, "payloads"),
            };
            return stretch(region, field, self.index.end(), self.body_span().end());
        };
        let tail_at = self.file_len.saturating_sub(TAIL_LEN);
        if tail_at <= offset {
            return field(Region::Footer, None, tail_at, WireTail::FIELDS, offset);
        }
        stretch(Region::Footer, "json", json_at, tail_at)
    }

    /// The offset of the JSON or, if the JSON length in the tail is impossible, of the tail.
    fn footer_offset(&self) -> Option<u64> {
        let tail = self.tail?;
        let json_at = layout::json_offset(self.file_len, tail.json_len);
        let json_at = json_at.filter(|&at| self.index.end() <= at);
        Some(json_at.unwrap_or(self.file_len.saturating_sub(TAIL_LEN)))
    }

    /// The part of `[start, end)` that is in memory.
    fn head_bytes(&self, start: u64, end: u64) -> &'a [u8] {
        let index = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let tail = self.head.get(index(start)..).unwrap_or(&[]);
        tail.get(..index(end.saturating_sub(start))).unwrap_or(tail)
    }
}

const WHOLE: Span = match Span::new(0, 0) {
    Some(span) => span,
    None => panic!("0 fits"),
};

fn is_foreign(wire: &WireSuperblock, file_len: u64) -> bool {
    let mut faults: Vec<crate::Error> = Vec::new();
    // A list accepts every fault, so the check never stops early.
    let _ = superblock::check(wire, file_len, &mut faults);
    faults.len() > 1 && faults.iter().any(|fault| fault.rule == Rule::Magic)
}

fn in_record(record: &RawRecord<'_>, dataset: u64, offset: u64) -> Option<ByteField> {
    let fixed_end = record.at.saturating_add(RECORD_HEADER_LEN);
    if offset < fixed_end {
        let fields = WireRecord::FIELDS;
        return field(Region::Directory, Some(dataset), record.at, fields, offset);
    }
    let [padding_at, shape_at] = [record.padding_at(), record.shape_at()];
    let [chunk_shape_at, end] = [record.chunk_shape_at(), record.end()];
    let (name, start, stop) = if offset < padding_at {
        ("name", fixed_end, padding_at)
    } else if offset < shape_at {
        ("name_padding", padding_at, shape_at)
    } else if offset < chunk_shape_at {
        ("shape", shape_at, chunk_shape_at)
    } else {
        ("chunk_shape", chunk_shape_at, end)
    };
    let place = stretch(Region::Directory, name, start, stop)?;
    Some(ByteField { record: Some(dataset), ..place })
}

/// The field of a record at `at` that contains the byte at `offset`.
fn field(
    region: Region,
    record: Option<u64>,
    at: u64,
    fields: &[Field],
    offset: u64,
) -> Option<ByteField> {
    let Field { name, offset, width } = field_at(fields, offset.checked_sub(at)?)?;
    Some(ByteField { region, record, field: name, offset: at.saturating_add(offset), len: width })
}

fn stretch(region: Region, field: &'static str, start: u64, end: u64) -> Option<ByteField> {
    let span = Span::from_range(start..end)?;
    Some(ByteField { region, record: None, field, offset: span.start(), len: span.len() })
}

#[cfg(feature = "std")]
#[cfg(test)]
mod tests;
