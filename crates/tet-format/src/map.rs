//! What any byte of a file is: byte -> region, record, field.
//!
//! Works on damaged files too: what cannot be told apart is given as one stretch of its region.
//! The names are those of the record tables.

use crate::directory::{RECORD_HEADER_LEN, RawRecord, Walk, WireDirectory, WireRecord};
use crate::footer::{TAIL_LEN, WireTail};
use crate::index::{ChunkIndex, HEADER_LEN, IndexHeader, IndexRow, ROW_LEN};
use crate::layout;
use crate::span::Span;
use crate::superblock::{self, FLAG_FOOTER, WireSuperblock};
use crate::wire::{self, Field, field_at};

pub use crate::region::Region;

/// What a byte of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The region.
    pub region: Region,
    /// The dataset in the directory, the row in the index, or the row that a payload belongs to.
    pub record: Option<u64>,
    /// The field, or what the stretch is.
    pub field: &'static str,
    /// Where the field starts in the file.
    pub offset: u64,
    /// How many bytes it takes.
    pub len: u64,
}

/// Says what the byte at `offset` of a file is; `None` at or past its end.
#[must_use]
pub fn locate(file: &[u8], offset: u64) -> Option<Place> {
    Map::new(file, file, wire::len_of(file)).locate(offset)
}

/// The map of a file of which only its ends are in memory.
#[derive(Clone, Copy, Debug)]
pub struct Map<'a> {
    head: &'a [u8],
    file_len: u64,
    dataset_count: u32,
    index: Span,
    tail: Option<WireTail>,
}

