//! Files on a disk: large ones, and some that change while they are read.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};

use tet_io::Source;

use crate::testing::{Fields, array, with_entries};
use crate::{Check, Kind, Limits, VerifyOptions, ZTensorFile, verify};

#[test]
fn a_file_that_changed_gives_no_answer() {
    let path = tempfile::NamedTempFile::new().unwrap();
    let entry = Fields::dense("t", 64, 8, "uint8", &[8]).entry();
    let bytes = with_entries(&[7; 8], &[entry]);
    fs::write(path.path(), &bytes).unwrap();
    let source = Source::open(path.path()).unwrap();
    let file = ZTensorFile::open(source.clone(), &Limits::default()).unwrap();
    let tensor = file.tensor(0).unwrap();
    assert_eq!(file.read(tensor, Check::Always).unwrap(), [7; 8]);
    fs::write(path.path(), [&bytes[..], b"more"].concat()).unwrap();
    let io = |error: crate::Error| assert_eq!(error.kind(), Kind::Io);
    io(file.read(tensor, Check::Always).unwrap_err());
    io(verify(&source, &VerifyOptions::default()).unwrap_err());
    io(ZTensorFile::open(source, &Limits::default()).unwrap_err());
    fs::write(path.path(), &bytes[..70]).unwrap();
    io(file.read(tensor, Check::Always).unwrap_err());
}

/// Past 4 GiB, in a file of holes.
#[test]
fn places_past_32_bits_are_places() {
    let mut path = tempfile::NamedTempFile::new().unwrap();
    let len = 5_u64 << 30;
    let far = 64 + len;
    let entries = [
        Fields::dense("near", 64, len, "uint8", &[len]).entry(),
        Fields::dense("far", far, 4, "float32", &[1]).entry(),
    ];
    let index = array(&entries);
    let disk: &mut File = path.as_file_mut();
    disk.write_all(b"ZTEN0001").unwrap();
    disk.seek(SeekFrom::Start(far - 2)).unwrap();
    disk.write_all(&[1, 2, 3, 4, 5, 6]).unwrap();
    disk.write_all(&index).unwrap();
    disk.write_all(&(index.len() as u64).to_le_bytes()).unwrap();
    let source = Source::open(path.path()).unwrap();
    let file = ZTensorFile::open(source, &Limits::default()).unwrap();
    assert_eq!(file.read(file.find("far").unwrap(), Check::Always).unwrap(), [3, 4, 5, 6]);
}
