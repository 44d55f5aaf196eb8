//! Losses are listed under their name, and programs that need all of a file fail unless they leave it out.

use std::fs;
use std::path::{Path, PathBuf};

use tet_convert::{ConvertOptions, Note, OpenOptions, UnsupportedChoice, convert, open, verify};
use tet_io::{Kind, Source};
use tet_verify::VerifyOptions;

use crate::common::npy;
use crate::common::world::{archive, zip};

/// A NetCDF-4 or HDF5 file of three datasets, of which the header of the second one has a changed bit.
fn damaged(folder: &Path, name: &str) -> PathBuf {
    let table = folder.join("in.csv");
    fs::write(&table, "alpha,beta,gamma\n1,2,3\n4,5,6\n").unwrap();
    let path = folder.join(name);
    convert(&table, &path, &ConvertOptions::default()).unwrap();
    let file = tet_hdf5::Hdf5File::open(Source::open(&path).unwrap()).unwrap();
    let (objects, _) = file.objects().unwrap();
    let beta = objects.iter().find(|it| it.path == "beta").unwrap().address;
    let mut bytes = fs::read(&path).unwrap();
    bytes[usize::try_from(beta).unwrap() + 12] ^= 16;
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_dataset_with_a_damaged_header_is_listed_and_not_written() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["x.h5", "x.nc"] {
        let path = damaged(folder.path(), name);
        let opened = open(&path, &OpenOptions::default()).unwrap();
        let listed = opened.catalog.datasets().iter().map(|it| (it.name.as_str(), it.has_shape));
        assert_eq!(
            listed.collect::<Vec<_>>(),
            [("alpha", true), ("beta", false), ("gamma", true)],
            "{name}"
        );
        let out = folder.path().join(format!("{name}.npz"));
        let error = convert(&path, &out, &ConvertOptions::default()).unwrap_err();
        assert_eq!(error.kind(), Kind::Format, "{error}");
        assert!(error.to_string().contains("beta") && !out.exists(), "{error}");
        let mut options = ConvertOptions::default();
        options.unsupported = UnsupportedChoice::Skipped;
        let report = convert(&path, &out, &options).unwrap();
        let is_named = |it: &Note| matches!(it, Note::Skipped { dataset, .. } if dataset == "beta");
        assert_eq!(report.notes.iter().filter(|it| is_named(it)).count(), 1, "{:?}", report.notes);
        options = ConvertOptions::default();
        options.tet.exclude = vec!["beta".to_owned()];
        options.tet.overwrite = tet_io::Overwrite::Replace;
        let names = convert(&path, &out, &options).unwrap().datasets;
        let names: Vec<String> = names.into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["alpha", "gamma"]);
    }
}

#[test]
fn a_part_without_a_name_ends_what_needs_all_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gguf");
    // No tensors and no keys, and the data of some.
    fs::write(&path, [b"GGUF\x03\0\0\0".as_slice(), &[0; 16], &[7; 300]].concat()).unwrap();
    let opened = open(&path, &OpenOptions::default()).unwrap();
    let ids: Vec<&str> = opened.losses().map(|it| it.code.id()).collect();
    assert_eq!(ids, ["GG-D4"]);
    let error = opened.check_complete().unwrap_err();
    assert_eq!(error.kind(), Kind::Format, "{error}");
    let out = folder.path().join("x.npz");
    let error = convert(&path, &out, &ConvertOptions::default()).unwrap_err();
    assert!(error.to_string().contains("GG-D4") && !out.exists(), "{error}");
    let source = Source::open(&path).unwrap();
    assert!(!verify(&source, &VerifyOptions::default()).unwrap().is_ok());
}

