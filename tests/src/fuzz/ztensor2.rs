//! zTensor files of versions 1 and 2: any bytes as a file, or as the manifest of one.

use tet_cbor::{Value, encode};

use super::agree::DatasetLen;

/// The blobs of a file that a manifest is put into, at the pages 1, 2 and so on.
const BLOBS: [&[u8]; 4] = [b"abcdefgh", &[0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0], &[0; 16], &[1]];

/// Checks, opens and reads a file; bytes without a magic are a manifest with a sound footer.
pub fn ztensor2(bytes: &[u8]) {
    match bytes {
        [b'Z', b'T', b'E', b'N', b'1', b'0', b'0', b'0', ..] | [0x89, b'Z', b'T', b'2', ..] => {
            agree(bytes)
        }
        bytes => {
            agree(&first(bytes));
            agree(&second(bytes));
        }
    }
}

/// A file of version 1.
fn first(manifest: &[u8]) -> Vec<u8> {
    let mut out = b"ZTEN1000".to_vec();
    for blob in BLOBS {
        out.resize(out.len().next_multiple_of(64), 0);
        out.extend_from_slice(blob);
    }
    out.extend_from_slice(manifest);
    out.extend((manifest.len() as u64).to_le_bytes());
    [out.as_slice(), b"ZTEN1000"].concat()
}

/// A file of version 2.
fn second(manifest: &[u8]) -> Vec<u8> {
    let magic = b"\x89ZT2\r\n\x1a\n";
    let mut out = magic.to_vec();
    for blob in BLOBS.into_iter().chain([manifest]) {
        out.resize(out.len().next_multiple_of(4096), 0);
        out.extend_from_slice(blob);
    }
    let start = (out.len() - manifest.len()) as u64;
    for number in [start, manifest.len() as u64, tet_codec::digest(manifest).xxh3, 2] {
        out.extend(number.to_le_bytes());
    }
    [out.as_slice(), magic].concat()
}

fn agree(file: &[u8]) {
    super::agree::agree(file, DatasetLen::Unbounded);
}

/// Manifests of both versions.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for second in [false, true] {
        for dtype in ["u8", "i16", "f32", "u64", "bool", "bf16"] {
            for layout in ["dense", "csr", "coo", "other"] {
                seeds.push(seed(second, dtype, layout));
            }
        }
    }
    seeds
}

/// A manifest of one object.
fn seed(second: bool, dtype: &str, layout: &str) -> Vec<u8> {
    let text = |text: &str| Value::Text(text.to_owned());
    let map = |pairs: Vec<(&str, Value)>| {
        Value::Map(pairs.into_iter().map(|(key, value)| (text(key), value)).collect())
    };
    let list = |numbers: &[u64]| {
        Value::Array(numbers.iter().map(|number| Value::Int((*number).into())).collect())
    };
    let part = |dtype: &str, blob: u64, len: u64| {
        let mut pairs = match (second, dtype) {
            (true, "bool") => vec![("dtype", text("u8")), ("type", text("bool"))],
            _ => vec![("dtype", text(dtype))],
        };
        if second {
            pairs.push(("blob", list(&[blob * 4096, len])));
        } else {
            pairs.push(("offset", Value::Int((blob * 64).into())));
            pairs.push(("length", Value::Int(len.into())));
        }
        map(pairs)
    };
    let size = match dtype {
        "u8" | "bool" => 1,
        "i16" | "bf16" => 2,
        "f32" => 4,
        _ => 8,
    };
    let (shape, word, parts) = match layout {
        "dense" => (list(&[8 / size]), "dense", vec![("data", part(dtype, 1, 8))]),
        "csr" => {
            let parts = vec![
                ("values", part(dtype, 1, 2 * size)),
                ("indices", part("u32", 3, 8)),
                ("indptr", part("u32", 2, 12)),
            ];
            (list(&[2, 3]), if second { "zt.sparse_csr/1" } else { "sparse_csr" }, parts)
        }
        "coo" => {
            let parts = vec![("values", part(dtype, 1, size)), ("coords", part("u64", 3, 16))];
            (list(&[2, 3]), if second { "zt.sparse_coo/1" } else { "sparse_coo" }, parts)
        }
        _ => (list(&[4]), "vendor.blocks/1", vec![("data", part(dtype, 1, 8))]),
    };
    let (layout_key, parts_key) =
        if second { ("layout", "parts") } else { ("format", "components") };
    let attributes = map(vec![("note", text("n")), ("number", list(&[1, 300]))]);
    let object = map(vec![
        ("shape", shape),
        (layout_key, text(word)),
        (parts_key, map(parts)),
        ("attributes", attributes.clone()),
    ]);
    let mut pairs = vec![("objects", map(vec![("a", object)])), ("attributes", attributes)];
    if !second {
        pairs.push(("version", text("1.2.0")));
    }
    let mut out = Vec::new();
    encode(&map(pairs), &mut out);
    out
}
