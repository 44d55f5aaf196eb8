//! A file for each rule, and a twin that keeps it.

use std::collections::BTreeSet;

use tet_cbor::Value;
use tet_codec::{Encode, ZstdEncoder, digest};

use super::super::rule;
use super::assemble::{
    bytes_of, dense, first, ids, int, list, map, object, only, part, second, text,
};

/// The id of the rule, a file that breaks it, and one that does not.
type Case = (&'static str, Vec<u8>, Vec<u8>);

fn manifest(value: &Value, blobs: &[&[u8]]) -> Vec<u8> {
    second(&bytes_of(value), blobs)
}

/// A file of one dense object, whose blob is `bytes`.
fn file(shape: &[u64], part: Value, bytes: &[u8]) -> Vec<u8> {
    manifest(&only(dense(shape, part)), &[bytes])
}

/// A sound file of two bytes.
fn sound() -> Vec<u8> {
    file(&[2], part("u8", 1, 2, &[]), b"ab")
}

/// The sound file with other bytes at a position, counted from the end.
fn footed(back: usize, bytes: &[u8]) -> Vec<u8> {
    let mut file = sound();
    let at = file.len() - back;
    file[at..at + bytes.len()].copy_from_slice(bytes);
    file
}

fn container() -> Vec<Case> {
    let (sound, empty) = (sound(), bytes_of(&map(&[("objects", map(&[]))])));
    let shifted = {
        let mut file = second(&empty, &[b"a"]);
        let at = file.len() - 40;
        let start = u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
        file.insert(usize::try_from(start).unwrap(), 0);
        file[at + 1..at + 9].copy_from_slice(&(start + 1).to_le_bytes());
        file
    };
    vec![
        ("ZT2-C1", sound[..47].to_vec(), sound.clone()),
        ("ZT2-C1", b"ZTEN1000".to_vec(), first(&bytes_of(&v1(map(&[]))), &[])),
        ("ZT2-C2", [b"\x89ZT3", &sound[4..]].concat(), sound.clone()),
        ("ZT2-C3", footed(1, b"\r"), sound.clone()),
        ("ZT2-C4", footed(16, &[3]), footed(12, &[3])),
        ("ZT2-C5", footed(32, &u64::MAX.to_le_bytes()), sound.clone()),
        ("ZT2-C5", footed(32, &[0; 8]), sound.clone()),
        ("ZT2-C5", first(b"", &[]), first(&bytes_of(&v1(map(&[]))), &[])),
        ("ZT2-C6", shifted, second(&empty, &[b"a"])),
        ("ZT2-C7", footed(24, &[0; 8]), sound.clone()),
        ("ZT2-N1", footed(40, &[0; 24]), sound),
    ]
}

fn v1(objects: Value) -> Value {
    map(&[("version", text("1.2.0")), ("objects", objects)])
}

fn manifests() -> Vec<Case> {
    let empty = bytes_of(&map(&[("objects", map(&[]))]));
    let twin = second(&empty, &[]);
    let with =
        |key: &str, value: Value| manifest(&map(&[("objects", map(&[])), (key, value)]), &[]);
    let nested = |depth: usize| {
        let deep = (0..depth).fold(int(0), |inner, _| Value::Array(vec![inner]));
        with("attributes", map(&[("k", deep)]))
    };
    let twice = b"\xa2\x67objects\xa0\x67objects\xa0";
    let unsorted = b"\xa2\x6aattributes\xa0\x67objects\xa0";
    let one_twice =
        v1(Value::Map(vec![(text("a"), v1_object(64, 2)), (text("a"), v1_object(64, 2))]));
    vec![
        ("ZT2-M1", second(b"\xa1\x67objects\xc1\xa0", &[]), twin.clone()),
        ("ZT2-M1", second(b"\xa1\x67objects", &[]), twin.clone()),
        ("ZT2-M1", second(b"\xa2\x61\xff\x01\x67objects\xa0", &[]), twin.clone()),
        ("ZT2-M2", second(&[&empty[..], b"\0"].concat(), &[]), twin.clone()),
        ("ZT2-M3", nested(31), nested(30)),
        ("ZT2-M4", second(unsorted, &[]), with("attributes", map(&[]))),
        ("ZT2-M4", second(b"\xbf\x67objects\xa0\xff", &[]), twin.clone()),
        ("ZT2-M5", second(twice, &[]), twin.clone()),
        ("ZT2-M5", first(&bytes_of(&one_twice), &[b"ab"]), first_sound()),
        ("ZT2-M6", manifest(&map(&[]), &[]), twin.clone()),
        ("ZT2-M6", second(b"\x80", &[]), twin.clone()),
        ("ZT2-M6", manifest(&map(&[("objects", list(&[]))]), &[]), twin.clone()),
        ("ZT2-M6", first(&bytes_of(&map(&[("objects", map(&[]))])), &[]), first_sound()),
        ("ZT2-M7", with("attributes", list(&[])), with("attributes", map(&[]))),
        (
            "ZT2-M7",
            with("attributes", map(&[("", int(0))])),
            with("attributes", map(&[("k", int(0))])),
        ),
        ("ZT2-M7", with("attributes", Value::Map(vec![(int(0), int(0))])), twin),
    ]
}

/// An object of version 1: `len` bytes at `offset`.
fn v1_object(offset: u64, len: u64) -> Value {
    let part = map(&[("dtype", text("u8")), ("offset", int(offset)), ("length", int(len))]);
    map(&[
        ("shape", list(&[len])),
        ("format", text("dense")),
        ("components", map(&[("data", part)])),
    ])
}

fn first_sound() -> Vec<u8> {
    first(&bytes_of(&v1(map(&[("a", v1_object(64, 2))]))), &[b"ab"])
}

fn objects() -> Vec<Case> {
    let data = |dtype: &str, more: &[(&str, Value)]| file(&[2], part(dtype, 1, 2, more), b"ab");
    let sized = |shape: &[u64], len: u64| {
        let bytes = vec![1; usize::try_from(len).unwrap()];
        file(shape, part("u8", 1, len, &[]), &bytes)
    };
    let named = |name: &str| {
        let dense = dense(&[2], part("u8", 1, 2, &[]));
        manifest(&map(&[("objects", map(&[(name, dense)]))]), &[b"ab"])
    };
    let without = |key: &str| {
        let Value::Map(pairs) = dense(&[2], part("u8", 1, 2, &[])) else { unreachable!() };
        let pairs = pairs.into_iter().filter(|(it, _)| it.as_text() != Some(key)).collect();
        manifest(&only(Value::Map(pairs)), &[b"ab"])
    };
    let blob = |numbers: &[u64]| {
        let part = map(&[("dtype", text("u8")), ("blob", list(numbers))]);
        file(&[2], part, b"ab")
    };
    let xxh3 = |text: &str| data("u8", &[("digest", Value::Text(text.to_owned()))]);
    let right = format!("xxh3:{:016x}", digest(b"ab").xxh3);
    let extra =
        object(&[2], "dense", &[("data", part("u8", 1, 2, &[])), ("more", part("u8", 1, 2, &[]))]);
    let other = object(&[2], "dense", &[("date", part("u8", 1, 2, &[]))]);
    vec![
        ("ZT2-T1", without("shape"), sound()),
        ("ZT2-T1", without("layout"), sound()),
        ("ZT2-T1", without("parts"), sound()),
        ("ZT2-T1", manifest(&only(object(&[2], "x/1", &[])), &[]), sound()),
        ("ZT2-T2", blob(&[4096, 2, 0]), blob(&[4096, 2])),
        ("ZT2-T2", file(&[2], map(&[("blob", list(&[4096, 2]))]), b"ab"), sound()),
        ("ZT2-T3", named(""), named("b")),
        ("ZT2-T3", named("a\0"), named("a")),
        ("ZT2-T3", named(&"n".repeat(1025)), named(&"n".repeat(1024))),
        ("ZT2-T4", sized(&[1; 65], 1), sized(&[1; 64], 1)),
        ("ZT2-T4", sized(&[1 << 32, 1 << 32], 1), sized(&[2, 2], 4)),
        ("ZT2-T5", data("f8", &[]), data("i8", &[])),
        ("ZT2-T6", data("i8", &[("type", text("bool"))]), data("u8", &[("type", text("f8_e5m2"))])),
        ("ZT2-T7", data("u8", &[("decoded_length", int(2))]), sound()),
        ("ZT2-T7", data("u8", &[("encoding", text("zt.zstd-seekable/1"))]), sound()),
        ("ZT2-T8", xxh3("xxh3:00"), xxh3(&right)),
        ("ZT2-T8", xxh3(&right.to_uppercase()), xxh3(&right)),
        ("ZT2-T9", manifest(&only(extra), &[b"ab"]), sound()),
        ("ZT2-T9", manifest(&only(other), &[b"ab"]), sound()),
        ("ZT2-T10", sized(&[3], 2), sized(&[2], 2)),
        ("ZT2-N2", data("u8", &[("type", text("f7"))]), data("u8", &[("type", text("f8_e5m2"))])),
        (
            "ZT2-N2",
            manifest(&only(object(&[2], "x/1", &[("p", part("u8", 1, 2, &[]))])), &[b"ab"]),
            sound(),
        ),
        ("ZT2-N2", data("u8", &[("encoding", text("x/1")), ("decoded_length", int(2))]), sound()),
        ("ZT2-N3", xxh3("blake3:00"), xxh3(&right)),
        ("ZT2-B4", xxh3("xxh3:0000000000000000"), xxh3(&right)),
    ]
}

fn frame(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    ZstdEncoder::new(3).unwrap().encode(bytes, &mut out).unwrap();
    out
}

/// The seek table of one frame.
fn table(stored_len: usize, decoded_len: usize) -> Vec<u8> {
    let words = [
        0x184D_2A5E,
        17,
        u32::try_from(stored_len).unwrap(),
        u32::try_from(decoded_len).unwrap(),
        1,
    ];
    let mut out: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    out.push(0);
    [out, 0x8F92_EAB1_u32.to_le_bytes().to_vec()].concat()
}

/// A file of one part in zstd frames.
fn encoded(stored: &[u8], decoded_len: u64) -> Vec<u8> {
    let more = [("encoding", text("zt.zstd-seekable/1")), ("decoded_length", int(decoded_len))];
    let len = stored.len() as u64;
    file(&[decoded_len], part("u8", 1, len, &more), stored)
}

fn blobs() -> Vec<Case> {
    let at = |offset: u64, len: u64| {
        let part = map(&[("dtype", text("u8")), ("blob", list(&[offset, len]))]);
        file(&[len], part, &vec![1; 4096])
    };
    let two = |offset: u64| {
        let part = |offset: u64| map(&[("dtype", text("u8")), ("blob", list(&[offset, 5000]))]);
        let pairs = [("a", dense(&[5000], part(4096))), ("b", dense(&[5000], part(offset)))];
        manifest(&map(&[("objects", map(&pairs))]), &[&[1; 5000], &[1; 5000]])
    };
    let onto = {
        let file = at(4096, 2);
        let manifest_at =
            u64::from_le_bytes(file[file.len() - 40..file.len() - 32].try_into().unwrap());
        at(manifest_at, 2)
    };
    let typed = |word: &str, shape: &[u64], bytes: &[u8]| {
        file(shape, part("u8", 1, bytes.len() as u64, &[("type", text(word))]), bytes)
    };
    let stored = frame(b"content");
    let whole = [&stored[..], &table(stored.len(), 7)].concat();
    let cut = [&stored[..stored.len() - 1], &table(stored.len(), 7)].concat();
    vec![
        ("ZT2-B1", at(4160, 2), at(4096, 2)),
        ("ZT2-B1", at(0, 2), at(4096, 2)),
        ("ZT2-B1", first(&bytes_of(&v1(map(&[("a", v1_object(65, 1))]))), &[b"ab"]), first_sound()),
        ("ZT2-B2", at(1 << 40, 2), at(4096, 2)),
        ("ZT2-B3", two(8192), two(4096)),
        ("ZT2-B3", onto, two(12288)),
        ("ZT2-B5", encoded(&whole, 1 << 40), encoded(&whole, 7)),
        ("ZT2-B6", encoded(&cut, 7), encoded(&whole, 7)),
        ("ZT2-B7", encoded(&whole, 8), encoded(&whole, 7)),
        ("ZT2-B7", encoded(&whole, 6), encoded(&whole, 7)),
        ("ZT2-N4", encoded(&stored, 7), encoded(&whole, 7)),
        ("ZT2-B8", typed("bool", &[3], &[0, 1, 2]), typed("bool", &[3], &[0, 1, 1])),
        ("ZT2-B9", typed("f4_e2m1", &[3], &[0x21, 0x13]), typed("f4_e2m1", &[3], &[0x21, 0x03])),
    ]
}

/// Numbers of 32 bits.
fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A csr object of 2 rows and 3 columns.
fn csr(indptr: &[u32], indices: &[u32]) -> Vec<u8> {
    let (indptr, indices) = (words(indptr), words(indices));
    let values = vec![7; indices.len() / 4];
    let len = |bytes: &[u8]| bytes.len() as u64;
    let parts = [
        ("values", part("u8", 1, len(&values), &[])),
        ("indices", part("u32", 2, len(&indices), &[])),
        ("indptr", part("u32", 3, len(&indptr), &[])),
    ];
    manifest(&only(object(&[2, 3], "zt.sparse_csr/1", &parts)), &[&values, &indices, &indptr])
}

/// A coo object of the shape 2, 3.
fn coo(coords: &[u32], count: u64) -> Vec<u8> {
    let (coords, values) = (words(coords), vec![7; usize::try_from(count).unwrap()]);
    let parts = [
        ("values", part("u8", 1, count, &[])),
        ("coords", part("u32", 2, coords.len() as u64, &[])),
    ];
    manifest(&only(object(&[2, 3], "zt.sparse_coo/1", &parts)), &[&values, &coords])
}

fn sparse() -> Vec<Case> {
    let good = csr(&[0, 2, 3], &[0, 2, 1]);
    let signed = {
        let parts = [("values", part("u8", 1, 1, &[])), ("coords", part("i32", 2, 8, &[]))];
        manifest(&only(object(&[2, 3], "zt.sparse_coo/1", &parts)), &[b"a", &[0; 8]])
    };
    vec![
        ("ZT2-S1", csr(&[1, 2, 3], &[0, 2, 1]), good.clone()),
        ("ZT2-S1", csr(&[0, 2, 2], &[0, 2, 1]), good.clone()),
        ("ZT2-S1", csr(&[0, 4, 3], &[0, 2, 1]), good.clone()),
        ("ZT2-S2", csr(&[0, 2, 3], &[2, 0, 1]), good.clone()),
        ("ZT2-S2", csr(&[0, 2, 3], &[2, 2, 1]), good.clone()),
        ("ZT2-S3", csr(&[0, 2, 3], &[0, 3, 1]), good.clone()),
        ("ZT2-S3", coo(&[0, 2, 1, 1], 2), coo(&[0, 1, 1, 1], 2)),
        ("ZT2-S4", coo(&[1, 1, 2, 2], 2), coo(&[1, 1, 2, 1], 2)),
        ("ZT2-T9", signed, coo(&[1, 1], 1)),
        ("ZT2-T10", csr(&[0, 3], &[0, 2, 1]), good),
        ("ZT2-T10", coo(&[0, 1, 1], 2), coo(&[0, 1, 1, 1], 2)),
    ]
}

#[test]
fn every_rule_is_broken_by_its_case_and_not_by_the_twin() {
    let cases = [container(), manifests(), objects(), blobs(), sparse()].concat();
    let mut seen = BTreeSet::new();
    for (id, bytes, twin) in cases {
        assert_eq!(ids(&bytes, &[]).first(), Some(&id), "{:?}", ids(&bytes, &[]));
        assert!(!ids(&twin, &[]).contains(&id), "the twin of {id}");
        seen.insert(id);
    }
    let tested_elsewhere =
        |id: &str| id.starts_with("ZT2-H") || id.starts_with("ZT2-L") || id == "ZT2-N5";
    let wanted: BTreeSet<&str> =
        rule::ALL.iter().map(|rule| rule.id).filter(|id| !tested_elsewhere(id)).collect();
    assert_eq!(seen, wanted);
}

#[test]
fn ids_are_unique_and_severities_follow_them() {
    let ids: BTreeSet<&str> = rule::ALL.iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), rule::ALL.len());
    for rule in rule::ALL {
        assert!(!rule.text.contains(['|', '\n']) && !rule.text.ends_with('.'), "{}", rule.id);
        let is_note = rule.id.starts_with("ZT2-N");
        assert_eq!(rule.severity != crate::Severity::Error, is_note, "{}", rule.id);
    }
}

