//! Sound files of every kind that `docs/spec/ztensor.md` names.

use super::cbor::{array, entry, head, head_of, odd_items, text, uint, uints};
use super::{BlobPlace, Seal, Tensor};
use crate::frame;

/// The types, and the bytes of an element.
const DTYPES: [(&str, usize); 13] = [
    ("float64", 8),
    ("float32", 4),
    ("float16", 2),
    ("bfloat16", 2),
    ("int64", 8),
    ("int32", 4),
    ("int16", 2),
    ("int8", 1),
    ("uint64", 8),
    ("uint32", 4),
    ("uint16", 2),
    ("uint8", 1),
    ("bool", 1),
];

/// The tensors of a file of each kind, and what the kind is called.
#[must_use]
pub fn kinds() -> Vec<(&'static str, Vec<Tensor>)> {
    let mut kinds = vec![
        ("without tensors", Vec::new()),
        ("every dtype, raw", dtypes(|tensor, _| tensor)),
        ("every dtype, zstd", dtypes(|tensor, elements| tensor.framed(frame::plain(&elements)))),
        ("every dtype, big-endian", dtypes(|tensor, _| big(tensor))),
        ("frames", frames()),
        ("shapes", shapes()),
        ("custom fields", custom()),
        ("ties and gaps", ties()),
        ("old and odd spellings", spellings()),
        ("kinds that are not known", unknown()),
    ];
    for (name, layout) in [
        ("sparse, of 0.1.x", Layout::Old),
        ("sparse, by the text", Layout::Text),
        ("sparse, places in the entry", Layout::Inline),
    ] {
        kinds.push((name, sparse(layout, Stored::Raw)));
        kinds.push((name, sparse(layout, Stored::Frame)));
    }
    let sealed = kinds.clone().into_iter().map(|(name, tensors)| {
        let seal = |(at, tensor): (usize, Tensor)| {
            let seal = if at % 4 == 3 { Seal::Sha256 } else { Seal::Crc32c };
            if tensor.seal == Seal::None { tensor.sealed(seal) } else { tensor }
        };
        (name, tensors.into_iter().enumerate().map(seal).collect())
    });
    let sealed: Vec<_> = sealed.collect();
    kinds.extend(sealed);
    kinds
}

/// Bytes that differ from one another.
fn bytes(seed: usize, len: usize) -> Vec<u8> {
    (0..len).map(|at| ((at + 1) * (37 + 2 * seed) % 251) as u8).collect()
}

fn dtypes(stored: impl Fn(Tensor, Vec<u8>) -> Tensor) -> Vec<Tensor> {
    let tensor = |(nth, (dtype, width)): (usize, &(&str, usize))| {
        let elements = match *dtype {
            "bool" => vec![1, 0, 1, 1, 0, 0],
            _ => bytes(nth, 6 * width),
        };
        stored(Tensor::new(dtype, dtype, &[2, 3], elements.clone()), elements)
    };
    DTYPES.iter().enumerate().map(tensor).collect()
}

fn big(tensor: Tensor) -> Tensor {
    tensor.with("data_endianness", text("big"))
}

/// One frame after the other, with and without their lengths, skippable ones, and a seek table.
fn frames() -> Vec<Tensor> {
    let elements = bytes(3, 300);
    let (front, back) = elements.split_at(200);
    let stated = |part: &[u8]| frame::stating(part, part.len() as u64);
    let two = [stated(front), stated(back)];
    let table = seek_table(&[(two[0].len(), front.len()), (two[1].len(), back.len())]);
    let of = |name, frames: &[Vec<u8>]| {
        Tensor::new(name, "uint8", &[10, 30], elements.clone()).framed(frames.concat())
    };
    vec![
        of("seekable", &[two[0].clone(), two[1].clone(), table.clone()]),
        of("skipped", &[frame::skippable(b"front"), two[0].clone(), two[1].clone()]),
        of("bare", &[frame::plain(front), frame::plain(back)]),
        of("lying", &[frame::plain(&elements), table]),
        of("compressed", &[compressed(&elements)]),
        Tensor::new("bomb", "uint8", &[2 * 131_072], Vec::new()).framed(frame::bomb(2)),
    ]
}

