//! The rules of the directory, each written once.

use super::record::RawRecord;
use super::{DatasetRecord, Walk, WireRecord, records_at, records_len, records_of, region_end};
use crate::dtype::DType;
use crate::error::{Error, Faults, Result};
use crate::limits::Limits;
use crate::rule::Rule;
use crate::superblock::WireSuperblock;
use crate::{grid, layout, shape, wire};

/// Checks the rules that make a directory readable, and the limits.
///
/// The arguments are those of [`Directory::read`](super::Directory::read).
///
/// # Errors
///
/// A fault, only when `faults` asks to stop.
pub fn check(
    region: &[u8],
    base: u64,
    count: u32,
    limits: &Limits,
    faults: &mut impl Faults,
) -> Result<()> {
    check_each(region, base, count, limits, faults, |_, _| Ok(()))
}

/// As [`check`], and the rules that make each dataset readable ([`check_dataset`]) with them.
///
/// # Errors
///
/// A fault, only when `faults` asks to stop.
pub fn check_all(
    region: &[u8],
    base: u64,
    count: u32,
    limits: &Limits,
    faults: &mut impl Faults,
) -> Result<()> {
    check_each(region, base, count, limits, faults, |record, faults| check_elements(record, faults))
}

/// Checks the rules that affect only one dataset: an unknown dtype, and more elements than 64 bits
/// can count.
///
/// # Errors
///
/// A fault, only when `faults` asks to stop.
pub fn check_dataset(record: &DatasetRecord<'_>, faults: &mut impl Faults) -> Result<()> {
    check_elements(record.raw(), faults)
}