/// A file whose only object is in the shard `s`, and that shard.
fn sharded(name: &str, entry: &[(&str, Value)]) -> Vec<u8> {
    let part = part("u8", 1, 2, &[("shard", text("s"))]);
    let shards = map(&[(name, map(entry))]);
    manifest(&map(&[("objects", map(&[("a", dense(&[2], part))])), ("shards", shards)]), &[])
}

#[test]
fn shards_are_compared_with_what_the_manifest_states() {
    let shard = footed(40, &[0; 24]);
    let of = |bytes: &[u8]| {
        let digest = text(&format!("xxh3:{:016x}", digest(bytes).xxh3));
        [("size", int(bytes.len() as u64)), ("digest", digest)]
    };
    let root = sharded("s", &of(&shard));
    assert_eq!(ids(&root, &[("s", shard.clone())]), [""; 0]);
    assert_eq!(ids(&root, &[]), ["ZT2-H4", "ZT2-H4"]);
    assert_eq!(ids(&root, &[("s", [&shard[..], b"a"].concat())])[0], "ZT2-H5");
    let mut other = shard.clone();
    other[4096] ^= 1;
    assert_eq!(ids(&root, &[("s", other)]), ["ZT2-H7"]);
    let junk = vec![0; shard.len()];
    assert_eq!(ids(&root, &[("s", junk)]), ["ZT2-H6", "ZT2-H6"]);
    for name in ["", ".s", "a/b", "..", "\u{e9}", &"s".repeat(65)] {
        assert_eq!(ids(&sharded(name, &of(&shard)), &[]), ["ZT2-H1"], "{name}");
    }
    assert_eq!(ids(&sharded("s", &of(&shard)[..1]), &[]), ["ZT2-H2"]);
    assert_eq!(ids(&sharded("t", &of(&shard)), &[])[1..], ["ZT2-H3"]);
}

