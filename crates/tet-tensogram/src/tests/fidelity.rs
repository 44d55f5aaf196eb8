//! Objects that are decoded to be looked at, and what is odd about their elements.

use tet_io::Source;

use crate::pipeline::zstd::encode_frame;
use crate::testing::objects::{frames, samples};
use crate::testing::{FrameDraft, buffered, cbor, map, text, uints};
use crate::{Level, Value, VerifyOptions, verify};

/// The codes that are found when objects are decoded.
fn found(part: FrameDraft) -> Vec<(&'static str, u64)> {
    let options = VerifyOptions { level: Level::Deep, threads: 1, ..VerifyOptions::default() };
    let report = verify(&Source::from_bytes(buffered(&[part]).bytes()), &options).unwrap();
    assert!(report.findings.iter().all(|it| it.place.object == Some(0)), "{:?}", report.findings);
    report.findings.iter().map(|it| (it.code.id(), it.found)).collect()
}

fn ids(part: FrameDraft) -> Vec<&'static str> {
    found(part).into_iter().map(|(id, _)| id).collect()
}

/// An object of one axis, with more keys or other values.
fn object(dtype: &str, count: u64, region: &[u8], more: &[(&str, Value)]) -> FrameDraft {
    let mut pairs = vec![
        ("ndim", Value::Int(1)),
        ("type", text("ntensor")),
        ("dtype", text(dtype)),
        ("shape", uints(&[count])),
        ("strides", uints(&[1])),
        ("byte_order", text("little")),
        ("encoding", text("none")),
        ("filter", text("none")),
        ("compression", text("none")),
    ];
    pairs.retain(|(key, _)| more.iter().all(|(other, _)| key != other));
    pairs.extend(more.iter().map(|(key, value)| (*key, value.clone())));
    FrameDraft::tensor(region, &cbor(&map(&pairs)))
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode_frame(bytes, &mut out).unwrap();
    out
}

#[test]
fn elements_that_are_not_finite_are_told() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let values = floats(&[1.0, 2.0, -inf, nan, inf, nan]);
    let wanted = [("TGM-N29", 3), ("TGM-N30", 2)];
    assert_eq!(found(object("float32", 6, &values, &[])), wanted);
    let by_zstd = [("compression", text("zstd"))];
    assert_eq!(found(object("float32", 6, &zstd(&values), &by_zstd)), wanted);
    let swapped: Vec<u8> = values.chunks(4).flat_map(|it| it.iter().rev().copied()).collect();
    let big = [("byte_order", text("big"))];
    assert_eq!(found(object("float32", 6, &swapped, &big)), wanted);
    let both = [by_zstd[0].clone(), big[0].clone()];
    assert_eq!(found(object("float32", 6, &zstd(&swapped), &both)), wanted);
    assert_eq!(ids(object("int32", 6, &values, &[])), [""; 0]);
    // Far behind, past what is looked at in one piece.
    let mut many = vec![0; 9 << 20];
    many[(9 << 20) - 4..].copy_from_slice(&nan.to_le_bytes());
    let count = many.len() as u64 / 4;
    for part in
        [object("float32", count, &many, &[]), object("float32", count, &zstd(&many), &by_zstd)]
    {
        assert_eq!(found(part), [("TGM-N29", count - 1)]);
    }
}

fn mask(kind: &str, offset: u64, len: u64) -> (&str, Value) {
    let (offset, len) = (Value::Int(offset.into()), Value::Int(len.into()));
    (kind, map(&[("method", text("none")), ("offset", offset), ("length", len)]))
}

#[test]
fn masks_are_looked_at() {
    let region = |values: &[f32], bits: &[u8]| [floats(values), bits.to_vec()].concat();
    let one = [("masks", map(&[mask("nan", 12, 1)]))];
    let at = |values: &[f32], bits: u8| object("float32", 3, &region(values, &[bits]), &one);
    assert_eq!(ids(at(&[1.0, 0.0, 2.0], 0x40)), [""; 0]);
    // Who stores NaN under its mask says nothing wrong.
    assert_eq!(ids(at(&[1.0, f32::NAN, 2.0], 0x40)), [""; 0]);
    assert_eq!(found(at(&[1.0, 0.0, f32::NAN], 0x40)), [("TGM-N29", 2)]);
    assert_eq!(ids(at(&[1.0, 0.0, 2.0], 0x50)), ["TGM-N31"]);
    let two = [("masks", map(&[mask("nan", 12, 1), mask("inf+", 13, 1)]))];
    let twice = object("float32", 3, &region(&[0.0; 3], &[0x60, 0x20]), &two);
    assert_eq!(found(twice), [("TGM-N33", 2)]);
    let long = [("masks", map(&[mask("nan", 12, 2)]))];
    assert_eq!(ids(object("float32", 3, &region(&[0.0; 3], &[0, 0]), &long)), ["TGM-K7"]);
    let whole = region(&[0.0; 3], &[0]);
    assert_eq!(ids(object("int32", 3, &whole, &one)), ["TGM-N24"]);
}

