//! `.npy` and `.npz` files checked: sound ones, and every changed bit of small ones.

use std::io::{Cursor, Write};

use tet_convert::verify;
use tet_io::Source;
use tet_verify::{Integrity, Level, Report, VerifyOptions};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::common::{elements, npy};

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
