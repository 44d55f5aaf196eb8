//! Zarr shards that another codec is applied to as a whole: all elements are read, and damage is an error.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{npy, opened, read};
use serde_json::{Value, json};
use tet_codec::{ChecksumKind, ChecksumPlace, Checksummed, Crc32c, Encode, ZstdEncoder, encode};
use tet_convert::{ChunkChoice, ConvertOptions, PayloadCodec, ShardChoice, convert};
use tet_query::{AxisSlice, Execution, Hyperslab};

/// The codecs of a whole shard.
const OUTER: [&str; 4] = ["none", "gzip", "zstd", "crc32c"];

/// Elements of `size` bytes in an array of 50 x 44, of which some chunks are zeros.
fn elements(size: usize) -> Vec<u8> {
    let at = |row: usize, column: usize| if row < 20 { 0 } else { row * 44 + column };
    let count = 50 * 44 * size;
    (0..count)
        .map(|byte| (at(byte / size / 44, byte / size % 44) >> (byte % size) & 255) as u8)
        .collect()
}

/// An array of this type, chunks and shards as Zarr 3, with its elements.
fn written(
    folder: &Path,
    descr: &str,
    chunk: [u64; 2],
    shard: [u64; 2],
    zstd: bool,
) -> (PathBuf, Vec<u8>) {
    let size = usize::from(descr.as_bytes()[2] - b'0');
    let bytes = elements(size);
    fs::write(folder.join("x.npy"), npy(descr, "False", "(50, 44)", &bytes))
        .expect("it is written");
    let mut how = ConvertOptions::default();
    how.tet.sync = tet_io::publish::Sync::None;
    how.tet.overwrite = tet_io::Overwrite::Replace;
    how.tet.chunks = ChunkChoice::Shape(chunk.to_vec()).into();
    how.storage.shards = ShardChoice::Shape(shard.to_vec());
    how.storage.codec = Some(if zstd { PayloadCodec::Zstd } else { PayloadCodec::Raw });
    let output = folder.join("x.zarr");
    convert(&folder.join("x.npy"), &output, &how).expect("it is converted");
    (output, bytes)
}

/// The shards of the array.
fn shards(output: &Path) -> Vec<PathBuf> {
    let rows = fs::read_dir(output.join("x/c")).expect("there are shards");
    let rows = rows.map(|row| row.expect("a row").path());
    let files =
        rows.flat_map(|row| fs::read_dir(row).expect("a row").map(|it| it.expect("it").path()));
    files.collect()
}

/// Applies a codec to a shard.
fn encoded(codec: &str, shard: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match codec {
        "gzip" => encode::gzip(shard, 5, &mut out),
        "zstd" => ZstdEncoder::new(3).expect("a level").encode(shard, &mut out),
        "crc32c" => {
            let stage = Checksummed::new(ChecksumKind::Crc32c, ChecksumPlace::End);
            encode::checksum(stage, shard, &mut out)
        }
        _ => {
            out.extend_from_slice(shard);
            Ok(())
        }
    }
    .expect("it is encoded");
    out
}

/// Adds a codec to the document, whose shards have been encoded by it.
fn set_outer(output: &Path, codec: &str, change: impl Fn(&mut Value)) {
    for document in ["zarr.json", "x/zarr.json"] {
        let path = output.join(document);
        let mut json: Value =
            serde_json::from_slice(&fs::read(&path).expect("it is there")).expect("JSON");
        if let Some(all) = json.get_mut("consolidated_metadata") {
            *all = Value::Null;
        }
        if let Some(codecs) = json.get_mut("codecs").and_then(Value::as_array_mut) {
            match codec {
                "none" => {}
                "gzip" => codecs.push(json!({"name": "gzip", "configuration": {"level": 5}})),
                "zstd" => codecs
                    .push(json!({"name": "zstd", "configuration": {"level": 3, "checksum": true}})),
                codec => codecs.push(json!({"name": codec})),
            }
            change(&mut json);
        }
        fs::write(path, json.to_string()).expect("it is written");
    }
}

