//! Any bytes: a report, and never a panic.

use super::super::{ObjectFile, ObjectLayout};
use super::assemble::{bytes_of, dense, ids, map, object, part, report, second, text};
use crate::Limits;
use tet_io::Source;

/// A small file with a dense, a csr and a coo object.
fn sample() -> Vec<u8> {
    let csr = [
        ("values", part("u8", 2, 1, &[])),
        ("indices", part("u32", 3, 4, &[])),
        ("indptr", part("u32", 4, 8, &[])),
    ];
    let coo = [("values", part("u8", 2, 1, &[])), ("coords", part("u32", 3, 4, &[]))];
    let digest = text(&format!("xxh3:{:016x}", tet_codec::digest(b"ab").xxh3));
    let objects = map(&[
        ("a", dense(&[2], part("u8", 1, 2, &[("digest", digest)]))),
        ("b", object(&[1, 3], "zt.sparse_csr/1", &csr)),
        ("c", object(&[3], "zt.sparse_coo/1", &coo)),
    ]);
    let starts = [0_u32.to_le_bytes(), 1_u32.to_le_bytes()].concat();
    second(&bytes_of(&map(&[("objects", objects)])), &[b"ab", b"v", &2_u32.to_le_bytes(), &starts])
}

/// Opens and reads what can be.
fn walk(bytes: &[u8]) {
    let is_sound = report(bytes, &[]).is_ok();
    let source = Source::from_bytes(bytes);
    let file = match ObjectFile::open(source, &Limits::default(), &|_| None) {
        Ok(file) => file,
        Err(error) => {
            assert!(!is_sound, "called sound: {error}");
            return;
        }
    };
    for object in file.objects() {
        assert!(!is_sound || object.fault.is_none());
        if object.fault.is_none() && object.layout.is_sparse() && object.unsupported().is_none() {
            let read = file.read_sparse(object, 1 << 20);
            assert!(!is_sound || read.is_ok(), "called sound: {read:?}");
        }
    }
}

#[test]
fn every_prefix_is_no_file() {
    let bytes = sample();
    assert_eq!(ids(&bytes, &[]), [""; 0]);
    // Most bytes are padding.
    let lens = (0..64).chain(4000..4200).chain((bytes.len() - 600)..bytes.len());
    for len in lens {
        assert!(!report(&bytes[..len], &[]).is_ok(), "{len}");
        walk(&bytes[..len]);
    }
}

#[test]
fn every_changed_byte_is_found_or_changes_no_structure() {
    let bytes = sample();
    let file =
        ObjectFile::open(Source::from_bytes(bytes.as_slice()), &Limits::default(), &|_| None);
    let manifest = file.unwrap().manifest().unwrap();
    let start = usize::try_from(manifest.start()).unwrap();
    for at in (0..8).chain(4096..4098).chain(start..bytes.len()) {
        for change in [1, 0x80, 0xFF] {
            let mut other = bytes.clone();
            other[at] ^= change;
            walk(&other);
            // The reserved word of the footer means nothing.
            let is_reserved = (bytes.len() - 12..bytes.len() - 8).contains(&at);
            assert_eq!(report(&other, &[]).is_ok(), is_reserved, "byte {at}");
        }
    }
}

#[test]
fn every_changed_byte_of_a_manifest_with_its_hash_is_read() {
    let bytes = sample();
    let len = bytes.len();
    let manifest_len = u64::from_le_bytes(bytes[len - 32..len - 24].try_into().unwrap());
    let start = len - 40 - usize::try_from(manifest_len).unwrap();
    for at in start..len - 40 {
        for change in [1, 2, 4, 0x20, 0x80, 0xFF] {
            let mut other = bytes.clone();
            other[at] ^= change;
            let hash = tet_codec::digest(&other[start..len - 40]).xxh3;
            other[len - 24..len - 16].copy_from_slice(&hash.to_le_bytes());
            walk(&other);
        }
    }
}

#[test]
fn sparse_objects_are_their_elements() {
    let bytes = sample();
    let file =
        ObjectFile::open(Source::from_bytes(bytes.as_slice()), &Limits::default(), &|_| None);
    let file = file.unwrap();
    let sparse: Vec<_> = file.objects().iter().filter(|it| it.layout.is_sparse()).collect();
    assert_eq!(sparse[0].layout, ObjectLayout::Csr);
    for object in sparse {
        let mut out = [9; 3];
        file.read_sparse(object, 1 << 20).unwrap().scatter(0..3, &mut out);
        assert_eq!(&out, b"\0\0v", "{}", object.name);
    }
}
