//! zTensor files of versions 1 and 2: those of the `ztensor` package, shards, and conversions.

#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]
#![allow(clippy::big_endian_bytes, reason = "the numbers of CBOR are big-endian")]

use std::path::Path;

use crate::common::{fixture, opened};
use tet_convert::{ConvertOptions, Format, Opened, convert, verify};
use tet_format::DType;
use tet_io::Source;
use tet_query::{Array, AttrText, DigestPolicy, Execution, Hyperslab};
use tet_verify::{Integrity, Level, VerifyOptions};

fn values(file: &Opened, name: &str) -> Vec<f64> {
    let array = array(file, name);
    (0..array.len()).map(|at| array.get(at).unwrap().to_f64().unwrap()).collect()
}

fn array(file: &Opened, name: &str) -> Array {
    let dataset = file.catalog.find(name).unwrap();
    let how = Execution { digests: DigestPolicy::Always, ..Execution::default() };
    dataset.read(&Hyperslab::whole(dataset.shape()), &how).unwrap().value
}

fn shape(file: &Opened, name: &str) -> Vec<u64> {
    file.catalog.find(name).unwrap().shape().to_vec()
}

fn deep(path: &Path) -> (Vec<String>, Integrity) {
    let options = VerifyOptions { level: Level::Deep, ..VerifyOptions::default() };
    let report = verify(&Source::open(path).unwrap(), &options).unwrap();
    (report.findings.iter().map(|it| it.code.to_string()).collect(), report.integrity)
}

/// The objects that both fixtures have.
fn check_common(file: &Opened) {
    let quarters: Vec<f64> = (0..12).map(|at| f64::from(at) / 4.0).collect();
    assert_eq!((shape(file, "dense"), values(file, "dense")), (vec![3, 4], quarters));
    assert_eq!(values(file, "packed"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(file.catalog.find("mask").unwrap().dtype, Some(DType::Bool));
    assert_eq!(array(file, "mask").bytes(), [1, 0, 1]);
    let mut csr = [0.0; 12];
    (csr[1], csr[8], csr[11]) = (1.0, 2.0, 3.0);
    assert_eq!((shape(file, "csr"), values(file, "csr")), (vec![3, 4], csr.to_vec()));
    let mut coo = [0.0; 12];
    (coo[9], coo[3]) = (7.0, 8.0);
    assert_eq!((shape(file, "coo"), values(file, "coo")), (vec![3, 4], coo.to_vec()));
    let blocks = file.catalog.find("blocks").unwrap();
    assert!(blocks.why().unwrap().to_string().contains("is not supported"));
    assert_eq!(blocks.attrs["bits"], AttrText::Json("4".to_owned()));
    assert_eq!(values(file, "blocks.scales"), [0.5, 2.0]);
}

#[test]
fn files_of_version_2_are_read() {
    let path = fixture("ztensor2.zt");
    let file = opened(&path);
    assert_eq!(file.format, Format::ZTENSOR2);
    check_common(&file);
    assert_eq!((shape(&file, "scalar"), values(&file, "scalar")), (vec![], vec![2.5]));
    assert_eq!((shape(&file, "empty"), values(&file, "empty")), (vec![0, 3], vec![]));
    let complex = array(&file, "z");
    assert_eq!(complex.bytes(), [1.0_f32, -1.0, 2.0, -2.0].map(f32::to_le_bytes).concat());
    for (name, dtype) in [("f8", "float8_e4m3fn"), ("f4", "float4_e2m1fn")] {
        let dataset = file.catalog.find(name).unwrap();
        assert_eq!((dataset.dtype, dataset.dtype_name.as_str()), (Some(DType::Float32), dtype));
    }
    // The last byte of an odd number of elements is filled up.
    assert_eq!(values(&file, "f4").len(), 3);
    // The parts of sparse tensors are those of version 0.1.0.
    assert_eq!(values(&file, "csr.indptr"), [0.0, 1.0, 1.0, 3.0]);
    assert_eq!(values(&file, "csr.indices"), [1.0, 0.0, 3.0]);
    assert_eq!(values(&file, "csr.values"), [1.0, 2.0, 3.0]);
    assert_eq!(
        (shape(&file, "coo.coords"), values(&file, "coo.coords")),
        (vec![2, 2], vec![2.0, 1.0, 0.0, 3.0])
    );
    assert_eq!(file.catalog.find("csr").unwrap().dims, ["row", "col"]);
    assert_eq!(file.catalog.attrs()["title"], AttrText::Text("small".to_owned()));
    assert_eq!(file.regions.len(), 4);
    assert_eq!(deep(&path), (vec!["ZT2-N2".to_owned()], Integrity::Verified));
}

#[test]
fn files_of_version_1_are_read() {
    let path = fixture("ztensor1.zt");
    let file = opened(&path);
    assert_eq!(file.format, Format::ZTENSOR1);
    check_common(&file);
    assert_eq!(values(&file, "half"), [1.5, -2.0]);
    assert_eq!(deep(&path), (vec!["ZT2-N2".to_owned()], Integrity::Unchecked));
}

#[test]
fn a_changed_element_is_found_by_reading_and_by_checking() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["ztensor1.zt", "ztensor2.zt"] {
        let mut bytes = std::fs::read(fixture(name)).unwrap();
        let wanted = 2.75_f32.to_le_bytes();
        let at = bytes.windows(4).position(|four| four == wanted).unwrap();
        bytes[at] ^= 1;
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let file = opened(&path);
        let dataset = file.catalog.find("dense").unwrap();
        let how = Execution { digests: DigestPolicy::Always, ..Execution::default() };
        let read = dataset.read(&Hyperslab::whole(dataset.shape()), &how);
        assert!(read.unwrap_err().to_string().contains("ZT2-B4"), "{name}");
        assert_eq!(
            deep(&path),
            (vec!["ZT2-N2".to_owned(), "ZT2-B4".to_owned()], Integrity::Mismatch)
        );
    }
}

#[test]
fn files_of_both_versions_become_other_files() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["ztensor1.zt", "ztensor2.zt"] {
        for target in ["a.zt", "a.npz"] {
            let output = folder.path().join(format!("{name}.{target}"));
            let mut options = ConvertOptions::default();
            let excluded: &[&str] =
                if name == "ztensor1.zt" { &["blocks"] } else { &["blocks", "f8", "f4"] };
            options.tet.exclude = excluded.iter().map(|&it| it.to_owned()).collect();
            convert(&fixture(name), &output, &options).unwrap();
            let (before, after) = (opened(&fixture(name)), opened(&output));
            for dataset in ["dense", "packed", "mask", "csr", "coo"] {
                let [a, b] = [&before, &after].map(|file| array(file, dataset));
                assert_eq!(a.bytes(), b.bytes(), "{name} {target} {dataset}");
            }
        }
    }
    // Types that are not computed with are copied.
    let output = folder.path().join("f.safetensors");
    let mut options = ConvertOptions::default();
    options.tet.include = vec!["f8".to_owned()];
    convert(&fixture("ztensor2.zt"), &output, &options).unwrap();
    assert!(std::fs::read(&output).unwrap().ends_with(&[0, 1, 2, 3]));
}