#[test]
fn payloads_that_hold_more_or_less_are_told() {
    let by_zstd = [("compression", text("zstd"))];
    for (bytes, wanted) in
        [(&[7; 10][..], None), (&[7; 9], Some("TGM-C7")), (&[7; 11], Some("TGM-C7"))]
    {
        let wanted: Vec<&str> = wanted.into_iter().collect();
        assert_eq!(ids(object("uint8", 10, &zstd(bytes), &by_zstd)), wanted);
        let shuffled = [
            by_zstd[0].clone(),
            ("filter", text("shuffle")),
            ("shuffle_element_size", Value::Int(2)),
        ];
        assert_eq!(ids(object("uint8", 10, &zstd(bytes), &shuffled)), wanted);
    }
    let cut = zstd(&[7; 10]);
    assert_eq!(ids(object("uint8", 10, &cut[..cut.len() - 1], &by_zstd)), ["TGM-C6"]);
    let by_lz4 = [("compression", text("lz4"))];
    let lz4 = |stated: u32, bytes: &[u8]| {
        [stated.to_le_bytes().to_vec(), lz4_flex::block::compress(bytes)].concat()
    };
    assert_eq!(ids(object("uint8", 10, &lz4(10, &[7; 10]), &by_lz4)), [""; 0]);
    assert_eq!(ids(object("uint8", 10, &lz4(9, &[7; 9]), &by_lz4)), ["TGM-C8"]);
    assert_eq!(ids(object("uint8", 10, &lz4(10, &[7; 9]), &by_lz4)), ["TGM-C9"]);
    assert_eq!(ids(object("uint8", 10, &lz4(10, &[7; 11]), &by_lz4)), ["TGM-C9"]);
    assert_eq!(ids(object("uint8", 10, &[7; 9], &[])), ["TGM-C4"]);
    assert_eq!(ids(object("bitmask", 5, &[0xF8], &[])), [""; 0]);
    assert_eq!(ids(object("bitmask", 5, &[0xFC], &[])), ["TGM-N31"]);
}

#[test]
fn packing_that_overflows_is_told() {
    let packed = |reference: f64, binary: i128| {
        let more = [
            ("encoding", text("simple_packing")),
            ("sp_reference_value", Value::Float(reference)),
            ("sp_binary_scale_factor", Value::Int(binary)),
            ("sp_decimal_scale_factor", Value::Int(0)),
            ("sp_bits_per_value", Value::Int(8)),
        ];
        ids(object("float64", 2, &[0, 255], &more))
    };
    assert_eq!(packed(1.0, 3), [""; 0]);
    assert_eq!(packed(1.0, 1020), ["TGM-N30", "TGM-N32"]);
    assert_eq!(packed(f64::NAN, 0), ["TGM-N29", "TGM-N32"]);
}

/// Bytes after a szip sample are reported; the samples are valid.
#[test]
fn samples_are_decoded() {
    for sample in samples() {
        let is_szip = sample.name.contains("szip");
        for frame in frames(&sample.bytes) {
            let (region, descriptor) =
                (&sample.bytes[frame.region.clone()], &sample.bytes[frame.descriptor.clone()]);
            let found = ids(FrameDraft::tensor(region, descriptor));
            let found: Vec<_> =
                found.into_iter().filter(|id| !["TGM-N28", "TGM-N22"].contains(id)).collect();
            assert_eq!(found, [""; 0], "{}", sample.name);
            if is_szip {
                let long = [region, &[0, 0]].concat();
                assert_eq!(ids(FrameDraft::tensor(&long, descriptor)), ["TGM-N34"]);
            }
        }
    }
}

/// Faults of a descriptor are reported without decoding, and once.
#[test]
fn descriptors_are_looked_at() {
    let at = |more: &[(&str, Value)]| {
        let part = object("uint8", 4, &[1, 2, 3, 4], more);
        let options = VerifyOptions { level: Level::Structure, ..VerifyOptions::default() };
        let report =
            verify(&Source::from_bytes(buffered(std::slice::from_ref(&part)).bytes()), &options);
        let quick: Vec<_> = report.unwrap().findings.iter().map(|it| it.code.id()).collect();
        assert_eq!(quick, ids(part));
        quick
    };
    assert_eq!(at(&[]), [""; 0]);
    assert_eq!(at(&[("ndim", Value::Int(2))]), ["TGM-N18"]);
    assert_eq!(at(&[("strides", uints(&[2]))]), ["TGM-N19"]);
    assert_eq!(at(&[("type", text("thing"))]), ["TGM-N21"]);
    assert_eq!(at(&[("dtype", text("float8"))]), ["TGM-D7"]);
    assert!(at(&[("shape", uints(&[u64::MAX, 2]))]).contains(&"TGM-D9"));
    assert_eq!(at(&[("compression", text("jpeg2000"))]), ["TGM-N28"]);
    assert_eq!(at(&[("filter", text("magic"))]), ["TGM-N28"]);
}
