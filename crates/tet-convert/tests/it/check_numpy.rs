//! `.npy` and `.npz` files checked: sound ones, and every changed bit of small ones.

use std::io::{Cursor, Write};

use tet_convert::{OpenOptions, open_source, verify};
use tet_io::Source;
use tet_verify::{Integrity, Level, Report, VerifyOptions};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::common::{self, elements, npy};

fn array() -> Vec<u8> {
    npy("<f4", "False", "(6, 5)", &elements("f4", 30))
}

fn npz(method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for name in ["a.npy", "b.npy"] {
        zip.start_file(name, SimpleFileOptions::default().compression_method(method))
            .expect("room");
        zip.write_all(&array()).expect("room");
    }
    zip.finish().expect("room").into_inner()
}

fn checked(bytes: &[u8], level: Level) -> Result<Report, tet_convert::Error> {
    verify(&Source::from_bytes(bytes), &VerifyOptions { level, ..VerifyOptions::default() })
}

fn ids(report: &Report) -> Vec<&str> {
    report.findings.iter().map(|finding| finding.code.id()).collect()
}

#[test]
fn sound_files_have_no_findings() {
    for level in [Level::Structure, Level::Deep] {
        let report = checked(&array(), level).unwrap();
        assert!(report.is_ok() && report.integrity == Integrity::Unprotected, "{report:?}");
        for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
            let report = checked(&npz(method), level).unwrap();
            assert!(report.is_ok() && report.integrity == Integrity::Unchecked, "{report:?}");
            assert_eq!(report.dataset_count, 2);
        }
    }
}

/// An archive of members of these names, each an array of numbers that count from that of the member.
fn named(names: &[&str]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let how = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, number) in names.iter().zip(1_u8..) {
        zip.start_file(*name, how).expect("room");
        let is_array = !name.ends_with(".txt");
        let array = npy("|u1", "False", "(2,)", &[number, number]);
        zip.write_all(if is_array { &array } else { b"text" }).expect("room");
    }
    zip.finish().expect("room").into_inner()
}

fn values(bytes: Vec<u8>, name: &str) -> Vec<u8> {
    let opened = open_source(Source::from_bytes(bytes), &OpenOptions::default()).unwrap();
    common::read(&opened, name).bytes().to_vec()
}

#[test]
fn members_are_arrays_by_their_first_bytes() {
    let bytes = named(&["weights", "b.npy", "notes.txt"]);
    assert_eq!(values(bytes.clone(), "weights"), [1, 1]);
    assert_eq!(ids(&checked(&bytes, Level::Deep).unwrap()), ["NPZ-N3"]);
    let opened = open_source(Source::from_bytes(bytes), &OpenOptions::default()).unwrap();
    let left: Vec<String> = opened.left_out().map(ToString::to_string).collect();
    assert_eq!(left, ["\"notes.txt\" is not an array: left out"]);
    let twice = named(&["x", "x.npy"]);
    assert_eq!(ids(&checked(&twice, Level::Deep).unwrap()), ["NPZ-N1"]);
    let other = named(&["notes.txt"]);
    assert_eq!(ids(&checked(&other, Level::Deep).unwrap()), ["NPZ-N3", "NPZ-A3"]);
    let refused = open_source(Source::from_bytes(other), &OpenOptions::default());
    assert!(refused.unwrap_err().to_string().contains("notes.txt"));
}

#[test]
fn the_last_member_of_a_name_is_read_with_a_warning() {
    // The zip writer refuses a name twice: one of the same length is changed.
    let mut bytes = named(&["a.npy", "b.npy", "c.npy"]);
    while let Some(at) = bytes.windows(5).position(|it| it == b"b.npy") {
        bytes[at] = b'a';
    }
    assert_eq!(values(bytes.clone(), "a"), [2, 2]);
    assert_eq!(values(bytes.clone(), "c"), [3, 3]);
    assert_eq!(ids(&checked(&bytes, Level::Deep).unwrap()), ["NPZ-N2"]);
}

#[test]
fn a_member_with_two_names_is_not_read() {
    let mut bytes = named(&["a.npy", "b.npy"]);
    let at = bytes.windows(5).rposition(|it| it == b"a.npy").unwrap();
    bytes[at] = b'c';
    assert_eq!(values(bytes.clone(), "b"), [2, 2]);
    assert_eq!(ids(&checked(&bytes, Level::Structure).unwrap()), ["NPZ-N4"]);
    let opened = open_source(Source::from_bytes(bytes), &OpenOptions::default()).unwrap();
    let [lost, _] = opened.catalog.datasets() else { panic!("two datasets") };
    let why = lost.why().unwrap().to_string();
    assert!(why.contains("\"c.npy\"") && why.contains("\"a.npy\""), "{why}");
}

#[test]
fn an_archive_is_all_of_its_file() {
    let (one, other) = (named(&["a.npy"]), named(&["b.npy", "c.npy"]));
    let prefixed = [b"PK\x03\x04 and other bytes", &one[..]].concat();
    for bytes in [[&one[..], &other].concat(), [&other[..], &one].concat(), prefixed] {
        assert_eq!(ids(&checked(&bytes, Level::Deep).unwrap()), ["NPZ-A2"]);
        let refused = open_source(Source::from_bytes(bytes), &OpenOptions::default());
        assert!(refused.unwrap_err().to_string().contains("several zip archives in a row"));
    }
}

#[test]
fn a_wrong_length_and_a_wrong_header_have_their_codes() {
    let sound = array();
    for bytes in [&sound[..sound.len() - 3], &[&sound[..], &[0]].concat()] {
        assert_eq!(ids(&checked(bytes, Level::Structure).unwrap()), ["NPY-E1"]);
    }
    let mut header = sound.clone();
    header[20] = b'?';
    let report = checked(&header, Level::Structure).unwrap();
    assert_eq!(ids(&report), ["NPY-H1"]);
    // No rule is broken, and nobody can open it.
    let dates = npy("|V7", "False", "(2,)", &[0; 14]);
    assert!(checked(&dates, Level::Deep).is_err());
}

/// Every bit of the stored bytes of a member is under its CRC-32; a bit of the directory is noticed or
/// changes nothing that is read.
#[test]
fn every_changed_bit_of_a_member_is_found() {
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let sound = npz(method);
        let arrays = read(&sound).expect("sound");
        let (mut found, mut silent) = (0, 0);
        for at in 0..sound.len() {
            for bit in 0..8 {
                let mut bytes = sound.clone();
                bytes[at] ^= 1 << bit;
                let is_noticed = match checked(&bytes, Level::Deep) {
                    Ok(report) => !report.is_ok(),
                    Err(_) => true,
                };
                found += usize::from(is_noticed);
                if !is_noticed {
                    silent += 1;
                    let now = read(&bytes).unwrap_or_default();
                    assert!(now.iter().all(|it| arrays.contains(it)), "byte {at}, bit {bit}");
                }
            }
        }
        assert!(found > 2 * silent, "{found} of {}", sound.len() * 8);
    }
}

/// The elements of all arrays.
fn read(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let opened = tet_convert::open_source(Source::from_bytes(bytes), &Default::default()).ok()?;
    let all = opened.catalog.datasets().iter().map(|dataset| {
        let slab = tet_query::Hyperslab::whole(dataset.shape());
        Some(dataset.read(&slab, &Default::default()).ok()?.bytes().to_vec())
    });
    all.collect()
}
