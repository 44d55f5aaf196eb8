//! All places of a file in order, from its start and end alone.

use super::{ByteField, Map, field, in_record};
use crate::directory::{RECORD_HEADER_LEN, RawRecord, Walk, WireDirectory, WireRecord};
use crate::layout;
use crate::region::Region;
use crate::superblock;

/// The places of a file, each starting where the one before ends.
#[derive(Clone, Debug)]
pub struct Places<'a> {
    map: Map<'a>,
    records: Records<'a>,
    at: u64,
}

impl<'a> Places<'a> {
    pub(super) fn new(map: Map<'a>) -> Places<'a> {
        Places { map, records: Records::new(&map), at: 0 }
    }

    /// Continues at the place of the byte at `offset`, never backwards.
    pub fn skip_to(&mut self, offset: u64) {
        self.at = self.at.max(offset);
    }
}

impl Iterator for Places<'_> {
    type Item = ByteField;

    fn next(&mut self) -> Option<ByteField> {
        let place = self.map.locate_from(&mut self.records, self.at)?;
        self.at = place.end();
        Some(place)
    }
}

/// The records of a directory, walked once from the first to the last.
#[derive(Clone, Debug)]
pub(super) struct Records<'a> {
    walk: Walk<'a>,
    /// The number of the next record.
    next: u64,
    current: Option<RawRecord<'a>>,
    /// The offset of a record that does not end inside the directory.
    cut_at: Option<u64>,
    reach: u64,
    stated_end: u64,
}

impl<'a> Records<'a> {
    pub(super) fn new(map: &Map<'a>) -> Records<'a> {
        let region = map.head_bytes(superblock::LEN, map.index.start());
        let stated = region.first_chunk().map(|bytes| WireDirectory::decode(bytes).records_len);
        let stated_end = layout::RECORDS_OFFSET.saturating_add(stated.unwrap_or(0));
        Records {
            walk: Walk::over(region, superblock::LEN, map.dataset_count),
            next: 0,
            current: None,
            cut_at: None,
            reach: layout::RECORDS_OFFSET,
            stated_end: stated_end.min(map.index.start().max(layout::RECORDS_OFFSET)),
        }
    }

    /// The place in a record that contains the byte at `offset`, if any. Offsets must ascend.
    pub(super) fn locate(&mut self, offset: u64) -> Option<ByteField> {
        while self.reach <= offset {
            self.current = None;
            match self.walk.next()? {
                Ok(record) => {
                    self.reach = record.end();
                    self.current = Some(record);
                }
                Err([at, _]) => self.cut(at)?,
            }
            self.next = self.next.saturating_add(1);
        }
        let dataset = self.next.checked_sub(1)?;
        match (&self.current, self.cut_at) {
            (Some(record), _) => in_record(record, dataset, offset),
            (None, Some(at)) => {
                field(Region::Directory, Some(dataset), at, WireRecord::FIELDS, offset)
            }
            (None, None) => None,
        }
    }

    /// The fixed fields of a truncated record can be mapped if they are complete.
    fn cut(&mut self, at: u64) -> Option<()> {
        let end = at.checked_add(RECORD_HEADER_LEN).filter(|&end| end <= self.stated_end)?;
        self.reach = end;
        self.cut_at = Some(at);
        Some(())
    }

    /// The end of the mapped records.
    pub(super) fn reach(&self) -> u64 {
        self.reach
    }

    /// The end of the records according to the directory.
    pub(super) fn end(&self) -> u64 {
        self.stated_end.max(self.reach)
    }
}
