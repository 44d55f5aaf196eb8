//! Containers whose arrays are spans of the file: what is checked, opened and read of any bytes agrees.

use tet_convert::OpenOptions;
use tet_io::Source;
use tet_query::Error;
use tet_verify::{Severity, VerifyOptions};

use super::netcdf::read;

/// GGUF files; bytes without a magic get one.
pub fn gguf(bytes: &[u8]) {
    let version = 1 + bytes.first().copied().unwrap_or(0) % 3;
    match bytes {
        [b'G', b'G', b'U', b'F', ..] => agree(bytes),
        bytes => agree(&[b"GGUF", &[version, 0, 0, 0][..], bytes].concat()),
    }
}

/// Checks, opens and reads a file.
fn agree(file: &[u8]) {
    let source = Source::from_bytes(file);
    let options = VerifyOptions { threads: 1, findings_max: usize::MAX, ..Default::default() };
    let report = tet_convert::verify(&source, &options).expect("bytes in memory are read");
    let opened = match tet_convert::open_source(source, &OpenOptions::default()) {
        Ok(opened) => opened,
        Err(error) => {
            assert!(!report.is_ok(), "called sound: {error}");
            return;
        }
    };
    for (dataset, at) in opened.catalog.datasets().iter().zip(0..) {
        let mut findings = report.findings.iter();
        let is_named =
            findings.any(|it| it.severity == Severity::Error && it.place.dataset == Some(at));
        let is_limit =
            matches!(dataset.why(), Some(Error::Unsupported { .. } | Error::Limit { .. }));
        assert!(dataset.fault.is_none() || is_named || is_limit, "called sound: {dataset:?}");
        if dataset.fault.is_none() {
            read(dataset, file.len() as u64);
        }
    }
}

/// Files of every version, type and order of bytes.
pub(super) fn gguf_seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for version in [1, 2, 3] {
        for tag in [0, 1, 2, 24, 26, 28, 30] {
            seeds.extend([false, true].map(|is_big| gguf_seed(version, tag, is_big)));
        }
    }
    seeds
}

/// A key of each kind and two tensors of the shape (2, 32).
fn gguf_seed(version: u32, tag: u32, is_big: bool) -> Vec<u8> {
    let ordered = |mut bytes: Vec<u8>| {
        if is_big {
            bytes.reverse();
        }
        bytes
    };
    let word = |word: u32| ordered(word.to_le_bytes().to_vec());
    let long = |long: u64| ordered(long.to_le_bytes().to_vec());
    let number = |it: u32| if version == 1 { word(it) } else { long(it.into()) };
    let text = |text: &str| {
        let len = u32::try_from(text.len()).expect("a short text");
        [number(len), text.as_bytes().to_vec()].concat()
    };
    let mut out = [b"GGUF".to_vec(), word(version), number(2), number(5)].concat();
    out.extend([text("general.alignment"), word(4), word(8)].concat());
    out.extend([text("name"), word(8), text("seed")].concat());
    out.extend([text("tokens"), word(9), word(8), number(2), text("a"), text("b")].concat());
    out.extend([text("scores"), word(9), word(6), number(2), word(1), word(2)].concat());
    out.extend([text("yes"), word(7), vec![1]].concat());
    for (name, offset) in [("t", 0), ("u", 512)] {
        let axes = [word(2), number(32), number(2)].concat();
        out.extend([text(name), axes, word(tag), long(offset)].concat());
    }
    out.resize(out.len().next_multiple_of(8) + 512, 7);
    out.extend([9; 512]);
    out
}
