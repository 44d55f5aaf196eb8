//! Objects of every kind that `docs/spec/tensogram.md` names.

use super::Object;
use crate::frame;
use crate::values::noise;
use crate::zt::cbor::{head, uint};

/// The types, and the bytes of an element.
const DTYPES: [(&str, u64); 14] = [
    ("float16", 2),
    ("bfloat16", 2),
    ("float32", 4),
    ("float64", 8),
    ("complex64", 8),
    ("complex128", 16),
    ("int8", 1),
    ("int16", 2),
    ("int32", 4),
    ("int64", 8),
    ("uint8", 1),
    ("uint16", 2),
    ("uint32", 4),
    ("uint64", 8),
];

/// Objects of every type, codec and mask, and what the kind is called.
#[must_use]
pub fn objects() -> Vec<(&'static str, Object)> {
    let mut all: Vec<(&str, Object)> = DTYPES
        .into_iter()
        .enumerate()
        .map(|(at, (dtype, size))| (dtype, Object::new(dtype, &[3], tame(at as u64, 3 * size))))
        .collect();
    let plain = tame(40, 96);
    let floats = || Object::new("float32", &[4, 6], tame(40, 96));
    all.push(("scalar", Object::new("int32", &[], tame(1, 4))));
    all.push(("empty", Object::new("int32", &[0, 3], Vec::new())));
    all.push(("big-endian", floats().stored("byte_order", "big")));
    let framed = Object { payload: frame::plain(&plain), ..floats() };
    all.push(("zstd", framed.clone().stored("compression", "zstd")));
    let twice = [frame::plain(&plain[..50]), frame::skippable(b"x"), frame::plain(&plain[50..])];
    let twice = Object { payload: twice.concat(), ..floats() };
    all.push(("zstd, two frames", twice.stored("compression", "zstd")));
    let block = Object { payload: lz4(&plain), ..floats() };
    all.push(("lz4", block.stored("compression", "lz4")));
    let shuffled = framed.stored("compression", "zstd").stored("filter", "shuffle");
    all.push(("shuffle", shuffled.with("shuffle_element_size", uint(4))));
    all.push(("packed", packed(12, 20)));
    all.push(("packed in no bits", packed(0, 20)));
    let samples =
        Object { payload: szip(&noise(9, 24)), ..Object::new("uint8", &[24], Vec::new()) };
    let samples = samples.stored("compression", "szip").with("szip_rsi", uint(3));
    all.push(("szip", samples.with("szip_block_size", uint(8)).with("szip_flags", uint(0))));
    let count = [0_u8, 0, 0, 24].to_vec();
    let bits = |payload| Object { payload, ..Object::new("bitmask", &[4, 5], Vec::new()) };
    all.push(("bits", bits(vec![0xa5, 0x5a, 0xf0])));
    all.push((
        "bits in runs",
        bits([count.clone(), vec![0, 3, 7, 14]].concat()).stored("compression", "rle"),
    ));
    let set = bits([count, roaring(&[1, 5, 19])].concat()).stored("compression", "roaring");
    all.push(("bits as a set", set));
    all.extend(masked());
    let mut first = Object::new("uint16", &[5], tame(3, 10));
    first.is_descriptor_first = true;
    all.push(("descriptor first", first));
    all
}

/// Objects with masks of every method.
fn masked() -> Vec<(&'static str, Object)> {
    let packed = vec![0b0010_0000, 0b0100_0000, 0];
    let floats = || Object::new("float32", &[4, 6], tame(5, 96));
    vec![
        ("mask as it is", floats().masked("nan", "none", packed.clone())),
        ("mask in runs", floats().masked("inf+", "rle", vec![0, 2, 1, 21])),
        ("mask as a set", floats().masked("inf-", "roaring", roaring(&[2, 9]))),
        ("mask in lz4", floats().masked("nan", "lz4", lz4(&packed))),
        (
            "masks, and zstd",
            Object { payload: frame::plain(&tame(5, 96)), ..floats() }
                .stored("compression", "zstd")
                .masked("nan", "zstd", frame::plain(&packed))
                .masked("inf+", "rle", vec![1, 1, 23]),
        ),
        (
            "mask of doubles",
            Object::new("complex128", &[2], tame(6, 32)).masked("nan", "none", vec![0x40]),
        ),
    ]
}

/// Doubles in so many bits.
#[must_use]
pub fn packed(bits: u64, count: u64) -> Object {
    let payload = noise(bits, usize::try_from((bits * count).div_ceil(8)).unwrap());
    let float = |number: f64| {
        [vec![0xfb], number.to_bits().to_le_bytes().iter().rev().copied().collect()].concat()
    };
    Object::new("float64", &[count], payload)
        .stored("encoding", "simple_packing")
        .with("sp_reference_value", float(271.25))
        .with("sp_binary_scale_factor", head(1, 3))
        .with("sp_decimal_scale_factor", uint(0))
        .with("sp_bits_per_value", uint(bits))
}

/// Bytes that no type takes for anything but finite numbers.
fn tame(seed: u64, len: u64) -> Vec<u8> {
    noise(seed, usize::try_from(len).unwrap()).iter().map(|byte| byte & 0x3f).collect()
}

/// One block of literals, behind its length.
pub(super) fn lz4(content: &[u8]) -> Vec<u8> {
    let mut out = u32::try_from(content.len()).unwrap().to_le_bytes().to_vec();
    match content.len() {
        len @ ..15 => out.push(u8::try_from(len << 4).unwrap()),
        len => {
            out.push(0xf0);
            let rest = len - 15;
            out.resize(out.len() + rest / 255, 255);
            out.push(u8::try_from(rest % 255).unwrap());
        }
    }
    out.extend(content);
    out
}

/// Blocks of 8 samples of 8 bits, each as it is.
pub(super) fn szip(samples: &[u8]) -> Vec<u8> {
    let mut bits: Vec<bool> = Vec::new();
    for block in samples.chunks(8) {
        bits.extend([true; 3]);
        let of = |byte: &u8| (0..8).map(|at| byte << at & 0x80 != 0).collect::<Vec<_>>();
        bits.extend(block.iter().flat_map(of));
    }
    let byte = |bits: &[bool]| {
        bits.iter().enumerate().fold(0_u8, |byte, (at, bit)| byte | u8::from(*bit) << (7 - at))
    };
    bits.chunks(8).map(byte).collect()
}

/// A set of places below 65536, as one container that lists them.
pub(super) fn roaring(places: &[u16]) -> Vec<u8> {
    let count = u16::try_from(places.len() - 1).unwrap();
    let mut out = [12346_u32.to_le_bytes(), 1_u32.to_le_bytes()].concat();
    out.extend([0, 0]);
    out.extend(count.to_le_bytes());
    out.extend(16_u32.to_le_bytes());
    out.extend(places.iter().flat_map(|place| place.to_le_bytes()));
    out
}