#[test]
fn all_elements_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    for (descr, chunk, shard) in [
        ("<i4", [5, 10], [20, 20]),
        ("<f8", [20, 20], [20, 20]),
        ("<u2", [10, 44], [60, 44]),
        // An index of 16 bytes for each byte.
        ("|u1", [1, 1], [40, 30]),
    ] {
        for zstd in [true, false] {
            for codec in OUTER {
                let what = format!("{descr} {chunk:?} {shard:?} {zstd} {codec}");
                let (output, bytes) = written(folder.path(), descr, chunk, shard, zstd);
                for path in shards(&output) {
                    let shard = fs::read(&path).expect("a shard");
                    fs::write(&path, encoded(codec, &shard)).expect("it is written");
                }
                set_outer(&output, codec, |_| {});
                let file = opened(&output);
                assert!(read(&file, "x").bytes() == bytes, "{what}");
                let dataset = file.catalog.find("x").expect("it is there");
                let is_whole = codec != "none";
                let chunks = if is_whole { shard } else { chunk };
                assert_eq!(dataset.grid.chunk_shape().to_vec(), chunks, "{what}");
                let slice =
                    |start, stop, extent| AxisSlice { start, stop, ..AxisSlice::whole(extent) };
                let slab =
                    Hyperslab::new([slice(19, 43, 50), slice(7, 31, 44)].into(), dataset.shape());
                let part = dataset.read(&slab.expect("it is inside"), &Execution::default());
                let size = bytes.len() / 2200;
                let rows = (19..43)
                    .flat_map(|row| bytes[(row * 44 + 7) * size..(row * 44 + 31) * size].to_vec());
                assert!(
                    part.expect("it is read").value.bytes() == rows.collect::<Vec<u8>>(),
                    "{what}"
                );
                let source = tet_io::Source::open(output.join("zarr.json")).expect("it opens");
                let report = tet_convert::verify(&source, &tet_verify::VerifyOptions::default());
                assert_eq!(report.expect("it is checked").findings, [], "{what}");
            }
        }
    }
}

#[test]
fn what_is_absent_has_the_fill_value_in_both_orders_of_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    for (endian, one) in
        [("little", 258_i32.to_le_bytes()), ("big", 258_i32.swap_bytes().to_le_bytes())]
    {
        let (output, _) = written(folder.path(), "<i4", [5, 10], [20, 20], false);
        // A shard with the second of its eight chunks, and no other.
        let mut shard = one.repeat(50);
        let index = (0..8).flat_map(|chunk| if chunk == 1 { [0_u64, 200] } else { [u64::MAX; 2] });
        let index: Vec<u8> = index.flat_map(u64::to_le_bytes).collect();
        let sum = Crc32c::checksum(&index).to_le_bytes();
        shard.extend([&index[..], &sum].concat());
        for path in shards(&output) {
            fs::remove_file(path).expect("it is removed");
        }
        fs::create_dir_all(output.join("x/c/0")).expect("it is made");
        fs::write(output.join("x/c/0/1"), encoded("gzip", &shard)).expect("it is written");
        set_outer(&output, "gzip", |json| {
            json["fill_value"] = json!(7);
            json["codecs"][0]["configuration"]["codecs"][0]["configuration"]["endian"] =
                json!(endian);
        });
        let found = read(&opened(&output), "x");
        let wanted = (0..2200).map(|at| {
            let (row, column) = (at / 44, at % 44);
            if row < 5 && (30..40).contains(&column) { 258_i32 } else { 7 }
        });
        assert!(
            found.bytes() == wanted.flat_map(i32::to_le_bytes).collect::<Vec<u8>>(),
            "{endian}"
        );
    }
}

#[test]
fn damage_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let (output, _) = written(folder.path(), "<i4", [5, 10], [20, 20], true);
    set_outer(&output, "gzip", |_| {});
    let paths = shards(&output);
    let path = paths.last().expect("a shard");
    let sound: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).expect("a shard")).collect();
    let whole = sound.last().expect("a shard");
    let index_at = whole.len() - 8 * 16 - 4;
    let with = |at: usize, bytes: &[u8], is_summed: bool| {
        let mut shard = whole.clone();
        shard[at..at + bytes.len()].copy_from_slice(bytes);
        if is_summed {
            let sum = Crc32c::checksum(&shard[index_at..shard.len() - 4]).to_le_bytes();
            let end = shard.len();
            shard[end - 4..].copy_from_slice(&sum);
        }
        shard
    };
    for (path, shard) in paths.iter().zip(&sound) {
        fs::write(path, encoded("gzip", shard)).expect("it is written");
    }
    read(&opened(&output), "x");
    let past = (whole.len() as u64 - 3).to_le_bytes();
    for (shard, wanted) in [
        (whole[..100].to_vec(), "shorter than its index"),
        (Vec::new(), "shorter than its index"),
        (with(index_at + 3, &[9], false), "checksum of the index"),
        (with(index_at + 8, &past, true), "places outside of it"),
        (with(index_at, &u64::MAX.to_le_bytes(), true), "places outside of it"),
        (with(index_at + 8, &[1], true), "zstd"),
        (with(2, &[0xff; 9], false), "zstd"),
    ] {
        fs::write(path, encoded("gzip", &shard)).expect("it is written");
        let file = opened(&output);
        let dataset = file.catalog.find("x").expect("it is there");
        let found = dataset.read(&Hyperslab::whole(dataset.shape()), &Execution::default());
        let error = found.expect_err("it is damaged").to_string();
        assert!(error.contains(wanted), "{wanted}: {error}");
    }
}
