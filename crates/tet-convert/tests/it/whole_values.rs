//! Every dtype goes through every container, and from there into every other one, bit for bit.
#![allow(clippy::unwrap_used, reason = "what does not hold here fails the test")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::world::archive;
use crate::common::{npy, opened};
use tet_convert::{ConvertOptions, as_bytes, convert, is_scalar};
use tet_format::DType;
use tet_query::{Dataset, Execution, Hyperslab};
use tet_tensogram::{Metadata, Recipe, Tensor, WriteOptions, encode, encode_message};

/// Outputs that a file of the dtype may have.
const CONTAINERS: [&str; 11] =
    ["tet", "zt", "tgm", "safetensors", "npz", "nc3", "nc", "h5", "zarr", "zarr.zip", "npy"];

/// The dtypes of safetensors: their words there, what they are called here, and their bits.
const DTYPES: [(&str, &str, usize); 22] = [
    ("BOOL", "bool", 8),
    ("I8", "int8", 8),
    ("U8", "uint8", 8),
    ("I16", "int16", 16),
    ("U16", "uint16", 16),
    ("I32", "int32", 32),
    ("U32", "uint32", 32),
    ("I64", "int64", 64),
    ("U64", "uint64", 64),
    ("F16", "float16", 16),
    ("BF16", "bfloat16", 16),
    ("F32", "float32", 32),
    ("F64", "float64", 64),
    ("C64", "complex64", 64),
    ("F8_E4M3", "float8_e4m3fn", 8),
    ("F8_E5M2", "float8_e5m2", 8),
    ("F8_E8M0", "float8_e8m0fnu", 8),
    ("F8_E4M3FNUZ", "float8_e4m3fnuz", 8),
    ("F8_E5M2FNUZ", "float8_e5m2fnuz", 8),
    ("F6_E2M3", "float6_e2m3fn", 6),
    ("F6_E3M2", "float6_e3m2fn", 6),
    ("F4", "float4_e2m1fn", 4),
];

/// The shapes: a matrix, a row, none at all, one without elements.
const SHAPES: [&[u64]; 4] = [&[2, 4], &[8], &[], &[0, 3]];
/// Where a file goes on to, of other shapes than a matrix.
const TWO: [&str; 2] = ["tet", "npz"];

/// A safetensors file of one tensor `t`.
fn safetensors(word: &str, shape: &[u64], bytes: &[u8]) -> Vec<u8> {
    let len = bytes.len();
    let header = format!(
        "{{\"t\":{{\"dtype\":\"{word}\",\"shape\":{shape:?},\"data_offsets\":[0,{len}]}}}}"
    );
    let padding = " ".repeat((8 - header.len() % 8) % 8);
    let mut file = u64::try_from(header.len() + padding.len()).unwrap().to_le_bytes().to_vec();
    file.extend(header.bytes().chain(padding.bytes()).chain(bytes.iter().copied()));
    file
}

/// The bits of some elements: no two bytes are alike, and those of truths are 0 and 1.
fn bits(word: &str, shape: &[u64], width: usize) -> Vec<u8> {
    let count = usize::try_from(shape.iter().product::<u64>()).unwrap();
    let len = count * width / 8;
    (0..len)
        .map(|at| {
            if word == "BOOL" {
                at as u8 % 2
            } else {
                0x3b_u8.wrapping_add((at as u8).wrapping_mul(37))
            }
        })
        .collect()
}

/// All of a dataset.
#[derive(Debug, PartialEq)]
struct Whole {
    dtype: String,
    shape: Vec<u64>,
    bytes: Vec<u8>,
}

/// The dataset of a file, which has its name, or that of a .npy.
fn read(path: &Path) -> Whole {
    let file = opened(path);
    let datasets = file.catalog.datasets();
    let named = datasets.iter().find(|it| it.name.starts_with('t'));
    let dataset = named.unwrap_or(&datasets[0]);
    let shape = if is_scalar(dataset) { Vec::new() } else { dataset.shape().to_vec() };
    Whole { dtype: dataset.dtype_name.clone(), shape, bytes: bytes(dataset) }
}

fn bytes(dataset: &Dataset) -> Vec<u8> {
    let dataset = as_bytes(dataset).unwrap_or_else(|| dataset.clone());
    let slab = Hyperslab::whole(dataset.shape());
    dataset.read(&slab, &Execution::default()).unwrap().value.bytes().to_vec()
}

/// Converts a file to another one of the folder.
fn go(from: &Path, to: &str) -> tet_convert::Result<PathBuf> {
    let to = from.with_file_name(to);
    let _ = if to.is_dir() { fs::remove_dir_all(&to) } else { fs::remove_file(&to) };
    let mut options = ConvertOptions::default();
    options.tet.sync = tet_io::publish::Sync::None;
    convert(from, &to, &options)?;
    Ok(to)
}

/// Takes a file of one dataset to each container, and from there to `others`.
fn check(input: &Path, wanted: &Whole, others: &[&str], faults: &mut Vec<String>) {
    let about = |road: &str| format!("{} {:?} by {road}", wanted.dtype, wanted.shape);
    if read(input) != *wanted {
        return faults.push(format!("{}: {:?}", about("itself"), read(input)));
    }
    // NumPy's files have no attributes: what they have no type for stays bits, as a note says.
    let is_bits = |suffix: &str, path: &Path| {
        ["npy", "npz"].contains(&suffix) && read(path).dtype != wanted.dtype
    };
    for first in CONTAINERS {
        let stop = match go(input, &format!("t1.{first}")) {
            Ok(stop) if is_bits(first, &stop) => continue,
            Ok(stop) => stop,
            Err(error) => {
                faults.push(format!("{}: {error}", about(first)));
                continue;
            }
        };
        if read(&stop) != *wanted {
            faults.push(format!("{}: {:?}", about(first), read(&stop)));
        }
        for second in others {
            match go(&stop, &format!("t2.{second}")) {
                Ok(end) if is_bits(second, &end) || read(&end) == *wanted => {}
                Ok(end) => faults.push(format!("{}, {second}: {:?}", about(first), read(&end))),
                Err(error) => faults.push(format!("{}, {second}: {error}", about(first))),
            }
        }
    }
}

