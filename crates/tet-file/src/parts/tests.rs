//! Files in parts are those that the writer of whole files makes.

mod ahead;
mod staying;

use std::path::Path;

use proptest::prelude::*;
use tet_format::Grid;
use tet_io::{Overwrite, Progress, Source};

use super::*;
use crate::metadata::HistoryRow;
use crate::write::{CodecChoice, WriteOptions, Writer, ZeroExtents};
use crate::{Error, TetFile};

/// Two datasets of two bytes an element; the second is small.
fn plan(shape: &[u64], chunks: &[u64], codec: &str, fill: &str) -> FilePlan {
    let text = format!(
        r#"{{"tet_plan": 1, "codec": "{codec}", "attrs": {{"title": "parts", "n": [1, 2]}}, "datasets": [
            {{"name": "a", "dtype": "uint16", "shape": {shape:?}, "chunks": {chunks:?}{fill}}},
            {{"name": "b", "dtype": "uint16", "shape": [5], "chunks": [2], "dims": ["x"], "attrs": {{"units": "K"}}}}]}}"#
    );
    FilePlan::from_json(&text).unwrap()
}

/// The elements of a region of a dataset whose elements count up.
fn region(shape: &[u64], start: &[u64], extents: &[u64]) -> Vec<u8> {
    let mut out = Vec::new();
    let zeros = vec![0; shape.len()];
    let [from, to] =
        [region::MemoryBox { shape, start }, region::MemoryBox { shape: extents, start: &zeros }];
    region::for_runs(extents, from, to, |from, _, count| {
        let numbers = (from..from + count).map(|nth| u16::try_from(nth % 60_000).unwrap());
        numbers.for_each(|number| out.extend(number.to_le_bytes()));
    });
    out
}

fn write_all(writer: &RegionWriter, id: usize, shape: &[u64]) {
    let start = vec![0; shape.len()];
    let bytes = region(shape, &start, shape);
    writer.write(id, &start, shape, &bytes, &Progress::default()).unwrap();
}

fn options() -> WriteOptions {
    WriteOptions {
        overwrite: Overwrite::Replace,
        sync: tet_io::publish::Sync::None,
        ..WriteOptions::default()
    }
}

fn published(
    plan: &FilePlan,
    parts: &[FilePart],
    base: Option<&BaseFile>,
    target: &Path,
) -> crate::Result<Vec<u8>> {
    publish(plan, parts, base, target, &options(), &[], &Progress::default())?;
    Ok(std::fs::read(target).unwrap())
}

/// The file by the writer that is asked for chunk after chunk.
fn streamed(plan: &FilePlan, target: &Path) -> Vec<u8> {
    let options =
        WriteOptions { encoder: plan.codec(), zero_extents: ZeroExtents::Allow, ..options() };
    let specs = plan.datasets().iter().map(|it| it.spec().clone()).collect();
    let mut writer = Writer::create(target, specs, &options).unwrap();
    for (id, planned) in plan.datasets().iter().enumerate() {
        let grid = planned.grid().clone();
        let mut fill = |chunk: crate::write::ChunkAt<'_>, out: &mut Vec<u8>| {
            let mut origin = vec![0; grid.rank()];
            grid.origin(chunk.coord, &mut origin);
            out.extend(region(grid.shape(), &origin, chunk.extents));
            Ok(())
        };
        writer.write_dataset(id, &mut fill, &Progress::default()).unwrap();
    }
    writer.finish(plan.metadata(), &[]).unwrap();
    std::fs::read(target).unwrap()
}

