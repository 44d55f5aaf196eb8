//! Payloads that stay where they are when a file grows.

use std::collections::BTreeMap;
use std::path::Path;

use tet_format::Span;
use tet_io::{Overwrite, Progress, Source};

use super::super::*;
use super::{options, plan, write_all};
use crate::write::{CodecChoice, WriteOptions};
use crate::{DigestChoice, TetFile};

/// The elements of a region, which tell their places whatever the shape is.
fn cells(start: &[u64], extents: &[u64]) -> Vec<u8> {
    let rows = start[0]..start[0] + extents[0];
    let columns = start[1]..start[1] + extents[1];
    let cells = rows.flat_map(|row| columns.clone().map(move |column| row * 256 + column));
    cells.flat_map(|cell| u16::try_from(cell).unwrap().to_le_bytes()).collect()
}

/// Writes a file of such elements.
fn begun(plan: &FilePlan, target: &Path, options: &WriteOptions) -> TetFile {
    let folder = target.parent().unwrap();
    let writer = RegionWriter::scratch(folder, plan, None, RegionOptions::default()).unwrap();
    let shape = plan.datasets()[0].grid().shape().to_vec();
    let bytes = cells(&[0, 0], &shape);
    writer.write(0, &[0, 0], &shape, &bytes, &Progress::default()).unwrap();
    write_all(&writer, 1, &[5]);
    let parts = [writer.to_part().unwrap()];
    publish(plan, &parts, None, target, options, &[], &Progress::default()).unwrap();
    TetFile::open(Source::open(target).unwrap(), &Default::default()).unwrap()
}

/// Appends rows to a file in its place, and returns it.
fn appended(target: &Path, axis: usize, by: u64, more: &WriteOptions) -> TetFile {
    let file = TetFile::open(Source::open(target).unwrap(), &Default::default()).unwrap();
    let base = BaseFile::new(&file).unwrap();
    let codec = CodecChoice::Zstd { level: 3 };
    let grown = FilePlan::grown(&file, &[(0, axis, by)], file.metadata().clone(), codec).unwrap();
    let folder = target.parent().unwrap();
    let regions = RegionOptions::default();
    let writer = RegionWriter::scratch(folder, &grown, Some(base.clone()), regions).unwrap();
    let old = file.datasets()[0].grid.shape().to_vec();
    let (mut start, mut extents) = (vec![0; old.len()], old.clone());
    (start[axis], extents[axis]) = (old[axis], by);
    let bytes = cells(&start, &extents);
    writer.write(0, &start, &extents, &bytes, &Progress::default()).unwrap();
    let overwrite = Overwrite::Edit(file.source().stamp().unwrap());
    let options = WriteOptions { overwrite, ..more.clone() };
    let parts = [writer.to_part().unwrap()];
    publish(&grown, &parts, Some(&base), target, &options, &[], &Progress::default()).unwrap();
    TetFile::open(Source::open(target).unwrap(), &Default::default()).unwrap()
}

/// The place of each chunk of the first dataset.
fn places(file: &TetFile) -> BTreeMap<Vec<u64>, Span> {
    let rows = BaseFile::new(file).unwrap().rows(0).unwrap();
    let rank = file.datasets()[0].grid.rank();
    rows.iter().map(|(row, _)| (row.coord[..rank].to_vec(), row.payload().unwrap())).collect()
}

/// The bytes between index and payloads' end that belong to no payload.
fn unused(file: &TetFile) -> Vec<Span> {
    let mut used = crate::edit::payload_spans(file.index()).unwrap();
    let end = used.iter().map(|span| span.end()).max().unwrap();
    let within = Span::from_range(file.index_end()..end).unwrap();
    crate::edit::unused_spans(file.source(), &mut used, within).unwrap()
}

#[test]
fn payloads_stay_where_there_is_room_for_the_longer_index() {
    use DigestChoice::{Left, Written};
    for (codec, before, digests) in [
        ("raw", Written, Written),
        ("zstd", Written, Written),
        ("raw", Left, Left),
        ("zstd", Left, Written),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.tet");
        let options = WriteOptions { digests: before, reserved_rows: 40, ..options() };
        // Chunks are clipped along both axes.
        let mut before = begun(&plan(&[70, 90], &[10, 40], codec, ""), &target, &options);
        for (axis, by) in [(0, 10), (0, 13), (0, 9), (1, 70), (0, 1)] {
            let after = appended(&target, axis, by, &WriteOptions { digests, ..super::options() });
            let [old_grid, grid] = [&before, &after].map(|file| file.datasets()[0].grid.clone());
            let (old, new) = (places(&before), places(&after));
            let mut kept_count = 0;
            for (coord, place) in &new {
                let (mut origin, extents) = (vec![0; 2], grid.extents_of(coord));
                grid.origin(coord, &mut origin);
                let found = BaseFile::new(&after).unwrap().elements(0, coord).unwrap();
                assert_eq!(found, cells(&origin, &extents), "{codec} {axis} {by} {coord:?}");
                if let Some(was) = old.get(coord).filter(|_| old_grid.extents_of(coord) == extents)
                {
                    assert_eq!(place, was, "{codec} {axis} {by} {coord:?}");
                    kept_count += 1;
                }
            }
            assert!(14 <= kept_count, "{kept_count} chunks stay");
            assert_eq!(unused(&after), [], "{codec} {axis} {by}");
            before = after;
        }
    }
}

#[test]
fn a_longer_index_moves_only_the_payloads_that_it_covers() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x.tet");
    let before = places(&begun(&plan(&[200, 50], &[10, 50], "raw", ""), &target, &options()));
    let after = appended(&target, 0, 10, &options());
    let moved = |after: &BTreeMap<Vec<u64>, Span>, before: &BTreeMap<Vec<u64>, Span>| {
        before
            .iter()
            .filter(|(coord, span)| after[*coord] != **span)
            .map(|(coord, _)| coord[0])
            .collect::<Vec<_>>()
    };
    assert_eq!(moved(&places(&after), &before), [0]);
    // The room that it left is enough for further rows.
    let later = appended(&target, 0, 10, &options());
    assert_eq!(moved(&places(&later), &places(&after)), [0; 0]);
    assert_eq!(unused(&later), []);
}

#[test]
fn a_file_of_which_much_would_be_unused_is_packed() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x.tet");
    // Each append completes one more row of the only chunks, which are written anew then.
    begun(&plan(&[4, 200], &[500, 50], "raw", ""), &target, &options());
    for _ in 0..20 {
        let file = appended(&target, 0, 1, &options());
        let spans = crate::edit::payload_spans(file.index()).unwrap();
        let used_len: u64 = spans.iter().map(|span| span.len()).sum();
        let unused_len = spans.last().unwrap().end() - file.index_end() - used_len;
        assert!(unused_len <= file.file_len() / 8, "{unused_len} of {}", file.file_len());
        assert_eq!(unused(&file), []);
    }
}
