//! Numbers written as another type: what they become, in every container, and which element is refused.

use std::path::Path;

use half::{bf16, f16};
use tet_convert::{ConvertOptions, DTypeRule, Error, Origin, ValueChoice, convert};
use tet_file::AttrValue;
use tet_file::metadata::{DatasetMetadata, Metadata};
use tet_file::write::{ChunkAt, DatasetSpec, WriteOptions, Writer};
use tet_format::DType;
use tet_query::Execution;

use super::common::{opened, read};

const SHAPE: [u64; 3] = [60, 70, 250];
/// The types of numbers.
fn numbers() -> impl Iterator<Item = DType> {
    DType::ALL.iter().copied().filter(|it| it.is_float() || it.is_integer())
}

fn rule(dataset: Option<&str>, dtype: DType) -> DTypeRule {
    DTypeRule { dataset: dataset.map(str::to_owned), dtype }
}

fn with(dtypes: Vec<DTypeRule>) -> ConvertOptions {
    let mut options = ConvertOptions::default();
    options.dtypes = dtypes;
    // Masked elements are no integers.
    options.decoding.values = ValueChoice::Raw;
    options
}

/// A number of 0 to 120, which all types have.
fn number(linear: u64) -> u8 {
    (linear * 7 % 121) as u8
}

/// A number as the little-endian bytes of a type.
fn bytes(dtype: DType, number: u8) -> Vec<u8> {
    match dtype {
        DType::Float16 => f16::from(number).to_le_bytes().to_vec(),
        DType::BFloat16 => bf16::from_f32(number.into()).to_le_bytes().to_vec(),
        DType::Float32 => f32::from(number).to_le_bytes().to_vec(),
        DType::Float64 => f64::from(number).to_le_bytes().to_vec(),
        integer => {
            let size = integer.size().unwrap() as usize;
            let mut bytes = vec![0; size];
            bytes[0] = number;
            bytes
        }
    }
}

/// `a` of three axes in chunks of several rows, with its coordinate `x`, an attribute of its type, and `last`, whose
/// last element may be another.
fn sample(path: &Path, dtype: DType, last: Option<Vec<u8>>) {
    let spec =
        |name: &str, shape: &[u64], chunk: &[u64]| DatasetSpec::new(name, dtype, shape, chunk);
    let specs = vec![spec("a", &SHAPE, &[7, 70, 250]), spec("x", &[250], &[250])];
    let mut writer = Writer::create(path, specs, &WriteOptions::default()).unwrap();
    let size = dtype.size().unwrap();
    let all: u64 = SHAPE.iter().product();
    for (id, row_len) in [(0, 7 * 70 * 250), (1, 250)] {
        let fill = &mut |chunk: ChunkAt<'_>, out: &mut Vec<u8>| {
            let first = chunk.linear * row_len;
            for linear in first..first + chunk.decoded_len / size {
                let other = last.clone().filter(|_| id == 0 && linear + 1 == all);
                out.extend(other.unwrap_or_else(|| bytes(dtype, number(linear))));
            }
            Ok(())
        };
        writer.write_dataset(id, fill, &Default::default()).unwrap();
    }
    let mut metadata = Metadata::new();
    for (name, dims) in [("a", &["t", "y", "x"][..]), ("x", &["x"])] {
        let mut about = DatasetMetadata::default();
        about.dim_names = dims.iter().map(|it| (*it).to_owned()).collect();
        about.attrs.insert("missing_value".into(), AttrValue::Json("7".to_owned()));
        metadata.datasets.insert(name.to_owned(), about);
    }
    writer.finish(&metadata, &[]).unwrap();
}

#[test]
fn every_type_of_numbers_becomes_every_other() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in.tet"), folder.path().join("out.tet"));
    let first = folder.path().join("first.tet");
    sample(&first, DType::UInt8, None);
    assert_eq!(numbers().count(), 12);
    for from in numbers() {
        // Layout 1 of `.tet` lacks some of the types, and has them as others.
        convert(&first, &input, &with(vec![rule(Some("*"), from)])).unwrap();
        for to in numbers() {
            let mut options = with(vec![rule(Some("a"), to)]);
            options.tet.overwrite = tet_io::Overwrite::Replace;
            // Blocks shorter than a chunk, on several threads.
            options.execution = Execution { memory_budget: 12 << 20, ..Execution::default() };
            options.execution.threads = 3;
            options.tet.history = Some(Origin { at: 1 });
            convert(&input, &output, &options).unwrap();
            let written = opened(&output);
            let array = read(&written, "a");
            assert_eq!(array.dtype(), to);
            let all: u64 = SHAPE.iter().product();
            let wanted: Vec<u8> = (0..all).flat_map(|it| bytes(to, number(it))).collect();
            assert!(array.bytes() == wanted, "{from:?} to {to:?}");
            let kept = written.catalog.find("a").unwrap();
            assert_eq!(kept.dims, ["t", "y", "x"]);
            assert_eq!(kept.grid.chunk_shape()[..], [7, 70, 250], "{from:?} to {to:?}");
            assert_eq!(read(&written, "x").dtype(), from);
            let row = written.tet.as_ref().unwrap().history().last().unwrap();
            assert_eq!(row.params.get("dtype"), Some(&format!("a={}", to.name())));
        }
        std::fs::remove_file(&input).unwrap();
    }
}