fn compressed(elements: &[u8]) -> Vec<u8> {
    let mut out = vec![0; zstd_safe::compress_bound(elements.len())];
    let len = zstd_safe::compress(&mut out[..], elements, 3).unwrap();
    out.truncate(len);
    out
}

/// A skippable frame that says how long each frame is, stored and decoded.
fn seek_table(frames: &[(usize, usize)]) -> Vec<u8> {
    let mut content = Vec::new();
    for (stored_len, decoded_len) in frames {
        content.extend(u32::try_from(*stored_len).unwrap().to_le_bytes());
        content.extend(u32::try_from(*decoded_len).unwrap().to_le_bytes());
    }
    content.extend(u32::try_from(frames.len()).unwrap().to_le_bytes());
    content.push(0);
    content.extend(0x8f92_eab1_u32.to_le_bytes());
    let mut out = 0x184d_2a5e_u32.to_le_bytes().to_vec();
    out.extend(u32::try_from(content.len()).unwrap().to_le_bytes());
    [out, content].concat()
}

/// Scalars, tensors without elements, many axes.
fn shapes() -> Vec<Tensor> {
    let empty = || frame::plain(&[]);
    vec![
        Tensor::new("scalar", "float32", &[], bytes(0, 4)),
        Tensor::new("packed scalar", "int16", &[], Vec::new()).framed(frame::plain(&[1, 2])),
        Tensor::new("empty", "float64", &[0, 7], Vec::new()),
        Tensor::new("packed empty", "int64", &[3, 0], Vec::new()).framed(empty()),
        Tensor::new("deep", "uint8", &[1; 64], vec![9]),
        Tensor::new("long", "uint16", &[700], bytes(5, 1400)),
    ]
}

fn custom() -> Vec<Tensor> {
    let mut odd = Tensor::new("odd", "uint8", &[2], vec![1, 2]);
    for (nth, item) in odd_items().into_iter().enumerate() {
        odd = odd.with(&format!("field{nth:02}"), item);
    }
    let about = Tensor::new("__metadata__", "uint8", &[0], Vec::new());
    let dims = array(&[text("y"), text("x")]);
    let coords = entry(&[(text("0"), array(&[text("a"), text("b")]))], true);
    vec![
        about.with("title", text("what is said of the file")).with("attr:name", text("n")),
        odd,
        Tensor::new("labels", "int16", &[2, 3], bytes(1, 12))
            .with("dims", dims)
            .with("coords", coords),
        Tensor::new("narrow", "uint8", &[4], bytes(2, 4))
            .with("logical_dtype", text("float8_e4m3fn")),
        Tensor::new("pairs", "float32", &[3, 2], bytes(3, 24))
            .with("logical_dtype", text("complex64")),
    ]
}

/// Blobs that are shared, that lie over each other, and bytes between them.
fn ties() -> Vec<Tensor> {
    let first = Tensor::new("first", "float32", &[4, 4], bytes(1, 64));
    vec![
        first.clone(),
        Tensor::new("tied", "int8", &[64], vec![0; 64]).at(BlobPlace::Of(0)),
        Tensor::new("far", "bool", &[3], vec![1, 0, 1]).at(BlobPlace::Next(512)),
        Tensor::new("page", "uint32", &[2], bytes(2, 8)).at(BlobPlace::Next(1024)),
        Tensor::new("two bools", "bool", &[2], vec![2, 255]),
    ]
}

/// Tensors as the first versions wrote them, with every way in which an item may be spelled.
fn spellings() -> Vec<Tensor> {
    let plain = |name| Tensor::new(name, "int16", &[2], vec![1, 2, 3, 4]);
    let mut turned = plain("turned");
    turned.fields.reverse();
    let counted = |tensor| Tensor { counted: true, ..tensor };
    let tagged = [head(6, 55_799), text("int16")].concat();
    let pieces = [vec![0x7f], text("in"), text(" pieces"), vec![0xff]].concat();
    let open = [vec![0x9f], uint(2), vec![0xff]].concat();
    vec![
        plain("without layout").without("layout"),
        counted(plain("counted")),
        turned,
        plain("").with("dtype", tagged).with("shape", open),
        plain("x").with("name", pieces).with("size", head_of(0, 4, 3)),
        plain("nothing").with("checksum", vec![0xf6]).with("data_endianness", vec![0xf7]),
        plain("../\u{1b}[31m"),
    ]
}

