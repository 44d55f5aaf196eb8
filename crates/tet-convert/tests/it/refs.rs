//! References to stored chunks, as this crate reads them again: element for element what the files have.
#![allow(clippy::unwrap_used, reason = "what does not hold here fails the test")]

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

use serde_json::Value;
use tet_convert::{
    ChunkChoice, ChunkRule, ConvertOptions, DimNames, EdgeChoice, Error, Note, PayloadCodec,
    RefsAddress, RefsOptions, RefsReport, UnsupportedChoice, ZarrFormat, convert, write_references,
};
use tet_io::{Kind, Overwrite};

use crate::common::world::archive;
use crate::common::{npy, opened, read};

const SHAPE: [u64; 3] = [20, 70, 90];

fn elements() -> Vec<u8> {
    (0..20 * 70 * 90_i32).flat_map(i32::to_le_bytes).collect()
}

fn input(folder: &Path, name: &str, descr: &str, fortran: &str) -> PathBuf {
    let path = folder.join(name);
    let bytes = match (descr, fortran) {
        (">i4", _) => (0..20 * 70 * 90_i32).flat_map(|it| it.swap_bytes().to_le_bytes()).collect(),
        (_, "True") => columns(),
        _ => elements(),
    };
    fs::write(&path, npy(descr, fortran, "(20, 70, 90)", &bytes)).unwrap();
    path
}

/// The elements with the first axis varying fastest.
fn columns() -> Vec<u8> {
    let mut bytes = Vec::new();
    for k in 0..90_i32 {
        for j in 0..70 {
            for i in 0..20 {
                bytes.extend(((i * 70 + j) * 90 + k).to_le_bytes());
            }
        }
    }
    bytes
}

fn options(format: ZarrFormat, edges: EdgeChoice) -> RefsOptions {
    RefsOptions {
        format,
        edges,
        overwrite: Overwrite::Replace,
        sync: tet_io::publish::Sync::None,
        ..RefsOptions::default()
    }
}

/// How a file is converted: chunks, and whether they are compressed.
fn storage(chunks: &[u64], is_compressed: bool) -> ConvertOptions {
    let mut options = ConvertOptions::default();
    options.tet.chunks = ChunkChoice::Shape(chunks.to_vec()).into();
    if !is_compressed {
        options.storage.codec = Some(PayloadCodec::Raw);
    }
    options
}

fn document(path: &Path) -> serde_json::Map<String, Value> {
    let document: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert_eq!(document["version"], 1);
    document["refs"].as_object().unwrap().clone()
}

fn written(files: &[PathBuf], output: &Path, options: &RefsOptions) -> RefsReport {
    write_references(files, output, options).unwrap_or_else(|error| panic!("{files:?}: {error}"))
}

#[test]
fn references_are_read_as_the_file_is() {
    let folder = tempfile::tempdir().unwrap();
    let refs = folder.path().join("refs.json");
    let whole = input(folder.path(), "x.npy", "<i4", "False");
    let mut files = vec![
        whole.clone(),
        input(folder.path(), "fortran.npy", "<i4", "True"),
        input(folder.path(), "big.npy", ">i4", "False"),
    ];
    for (name, is_compressed) in [
        ("raw.tet", false),
        ("zstd.tet", true),
        ("raw.h5", false),
        ("deflate.nc", true),
        ("raw.zarr", false),
        ("gzip.zarr", true),
        ("gzip.zarr.zip", true),
    ] {
        let path = folder.path().join(name);
        let mut how = storage(&[7, 33, 90], is_compressed);
        if is_compressed && path.extension().is_some_and(|it| it == "h5") {
            how.storage.codec = Some(PayloadCodec::Gzip);
        }
        convert(&whole, &path, &how).unwrap();
        files.push(path);
    }
    for name in ["x.safetensors", "x.zt", "x.tgm", "x.npz"] {
        let path = folder.path().join(name);
        convert(&whole, &path, &ConvertOptions::default()).unwrap();
        files.push(path);
    }
    for file in &files {
        for format in [ZarrFormat::V2, ZarrFormat::V3] {
            for edges in [EdgeChoice::Inline, EdgeChoice::Sidecar] {
                let report = written(from_ref(file), &refs, &options(format, edges));
                let found = opened(&refs);
                let name = found.catalog.datasets()[0].name.clone();
                assert_eq!(
                    read(&found, &name).bytes(),
                    elements(),
                    "{file:?} {format:?} {edges:?}"
                );
                assert_eq!(found.catalog.find(&name).unwrap().shape(), SHAPE);
                assert!(0 < report.stored_count, "{file:?}");
                let is_clipped = file.extension().is_some_and(|suffix| suffix == "tet");
                assert_eq!(report.sidecar.is_some(), is_clipped && edges == EdgeChoice::Sidecar);
                let keys = document(&refs);
                let root = if format == ZarrFormat::V3 { "zarr.json" } else { ".zgroup" };
                assert!(keys.contains_key(root), "{root}");
            }
        }
    }
}