#[test]
fn tensors_of_a_file_with_more_than_tensors_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.safetensors");
    let tensor = r#""w":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}"#;
    let gap = r#""w":{"dtype":"U8","shape":[3],"data_offsets":[2,5]}"#;
    for (rule, header, buffer) in [
        ("ST-B4", format!("{{{tensor}}}"), &[1, 2, 3, 0, 0][..]),
        ("ST-B3", format!("{{{gap}}}"), &[9, 9, 1, 2, 3]),
        ("ST-H7", format!("{{\"__metadata__\":{{\"a\":\"b\",\"n\":1}},{tensor}}}"), &[1, 2, 3]),
    ] {
        let len = u64::try_from(header.len()).unwrap().to_le_bytes();
        fs::write(&path, [&len[..], header.as_bytes(), buffer].concat()).unwrap();
        let opened = open(&path, &OpenOptions::default()).unwrap();
        assert_eq!(crate::common::read(&opened, "w").bytes(), [1, 2, 3], "{rule}");
        let ids: Vec<&str> = opened.losses().map(|it| it.code.id()).collect();
        assert_eq!(ids, [rule]);
        assert!(!verify(&Source::open(&path).unwrap(), &VerifyOptions::default()).unwrap().is_ok());
        let out = folder.path().join(format!("{rule}.npz"));
        let error = convert(&path, &out, &ConvertOptions::default()).unwrap_err();
        assert!(error.to_string().contains(rule) && !out.exists(), "{error}");
        let mut options = ConvertOptions::default();
        options.unsupported = UnsupportedChoice::Skipped;
        let report = convert(&path, &out, &options).unwrap();
        let is_warned = |it: &Note| matches!(it, Note::Warned { what } if what.contains(rule));
        assert!(report.notes.iter().any(is_warned), "{:?}", report.notes);
    }
}

#[test]
fn a_member_of_another_method_is_the_only_one_that_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    let array = || npy("|u1", "False", "(3,)", &[1, 2, 3]);
    archive(&path, &[("a", array()), ("b", array())]);
    let mut bytes = fs::read(&path).unwrap();
    let named = bytes.windows(5).enumerate().filter(|(_, it)| *it == b"a.npy");
    for at in named.map(|(at, _)| at).collect::<Vec<_>>() {
        // bzip2, in the header of the member and in the directory.
        let place = if bytes[at - 30..].starts_with(b"PK\x03\x04") { at - 22 } else { at - 36 };
        bytes[place] = 12;
    }
    fs::write(&path, bytes).unwrap();
    let opened = open(&path, &OpenOptions::default()).unwrap();
    assert_eq!(crate::common::read(&opened, "b").bytes(), [1, 2, 3]);
    let lost = opened.catalog.find("a").unwrap();
    assert!(
        !lost.has_shape && lost.why().unwrap().to_string().contains("not by deflate"),
        "{:?}",
        lost.why()
    );
    let out = folder.path().join("x.tet");
    let error = convert(&path, &out, &ConvertOptions::default()).unwrap_err();
    assert!(error.to_string().contains("\"a\""), "{error}");
}

#[test]
fn verify_is_not_ok_for_what_cannot_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    zip(&path, &[("model.weights.h5", &[])]);
    assert!(open(&path, &OpenOptions::default()).is_err());
    let report = verify(&Source::open(&path).unwrap(), &VerifyOptions::default());
    assert!(!report.is_ok_and(|report| report.is_ok()));
}

#[test]
fn what_an_output_cannot_hold_is_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    let array = |shape: &str, data: &[u8]| npy("|u1", "False", shape, data);
    let [few, many, none] = [("(3,)", 3), ("(1,1,1,1,1,1,1,1,3)", 3), ("(2,0)", 0)]
        .map(|(shape, count)| array(shape, &[1, 2, 3][..count]));
    archive(&path, &[("a", few), ("r", many), ("z", none)]);
    let mut options = ConvertOptions::default();
    options.unsupported = UnsupportedChoice::Skipped;
    for (name, skipped) in [("x.tet", "r"), ("x.nc3", "z")] {
        let report = convert(&path, &folder.path().join(name), &options).unwrap();
        let is_named =
            |it: &Note| matches!(it, Note::Skipped { dataset, .. } if dataset == skipped);
        assert!(report.notes.iter().any(is_named), "{name}: {:?}", report.notes);
        assert_eq!(report.datasets.len(), 2, "{name}");
    }
}
