//! Chunks that keep the shape that they have in the input.
#![allow(clippy::unwrap_used, reason = "what does not hold here fails the test")]

use std::path::{Path, PathBuf};

use crate::common::{npy, opened, read, world};
use tet_convert::{ChunkChoice, ConvertOptions, PayloadCodec, ShardChoice, chunking, convert};

const SHAPE: [u64; 3] = [20, 70, 90];
/// Containers that store arrays in chunks.
const CHUNKED: [&str; 5] = ["a.tet", "a.zarr", "a.zarr.zip", "a.h5", "a.nc"];

fn options(chunks: Option<&[u64]>) -> ConvertOptions {
    let mut options = world::options();
    options.tet.chunks =
        chunks.map_or(ChunkChoice::Kept, |it| ChunkChoice::Shape(it.to_vec())).into();
    options
}

fn elements() -> Vec<u8> {
    (0..20 * 70 * 90_i32).flat_map(i32::to_le_bytes).collect()
}

/// An array in one piece.
fn input(folder: &Path) -> PathBuf {
    let path = folder.join("x.npy");
    std::fs::write(&path, npy("<i4", "False", "(20, 70, 90)", &elements())).unwrap();
    path
}

/// The chunk shape in an output, which the report has too.
fn chunks(from: &Path, to: &Path, options: &ConvertOptions) -> Vec<u64> {
    let report = convert(from, to, options).unwrap();
    let file = opened(to);
    assert_eq!(read(&file, "x").bytes(), elements(), "{}", to.display());
    let found = file.catalog.find("x").unwrap().grid.chunk_shape().to_vec();
    assert_eq!(report.datasets[0].chunk_shape, found, "{}", to.display());
    found
}

#[test]
fn chunks_keep_their_shape() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, shape) = (input(folder.path()), [7, 33, 90]);
    for from in CHUNKED {
        let stored = folder.path().join(format!("in_{from}"));
        assert_eq!(chunks(&whole, &stored, &options(Some(&shape))), shape);
        for to in CHUNKED {
            let output = folder.path().join(to);
            assert_eq!(chunks(&stored, &output, &options(None)), shape, "{from} {to}");
            let asked = [20, 3, 5];
            assert_eq!(chunks(&stored, &output, &options(Some(&asked))), asked, "{from} {to}");
            let mut by_rule = options(None);
            by_rule.tet.chunks = ChunkChoice::Auto.into();
            assert_eq!(
                chunks(&stored, &output, &by_rule),
                chunking::auto(&SHAPE, 4),
                "{from} {to}"
            );
        }
    }
}

#[test]
fn chunks_beyond_the_extents_are_cut() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, stored) = (input(folder.path()), folder.path().join("in.zarr"));
    assert_eq!(chunks(&whole, &stored, &options(Some(&[64, 50, 90]))), [64, 50, 90]);
    for to in CHUNKED {
        let found = chunks(&stored, &folder.path().join(to), &options(None));
        assert_eq!(found, [20, 50, 90], "{to}");
    }
}

#[test]
fn tiny_and_long_chunks_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, stored) = (input(folder.path()), folder.path().join("in.zarr"));
    let auto = chunking::auto(&SHAPE, 4);
    // 8 KiB is the least.
    for (shape, is_kept) in [([2, 16, 64], true), ([2, 16, 63], false), ([1, 1, 90], false)] {
        chunks(&whole, &stored, &options(Some(&shape)));
        let wanted = if is_kept { &shape[..] } else { &auto };
        for to in CHUNKED {
            let found = chunks(&stored, &folder.path().join(to), &options(None));
            assert_eq!(found, wanted, "{shape:?} {to}");
        }
    }
    let shape = [10, 70, 90];
    chunks(&whole, &stored, &options(Some(&shape)));
    for (memory, wanted) in [(252_000 * 8, &shape[..]), (252_000 * 8 - 1, &auto)] {
        let mut options = options(None);
        options.execution.memory_budget = memory;
        let report = convert(&stored, &folder.path().join("a.tet"), &options);
        match report {
            Ok(report) => assert_eq!(report.datasets[0].chunk_shape, wanted, "{memory}"),
            // Less than what an automatic chunk takes.
            Err(_) => assert_eq!(wanted, auto),
        }
    }
}

#[test]
fn arrays_in_one_piece_are_cut_by_the_rule() {
    let folder = tempfile::tempdir().unwrap();
    let whole = input(folder.path());
    let mut plain = options(None);
    plain.storage.codec = Some(PayloadCodec::Raw);
    for from in ["x.npy", "in.h5", "in.nc", "in.nc3", "in.safetensors"] {
        let stored = folder.path().join(from);
        if stored != whole {
            convert(&whole, &stored, &plain).unwrap();
        }
        for to in CHUNKED {
            let found = chunks(&stored, &folder.path().join(to), &options(None));
            assert_eq!(found, chunking::auto(&SHAPE, 4), "{from} {to}");
        }
    }
    // Without a codec there are no chunks, whatever the input has.
    let stored = folder.path().join("in.zarr");
    chunks(&whole, &stored, &options(Some(&[7, 33, 90])));
    assert_eq!(chunks(&stored, &folder.path().join("a.h5"), &plain), SHAPE);
}