#[test]
fn clipped_chunks_are_refused_unless_they_are_to_be_filled() {
    let folder = tempfile::tempdir().unwrap();
    let refs = folder.path().join("refs.json");
    let whole = input(folder.path(), "x.npy", "<i4", "False");
    let clipped = folder.path().join("clipped.tet");
    convert(&whole, &clipped, &storage(&[20, 33, 90], true)).unwrap();
    let refused =
        write_references(from_ref(&clipped), &refs, &options(ZarrFormat::V2, EdgeChoice::Refused));
    let Err(Error::Clipped { dataset }) = refused else { panic!("{refused:?}") };
    assert_eq!(dataset, "x");
    assert!(!refs.exists());
    // Raw chunks that follow each other are no array in column-major order.
    let blocks = folder.path().join("blocks.tet");
    convert(&whole, &blocks, &storage(&[20, 70, 40], false)).unwrap();
    let refused =
        write_references(from_ref(&blocks), &refs, &options(ZarrFormat::V2, EdgeChoice::Refused));
    assert!(matches!(refused, Err(Error::Clipped { .. })), "{refused:?}");
    written(from_ref(&blocks), &refs, &options(ZarrFormat::V2, EdgeChoice::Inline));
    assert_eq!(read(&opened(&refs), "x").bytes(), elements());
    let even = folder.path().join("even_blocks.tet");
    convert(&whole, &even, &storage(&[20, 70, 45], false)).unwrap();
    written(from_ref(&even), &refs, &options(ZarrFormat::V2, EdgeChoice::Refused));
    assert_eq!(read(&opened(&refs), "x").bytes(), elements());
    // Chunks that divide the extents, and raw rows, are whole.
    for (chunks, is_compressed) in [([10, 35, 90], true), ([3, 70, 90], false)] {
        let even = folder.path().join("even.tet");
        let mut how = storage(&chunks, is_compressed);
        how.tet.overwrite = Overwrite::Replace;
        convert(&whole, &even, &how).unwrap();
        written(&[even], &refs, &options(ZarrFormat::V2, EdgeChoice::Refused));
        assert_eq!(read(&opened(&refs), "x").bytes(), elements());
    }
    // A document has at most this many bytes of them, and one byte more is an error.
    let long = folder.path().join("long.npy");
    let rows = 4_500_000;
    fs::write(&long, npy("<i8", "False", "(4500000, 2)", &vec![7; rows * 16])).unwrap();
    let tet = folder.path().join("long.tet");
    convert(&long, &tet, &storage(&[4_499_999, 1], false)).unwrap();
    let inline = options(ZarrFormat::V2, EdgeChoice::Inline);
    let refused = write_references(from_ref(&tet), &refs, &inline);
    let Err(error @ Error::LongEdges { .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(error.kind(), Kind::Limit);
    let sidecar = options(ZarrFormat::V2, EdgeChoice::Sidecar);
    let report = written(&[tet], &refs, &sidecar);
    let (path, len) = report.sidecar.unwrap();
    assert_eq!((fs::metadata(path).unwrap().len(), len), (2 * 4_499_999 * 8, 2 * 4_499_999 * 8));
    assert_eq!(read(&opened(&refs), "long").bytes(), vec![7; rows * 16]);
}

/// A file of `time` x `x`, and a coordinate, with these rows.
fn part(folder: &Path, name: &str, rows: Range<i32>, chunks: &[u64]) -> PathBuf {
    let count = rows.len();
    let path = folder.join(name);
    let values: Vec<u8> = (rows.start * 700..rows.end * 700).flat_map(i32::to_le_bytes).collect();
    let times: Vec<u8> = rows.flat_map(|it| f64::from(it).to_le_bytes()).collect();
    let npz = folder.join(format!("{name}.npz"));
    let places: Vec<u8> = (0..700_i32).flat_map(i32::to_le_bytes).collect();
    let array = |descr, shape: &str, bytes: &[u8]| npy(descr, "False", shape, bytes);
    let arrays = [
        ("temp", array("<i4", &format!("({count}, 700)"), &values)),
        ("time", array("<f8", &format!("({count},)"), &times)),
        ("x", array("<i4", "(700,)", &places)),
    ];
    archive(&npz, &arrays);
    let mut options = storage(chunks, name.contains("zstd"));
    if name == "b_zstd.h5" {
        options.storage.codec = Some(PayloadCodec::Gzip);
    }
    options.tet.chunks = ChunkChoice::Auto.into();
    options.tet.chunks.push(ChunkRule {
        dataset: Some("temp".to_owned()),
        chunks: ChunkChoice::Shape(chunks.to_vec()),
    });
    for (dataset, names) in [("temp", &["time", "x"][..]), ("time", &["time"]), ("x", &["x"])] {
        let names = names.iter().map(|it| (*it).to_owned()).collect();
        options.tet.dims.push(DimNames { dataset: Some(dataset.to_owned()), names });
    }
    convert(&npz, &path, &options).unwrap();
    path
}

#[test]
fn files_are_one_along_an_axis() {
    let folder = tempfile::tempdir().unwrap();
    let refs = folder.path().join("refs.json");
    let rows = [0..8, 8..12, 12..15];
    let wanted: Vec<u8> = (0..15 * 700_i32).flat_map(i32::to_le_bytes).collect();
    let times: Vec<u8> = (0..15_i32).flat_map(|it| f64::from(it).to_le_bytes()).collect();
    for kind in ["raw.tet", "zstd.tet", "raw.h5", "zstd.nc", "zstd.zarr"] {
        let files: Vec<PathBuf> = rows
            .iter()
            .map(|rows| {
                part(folder.path(), &format!("{}_{kind}", rows.start), rows.clone(), &[4, 300])
            })
            .collect();
        for (axis, format) in [("time", ZarrFormat::V2), ("time", ZarrFormat::V3)] {
            let how = RefsOptions {
                concat: Some(axis.to_owned()),
                inline_len: 0,
                ..options(format, EdgeChoice::Inline)
            };
            written(&files, &refs, &how);
            let found = opened(&refs);
            assert_eq!(found.catalog.find("temp").unwrap().shape(), [15, 700], "{kind}");
            assert_eq!(found.catalog.find("temp").unwrap().dims, ["time", "x"]);
            assert_eq!(read(&found, "temp").bytes(), wanted, "{kind} {format:?}");
            assert_eq!(read(&found, "time").bytes(), times, "{kind}");
            assert_eq!(found.catalog.find("x").unwrap().shape(), [700]);
        }
        // A file that ends within a chunk comes last, or not at all; both files are named.
        let turned = [files[2].clone(), files[0].clone()];
        let how = RefsOptions {
            concat: Some("time".to_owned()),
            ..options(ZarrFormat::V2, EdgeChoice::Inline)
        };
        let refused = write_references(&turned, &refs, &how).unwrap_err().to_string();
        assert!(refused.contains("12_") && refused.contains("0_"), "{refused}");
    }
    // Arrays in one piece are cut where all files can be.
    let raw = rows.map(|rows| {
        let path = folder.path().join(format!("piece{}.npy", rows.start));
        let values = (rows.start * 700..rows.end * 700).flat_map(i32::to_le_bytes);
        let bytes: Vec<u8> = values.collect();
        fs::write(&path, npy("<i4", "False", &format!("({}, 700)", rows.len()), &bytes)).unwrap();
        path
    });
    let how = RefsOptions {
        concat: Some("0".to_owned()),
        ..options(ZarrFormat::V2, EdgeChoice::Refused)
    };
    written(&raw, &refs, &how);
    assert_eq!(read(&opened(&refs), "piece0").bytes(), wanted);
}

#[test]
fn files_that_do_not_fit_are_refused_with_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let refs = folder.path().join("refs.json");
    let first = part(folder.path(), "a.h5", 0..8, &[4, 300]);
    let how = RefsOptions {
        concat: Some("time".to_owned()),
        ..options(ZarrFormat::V2, EdgeChoice::Inline)
    };
    for (name, chunks, what) in [
        ("b.h5", &[2, 300], "their chunks have the shapes"),
        ("b_zstd.h5", &[4, 300], "different codecs"),
    ] {
        let second = part(folder.path(), name, 8..12, chunks);
        let refused = write_references(&[first.clone(), second], &refs, &how);
        let refused = refused.unwrap_err().to_string();
        let is_named = refused.contains("a.h5") && refused.contains(name);
        assert!(refused.contains(what) && is_named, "{refused}");
    }
    let second = part(folder.path(), "c.h5", 8..12, &[4, 300]);
    let two = [first, second];
    for axis in ["height", "7"] {
        let how = RefsOptions { concat: Some(axis.to_owned()), ..how.clone() };
        assert!(write_references(&two, &refs, &how).is_err(), "{axis}");
    }
    let one = RefsOptions { concat: None, ..how };
    assert!(write_references(&two, &refs, &one).is_err());
    assert!(!refs.exists());
}

#[test]
fn what_zarr_lacks_is_listed_or_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let refs = folder.path().join("refs.json");
    let file = folder.path().join("m.safetensors");
    let header = r#"{"a":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},"c":{"dtype":"F8_E4M3","shape":[8],"data_offsets":[16,24]}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(0..24);
    fs::write(&file, bytes).unwrap();
    let mut how = options(ZarrFormat::V2, EdgeChoice::Refused);
    let refused = write_references(from_ref(&file), &refs, &how);
    let Err(Error::Several { faults, .. }) = refused else { panic!("{refused:?}") };
    let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert!(texts[0].contains("bfloat16") && texts[1].contains("float8_e4m3"), "{texts:?}");
    assert!(!refs.exists());
    how.unsupported = UnsupportedChoice::Skipped;
    let report = written(from_ref(&file), &refs, &how);
    let skipped = report.notes.iter().filter(|note| matches!(note, Note::Skipped { .. }));
    assert_eq!((skipped.count(), report.array_count), (2, 1));
    how.unsupported = UnsupportedChoice::Refused;
    how.exclude = vec!["a".to_owned(), "c".to_owned()];
    written(&[file], &refs, &how);
    assert_eq!(read(&opened(&refs), "b").bytes(), (8..16).collect::<Vec<u8>>());
}

