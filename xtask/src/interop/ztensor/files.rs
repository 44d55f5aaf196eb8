//! zTensor files of ours: every type, in every way to write.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tet_format::DType;
use tet_ztensor::{
    Align, ChecksumChoice, DTYPES, Declaration, Dialect, EncodingChoice, Places, Value,
    WriteOptions, Writer,
};

use crate::interop::sheet::{self, Sheeted};

/// Shapes, and what tensors of them are called. The last one is for some of the types.
const SHAPES: [(&str, &[u64]); 5] = [
    ("scalar", &[]),
    ("empty", &[0, 4]),
    ("small", &[3, 5]),
    ("axes", &[1, 2, 1, 3, 1, 2]),
    ("large", &[200, 1000]),
];
const LARGE: [DType; 4] = [DType::Float64, DType::BFloat16, DType::Int32, DType::Bool];
/// The tensor that a second entry shares the blob of.
const TIED: &str = "float32.small";

/// Writes a file for each way to write, and its sheet beside it.
pub(super) fn write(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for (label, options) in ways() {
        let path = folder.join(format!("{label}.zt"));
        one(&path, &options).with_context(|| path.display().to_string())?;
        paths.push(path);
    }
    Ok(paths)
}

/// Every way, by the name of its file.
fn ways() -> Vec<(String, WriteOptions)> {
    let mut ways = Vec::new();
    let checksums = [
        ("none", ChecksumChoice::Left),
        ("crc32c", ChecksumChoice::Crc32c),
        ("sha256", ChecksumChoice::Sha256),
    ];
    let encodings = [("raw", EncodingChoice::Raw), ("zstd", EncodingChoice::zstd())];
    for (stored, encoding) in encodings {
        for (said, checksum) in checksums {
            for align in [Align::Line, Align::Page, Align::LargePage] {
                let options = WriteOptions { encoding, checksum, align, ..Default::default() };
                ways.push((format!("{stored}-{said}-{}", align.multiple()), options));
            }
            if checksum != ChecksumChoice::Sha256 {
                let options = WriteOptions { encoding, checksum, ..WriteOptions::v01x() };
                ways.push((format!("{stored}-{said}-0.1.x"), options));
            }
        }
    }
    ways
}

fn one(path: &Path, options: &WriteOptions) -> Result<()> {
    let mut tensors = Vec::new();
    let file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let mut writer = Writer::new(file, options)?;
    let about = vec![("title".to_owned(), Value::Text("what is said of the file".to_owned()))];
    tensors
        .push(Sheeted { declaration: Declaration::metadata(about.clone()), elements: Vec::new() });
    writer.metadata(about)?;
    for declaration in declared() {
        let elements = elements(declaration.dtype, declaration.decoded_len()?);
        writer.whole(declaration.clone(), &elements)?;
        tensors.push(Sheeted { declaration, elements });
    }
    if options.dialect == Dialect::Common {
        let declaration = Declaration::new("tied", DType::Float32, [5, 3]);
        writer.alias(declaration.clone(), TIED)?;
        tensors.push(Sheeted { elements: elements(DType::Float32, 60), declaration });
    }
    sparse(&mut writer, &mut tensors)?;
    writer.finish()?;
    sheet::write(path, tensors.iter())
}

/// All types and shapes, odd names, and custom fields of every kind.
fn declared() -> Vec<Declaration> {
    let mut out = Vec::new();
    for dtype in DTYPES {
        for (kind, shape) in SHAPES {
            if kind != "large" || LARGE.contains(&dtype) {
                out.push(Declaration::new(format!("{}.{kind}", dtype.name()), dtype, shape));
            }
        }
    }
    for name in ["", " ", "caf\u{e9}/\u{1f600}", "#0", "a\nb"] {
        out.push(Declaration::new(name, DType::UInt16, [2]));
    }
    let text = |text: &str| Value::Text(text.to_owned());
    let map = vec![(Value::Int(7), text("seven")), (text("key"), Value::Null)];
    let custom = Declaration::new("custom", DType::Int8, [4])
        .with("null", Value::Null)
        .with("truth", Value::Bool(true))
        .with("negative", Value::Int(i64::MIN.into()))
        .with("large", Value::Int(u64::MAX.into()))
        .with("half", Value::Float(1.5))
        .with("double", Value::Float(std::f64::consts::PI))
        .with("nan", Value::Float(f64::NAN))
        .with("text", text("caf\u{e9}"))
        .with("bytes", Value::Bytes(vec![0, 255]))
        .with("list", Value::Array(vec![Value::Int(1), Value::Array(Vec::new())]))
        .with("map", Value::Map(map));
    out.push(custom);
    out
}

/// A sparse tensor of each format, as dense parts.
fn sparse(
    writer: &mut Writer<std::io::BufWriter<std::fs::File>>,
    tensors: &mut Vec<Sheeted>,
) -> Result<()> {
    let values = elements(DType::Float32, 12);
    let declared = |name: &str| Declaration::new(name, DType::Float32, [3, 4]);
    let (indptr, indices) = (vec![0, 2, 2, 3], vec![0, 3, 1]);
    let coords = vec![0, 0, 0, 3, 2, 1];
    let mut part = |name: &str, shape: Vec<u64>, words: &[u64]| {
        let elements = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let declaration = Declaration::new(name, DType::UInt64, shape);
        tensors.push(Sheeted { declaration, elements });
    };
    part("s.indptr", vec![4], &indptr);
    part("s.indices", vec![3], &indices);
    part("t.coords", vec![3, 2], &coords);
    let at = tensors.len() - 1;
    for (at, name) in [(at, "s.values"), (at + 2, "t.values")] {
        let declaration = Declaration::new(name, DType::Float32, [3]);
        tensors.insert(at, Sheeted { declaration, elements: values.clone() });
    }
    writer.sparse(declared("s"), &Places::Csr { indptr, indices }, &values)?;
    writer.sparse(declared("t"), &Places::Coo { coords }, &values)?;
    Ok(())
}

/// Bytes without an order, and some with: frames of zstd are of both.
fn elements(dtype: DType, len: u64) -> Vec<u8> {
    let mask = |at: u64| match dtype {
        DType::Bool => 1,
        _ if at >> 12 & 1 == 0 => 0xff,
        _ => 0x03,
    };
    let byte = |at: u64| (at.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0] & mask(at);
    (0..len).map(byte).collect()
}