/// The shapes of chunks and shards of the only dataset of a file.
fn shapes(path: &Path) -> (Vec<u64>, Option<Vec<u64>>) {
    let file = opened(path);
    assert_eq!(read(&file, "x").bytes(), elements(), "{}", path.display());
    let dataset = file.catalog.find("x").unwrap();
    let shard = dataset.chunks.shard_shape().map(|shape| shape.to_vec());
    (dataset.grid.chunk_shape().to_vec(), shard)
}

/// A Zarr file of these chunks and shards.
fn sharded(folder: &Path, chunk: [u64; 3], shard: [u64; 3]) -> PathBuf {
    let (whole, stored) = (input(folder), folder.join("sharded.zarr"));
    let mut how = options(Some(&chunk));
    how.storage.shards = ShardChoice::Shape(shard.to_vec());
    convert(&whole, &stored, &how).unwrap();
    assert_eq!(shapes(&stored), (chunk.to_vec(), Some(shard.to_vec())));
    stored
}

#[test]
fn shards_keep_their_shape() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("a.zarr");
    for (chunk, shard, wanted) in [
        ([5, 10, 90], [10, 30, 90], ([5, 10, 90], Some([10, 30, 90]))),
        // Tiny chunks are what shards are for.
        ([1, 5, 9], [10, 30, 90], ([1, 5, 9], Some([10, 30, 90]))),
        // Elements beyond the extents are cut.
        ([7, 33, 100], [14, 330, 300], ([7, 33, 90], Some([14, 99, 90]))),
        ([20, 70, 90], [40, 140, 180], ([20, 70, 90], None)),
        // A shard of less than 8 KiB.
        ([1, 1, 9], [1, 10, 90], ([20, 70, 90], None)),
    ] {
        let stored = sharded(folder.path(), chunk, shard);
        for to in ["a.zarr", "a.zarr.zip"] {
            let output = folder.path().join(to);
            convert(&stored, &output, &options(None)).unwrap();
            let wanted = (wanted.0.to_vec(), wanted.1.map(|it| it.to_vec()));
            assert_eq!(shapes(&output), wanted, "{chunk:?} {shard:?}");
        }
    }
    // Options for chunks, for other shards or for none come first.
    let stored = sharded(folder.path(), [5, 10, 90], [10, 30, 90]);
    let asked = |chunks: ChunkChoice, shards: ShardChoice| {
        let mut how = options(None);
        (how.tet.chunks, how.storage.shards) = (chunks.into(), shards);
        convert(&stored, &output, &how).unwrap();
        shapes(&output)
    };
    let shape = |extents: [u64; 3]| ChunkChoice::Shape(extents.to_vec());
    let shard = |extents: [u64; 3]| ShardChoice::Shape(extents.to_vec());
    let none = (vec![5, 10, 90], None);
    assert_eq!(asked(ChunkChoice::Kept, ShardChoice::None), none);
    assert_eq!(asked(shape([5, 10, 90]), ShardChoice::Kept), none);
    assert_eq!(asked(ChunkChoice::Auto, ShardChoice::Kept), (chunking::auto(&SHAPE, 4), None));
    let wide = (vec![5, 10, 90], Some(vec![20, 70, 90]));
    assert_eq!(asked(ChunkChoice::Kept, ShardChoice::Auto), wide);
    assert_eq!(asked(ChunkChoice::Kept, shard([20, 70, 90])), wide);
    assert_eq!(
        asked(ChunkChoice::Kept, shard([5, 20, 90])),
        (vec![5, 10, 90], Some(vec![5, 20, 90]))
    );
    // Those of the input do not divide this one.
    let other = (vec![8, 70, 90], Some(vec![8, 70, 90]));
    assert_eq!(asked(ChunkChoice::Kept, shard([8, 70, 90])), other);
    // The chunks of a file without shards are used too, unless they are tiny.
    let plain = folder.path().join("plain.zarr");
    let mut how = options(None);
    how.storage.shards = shard([20, 70, 90]);
    for (chunk, wanted) in [([5, 10, 90], [5, 10, 90]), ([1, 5, 9], [20, 70, 90])] {
        convert(&input(folder.path()), &plain, &options(Some(&chunk))).unwrap();
        convert(&plain, &output, &how).unwrap();
        assert_eq!(shapes(&output), (wanted.to_vec(), Some(vec![20, 70, 90])), "{chunk:?}");
    }
    let mut older = options(None);
    older.storage.variant = Some("2".to_owned());
    convert(&stored, &output, &older).unwrap();
    assert_eq!(shapes(&output), none);
}

#[test]
fn shards_that_memory_does_not_hold_are_cut() {
    let folder = tempfile::tempdir().unwrap();
    let stored = sharded(folder.path(), [1, 70, 90], [20, 70, 90]);
    let output = folder.path().join("a.zarr");
    // A shard takes three sixteenths of the memory at most.
    let most = 20 * 70 * 90 * 4 / 3 * 16_u64;
    for (memory, wanted) in [(most, 20), (most - 1, 19), (most / 4, 5)] {
        let mut how = options(None);
        how.execution.memory_budget = memory;
        convert(&stored, &output, &how).unwrap();
        assert_eq!(shapes(&output), (vec![1, 70, 90], Some(vec![wanted, 70, 90])), "{memory}");
    }
}