/// Boxes that together are the whole shape, cut at these positions of each axis, in the order of `seed`.
fn boxes(shape: &[u64], cuts: &[u64], seed: u64) -> Vec<(Vec<u64>, Vec<u64>)> {
    let edges: Vec<Vec<u64>> = shape
        .iter()
        .map(|&extent| {
            let mut edges: Vec<u64> = cuts.iter().map(|cut| cut % (extent + 1)).collect();
            edges.extend([0, extent]);
            edges.sort_unstable();
            edges.dedup();
            edges
        })
        .collect();
    let counts: Vec<u64> = edges.iter().map(|it| it.len() as u64 - 1).collect();
    let grid = Grid::new(counts.clone().into(), vec![1; counts.len()].into()).unwrap();
    let mut boxes: Vec<_> = (0..grid.chunk_count())
        .map(|nth| {
            let coord = grid.coord_of(nth);
            let at =
                |axis: usize, more: u64| edges[axis][usize::try_from(coord[axis] + more).unwrap()];
            let start: Vec<u64> = (0..shape.len()).map(|axis| at(axis, 0)).collect();
            let extents = (0..shape.len()).map(|axis| at(axis, 1) - start[axis]).collect();
            (start, extents)
        })
        .collect();
    boxes.sort_by_key(|(start, _)| {
        start.iter().fold(seed, |sum, it| (sum ^ it).wrapping_mul(0x9E37_79B9))
    });
    boxes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn regions_in_any_order_are_the_same_file(
        axes in prop::collection::vec((1_u64..9, 1_u64..6), 1..4),
        cuts in prop::collection::vec(0_u64..9, 0..4),
        (seed, threads, zstd) in (any::<u64>(), 1_usize..4, any::<bool>()),
    ) {
        let shape: Vec<u64> = axes.iter().map(|it| it.0).collect();
        let chunks: Vec<u64> = axes.iter().map(|it| it.1).collect();
        let plan = plan(&shape, &chunks, if zstd { "zstd" } else { "raw" }, "");
        let folder = tempfile::tempdir().unwrap();
        let writer = RegionWriter::scratch(folder.path(), &plan, None, RegionOptions::default()).unwrap();
        let boxes = boxes(&shape, &cuts, seed);
        std::thread::scope(|scope| {
            for nth in 0..threads {
                let (boxes, shape, writer) = (&boxes, &shape, &writer);
                scope.spawn(move || {
                    for (start, extents) in boxes.iter().skip(nth).step_by(threads) {
                        let bytes = region(shape, start, extents);
                        writer.write(0, start, extents, &bytes, &Progress::default()).unwrap();
                    }
                });
            }
        });
        write_all(&writer, 1, &[5]);
        let target = folder.path().join("x.tet");
        let found = published(&plan, &[writer.to_part().unwrap()], None, &target).unwrap();
        prop_assert_eq!(found, streamed(&plan, &target));
    }

    #[test]
    fn a_grown_file_is_the_file_of_all(
        axes in prop::collection::vec((1_u64..7, 1_u64..5), 1..4),
        (axis, by) in (0_usize..3, 0_u64..7),
        zstd in any::<bool>(),
    ) {
        let codec = if zstd { "zstd" } else { "raw" };
        let short: Vec<u64> = axes.iter().map(|it| it.0).collect();
        let chunks: Vec<u64> = axes.iter().map(|it| it.1).collect();
        let axis = axis % short.len();
        let mut long = short.clone();
        long[axis] += by;
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.tet");
        let small = plan(&short, &chunks, codec, "");
        let writer = RegionWriter::scratch(folder.path(), &small, None, RegionOptions::default()).unwrap();
        let zeros = vec![0; short.len()];
        // The elements that the longer array has there.
        writer.write(0, &zeros, &short, &region(&long, &zeros, &short), &Progress::default()).unwrap();
        write_all(&writer, 1, &[5]);
        published(&small, &[writer.to_part().unwrap()], None, &target).unwrap();

        let file = TetFile::open(Source::open(&target).unwrap(), &Default::default()).unwrap();
        let base = BaseFile::new(&file).unwrap();
        let grown = FilePlan::of_file(&file, &[(0, axis, by)], small.codec()).unwrap();
        let writer =
            RegionWriter::scratch(folder.path(), &grown, Some(base.clone()), RegionOptions::default()).unwrap();
        let (mut start, mut extents) = (zeros, long.clone());
        start[axis] = short[axis];
        extents[axis] = by;
        writer.write(0, &start, &extents, &region(&long, &start, &extents), &Progress::default()).unwrap();
        let found = published(&grown, &[writer.to_part().unwrap()], Some(&base), &target).unwrap();
        prop_assert_eq!(found, streamed(&plan(&long, &chunks, codec, ""), &target));
    }

    #[test]
    fn a_part_with_any_byte_changed_is_refused_or_the_same(at in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let plan = plan(&[4, 4], &[2, 2], "zstd", "");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.part");
        let writer = RegionWriter::create(&path, &plan, RegionOptions::default()).unwrap();
        write_all(&writer, 0, &[4, 4]);
        write_all(&writer, 1, &[5]);
        prop_assert_eq!(writer.close().unwrap(), 7);
        let target = folder.path().join("x.tet");
        let sound = published(&plan, &[FilePart::open(&path, &plan).unwrap()], None, &target).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let part = FilePart::of_source(Source::from_bytes(bytes), &plan);
        let again = part.and_then(|part| published(&plan, &[part], None, &target));
        prop_assert!(again.is_err() || again.unwrap() == sound);
    }
}

