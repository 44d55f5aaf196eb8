//! The directory: the list of datasets (format section 3).
//!
//! The region between the superblock and the index. Its records vary in length, so they are read in
//! order; names and extents are borrowed from the bytes of the file.

mod check;
mod notes;
mod record;

pub use check::{check, check_all, check_dataset};
pub use notes::{is_path_like, is_unprintable, notes};
pub use record::{DatasetRecord, Extents};

use crate::error::{Result, Strict};
use crate::layout;
use crate::limits::Limits;
pub use crate::records::{WireDirectory, WireRecord};
use crate::wire;
pub(crate) use record::RawRecord;
use record::split_record;

/// The length of the header of the directory.
pub const HEADER_LEN: u64 = WireDirectory::LEN as u64;

/// The length of a record's fixed fields.
pub const RECORD_HEADER_LEN: u64 = WireRecord::LEN as u64;

/// A valid directory.
#[derive(Clone, Copy, Debug)]
pub struct Directory<'a> {
    records: &'a [u8],
    records_at: u64,
    count: u32,
}

impl<'a> Directory<'a> {
    /// Reads the directory.
    ///
    /// `region` contains the bytes from the end of the superblock to the index, `base` is its file
    /// offset (32), and `count` is the superblock's `dataset_count`. Unknown dtypes are not refused
    /// here: see [`check_dataset`].
    ///
    /// # Errors
    ///
    /// The first rule of section 3 that the directory breaks, or a limit.
    pub fn read(region: &'a [u8], base: u64, count: u32, limits: &Limits) -> Result<Directory<'a>> {
        check(region, base, count, limits, &mut Strict)?;
        Ok(Directory { records: records_of(region), records_at: records_at(base), count })
    }

    /// A directory without datasets.
    #[must_use]
    pub const fn empty() -> Directory<'a> {
        Directory { records: &[], records_at: layout::RECORDS_OFFSET, count: 0 }
    }

    /// The number of datasets.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.count
    }

    /// Whether there is no dataset.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The datasets, in the order of their ids.
    #[must_use]
    pub fn iter(&self) -> Records<'a> {
        Records { walk: Walk::new(self.records, self.records_at, self.count) }
    }
}

impl<'a> IntoIterator for &Directory<'a> {
    type Item = DatasetRecord<'a>;
    type IntoIter = Records<'a>;
    fn into_iter(self) -> Records<'a> {
        self.iter()
    }
}

/// The datasets of a directory, in the order of their ids.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    walk: Walk<'a>,
}

impl<'a> Iterator for Records<'a> {
    type Item = DatasetRecord<'a>;

    fn next(&mut self) -> Option<DatasetRecord<'a>> {
        // `Directory::read` has walked these bytes before: every record and name is valid.
        DatasetRecord::new(self.walk.next()?.ok()?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.walk.left).unwrap_or(usize::MAX);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Records<'_> {}

/// Records one after the other, from bytes that may be damaged.
#[derive(Clone, Debug)]
pub(crate) struct Walk<'a> {
    rest: &'a [u8],
    at: u64,
    left: u32,
}

impl<'a> Walk<'a> {
    fn new(records: &'a [u8], at: u64, count: u32) -> Walk<'a> {
        Walk { rest: records, at, left: count }
    }

    /// The walk over the records of a directory region.
    pub(crate) fn over(region: &'a [u8], base: u64, count: u32) -> Walk<'a> {
        Walk::new(records_of(region), records_at(base), count)
    }
}

impl<'a> Iterator for Walk<'a> {
    /// A record, or the start and end of one that does not fit; nothing follows that.
    type Item = Result<RawRecord<'a>, [u64; 2]>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        match split_record(self.rest, self.at) {
            Ok((record, rest)) => {
                self.rest = rest;
                self.at = record.end();
                Some(Ok(record))
            }
            Err(end) => {
                self.left = 0;
                Some(Err([self.at, end]))
            }
        }
    }
}

/// The stated length of the records; `None` when the region is too short to state it.
fn records_len(region: &[u8]) -> Option<u64> {
    region.first_chunk().map(|bytes| WireDirectory::decode(bytes).records_len)
}

/// The available bytes of the records.
fn records_of(region: &[u8]) -> &[u8] {
    let rest = region.get(WireDirectory::LEN..).unwrap_or(&[]);
    let stated = records_len(region).map_or(0, |len| usize::try_from(len).unwrap_or(usize::MAX));
    rest.get(..stated).unwrap_or(rest)
}

fn records_at(base: u64) -> u64 {
    base.saturating_add(HEADER_LEN)
}

/// One past the last byte of the region.
fn region_end(region: &[u8], base: u64) -> u64 {
    base.saturating_add(wire::len_of(region))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;
    use crate::shape::Shape;
    use crate::testing::{directory, record};
    use std::string::ToString;
    use std::vec::Vec;

    #[test]
    fn records_lend_what_they_say() {
        let region = directory(&[
            record("temperature", 1, &[4, 6], &[2, 4]),
            record("", 99, &[7], &[u64::MAX]),
            record("12345678", 10, &[1; 8], &[1; 8]),
        ]);
        let limits = Limits::default();
        let directory = Directory::read(&region, 32, 3, &limits).unwrap();
        assert_eq!((directory.len(), directory.iter().len()), (3, 3));
        let records: Vec<_> = directory.iter().collect();
        assert_eq!(records[0].name(), "temperature");
        assert_eq!(records[0].dtype(), Some(DType::Float32));
        assert_eq!(records[0].rank(), 2);
        assert_eq!(records[0].shape(), Shape::from([4, 6]));
        assert_eq!(records[0].chunk_shape(), Shape::from([2, 4]));
        assert_eq!(records[0].grid().unwrap().chunk_count(), 4);
        assert_eq!(records[0].at(), 40);
        assert_eq!((records[1].name(), records[1].dtype_tag(), records[1].dtype()), ("", 99, None));
        assert_eq!(records[1].at(), 40 + 16 + 16 + 32);
        assert_eq!(records[2].shape().to_string(), "(1, 1, 1, 1, 1, 1, 1, 1)");
    }

    #[test]
    fn an_empty_directory_has_no_records() {
        assert_eq!(Directory::empty().iter().count(), 0);
        assert!(Directory::empty().is_empty());
    }
}
