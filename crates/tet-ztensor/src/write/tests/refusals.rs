//! Refusals of the writer.

use std::io::{self, Write};

use tet_cbor::Value;
use tet_format::DType;
use tet_io::Publish;

use super::*;
use crate::Places;
use crate::error::Error;

fn writer() -> Writer<Vec<u8>> {
    Writer::new(Vec::new(), &WriteOptions::default()).unwrap()
}

fn tensor(name: &str) -> Declaration {
    Declaration::new(name, DType::Float32, [2])
}

#[test]
fn lengths_are_exact() {
    for len in [0, 7, 9] {
        let mut writer = writer();
        assert!(matches!(
            writer.whole(tensor("t"), &vec![0; len]),
            Err(Error::Usage { wanted: 8, .. })
        ));
        assert!(matches!(writer.tensor(tensor("u")), Err(Error::Unwritable { .. })));
        assert!(matches!(writer.finish(), Err(Error::Unwritable { .. })), "no half file");
    }
    let mut writer = writer();
    drop(writer.tensor(tensor("t")).unwrap());
    assert!(writer.finish().is_err());
}

/// Takes so many bytes and no more.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_could_not_be_written_is_not_finished() {
    for encoding in [EncodingChoice::Raw, EncodingChoice::zstd()] {
        let options = WriteOptions { encoding, ..WriteOptions::default() };
        let mut writer = Writer::new(Full(100_000), &options).unwrap();
        let declared = Declaration::new("t", DType::UInt8, [30 << 20]);
        let mut tensor = writer.tensor(declared).unwrap();
        // Noise, which zstd makes no shorter.
        let mut state = 1_u64;
        let mut noise = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        let piece: Vec<u8> = (0..10 << 20).map(|_| noise()).collect();
        let written: Vec<bool> = (0..3).map(|_| tensor.write(&piece).is_ok()).collect();
        assert!(written.contains(&false));
        assert!(tensor.finish().is_err());
        assert!(writer.finish().is_err());
    }
}

#[test]
fn the_old_dialect_has_no_shared_blobs_and_few_sparse_ones() {
    let sparse = SparseChoice::Native;
    let options = WriteOptions { sparse, ..WriteOptions::v01x() };
    let mut writer = Writer::new(Vec::new(), &options).unwrap();
    writer.whole(tensor("t"), &[0; 8]).unwrap();
    assert!(writer.alias(tensor("u"), "t").is_err());
    let places = Places::Coo { coords: vec![0] };
    assert!(writer.sparse(tensor("s"), &places, &[0; 4]).is_err());
    let fits = Declaration::new("s", DType::Float32, [3]);
    writer.sparse(fits, &places, &[0; 4]).unwrap();
    assert_eq!(writer.finish().unwrap().1.stored_len, 8 + 12);
}

#[test]
fn what_cannot_be_written_costs_nothing_else() {
    let mut writer = writer();
    writer.whole(tensor("t"), &[0; 8]).unwrap();
    let bad = [
        tensor("t"),
        tensor("a\0b"),
        tensor("u").with("size", Value::Int(1)),
        tensor("u").with("a", Value::Null).with("a", Value::Null),
        tensor("u").with("a", Value::Simple(77)),
        tensor("u").with("a", Value::Int(1 << 64)),
        Declaration::new("u", DType::Complex64, [2]),
        Declaration::new("u", DType::Bitmask, [8]),
        Declaration::new("u", DType::Float64, [1 << 60]),
        Declaration::new("u", DType::UInt8, [1 << 40, 1 << 40]),
    ];
    for declaration in bad {
        assert!(writer.tensor(declaration.clone()).is_err(), "{declaration:?}");
    }
    let empty = Declaration::new("empty", DType::Float64, [1 << 40, 0, 1 << 40]);
    writer.whole(empty, &[]).unwrap();
    writer.alias(tensor("tied"), "t").unwrap();
    assert!(writer.alias(tensor("tied"), "t").is_err());
    assert!(writer.alias(tensor("x"), "y").is_err());
    assert!(writer.alias(Declaration::new("x", DType::Float32, [3]), "t").is_err());
    assert_eq!(writer.finish().unwrap().1.tensor_count, 3);
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let bad = [
        WriteOptions { encoding: EncodingChoice::Zstd { level: 99 }, ..WriteOptions::default() },
        WriteOptions { checksum: ChecksumChoice::Sha256, ..WriteOptions::v01x() },
        WriteOptions { align: Align::Page, ..WriteOptions::v01x() },
    ];
    for options in bad {
        assert!(Writer::new(Vec::new(), &options).is_err(), "{options:?}");
    }
}

#[test]
fn sparse_parts_must_fit_together() {
    let shape = [2, 3];
    let declared = || Declaration::new("s", DType::UInt8, shape);
    let csr = |indptr: &[u64], indices: &[u64], values: &[u8]| {
        let places = Places::Csr { indptr: indptr.to_vec(), indices: indices.to_vec() };
        writer().sparse(declared(), &places, values).is_ok()
    };
    assert!(csr(&[0, 1, 2], &[2, 0], &[1, 2]));
    assert!(csr(&[0, 0, 0], &[], &[]));
    for (indptr, indices) in [
        (&[0, 1][..], &[2, 0][..]),
        (&[1, 1, 2], &[2, 0]),
        (&[0, 2, 1], &[2, 0]),
        (&[0, 1, 1], &[2, 0]),
        (&[0, 1, 2], &[3, 0]),
        (&[0, 1, 2], &[2]),
    ] {
        assert!(!csr(indptr, indices, &[1, 2]), "{indptr:?} {indices:?}");
    }
    let coo = |coords: &[u64], values: &[u8]| {
        writer().sparse(declared(), &Places::Coo { coords: coords.to_vec() }, values).is_ok()
    };
    assert!(coo(&[1, 2, 0, 0], &[1, 2]));
    assert!(!coo(&[2, 2, 0, 0], &[1, 2]));
    assert!(!coo(&[1, 2, 0], &[1, 2]));
    assert!(!coo(&[1, 2], &[1, 2]));
}

#[test]
fn an_aborted_file_leaves_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zt");
    std::fs::write(&path, b"old").unwrap();
    let force = tet_io::Overwrite::Replace;
    let replace = Publish { force, ..Publish::default() };
    let aborted = publish(&path, &WriteOptions::default(), &replace, |writer| {
        writer.whole(tensor("t"), &[0; 8])?;
        writer.whole(tensor("t"), &[0; 8])
    });
    assert!(aborted.is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let write = |writer: &mut Writer<_>| writer.whole(tensor("t"), &[0; 8]);
    let ((), written) = publish(&path, &WriteOptions::default(), &replace, write).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().len(), written.file_len);
}