/// A root file with one object in the shard `x`, put together of a fixture: the fixture is the shard.
fn root(shard: &[u8]) -> Vec<u8> {
    let text = |text: &str| [&[0x60 | u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    let short = |number: u64| [&[0x19][..], &u16::try_from(number).unwrap().to_be_bytes()].concat();
    let size = u32::try_from(shard.len()).unwrap();
    let size =
        if size > 65535 { [&[0x1a][..], &size.to_be_bytes()].concat() } else { short(size.into()) };
    let digest = format!("xxh3:{:016x}", tet_codec::digest(shard).xxh3);
    let part = [
        vec![0xa3],
        text("blob"),
        vec![0x82],
        short(4096),
        vec![0x04],
        text("dtype"),
        text("f32"),
        text("shard"),
        text("x"),
    ]
    .concat();
    let object = [
        vec![0xa3],
        text("parts"),
        vec![0xa1],
        text("data"),
        part,
        text("shape"),
        vec![0x80],
        text("layout"),
        text("dense"),
    ]
    .concat();
    let entry = [vec![0xa2], text("size"), size, text("digest"), text(&digest)].concat();
    let manifest = [
        vec![0xa2],
        text("shards"),
        vec![0xa1],
        text("x"),
        entry,
        text("objects"),
        vec![0xa1],
        text("a"),
        object,
    ]
    .concat();
    let mut out = b"\x89ZT2\r\n\x1a\n".to_vec();
    out.resize(4096, 0);
    out.extend(&manifest);
    for number in [4096, manifest.len() as u64, tet_codec::digest(&manifest).xxh3, 2] {
        out.extend(number.to_le_bytes());
    }
    out.extend(b"\x89ZT2\r\n\x1a\n");
    out
}

#[test]
fn blobs_of_another_file_are_read_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let shard = std::fs::read(fixture("ztensor2.zt")).unwrap();
    let path = folder.path().join("model.zt");
    std::fs::write(&path, root(&shard)).unwrap();
    let file = opened(&path);
    let why = file.catalog.find("a").unwrap().why().unwrap().to_string();
    assert!(why.contains("ZT2-H4") && why.contains("\"x\""), "{why}");
    assert_eq!(deep(&path).0, ["ZT2-H4", "ZT2-H4"]);
    let other = folder.path().join("model-x.zt");
    std::fs::write(&other, &shard).unwrap();
    let file = opened(&path);
    let stored = &shard[4096..4100];
    assert_eq!(array(&file, "a").bytes(), stored);
    assert_eq!(file.catalog.shards().len(), 1);
    assert_eq!(deep(&path).0, [""; 0]);
    let mut changed = shard.clone();
    changed[5000] ^= 1;
    std::fs::write(&other, changed).unwrap();
    assert_eq!(deep(&path), (vec!["ZT2-H7".to_owned()], Integrity::Unprotected));
}
