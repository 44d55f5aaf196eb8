//! Small files with a bit flipped or the end cut off: refused, or the same values. Changes of every
//! other kind, by the thousand, are in `tests/memory/mutate.rs` of the workspace.

use crate::testing::{Fields, array, deep, file, open, text, uint, uints, zstd};
use crate::{Check, Checksum, Severity};

/// Two tensors with checksums, and a third without bytes.
fn small() -> Vec<u8> {
    let (raw, packed) = ([1, 2, 3, 4, 5, 6, 7, 8], zstd(b"0123456789abcdef"));
    let seal = |bytes: &[u8]| text(&Checksum::crc32c(bytes).to_string());
    let first = Fields::dense("first", 64, 8, "float32", &[2])
        .with("data_endianness", text("little"))
        .with("checksum", seal(&raw));
    let second = Fields::dense("second", 128, packed.len() as u64, "uint8", &[4, 4])
        .with("encoding", text("zstd"))
        .with("checksum", seal(&packed))
        .with("note", array(&[uint(300), text("x")]));
    let third = Fields::dense("third", 192, 0, "int64", &[0, 7]).with("dims", uints(&[1, 2]));
    file(&[&raw, &packed, &[]], &array(&[first.entry(), second.counted(), third.entry()]))
}

/// Content of a file: name, dtype, shape and elements of each tensor that can be read.
fn values(bytes: &[u8]) -> Vec<(String, String, Vec<u64>, Vec<u8>)> {
    let Ok(file) = open(bytes) else { return Vec::new() };
    let read = |tensor: crate::Tensor<'_>| {
        let elements = file.read(tensor, Check::Always).ok()?;
        let (name, dtype) = (tensor.name().to_owned(), tensor.dtype_word().into_owned());
        Some((name, dtype, tensor.shape().to_vec(), elements))
    };
    file.tensors().filter_map(read).collect()
}

/// Files that verify finds sound can be read.
#[track_caller]
fn verified_is_readable(bytes: &[u8]) {
    let report = deep(bytes);
    let Ok(file) = open(bytes) else {
        assert!(report.count(Severity::Error) > 0);
        return;
    };
    for tensor in file.tensors() {
        let is_read = file.read(tensor, Check::Always).is_ok();
        let is_named = report.findings.iter().any(|finding| {
            finding.severity == Severity::Error
                && finding.place.dataset == Some(tensor.position() as u64)
        });
        assert!(is_read || is_named, "tensor {}: {:?}", tensor.position(), report.findings);
        assert_eq!(
            tensor.custom().is_ok(),
            tensor.custom_bytes().len() == tensor.custom().unwrap().len()
        );
    }
}

#[test]
fn the_file_itself_is_sound() {
    assert_eq!(values(&small()).len(), 3);
    assert!(deep(&small()).findings.is_empty(), "{:?}", deep(&small()));
}

#[test]
fn every_prefix_is_refused() {
    let bytes = small();
    for len in 0..bytes.len() {
        assert!(open(&bytes[..len]).is_err(), "{len} bytes");
        verified_is_readable(&bytes[..len]);
    }
}

/// A checksum covers the blobs, nothing the index: a flip there may say something else that holds,
/// and then no more than what the flipped field says.
#[test]
fn no_flipped_bit_gives_other_elements() {
    let bytes = small();
    let wanted = values(&bytes);
    let elements: Vec<&Vec<u8>> = wanted.iter().map(|(.., elements)| elements).collect();
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        verified_is_readable(&flipped);
        for (name, dtype, shape, found) in values(&flipped) {
            let is_known = elements.contains(&&found);
            // The word for the order of bytes is not covered by anything.
            assert!(is_known, "bit {bit}: {name} {dtype} {shape:?} {found:?}");
        }
    }
}