impl<'a> Map<'a> {
    /// The map of a file of `file_len` bytes.
    ///
    /// `head` are its first bytes: those up to the end of the directory name its records, those
    /// up to the end of the index tell payloads from gaps. `tail` are its last bytes, 16 or more.
    #[must_use]
    pub fn new(head: &'a [u8], tail: &[u8], file_len: u64) -> Map<'a> {
        let superblock = head.first_chunk().map(WireSuperblock::decode);
        let wire = superblock.filter(|wire| wire.dataset_count != 0);
        // Wherever a damaged superblock points, the index lies between it and the file's end.
        let index_start = wire.map_or(superblock::LEN, |wire| wire.index_offset);
        let index_start = index_start.max(superblock::LEN).min(file_len);
        let index_len = wire.map_or(0, |wire| wire.index_len);
        let index_end = index_start.saturating_add(index_len).min(file_len);
        let index = Span::from_range(index_start..index_end).unwrap_or(WHOLE);
        let has_footer = superblock.is_some_and(|wire| wire.flags & FLAG_FOOTER != 0);
        let room = file_len.saturating_sub(index_end) >= TAIL_LEN;
        let tail = tail.last_chunk().map(WireTail::decode).filter(|_| has_footer && room);
        let dataset_count = wire.map_or(0, |wire| wire.dataset_count);
        Map { head, file_len, dataset_count, index, tail }
    }

    /// Says what the byte at `offset` is; `None` at or past the file's end.
    #[must_use]
    pub fn locate(&self, offset: u64) -> Option<Place> {
        if offset >= self.file_len {
            return None;
        }
        let place = if offset < superblock::LEN {
            field(Region::Superblock, None, 0, WireSuperblock::FIELDS, offset)
        } else if offset < self.index.start() {
            self.in_directory(offset)
        } else if offset < self.index.end() {
            self.in_index(offset)
        } else {
            self.after_index(offset)
        };
        let mut place = place?;
        // A file may end inside a field.
        let end = place.offset.saturating_add(place.len).min(self.file_len);
        place.len = end.saturating_sub(place.offset);
        Some(place)
    }

    fn in_directory(&self, offset: u64) -> Option<Place> {
        let region = self.head_bytes(superblock::LEN, self.index.start());
        if offset < layout::RECORDS_OFFSET {
            let fields = WireDirectory::FIELDS;
            return field(Region::Directory, None, superblock::LEN, fields, offset);
        }
        let mut reach = layout::RECORDS_OFFSET;
        let records = Walk::over(region, superblock::LEN, self.dataset_count);
        for (dataset, record) in (0..).zip(records.map_while(Result::ok)) {
            reach = record.end();
            if offset < reach {
                return in_record(&record, dataset, offset);
            }
        }
        let stated = region.first_chunk().map(|bytes| WireDirectory::decode(bytes).records_len);
        let records_end = layout::RECORDS_OFFSET
            .saturating_add(stated.unwrap_or(0))
            .clamp(reach, self.index.start().max(reach));
        if offset < records_end {
            stretch(Region::Directory, "records", reach, records_end)
        } else {
            stretch(Region::Padding, "padding", records_end, self.index.start())
        }
    }

    fn in_index(&self, offset: u64) -> Option<Place> {
        let base = self.index.start();
        let within = offset.saturating_sub(base);
        let Some(rows) = within.checked_sub(HEADER_LEN) else {
            return field(Region::Index, None, base, IndexHeader::FIELDS, offset);
        };
        let row = rows / ROW_LEN;
        let row_at = layout::row_at(base, row);
        field(Region::Index, Some(row), row_at, IndexRow::FIELDS, offset)
    }

    fn after_index(&self, offset: u64) -> Option<Place> {
        let mut end = self.file_len;
        if let Some(tail) = self.tail {
            let tail_at = self.file_len.saturating_sub(TAIL_LEN);
            if tail_at <= offset {
                return field(Region::Footer, None, tail_at, WireTail::FIELDS, offset);
            }
            let json_at = layout::json_offset(self.file_len, tail.json_len);
            let json_at = json_at.filter(|&at| self.index.end() <= at).unwrap_or(tail_at);
            if json_at <= offset {
                return stretch(Region::Footer, "json", json_at, tail_at);
            }
            end = json_at;
        }
        self.payload_or_gap(offset, end)
    }

    /// Looks through the rows, if they are in memory, for the payload that holds the byte.
    fn payload_or_gap(&self, offset: u64, end: u64) -> Option<Place> {
        let region = self.head_bytes(self.index.start(), self.index.end());
        let whole = wire::len_of(region) == self.index.len();
        let rows = ChunkIndex::read(region, self.index.start());
        let (true, Ok(index)) = (whole, rows) else {
            return stretch(Region::Payload, "payloads", self.index.end(), end);
        };
        let mut gap = self.index.end()..end;
        for (number, row) in (0..).zip(index.rows()) {
            let Some(span) = row.payload() else { continue };
            if span.contains_byte(offset) {
                let place = stretch(Region::Payload, "stored", span.start(), span.end())?;
                return Some(Place { record: Some(number), ..place });
            }
            if span.end() <= offset {
                gap.start = gap.start.max(span.end());
            } else {
                gap.end = gap.end.min(span.start());
            }
        }
        stretch(Region::Gap, "unused", gap.start, gap.end)
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

fn in_record(record: &RawRecord<'_>, dataset: u64, offset: u64) -> Option<Place> {
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
    Some(Place { record: Some(dataset), ..place })
}

/// The field of a record at `at` that holds the byte at `offset`.
fn field(
    region: Region,
    record: Option<u64>,
    at: u64,
    fields: &[Field],
    offset: u64,
) -> Option<Place> {
    let Field { name, offset, width } = field_at(fields, offset.checked_sub(at)?)?;
    Some(Place { region, record, field: name, offset: at.saturating_add(offset), len: width })
}

fn stretch(region: Region, field: &'static str, start: u64, end: u64) -> Option<Place> {
    let span = Span::from_range(start..end)?;
    Some(Place { region, record: None, field, offset: span.start(), len: span.len() })
}

#[cfg(feature = "std")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Codec;
    use crate::dtype::DType;
    use crate::write::{DatasetSpec, Declaration, FileWriter, FooterParts};
    use std::io::Cursor;
    use std::vec;
    use std::vec::Vec;

    /// 3 x 2 uint8 in two chunks, with a footer: payloads at 384..388 and 388..390.
    fn file() -> Vec<u8> {
        let spec = DatasetSpec::new("ab", DType::UInt8, [3, 2], [2, 2]);
        let layout = Declaration::new([spec]).layout().unwrap();
        assert_eq!((layout.index_offset(), layout.index_end()), (96, 336));
        let mut writer = FileWriter::new(Cursor::new(vec![]), layout).unwrap();
        writer.push(Codec::Raw, 4, &[1; 4]).unwrap();
        writer.push(Codec::Raw, 2, &[2; 2]).unwrap();
        let parts = FooterParts { block: b"blk", spill: &[], json: b"{\"a\":1}", version: 1 };
        writer.finish(Some(parts)).unwrap().into_inner()
    }

    #[test]
    fn every_field_of_a_file_is_named() {
        let file = file();
        let cases = [
            (0, Region::Superblock, None, "magic", 0, 4),
            (31, Region::Superblock, None, "index_len", 24, 8),
            (32, Region::Directory, None, "records_len", 32, 8),
            (44, Region::Directory, Some(0), "dtype", 44, 4),
            (56, Region::Directory, Some(0), "name", 56, 2),
            (58, Region::Directory, Some(0), "name_padding", 58, 6),
            (70, Region::Directory, Some(0), "shape", 64, 16),
            (80, Region::Directory, Some(0), "chunk_shape", 80, 16),
            (96, Region::Index, None, "magic", 96, 4),
            (104, Region::Index, None, "row_count", 104, 8),
            (128, Region::Index, Some(0), "dataset_id", 128, 8),
            (335, Region::Index, Some(1), "reserved", 332, 4),
            (336, Region::Gap, None, "unused", 336, 48),
            (384, Region::Payload, Some(0), "stored", 384, 4),
            (389, Region::Payload, Some(1), "stored", 388, 2),
            (390, Region::Gap, None, "unused", 390, 3),
            (393, Region::Footer, None, "json", 393, 7),
            (400, Region::Footer, None, "json_len", 400, 8),
            (415, Region::Footer, None, "magic", 412, 4),
        ];
        for (at, region, record, field, offset, len) in cases {
            let wanted = Place { region, record, field, offset, len };
            assert_eq!(locate(&file, at), Some(wanted), "byte {at}");
        }
        assert_eq!(locate(&file, 416), None);
    }

    /// Every byte has a place that holds it, and places follow each other to the end, however the
    /// file is damaged: every byte set to 0, 1 and 255, and the file cut at every length.
    #[test]
    fn places_tile_any_file() {
        let file = file();
        check_tiling(&file);
        for at in 0..file.len() {
            for value in [0, 1, 0xff] {
                let mut damaged = file.clone();
                damaged[at] = value;
                check_tiling(&damaged);
            }
            check_tiling(&file[..at]);
        }
    }

    fn check_tiling(file: &[u8]) {
        let mut reach = 0;
        for at in 0..file.len() as u64 {
            let place = locate(file, at).unwrap();
            let end = place.offset + place.len;
            assert!(place.offset <= at && at < end, "byte {at} is in {place:?}");
            if at == reach {
                reach = end.min(file.len() as u64);
            }
        }
        assert_eq!(reach, file.len() as u64);
        assert_eq!(locate(file, reach), None);
    }

    #[test]
    fn the_ends_are_enough_for_the_structure() {
        let file = file();
        let map = Map::new(&file[..96], &file[400..], 416);
        assert_eq!(map.locate(60), locate(&file, 60));
        assert_eq!(map.locate(300), locate(&file, 300));
        assert_eq!(map.locate(395), locate(&file, 395));
        let payload = map.locate(385).unwrap();
        assert_eq!((payload.region, payload.offset, payload.len), (Region::Payload, 336, 57));
    }

    /// Without datasets the JSON, and without JSON the tail, may start where the superblock ends.
    #[test]
    fn a_footer_may_follow_the_superblock() {
        for (json, field) in [(&b"{}"[..], "json"), (b"", "json_len")] {
            let layout = Declaration::default().layout().unwrap();
            let writer = FileWriter::new(Cursor::new(vec![]), layout).unwrap();
            let parts = FooterParts { block: &[], spill: &[], json, version: 1 };
            let file = writer.finish(Some(parts)).unwrap().into_inner();
            let place = locate(&file, 32).unwrap();
            assert_eq!((place.region, place.field), (Region::Footer, field));
        }
    }
}