#[test]
fn every_dtype_of_safetensors_comes_back() {
    let mut faults = Vec::new();
    for (word, name, width) in DTYPES {
        for shape in SHAPES {
            let folder = tempfile::tempdir().unwrap();
            if shape.is_empty() && !width.is_multiple_of(8) {
                continue;
            }
            let bytes = bits(word, shape, width);
            let input = folder.path().join("t.safetensors");
            fs::write(&input, safetensors(word, shape, &bytes)).unwrap();
            let others = if shape.len() == 2 && !bytes.is_empty() { &CONTAINERS[..] } else { &TWO };
            let wanted = Whole { dtype: name.to_owned(), shape: shape.to_vec(), bytes };
            check(&input, &wanted, others, &mut faults);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn double_complex_numbers_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..64).collect();
    let input = folder.path().join("t.npy");
    fs::write(&input, npy("<c16", "False", "(2, 2)", &bytes)).unwrap();
    let mut faults = Vec::new();
    let wanted = Whole { dtype: "complex128".to_owned(), shape: vec![2, 2], bytes };
    check(&input, &wanted, &CONTAINERS, &mut faults);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The attributes of the first dataset that say what its bits are.
fn words(path: &Path) -> Vec<Option<String>> {
    let file = opened(path);
    let attrs = &file.catalog.datasets()[0].attrs;
    ["logical_dtype", "logical_shape"]
        .map(|key| attrs.get(key).map(|it| it.text().trim_matches(['[', ']']).to_owned()))
        .to_vec()
}

/// Bits of a mask are bytes with attributes, and come back from every container.
#[test]
fn masks_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = vec![0b1010_0110, 0b1100_0000];
    let encoded = encode(DType::Bitmask, &[11], &bytes, &Recipe::default()).unwrap();
    let descriptor = encoded.descriptor.encode().unwrap();
    let tensor = Tensor { descriptor: &descriptor, region: (&*encoded.region).into() };
    let message =
        encode_message(&Metadata::default(), vec![tensor], &WriteOptions::default()).unwrap();
    let input = folder.path().join("m.tgm");
    fs::write(&input, message).unwrap();
    let wanted = Whole { dtype: "uint8".to_owned(), shape: vec![2], bytes };
    assert_eq!(read(&input), wanted);
    for first in ["tet", "zt", "tgm", "safetensors", "nc3", "nc", "h5", "zarr"] {
        let mut at = input.clone();
        for (nth, stop) in [first, "tet", first, "tgm"].into_iter().enumerate() {
            at = go(&at, &format!("m{nth}.{stop}")).unwrap();
        }
        assert_eq!(read(&at), wanted, "{first}");
        assert_eq!(words(&at), words(&input), "{first}");
    }
}

/// Times are integers with the attributes of CF, and "not a time" is their fill value.
#[test]
fn times_are_integers_with_units() {
    let folder = tempfile::tempdir().unwrap();
    let times = [0_i64, 86_400, i64::MIN].map(i64::to_le_bytes).concat();
    for (descr, units) in [
        ("<M8[s]", "seconds since 1970-01-01"),
        ("<M8[D]", "days since 1970-01-01"),
        ("<m8[h]", "hours"),
    ] {
        let inputs = ["t.npy", "t.npz"].map(|name| folder.path().join(name));
        let array = npy(descr, "False", "(3,)", &times);
        fs::write(&inputs[0], &array).unwrap();
        archive(&inputs[1], &[("t", array)]);
        for input in &inputs {
            for stop in ["tet", "nc", "h5", "zarr", "zt", "tgm"] {
                let path = go(&go(input, &format!("t.{stop}")).unwrap(), "back.tet").unwrap();
                let file = opened(&path);
                let dataset = file.catalog.find("t").unwrap();
                assert_eq!((dataset.dtype_name.as_str(), bytes(dataset)), ("int64", times.clone()));
                assert_eq!(dataset.attrs["units"].text(), units, "{stop}");
                assert_eq!(dataset.attrs["_FillValue"].text(), i64::MIN.to_string(), "{stop}");
            }
        }
    }
}

/// Texts go through every container that holds them, and are labels of `.tet`.
#[test]
fn texts_come_back_from_what_holds_them() {
    let folder = tempfile::tempdir().unwrap();
    let texts = ["\u{e9}t\u{e9}", "", "a,b"];
    let points = texts.iter().flat_map(|text| {
        let mut points: Vec<u32> = text.chars().map(u32::from).collect();
        points.resize(4, 0);
        points
    });
    let bytes: Vec<u8> = points.flat_map(u32::to_le_bytes).collect();
    let input = folder.path().join("t.npy");
    fs::write(&input, npy("<U4", "False", "(3,)", &bytes)).unwrap();
    for first in ["h5", "nc", "zarr", "zarr.zip", "csv", "tsv"] {
        for second in ["h5", "nc", "zarr", "csv"] {
            let path =
                go(&go(&input, &format!("t1.{first}")).unwrap(), &format!("t2.{second}")).unwrap();
            let file = opened(&path);
            let dataset = file.catalog.find("t").unwrap();
            let slab = Hyperslab::whole(dataset.shape());
            let found = dataset.read_texts(&slab, &Execution::default()).unwrap().value;
            assert_eq!(found, texts, "{first} {second}");
        }
    }
}