#[test]
fn limits_of_the_reader_are_kept() {
    use crate::{Limits, check::VerifyOptions};
    let of = |limits: Limits| {
        let options = VerifyOptions { limits, ..VerifyOptions::default() };
        let source = tet_io::Source::from_bytes(sound().as_slice());
        let report = super::super::verify(&source, &options, &|_| None).unwrap();
        report.findings.iter().map(|it| it.code.id()).collect::<Vec<_>>()
    };
    let usual = Limits::default();
    assert_eq!(of(usual), [""; 0]);
    assert_eq!(of(Limits { index_len_max: 10, ..usual }), ["ZT2-L1"]);
    assert_eq!(of(Limits { entry_count_max: 1, ..usual }), ["ZT2-L2"]);
    assert_eq!(of(Limits { item_count_max: 3, ..usual }), ["ZT2-L3"]);
    let little = VerifyOptions {
        level: tet_report::Level::Deep,
        memory_budget: 6,
        ..VerifyOptions::default()
    };
    let source = tet_io::Source::from_bytes(csr(&[0, 2, 3], &[0, 3, 1]).as_slice());
    let report = super::super::verify(&source, &little, &|_| None).unwrap();
    assert_eq!(report.findings.iter().map(|it| it.code.id()).collect::<Vec<_>>(), ["ZT2-N5"]);
}