fn unknown() -> Vec<Tensor> {
    let plain = |name| Tensor::new(name, "uint8", &[4], vec![1, 2, 3, 4]);
    vec![
        plain("good"),
        plain("dtype").with("dtype", text("float4")),
        plain("encoding").with("encoding", text("lz4")),
        plain("layout").with("layout", text("ragged")),
        plain("format").with("layout", text("sparse")).with("sparse_format", text("bsr")),
        plain("algorithm").with("checksum", text("xxh3:0")).sealed(Seal::None),
    ]
}

#[derive(Clone, Copy, PartialEq)]
enum Layout {
    Old,
    Text,
    Inline,
}

#[derive(Clone, Copy, PartialEq)]
enum Stored {
    Raw,
    Frame,
}

/// Three values of each format and of two widths.
fn sparse(layout: Layout, stored: Stored) -> Vec<Tensor> {
    let mut out = Vec::new();
    for (dtype, width) in [("uint32", 4), ("float64", 8), ("bool", 1)] {
        let values = if dtype == "bool" { vec![1, 1, 0] } else { bytes(width, 3 * width) };
        for format in ["csr", "coo"] {
            out.push(sparse_one(layout, stored, dtype, format, &values));
        }
    }
    out
}

const INDPTR: [u64; 4] = [0, 2, 2, 3];
const INDICES: [u64; 3] = [0, 3, 1];
const COORDS: [u64; 6] = [0, 0, 0, 3, 2, 1];

fn sparse_one(layout: Layout, stored: Stored, dtype: &str, format: &str, values: &[u8]) -> Tensor {
    let width = values.len() / 3;
    let words =
        |numbers: &[u64]| numbers.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>();
    let records = COORDS.chunks(2).zip(values.chunks(width));
    let records = records.flat_map(|(place, value)| [words(place), value.to_vec()].concat());
    let blob = match (layout, format) {
        (Layout::Inline, _) => values.to_vec(),
        (_, "csr") => [words(&INDPTR), words(&INDICES), values.to_vec()].concat(),
        _ => records.collect(),
    };
    let tensor = Tensor::new(&format!("{dtype} {format}"), dtype, &[3, 4], blob.clone());
    let tensor = match layout {
        Layout::Old => tensor.with("layout", text(&format!("sparse{format}"))),
        _ => tensor.with("layout", text("sparse")).with("sparse_format", text(format)),
    };
    let tensor = match (layout, format) {
        (Layout::Inline, "csr") => {
            tensor.with("indptr", uints(&INDPTR)).with("indices", uints(&INDICES))
        }
        (Layout::Inline, _) => {
            let rows: Vec<_> = COORDS.chunks(2).map(uints).collect();
            tensor.with("indices", array(&rows))
        }
        _ => tensor,
    };
    if stored == Stored::Frame { tensor.framed(frame::plain(&blob)) } else { tensor }
}

#[cfg(test)]
mod tests {
    use tet_io::Source;
    use tet_ztensor::{Check, Level, Limits, Severity, VerifyOptions, ZTensorFile, rule, verify};

    use super::*;
    use crate::zt::assemble;

    /// All of them open, and every tensor is read but those of kinds that are not known.
    #[test]
    fn every_kind_is_sound() {
        for (name, tensors) in kinds() {
            let (bytes, _) = assemble(&tensors);
            let source = Source::from_bytes(bytes);
            let options = VerifyOptions { level: Level::Deep, ..VerifyOptions::default() };
            let report = verify(&source, &options).unwrap();
            let kinds = [
                &rule::DTYPE_KNOWN,
                &rule::ENCODING_KNOWN,
                &rule::LAYOUT_KNOWN,
                &rule::FORMAT_KNOWN,
            ];
            for finding in &report.findings {
                let is_error = finding.severity == Severity::Error;
                assert!(
                    !is_error || finding.rule().is_some_and(|rule| kinds.contains(&rule)),
                    "{name}: {finding:?}"
                );
            }
            let file = ZTensorFile::open(source, &Limits::default()).unwrap();
            assert_eq!(file.len(), tensors.len(), "{name}");
            for tensor in file.tensors().filter(|tensor| tensor.fault().is_none()) {
                file.read(tensor, Check::Always).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        }
    }
}