#[test]
fn a_part_that_is_cut_off_is_refused() {
    let plan = plan(&[4, 4], &[2, 2], "raw", "");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.part");
    let writer = RegionWriter::create(&path, &plan, RegionOptions::default()).unwrap();
    write_all(&writer, 0, &[4, 4]);
    assert!(!path.exists(), "it has its name when it is closed");
    writer.close().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    for len in 0..bytes.len() {
        let part = FilePart::of_source(Source::from_bytes(&bytes[..len]), &plan);
        assert!(matches!(part, Err(Error::Part { .. })), "{len}");
    }
    let other = self::plan(&[4, 5], &[2, 2], "raw", "");
    let error = FilePart::open(&path, &other).unwrap_err();
    assert!(error.to_string().ends_with("at byte 8, is a part of another plan"), "{error}");
}

#[test]
fn a_writer_that_is_dropped_leaves_nothing() {
    let plan = plan(&[4, 4], &[2, 2], "raw", "");
    let folder = tempfile::tempdir().unwrap();
    let writer =
        RegionWriter::create(&folder.path().join("p.part"), &plan, RegionOptions::default())
            .unwrap();
    write_all(&writer, 0, &[4, 4]);
    drop(writer);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_writer_that_was_killed_does_not_block_the_next_one() {
    let plan = plan(&[4, 4], &[2, 2], "raw", "");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.part");
    let create = || RegionWriter::create(&path, &plan, RegionOptions::default()).unwrap();
    std::mem::forget(create());
    let writer = create();
    write_all(&writer, 0, &[4, 4]);
    writer.close().unwrap();
    assert_eq!(FilePart::open(&path, &plan).unwrap().chunk_count(), 4);
    let names = std::fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name());
    let hidden = names.filter(|name| name != "p.part");
    for name in hidden {
        let name = name.into_string().unwrap();
        assert!(tet_io::is_temporary(&name), "{name}");
    }
}

#[test]
fn chunks_that_are_missing_are_named() {
    let plan = plan(&[4, 4], &[2, 2], "raw", "");
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x.tet");
    let writer =
        RegionWriter::scratch(folder.path(), &plan, None, RegionOptions::default()).unwrap();
    writer
        .write(0, &[0, 0], &[2, 4], &region(&[4, 4], &[0, 0], &[2, 4]), &Progress::default())
        .unwrap();
    write_all(&writer, 1, &[5]);
    let error = published(&plan, &[writer.to_part().unwrap()], None, &target).unwrap_err();
    assert_eq!(error.to_string(), "2 chunks are not written: [1, 0] of \"a\", [1, 1] of \"a\"");
    assert!(!target.exists());
    writer.write(0, &[2, 0], &[1, 1], &[9, 9], &Progress::default()).unwrap();
    let error = writer.to_part().unwrap_err().to_string();
    assert!(error.starts_with("3 elements of chunk [1, 0] of \"a\" are not written"), "{error}");
}