#[test]
fn urls_have_the_names_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let refs = folder.path().join("refs.json");
    let whole = input(folder.path(), "x.npy", "<i4", "False");
    let zarr = folder.path().join("x.zarr");
    convert(&whole, &zarr, &storage(&[20, 70, 90], false)).unwrap();
    let mut how = options(ZarrFormat::V3, EdgeChoice::Refused);
    let mut url = |address: RefsAddress, file: &Path| {
        how.address = address;
        written(&[file.to_path_buf()], &refs, &how);
        let refs = document(&refs);
        let url = refs.values().find_map(|value| value.as_array()).unwrap()[0].clone();
        url.as_str().unwrap().to_owned()
    };
    let prefix = RefsAddress::Prefix("https://host/d/".to_owned());
    assert_eq!(url(RefsAddress::Path, &whole), whole.to_string_lossy());
    assert_eq!(url(prefix.clone(), &whole), "https://host/d/x.npy");
    assert_eq!(url(prefix, &zarr), "https://host/d/x.zarr/x/c/0/0/0");
    let relative = RefsAddress::Prefix(".".to_owned());
    assert_eq!(url(relative, &whole), "./x.npy");
    assert_eq!(read(&opened(&refs), "x").bytes(), elements());
}

#[test]
fn damaged_files_have_no_wrong_references() {
    let folder = tempfile::tempdir().unwrap();
    let (refs, path) = (folder.path().join("refs.json"), folder.path().join("cut"));
    let whole = input(folder.path(), "x.npy", "<i4", "False");
    for name in ["x.tet", "x.h5", "x.nc", "x.zt", "x.safetensors", "x.npy"] {
        let file = folder.path().join(name);
        if name != "x.npy" {
            convert(&whole, &file, &storage(&[7, 35, 90], true)).unwrap();
        }
        let bytes = fs::read(&file).unwrap();
        for step in 0..200 {
            let mut bytes = bytes.clone();
            if step % 2 == 0 {
                bytes.truncate(bytes.len() * step / 200);
            } else {
                // One byte in the first or the last part of the file, where metadata are.
                let at = if step % 4 == 1 { step * 5 } else { bytes.len() - 1 - step * 5 };
                bytes[at] ^= 1 << (step % 8);
            }
            let path = path.with_extension(file.extension().unwrap());
            fs::write(&path, &bytes).unwrap();
            let how = options(ZarrFormat::V2, EdgeChoice::Inline);
            if write_references(from_ref(&path), &refs, &how).is_err() {
                continue;
            }
            let len = bytes.len() as u64;
            for (key, value) in document(&refs) {
                let Some([url, offset, stored]) = value.as_array().map(Vec::as_slice) else {
                    continue;
                };
                assert_eq!(url.as_str().map(Path::new), Some(path.as_path()));
                let end = offset.as_u64().unwrap().checked_add(stored.as_u64().unwrap());
                assert!(end.is_some_and(|end| end <= len), "{name} {step} {key}: {value}");
            }
        }
    }
}