fn check_each<F: Faults>(
    region: &[u8],
    base: u64,
    count: u32,
    limits: &Limits,
    faults: &mut F,
    each: impl Fn(&RawRecord<'_>, &mut F) -> Result<()>,
) -> Result<()> {
    if let Err(fault) = limits.check_directory_len(wire::len_of(region)) {
        faults.fault(fault)?;
    }
    let index_offset = region_end(region, base);
    let stated = records_len(region);
    let wanted = layout::index_offset(stated.unwrap_or(0));
    if stated.is_none() || wanted != Some(index_offset) {
        let at = const { WireSuperblock::offset_of("index_offset") };
        let wanted = wanted.unwrap_or(u64::MAX);
        faults.fault(Error { rule: Rule::IndexOffset, at, found: index_offset, wanted })?;
    }
    let records_len = wire::len_of(records_of(region));
    let needed = u64::from(count).saturating_mul(layout::RECORD_LEN_MIN);
    if needed > records_len {
        // No record is checked: the count itself is wrong.
        let at = const { WireSuperblock::offset_of("dataset_count") };
        let fault = Error { rule: Rule::RecordCount, at, found: records_len, wanted: needed };
        return faults.fault(fault);
    }
    let end = records_at(base).saturating_add(records_len);
    let mut reached = records_at(base);
    for record in Walk::over(region, base, count) {
        match record {
            Ok(record) => {
                reached = record.end();
                check_record(&record, limits, faults)?;
                each(&record, faults)?;
            }
            Err([at, found]) => {
                // The start of the next record is unknown, so the walk ends here.
                let fault = Error { rule: Rule::RecordBounds, at, found, wanted: end };
                return faults.fault(fault);
            }
        }
    }
    if reached != end {
        let found = reached.saturating_sub(records_at(base));
        faults.fault(Error { rule: Rule::RecordsLen, at: base, found, wanted: records_len })?;
    }
    Ok(())
}

fn check_record(record: &RawRecord<'_>, limits: &Limits, faults: &mut impl Faults) -> Result<()> {
    let WireRecord { name_len, rank, .. } = record.header;
    if rank == 0 || rank > layout::RANK_MAX {
        let at = record.at.saturating_add(const { WireRecord::offset_of("rank") });
        let [found, wanted] = [rank, layout::RANK_MAX].map(u64::from);
        faults.fault(Error { rule: Rule::Rank, at, found, wanted })?;
    }
    if u64::from(name_len) > limits.name_len_max {
        let [found, wanted] = [name_len.into(), limits.name_len_max];
        faults.fault(Error { rule: Rule::LimitName, at: record.at, found, wanted })?;
    }
    if let Err(error) = core::str::from_utf8(record.name) {
        let found = wire::len_of(record.name.get(..error.valid_up_to()).unwrap_or(&[]));
        let at = record.name_at().saturating_add(found);
        faults.fault(Error { rule: Rule::NameUtf8, at, found, wanted: name_len.into() })?;
    }
    for (axis, extent) in (0_u64..).zip(record.chunk_shape()) {
        if extent == 0 {
            let at = record.chunk_shape_at().saturating_add(axis.saturating_mul(8));
            faults.fault(Error { rule: Rule::ChunkExtent, at, found: 0, wanted: 1 })?;
        }
    }
    if grid::chunk_count(record.shape().zip(record.chunk_shape())).is_none() {
        let [at, found] = [record.shape_at(), u64::MAX];
        faults.fault(Error { rule: Rule::ChunkCount, at, found, wanted: u64::MAX })?;
    }
    Ok(())
}

fn check_elements(record: &RawRecord<'_>, faults: &mut impl Faults) -> Result<()> {
    let tag = record.header.dtype;
    let Some(dtype) = DType::from_tet_tag(tag) else {
        let at = record.at.saturating_add(const { WireRecord::offset_of("dtype") });
        return faults.fault(Error { rule: Rule::DTypeTag, at, found: tag.into(), wanted: 10 });
    };
    if grid::chunk_count(record.shape().zip(record.chunk_shape())).is_none() {
        // More chunks than 64 bits can count would have too many bytes, too: one fault is enough.
        return Ok(());
    }
    let elements = shape::product(record.shape());
    if elements.zip(dtype.size()).and_then(|(count, size)| count.checked_mul(size)).is_none() {
        let [at, found] = [record.shape_at(), u64::MAX];
        faults.fault(Error { rule: Rule::DatasetLen, at, found, wanted: u64::MAX })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::Directory;
    use crate::testing::{directory, record};
    use std::vec;
    use std::vec::Vec;

    fn faults_of(region: &[u8], count: u32) -> Vec<Error> {
        let mut faults = Vec::new();
        check_all(region, 32, count, &Limits::default(), &mut faults).unwrap();
        faults
    }

    /// A record with one word of its fixed fields replaced.
    fn with_word(mut record: Vec<u8>, at: usize, word: u32) -> Vec<u8> {
        record[at..at + 4].copy_from_slice(&word.to_le_bytes());
        record
    }

    fn with_records_len(mut region: Vec<u8>, len: u64) -> Vec<u8> {
        region[..8].copy_from_slice(&len.to_le_bytes());
        region
    }

    /// A record of any rank, even an invalid one.
    fn with_rank(rank: u64) -> Vec<u8> {
        let extents: Vec<u64> = vec![1; usize::try_from(rank).unwrap()];
        record("a", 1, &extents, &extents)
    }

    #[test]
    fn each_rule_breaks_alone() {
        let one = record("a", 1, &[4], &[2]);
        let big = 1 << 32;
        let bad_name = {
            let mut bad = record("abc", 1, &[4], &[2]);
            bad[17] = 0xff;
            bad
        };
        let two = directory(&[one.clone(), one.clone()]);
        let cases = [
            (
                "past the records",
                [directory(core::slice::from_ref(&one)), vec![0; 8]].concat(),
                1,
                Rule::IndexOffset,
                16,
            ),
            ("no room for a length", vec![0; 7], 0, Rule::IndexOffset, 16),
            ("huge length", with_records_len(two.clone(), u64::MAX), 2, Rule::IndexOffset, 16),
            ("one record too many", two.clone(), 3, Rule::RecordCount, 8),
            ("as many as there can be", two.clone(), u32::MAX, Rule::RecordCount, 8),
            (
                "name past the end",
                directory(&[with_word(one.clone(), 0, 9)]),
                1,
                Rule::RecordBounds,
                40,
            ),
            ("one record too few", two, 1, Rule::RecordsLen, 32),
            ("rank 0", directory(&[record("sixteen bytes...", 1, &[], &[])]), 1, Rule::Rank, 48),
            ("rank 9", directory(&[with_rank(9)]), 1, Rule::Rank, 48),
            ("not UTF-8", directory(&[bad_name]), 1, Rule::NameUtf8, 40 + 17),
            (
                "chunk of nothing",
                directory(&[record("a", 1, &[4, 4], &[2, 0])]),
                1,
                Rule::ChunkExtent,
                40 + 16 + 8 + 24,
            ),
            (
                "too many chunks",
                directory(&[record("a", 5, &[big, big], &[1, 1])]),
                1,
                Rule::ChunkCount,
                40 + 24,
            ),
            (
                "too many bytes",
                directory(&[record("a", 1, &[big, big / 4], &[big, big])]),
                1,
                Rule::DatasetLen,
                40 + 24,
            ),
            ("dtype 0", directory(&[record("a", 0, &[4], &[2])]), 1, Rule::DTypeTag, 44),
            ("dtype 11", directory(&[record("a", 11, &[4], &[2])]), 1, Rule::DTypeTag, 44),
        ];
        for (claim, region, count, rule, at) in cases {
            let faults = faults_of(&region, count);
            assert_eq!(faults.len(), 1, "{claim}: {faults:?}");
            assert_eq!((faults[0].rule, faults[0].at), (rule, at), "{claim}");
        }
    }

    #[test]
    fn one_byte_away_each_rule_holds() {
        let big = 1 << 32;
        let near = [
            record("a", 1, &[4], &[2]),
            record("ab\u{00ff}", 1, &[4], &[2]),
            with_rank(1),
            with_rank(8),
            record("a", 1, &[4, 4], &[2, 1]),
            record("a", 5, &[big, big - 1], &[1, 1]),
            record("a", 1, &[big, big / 4 - 1], &[big, big]),
            record("a", 10, &[4], &[2]),
            record("a", 5, &[big, big, 0], &[1, 1, 1]),
        ];
        for record in &near {
            assert_eq!(faults_of(&directory(core::slice::from_ref(record)), 1), [], "{record:?}");
        }
        let count = u32::try_from(near.len()).unwrap();
        assert_eq!(faults_of(&directory(&near), count), []);
        assert_eq!(faults_of(&[0; 8], 0), []);
    }

    #[test]
    fn limits_bound_names_and_the_directory() {
        let region = directory(&[record("abc", 1, &[4], &[2])]);
        let limits = Limits::default();
        let read = |limits: Limits| Directory::read(&region, 32, 1, &limits).map(|_| ());
        assert_eq!(read(Limits { name_len_max: 3, ..limits }), Ok(()));
        let fault = read(Limits { name_len_max: 2, ..limits }).unwrap_err();
        assert_eq!(fault, Error { rule: Rule::LimitName, at: 40, found: 3, wanted: 2 });
        let len = region.len() as u64;
        assert_eq!(read(Limits { directory_len_max: len, ..limits }), Ok(()));
        let fault = read(Limits { directory_len_max: len - 1, ..limits }).unwrap_err();
        assert_eq!(fault.rule, Rule::LimitDirectory);
    }

    #[test]
    fn a_dataset_that_cannot_be_read_leaves_the_directory_readable() {
        let big = 1 << 32;
        let region = directory(&[
            record("a", 77, &[4], &[2]),
            record("b", 1, &[big, big], &[big, big]),
            record("c", 1, &[4], &[2]),
        ]);
        let directory = Directory::read(&region, 32, 3, &Limits::default()).unwrap();
        let rules: Vec<Vec<Rule>> = directory
            .iter()
            .map(|record| {
                let mut faults = Vec::new();
                check_dataset(&record, &mut faults).unwrap();
                faults.iter().map(|fault| fault.rule).collect()
            })
            .collect();
        assert_eq!(rules, [vec![Rule::DTypeTag], vec![Rule::DatasetLen], vec![]]);
    }

    #[test]
    fn every_prefix_is_refused() {
        let region = directory(&[record("ab", 1, &[4], &[2]), record("c", 2, &[1], &[1])]);
        for len in 0..region.len() {
            assert!(Directory::read(&region[..len], 32, 2, &Limits::default()).is_err(), "{len}");
        }
    }

    /// Stated lengths allocate nothing.
    #[test]
    fn h1_counts_are_bounded_by_bytes() {
        let bytes = [0xff; 4096];
        for count in [1, 2, 127, u32::MAX] {
            assert!(!faults_of(&bytes, count).is_empty());
        }
    }
}