/// An error at the end loses nothing that was written: neither of the dataset that is incomplete nor of another.
/// There are more chunks than a loop over all of them would get through.
#[test]
fn missing_chunks_of_a_vast_grid_are_counted_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(&[1 << 45], &[1], "raw", "");
    let writer =
        RegionWriter::scratch(folder.path(), &plan, None, RegionOptions::default()).unwrap();
    writer.write(0, &[1], &[2], &[1, 0, 2, 0], &Progress::default()).unwrap();
    write_all(&writer, 1, &[5]);
    let found = published(&plan, &[writer.to_part().unwrap()], None, &folder.path().join("x"));
    let Err(Error::Missing { named, count }) = found else { panic!("chunks are missing") };
    assert_eq!(count, (1 << 45) - 2);
    let first: Vec<u64> = named.iter().map(|(_, coord)| coord[0]).collect();
    assert_eq!(first, [0, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn what_is_missing_is_written_after_an_error() {
    let fill = r#", "fill": "0700""#;
    let text = |name: &str, fill: &str| {
        format!(r#"{{"name": "{name}", "dtype": "uint16", "shape": [4], "chunks": [4]{fill}}}"#)
    };
    let text =
        format!(r#"{{"tet_plan": 1, "datasets": [{}, {}]}}"#, text("all", ""), text("some", fill));
    let plan = FilePlan::from_json(&text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x.tet");
    let writer =
        RegionWriter::scratch(folder.path(), &plan, None, RegionOptions::default()).unwrap();
    let write = |id: usize, start: u64, bytes: &[u8]| {
        let count = bytes.len() as u64 / 2;
        writer.write(id, &[start], &[count], bytes, &Progress::default()).unwrap();
    };
    write(0, 0, &[1, 0, 2, 0]);
    write(1, 1, &[9, 0]);
    assert!(matches!(writer.to_part(), Err(Error::Incomplete { left: 2, .. })));
    assert!(matches!(writer.truncate(0, 1), Err(Error::Incomplete { .. })));
    write(0, 2, &[3, 0, 4, 0]);
    published(&plan, &[writer.to_part().unwrap()], None, &target).unwrap();
    let file = TetFile::open(Source::open(&target).unwrap(), &Default::default()).unwrap();
    let base = BaseFile::new(&file).unwrap();
    assert_eq!(base.elements(0, &[0]).unwrap(), [1, 0, 2, 0, 3, 0, 4, 0]);
    assert_eq!(base.elements(1, &[0]).unwrap(), [7, 0, 9, 0, 7, 0, 7, 0]);
}

#[test]
fn a_fill_value_stands_where_nothing_is_written() {
    let plan = plan(&[4, 4], &[3, 3], "zstd", r#", "fill": "0700""#);
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x.tet");
    let writer =
        RegionWriter::scratch(folder.path(), &plan, None, RegionOptions::default()).unwrap();
    writer.write(0, &[0, 1], &[1, 1], &[9, 9], &Progress::default()).unwrap();
    write_all(&writer, 1, &[5]);
    let parts = [writer.to_part().unwrap()];
    let done =
        publish(&plan, &parts, None, &target, &options(), &[], &Progress::default()).unwrap();
    assert_eq!((done.filled, done.kept, done.written.chunk_count), (3, 0, 7));
    let file = TetFile::open(Source::open(&target).unwrap(), &Default::default()).unwrap();
    let base = BaseFile::new(&file).unwrap();
    let first = base.elements(0, &[0, 0]).unwrap();
    let numbers: Vec<u16> = first.as_chunks().0.iter().map(|it| u16::from_le_bytes(*it)).collect();
    assert_eq!(numbers, [7, 0x0909, 7, 7, 7, 7, 7, 7, 7]);
    assert_eq!(base.elements(0, &[1, 1]).unwrap(), [7, 0]);
}

#[test]
fn a_chunk_written_twice_must_be_the_same() {
    let plan = plan(&[4, 4], &[4, 4], "raw", "");
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x.tet");
    let part = |name: &str, value: u8| {
        let path = folder.path().join(name);
        let writer = RegionWriter::create(&path, &plan, RegionOptions::default()).unwrap();
        writer.write(0, &[0, 0], &[4, 4], &[value; 32], &Progress::default()).unwrap();
        write_all(&writer, 1, &[5]);
        writer.close().unwrap();
        FilePart::open(&path, &plan).unwrap()
    };
    let [one, same, other] = [part("one", 1), part("same", 1), part("other", 2)];
    published(&plan, &[one.clone(), same], None, &target).unwrap();
    let error = published(&plan, &[one, other], None, &target).unwrap_err();
    assert!(matches!(error, Error::Conflict { ref dataset, .. } if dataset == "a"), "{error}");
}

#[test]
fn a_region_of_an_existing_file_is_replaced() {
    let plan = plan(&[4, 4], &[2, 2], "zstd", "");
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x.tet");
    let before = streamed(&plan, &target);
    let file = TetFile::open(Source::open(&target).unwrap(), &Default::default()).unwrap();
    let base = BaseFile::new(&file).unwrap();
    let same = FilePlan::of_file(&file, &[], CodecChoice::Zstd { level: 3 }).unwrap();
    let writer =
        RegionWriter::scratch(folder.path(), &same, Some(base.clone()), RegionOptions::default())
            .unwrap();
    let write = |value: [u8; 2]| {
        writer.write(0, &[1, 1], &[1, 1], &value, &Progress::default()).unwrap();
        let parts = [writer.to_part().unwrap()];
        let history = [HistoryRow::new("edit", "x.tet", "2026-01-01T00:00:00Z")];
        let done = publish(
            &same,
            &parts,
            Some(&base),
            &target,
            &options(),
            &history,
            &Progress::default(),
        )
        .unwrap();
        assert_eq!((done.kept, done.written.chunk_count), (6, 7));
    };
    write([0xFF, 0xFF]);
    let edited = TetFile::open(Source::open(&target).unwrap(), &Default::default()).unwrap();
    let first = BaseFile::new(&edited).unwrap().elements(0, &[0, 0]).unwrap();
    assert_eq!(first, [0, 0, 1, 0, 4, 0, 0xFF, 0xFF]);
    // The element that was there makes the file that was there, but for its history.
    writer.write(0, &[1, 1], &[1, 1], &[5, 0], &Progress::default()).unwrap();
    assert_eq!(
        published(&same, &[writer.to_part().unwrap()], Some(&base), &target).unwrap(),
        before
    );
}

/// A kept chunk is copied without a look at it, and so is its digest, which shows later what was damaged before.
#[test]
fn a_damaged_chunk_that_is_kept_stays_damaged() {
    let plan = plan(&[600, 200], &[200, 200], "raw", "");
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x.tet");
    let mut bytes = streamed(&plan, &target);
    let open = || TetFile::open(Source::open(&target).unwrap(), &Default::default()).unwrap();
    let row = |file: &TetFile| BaseFile::new(file).unwrap().rows(0).unwrap()[1].0;
    let at = usize::try_from(row(&open()).payload_offset).unwrap();
    bytes[at] ^= 1;
    std::fs::write(&target, &bytes).unwrap();
    let file = open();
    let base = BaseFile::new(&file).unwrap();
    let grown =
        FilePlan::grown(&file, &[(0, 0, 200)], file.metadata().clone(), plan.codec()).unwrap();
    let regions = RegionOptions::default();
    let writer = RegionWriter::scratch(folder.path(), &grown, Some(base.clone()), regions).unwrap();
    let more = region(&[200, 200], &[0, 0], &[200, 200]);
    writer.write(0, &[600, 0], &[200, 200], &more, &Progress::default()).unwrap();
    published(&grown, &[writer.to_part().unwrap()], Some(&base), &target).unwrap();
    let grown = BaseFile::new(&open()).unwrap();
    for linear in 0..4 {
        let chunk = grown.elements(0, &[linear, 0]);
        match chunk {
            Err(Error::Format(fault)) if linear == 1 => {
                assert_eq!(fault.rule, tet_format::Rule::ChunkDigest);
            }
            chunk => {
                let start = [linear * 200 % 600, 0];
                assert!(linear != 1 && chunk.unwrap() == region(&[600, 200], &start, &[200, 200]));
            }
        }
    }
}

/// Threads that write to one chunk of an existing file, and to one that is complete, lose nothing of each other.
#[test]
fn threads_write_to_the_same_chunk() {
    const THREADS: u64 = 16;
    let (shape, folder) = ([64, 4096], tempfile::tempdir().unwrap());
    let target = folder.path().join("a.tet");
    let plan = plan(&shape, &[64, 4096], "zstd", "");
    streamed(&plan, &target);
    let file = TetFile::open(Source::open(&target).unwrap(), &Default::default()).unwrap();
    let base = BaseFile::new(&file).unwrap();
    let edited = folder.path().join("b.tet");
    for _ in 0..20 {
        let writer = RegionWriter::scratch(
            folder.path(),
            &plan,
            Some(base.clone()),
            RegionOptions::default(),
        )
        .unwrap();
        let begin = std::sync::Barrier::new(usize::try_from(THREADS).unwrap());
        std::thread::scope(|scope| {
            for nth in 0..THREADS {
                let (writer, begin) = (&writer, &begin);
                scope.spawn(move || {
                    begin.wait();
                    for row in (nth..64).step_by(usize::try_from(THREADS).unwrap()) {
                        let bytes = [u8::try_from(row).unwrap(), 0xee].repeat(4096);
                        writer
                            .write(0, &[row, 0], &[1, 4096], &bytes, &Progress::default())
                            .unwrap();
                    }
                });
            }
        });
        published(&plan, &[writer.to_part().unwrap()], Some(&base), &edited).unwrap();
        let file = TetFile::open(Source::open(&edited).unwrap(), &Default::default()).unwrap();
        let found = BaseFile::new(&file).unwrap().elements(0, &[0, 0]).unwrap();
        for (row, elements) in (0_u8..).zip(found.chunks_exact(2 * 4096)) {
            assert!(elements == [row, 0xee].repeat(4096), "row {row} is lost");
        }
    }
}

#[test]
fn a_dataset_is_not_truncated_before_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let long = plan(&[100], &[4], "raw", "");
    let writer =
        RegionWriter::scratch(folder.path(), &long, None, RegionOptions::default()).unwrap();
    writer.write(0, &[0], &[2], &[0; 4], &Progress::default()).unwrap();
    assert!(matches!(writer.truncate(0, 1), Err(Error::Incomplete { .. })));
    assert!(matches!(writer.truncate(0, 101), Err(Error::Plan { .. })));
}

/// The length of the first axis is known when all is written.
#[test]
fn a_dataset_is_truncated() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x.tet");
    for (codec, extent) in [("raw", 0), ("raw", 5), ("zstd", 6), ("zstd", 7), ("raw", 1)] {
        let long = plan(&[1 << 40, 3], &[3, 2], codec, "");
        let writer =
            RegionWriter::scratch(folder.path(), &long, None, RegionOptions::default()).unwrap();
        for at in 0..extent {
            let bytes = region(&[9, 3], &[at, 0], &[1, 3]);
            writer.write(0, &[at, 0], &[1, 3], &bytes, &Progress::default()).unwrap();
        }
        write_all(&writer, 1, &[5]);
        writer.truncate(0, extent).unwrap();
        let short = plan(&[extent, 3], &[3, 2], codec, "");
        let found = published(&short, &[writer.to_part().unwrap()], None, &target).unwrap();
        assert_eq!(found, streamed(&short, &target));
    }
}

#[test]
fn chunks_that_are_incomplete_take_bounded_memory() {
    let plan = plan(&[8, 100], &[8, 50], "raw", "");
    let folder = tempfile::tempdir().unwrap();
    let few = RegionOptions { memory: 1000, ..RegionOptions::default() };
    let writer = RegionWriter::scratch(folder.path(), &plan, None, few).unwrap();
    writer.write(0, &[0, 0], &[1, 50], &[0; 100], &Progress::default()).unwrap();
    let error = writer.write(0, &[0, 50], &[1, 50], &[0; 100], &Progress::default()).unwrap_err();
    assert!(matches!(error, Error::PartialMemory { limit: 1000, .. }), "{error}");
}

#[test]
fn regions_outside_their_dataset_are_refused() {
    let plan = plan(&[4, 4], &[2, 2], "raw", "");
    let folder = tempfile::tempdir().unwrap();
    let writer =
        RegionWriter::scratch(folder.path(), &plan, None, RegionOptions::default()).unwrap();
    let far = u64::MAX - 1;
    for (start, extents, len) in [
        (&[3, 0][..], &[2, 1][..], 4),
        (&[0], &[4], 8),
        (&[far, 0], &[4, 1], 8),
        (&[0, 0], &[1, 1], 3),
    ] {
        let bytes = vec![0; len];
        let error = writer.write(0, start, extents, &bytes, &Progress::default()).unwrap_err();
        assert!(matches!(error, Error::Region { .. }), "{error}");
    }
    assert!(matches!(
        writer.write(2, &[], &[], &[], &Progress::default()),
        Err(Error::Plan { .. })
    ));
    writer.write(0, &[4, 0], &[0, 4], &[], &Progress::default()).unwrap();
}

#[test]
fn plans_that_are_none_are_refused() {
    let dataset =
        |members: &str| format!(r#"{{"tet_plan": 1, "datasets": [{{"name": "a", {members}}}]}}"#);
    let cases = [
        ("{}".to_owned(), "missing field `tet_plan`"),
        (r#"{"tet_plan": 2, "datasets": []}"#.to_owned(), "its version is 2"),
        (dataset(r#""dtype": "text", "shape": [1], "chunks": [1]"#), "is of type \"text\""),
        (
            dataset(r#""dtype": "int16", "shape": [1], "chunks": [1], "fill": "00""#),
            "the fill value of \"a\"",
        ),
        (
            dataset(r#""dtype": "int16", "shape": [1], "chunks": [1], "fill": "0g00""#),
            "the fill value of \"a\"",
        ),
        (
            dataset(r#""dtype": "int16", "shape": [1], "chunks": [1], "colour": 1"#),
            "unknown field `colour`",
        ),
    ];
    for (text, wanted) in cases {
        let error = FilePlan::from_json(&text).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
    for members in [
        r#""dtype": "int16", "shape": [1], "chunks": [0]"#,
        r#""dtype": "int16", "shape": [1, 2], "chunks": [1]"#,
        r#""dtype": "int64", "shape": [9223372036854775807, 3], "chunks": [1, 1]"#,
    ] {
        assert!(matches!(FilePlan::from_json(&dataset(members)), Err(Error::Layout(_))));
    }
}
