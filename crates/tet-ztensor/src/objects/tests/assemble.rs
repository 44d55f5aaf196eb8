//! Files of both versions, put together by hand.

use tet_cbor::{Value, encode};
use tet_io::Source;
use tet_report::{Level, Report};

use super::super::verify;
use crate::check::VerifyOptions;

pub(super) const ALIGN: usize = 4096;

pub(super) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

pub(super) fn int(number: u64) -> Value {
    Value::Int(number.into())
}

pub(super) fn list(numbers: &[u64]) -> Value {
    Value::Array(numbers.iter().map(|number| int(*number)).collect())
}

pub(super) fn map(pairs: &[(&str, Value)]) -> Value {
    Value::Map(pairs.iter().map(|(key, value)| (text(key), value.clone())).collect())
}

/// A part of `len` bytes at the page with this number.
pub(super) fn part(dtype: &str, page: u64, len: u64, more: &[(&str, Value)]) -> Value {
    let mut pairs = vec![("dtype", text(dtype)), ("blob", list(&[page * 4096, len]))];
    pairs.extend(more.iter().cloned());
    map(&pairs)
}

pub(super) fn object(shape: &[u64], layout: &str, parts: &[(&str, Value)]) -> Value {
    map(&[("shape", list(shape)), ("layout", text(layout)), ("parts", map(parts))])
}

pub(super) fn dense(shape: &[u64], part: Value) -> Value {
    object(shape, "dense", &[("data", part)])
}

/// The manifest of one object.
pub(super) fn only(object: Value) -> Value {
    map(&[("objects", map(&[("a", object)]))])
}

pub(super) fn bytes_of(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    encode(value, &mut out);
    out
}

/// A file of version 2: blobs at the pages 1, 2 and so on, then the manifest.
pub(super) fn second(manifest: &[u8], blobs: &[&[u8]]) -> Vec<u8> {
    let magic = b"\x89ZT2\r\n\x1a\n";
    let mut out = magic.to_vec();
    for blob in blobs.iter().chain([&manifest]) {
        out.resize(out.len().next_multiple_of(ALIGN), 0);
        out.extend_from_slice(blob);
    }
    let start = (out.len() - manifest.len()) as u64;
    let hash = tet_codec::digest(manifest).xxh3;
    for number in [start, manifest.len() as u64, hash, 2] {
        out.extend(number.to_le_bytes());
    }
    [out.as_slice(), magic].concat()
}

/// A file of version 1: blobs at multiples of 64, then the manifest.
pub(super) fn first(manifest: &[u8], blobs: &[&[u8]]) -> Vec<u8> {
    let mut out = b"ZTEN1000".to_vec();
    for blob in blobs {
        out.resize(out.len().next_multiple_of(64), 0);
        out.extend_from_slice(blob);
    }
    out.extend_from_slice(manifest);
    out.extend((manifest.len() as u64).to_le_bytes());
    [out.as_slice(), b"ZTEN1000"].concat()
}

/// The report of a check of all bytes.
pub(super) fn report(bytes: &[u8], shards: &[(&str, Vec<u8>)]) -> Report {
    let options = VerifyOptions { level: Level::Deep, threads: 1, ..VerifyOptions::default() };
    let open = |name: &str| {
        let shard = shards.iter().find(|(it, _)| *it == name);
        shard.map(|(_, bytes)| Source::from_bytes(bytes.as_slice()))
    };
    verify(&Source::from_bytes(bytes), &options, &open).expect("bytes in memory are read")
}

/// The ids of the rules that a file breaks.
pub(super) fn ids(bytes: &[u8], shards: &[(&str, Vec<u8>)]) -> Vec<&'static str> {
    report(bytes, shards).findings.iter().map(|finding| finding.code.id()).collect()
}