#[test]
fn the_element_that_the_type_lacks_is_named_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.tet");
    for (last, to, text) in [
        (0.5_f64, DType::Int32, "0.5"),
        (f64::NAN, DType::UInt8, "NaN"),
        (1e39, DType::Float32, "1e39"),
        (-1.0, DType::UInt64, "-1.0"),
        (2.0, DType::Bool, ""),
    ] {
        sample(&input, DType::Float64, Some(last.to_le_bytes().to_vec()));
        for name in ["o.tet", "o.npz", "o.npy", "o.zt", "o.tgm", "o.nc", "o.zarr", "o.safetensors"]
        {
            let output = folder.path().join(name);
            let mut options = with(vec![rule(Some("a"), to)]);
            options.tet.include = vec!["a".to_owned()];
            let error = convert(&input, &output, &options).unwrap_err();
            let Error::Query(tet_query::Error::Inexact { dataset, at, value, dtype }) = &error
            else {
                panic!("{name}: {error}");
            };
            assert_eq!((dataset.as_str(), *dtype), ("a", to));
            if !text.is_empty() {
                assert_eq!((&at[..], value.as_str()), (&[59, 69, 249][..], text));
            }
            assert!(!output.exists(), "{name}");
        }
        std::fs::remove_file(&input).unwrap();
    }
}

#[test]
fn a_rule_for_all_is_for_numbers_of_its_kind_and_no_coordinates() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in.tet"), folder.path().join("out.nc"));
    sample(&input, DType::Float64, None);
    convert(&input, &output, &with(vec![rule(None, DType::Float32)])).unwrap();
    let written = opened(&output);
    assert_eq!(read(&written, "a").dtype(), DType::Float32);
    assert_eq!(read(&written, "x").dtype(), DType::Float64);
    let missing = written.catalog.find("a").unwrap().attrs.get("missing_value").unwrap();
    assert_eq!(*missing, tet_query::AttrText::number(DType::Float32, &7_f32.to_le_bytes()));

    let none = convert(&input, &folder.path().join("b.tet"), &with(vec![rule(None, DType::Int8)]));
    assert!(matches!(none, Err(Error::NoSuchKind { dtype: DType::Int8 })));
    // The only dataset is meant, whatever its kind; a named rule comes after those for all.
    let mut options = with(vec![rule(Some("a"), DType::UInt8), rule(None, DType::Int8)]);
    options.tet.include = vec!["a".to_owned()];
    options.select = Some("t#58:".to_owned());
    let output = folder.path().join("c.npy");
    convert(&input, &output, &options).unwrap();
    let written = opened(&output);
    let (first, all) = (58 * 70 * 250, SHAPE.iter().product());
    let wanted: Vec<u8> = (first..all).map(number).collect();
    assert_eq!(written.catalog.datasets()[0].dtype, Some(DType::UInt8));
    assert_eq!(read(&written, "#0").bytes(), wanted);
}

#[test]
fn truths_are_numbers_and_numbers_of_0_and_1_truths() {
    let folder = tempfile::tempdir().unwrap();
    let truths: Vec<u8> = (0..5000).map(|at| u8::from(at % 3 == 0)).collect();
    let input = folder.path().join("truths.npy");
    std::fs::write(&input, super::common::npy("|b1", "False", "(5000,)", &truths)).unwrap();
    let [wide, back] = ["wide.npy", "back.npy"].map(|name| folder.path().join(name));
    convert(&input, &wide, &with(vec![rule(None, DType::Float32)])).unwrap();
    let floats: Vec<u8> = truths.iter().flat_map(|it| f32::from(*it).to_le_bytes()).collect();
    assert_eq!(read(&opened(&wide), "#0").bytes(), floats);
    convert(&wide, &back, &with(vec![rule(None, DType::Bool)])).unwrap();
    assert_eq!(std::fs::read(&back).unwrap()[128..], truths);
}
