//! Hostile Zarr hierarchies in zip files and references.

use std::io::{Cursor, Write};

use tet_convert::OpenOptions;
use tet_io::Source;
use tet_query::Kind;
use tet_tests::ask;
use tet_verify::{Level, VerifyOptions};
use zip::CompressionMethod::{Deflated, Stored};
use zip::write::SimpleFileOptions;

use crate::ALLOCATOR;

/// Memory on top of a multiple of the file.
const HELD_MAX: usize = 24 << 20;
const HELD_FACTOR: usize = 64;

/// A member: its name, its bytes, and whether they are deflated.
type Member = (String, Vec<u8>, zip::CompressionMethod);

/// A zip file of these members, and of the array `good` of the numbers 1, 2, 3, 4.
fn archive(members: &[Member]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let root = (r#"{"zarr_format": 3, "node_type": "group"}"#).as_bytes().to_vec();
    let good = [
        member("zarr.json", root),
        member("good/zarr.json", array("[4]", "[4]", RAW)),
        member("good/c/0", vec![1, 2, 3, 4]),
    ];
    for (name, bytes, method) in good.iter().chain(members) {
        let options = SimpleFileOptions::default().compression_method(*method);
        writer.start_file(name.as_str(), options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn member(name: &str, bytes: Vec<u8>) -> Member {
    (name.to_owned(), bytes, Stored)
}

/// The document of the array `bad`.
fn bad(shape: &str, chunk: &str, codecs: &str) -> Member {
    member("bad/zarr.json", array(shape, chunk, codecs))
}

const RAW: &str = r#"{"name": "bytes"}"#;

fn array(shape: &str, chunk: &str, codecs: &str) -> Vec<u8> {
    let grid = format!(r#"{{"name": "regular", "configuration": {{"chunk_shape": {chunk}}}}}"#);
    let keys = r#"{"name": "default"}"#;
    let text = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape}, "data_type": "uint8",
        "chunk_grid": {grid}, "chunk_key_encoding": {keys}, "fill_value": 0, "codecs": [{codecs}]}}"#
    );
    text.into_bytes()
}

/// Shards within each other.
fn shards(depth: usize) -> String {
    (0..depth).fold(RAW.to_owned(), |codecs, _| {
        format!(
            r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [1], "codecs": [{codecs}],
            "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}}}"#
        )
    })
}

/// A shard of two chunks whose index has these numbers.
fn shard(entries: [u64; 4]) -> Vec<Member> {
    let index = entries.iter().flat_map(|number| number.to_le_bytes());
    let bytes = [7, 8].into_iter().chain(index).collect();
    vec![bad("[2]", "[2]", &shards(1)), member("bad/c/0", bytes)]
}

/// Name of a claim, the bytes of the file, and the rule that `verify` finds broken.
type Claim = (&'static str, Vec<u8>, Option<&'static str>);

fn claims() -> Vec<Claim> {
    let mut bomb = Vec::new();
    tet_codec::encode::deflate(&vec![0; 64 << 20], 9, &mut bomb).unwrap();
    let zlib = r#"{"name": "bytes"}, {"name": "numcodecs.zlib"}"#;
    let one = |bad: Member| archive(&[bad]);
    let deep = [b"{\"zarr_format\": 3, \"attributes\": ".to_vec(), vec![b'['; 1 << 20]].concat();
    let spaces = ("bad/zarr.json".to_owned(), vec![b' '; 65 << 20], Deflated);
    let zipped = ("bad/c/0".to_owned(), vec![5; 16 << 20], Deflated);
    let large = "[1152921504606846976]";
    vec![
        ("2^60 chunks, none of them stored", one(bad(large, "[1]", RAW)), None),
        (
            "2^60 chunks, one of them stored",
            archive(&[bad(large, "[1]", RAW), member("bad/c/1152921504606846975", vec![3])]),
            None,
        ),
        (
            "2^90 elements",
            one(bad("[1152921504606846976, 1073741824]", "[1, 1]", RAW)),
            Some("ZR-M4"),
        ),
        (
            "a chunk of 2^60 bytes",
            archive(&[bad("[9]", large, RAW), member("bad/c/0", vec![1])]),
            Some("ZR-P2"),
        ),
        ("a chunk of no extent", one(bad("[9]", "[0]", RAW)), Some("ZR-M5")),
        (
            "a chunk of 64 MiB for 4 bytes",
            archive(&[bad("[4]", "[4]", zlib), member("bad/c/0", bomb)]),
            Some("ZR-P3"),
        ),
        (
            "a chunk of a zip of 16 MiB for 4 bytes",
            archive(&[bad("[4]", "[4]", RAW), zipped]),
            Some("ZR-P2"),
        ),
        ("shards of 40 levels", one(bad("[1]", "[1]", &shards(40))), Some("ZR-L4")),
        ("a shard that is sound", archive(&shard([0, 1, 1, 1])), None),
        ("a chunk behind its shard", archive(&shard([0, 1, 1 << 62, 1])), Some("ZR-S5")),
        ("a chunk that ends past 2^64", archive(&shard([0, 1, u64::MAX - 1, 9])), Some("ZR-S5")),
        ("two chunks at one place", archive(&shard([0, 1, 0, 1])), Some("ZR-S6")),
        ("a chunk in the index", archive(&shard([0, 1, 2, 1])), Some("ZR-S6")),
        ("JSON of a million levels", one(member("bad/zarr.json", deep)), Some("ZR-M2")),
        ("a document of 65 MiB of spaces", archive(&[spaces]), Some("ZR-L1")),
        (
            "names that are paths",
            archive(&[
                member("../evil/zarr.json", array("[1]", "[1]", RAW)),
                member("/etc/evil/zarr.json", array("[1]", "[1]", RAW)),
                member("a/../../evil/zarr.json", array("[1]", "[1]", RAW)),
                member("\u{1b}[2J/zarr.json", array("[1]", "[1]", RAW)),
            ]),
            None,
        ),
    ]
}

#[test]
fn every_hostile_hierarchy_breaks_its_rule() {
    let _alone = ALLOCATOR.alone();
    let mut wrong = Vec::new();
    for (name, bytes, rule) in claims() {
        let source = Source::from_bytes(bytes.as_slice());
        let (found, held) = ALLOCATOR.peak_of(|| compare(&source, rule));
        wrong.extend(found.err().map(|found| format!("{name}: {found}")));
        let held_max = HELD_MAX + HELD_FACTOR * bytes.len();
        assert!(held <= held_max, "{name}: {held} bytes were held, of {}", bytes.len());
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Whether check and catalog agree with the rule of the file.
fn compare(source: &Source, rule: Option<&str>) -> Result<(), String> {
    let options = VerifyOptions { level: Level::Deep, threads: 1, ..VerifyOptions::default() };
    let report = tet_convert::verify(source, &options).map_err(|error| error.to_string())?;
    let ids: Vec<&str> = report.findings.iter().map(|it| it.code.id()).collect();
    if rule.is_some_and(|rule| !ids.contains(&rule)) || rule.is_none() && !report.is_ok() {
        return Err(format!("finds {ids:?}, not {rule:?}"));
    }
    let opened = tet_convert::open_source(source.clone(), &OpenOptions::default());
    let catalog = opened.map_err(|error| error.to_string())?.catalog;
    let good = catalog.datasets().iter().find(|it| it.name == "good").ok_or("good is lost")?;
    assert_eq!(ask::read_all(good).map_err(|error| error.to_string())?, [1, 2, 3, 4]);
    for dataset in catalog.datasets() {
        if let Err(error) = ask::read_all(dataset) {
            let is_known = matches!(error.kind(), Kind::Format | Kind::Limit | Kind::Usage);
            assert!(is_known, "{error}");
        }
    }
    Ok(())
}

/// A conversion of names that are paths writes the one file that was asked for.
#[test]
fn names_that_are_paths_lead_nowhere() {
    let _alone = ALLOCATOR.alone();
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir_all(&inner).unwrap();
    let files = [("x.zarr.zip", claims().pop().unwrap().1)];
    let hdf5 = tet_tests::h5::hostile_files().into_iter();
    let hdf5 = hdf5.filter(|it| it.name.starts_with("names")).map(|it| ("x.h5", it.bytes));
    for (name, bytes) in files.into_iter().chain(hdf5) {
        let input = inner.join(name);
        std::fs::write(&input, bytes).unwrap();
        for output in ["out.tet", "out.npz", "out.zt"] {
            let mut options = tet_convert::ConvertOptions::default();
            options.tet.sync = tet_io::publish::Sync::None;
            let output = inner.join(output);
            drop(tet_convert::convert(&input, &output, &options));
            let _ = std::fs::remove_file(&output);
        }
        std::fs::remove_file(&input).unwrap();
        let names = |folder: &std::path::Path| std::fs::read_dir(folder).unwrap().count();
        assert_eq!((names(folder.path()), names(&inner)), (1, 0), "nothing else was written");
    }
}
