//! Packed and masked values, decoded as xarray does.
#![allow(clippy::unwrap_used, reason = "what does not hold here fails the test")]

use std::fs;
use std::path::Path;

use tet_convert::{Decoding, OpenOptions, ValidRange, decoded, open};
use tet_format::DType;
use tet_query::{Catalog, Execution, Hyperslab, Number, Op, Reduction, Scalar, fill_of};

/// A Zarr array of one chunk, which has these bytes and attributes.
fn array(folder: &Path, dtype: DType, bytes: &[u8], attributes: &str) {
    let (dtype, size) = (dtype.name(), dtype.size().unwrap());
    let len = bytes.len() as u64 / size;
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [{len}], "data_type": "{dtype}",
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [{len}]}}}},
        "chunk_key_encoding": {{"name": "v2"}}, "fill_value": 0,
        "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}],
        "attributes": {attributes}}}"#
    );
    fs::create_dir(folder).unwrap();
    fs::write(folder.join("zarr.json"), document).unwrap();
    fs::write(folder.join("0"), bytes).unwrap();
}

/// Decoded elements.
struct Decoded {
    dtype: DType,
    values: Vec<f64>,
}

impl Decoded {
    fn new<const N: usize>(dtype: DType, values: [f64; N]) -> Decoded {
        Decoded { dtype, values: values.to_vec() }
    }
}

/// The elements of the dataset of a file, decoded.
fn read(path: &Path, range: ValidRange) -> Decoded {
    let catalog = decoded(open(path, &OpenOptions::default()).unwrap().catalog, range);
    let dataset = &catalog.datasets()[0];
    let slab = Hyperslab::whole(dataset.shape());
    let array = dataset.read(&slab, &Execution::default()).unwrap().value;
    let values = (0..array.len()).map(|at| array.get(at).unwrap().to_f64().unwrap()).collect();
    Decoded { dtype: dataset.dtype.unwrap(), values }
}

fn check(dtype: DType, bytes: &[u8], attributes: &str, range: ValidRange, wanted: &Decoded) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("x.zarr");
    array(&folder, dtype, bytes, attributes);
    let read = read(&folder, range);
    assert_eq!(read.dtype, wanted.dtype, "{attributes}");
    let bits = |values: &[f64]| values.iter().map(|it| it.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&read.values), bits(&wanted.values), "{attributes}: {:?}", read.values);
}

const NAN: f64 = f64::NAN;

#[test]
fn packed_values_are_scaled_in_the_type_of_the_result() {
    let bytes: Vec<u8> = [-1_i16, 0, 300].iter().flat_map(|it| it.to_le_bytes()).collect();
    let int16 = DType::Int16;
    let ignored = ValidRange::Ignored;
    let scaled = Decoded::new(DType::Float64, [-0.5, 0.0, 150.0]);
    check(int16, &bytes, r#"{"scale_factor": 0.5}"#, ignored, &scaled);
    let moved = Decoded::new(DType::Float64, [9.5, 10.0, 160.0]);
    check(int16, &bytes, r#"{"scale_factor": 0.5, "add_offset": 10.0}"#, ignored, &moved);
    let masked = Decoded::new(DType::Float32, [NAN, 0.0, 300.0]);
    check(int16, &bytes, r#"{"missing_value": -1}"#, ignored, &masked);
    let unsigned = Decoded::new(DType::UInt16, [65535.0, 0.0, 300.0]);
    check(int16, &bytes, r#"{"_Unsigned": "true"}"#, ignored, &unsigned);
    let both = Decoded::new(DType::Float32, [NAN, 0.0, 300.0]);
    check(int16, &bytes, r#"{"_Unsigned": "true", "missing_value": -1}"#, ignored, &both);
    check(int16, &bytes, r#"{"_Unsigned": "true", "missing_value": 65535}"#, ignored, &both);
}

#[test]
fn integers_are_compared_without_rounding() {
    let elements = [i64::MIN, i64::MIN + 2, (1 << 53) + 1, 1 << 53, -3];
    let bytes: Vec<u8> = elements.iter().flat_map(|it| it.to_le_bytes()).collect();
    let int64 = DType::Int64;
    let near = 2_f64.powi(53);
    let far = -(2_f64.powi(63));
    let ignored = ValidRange::Ignored;
    // The default of NetCDF, which as float64 is the least integer.
    let netcdf = Decoded::new(DType::Float64, [far, NAN, near, near, -3.0]);
    check(int64, &bytes, r#"{"missing_value": -9223372036854775806}"#, ignored, &netcdf);
    let odd = Decoded::new(DType::Float64, [far, far, NAN, near, -3.0]);
    check(int64, &bytes, r#"{"missing_value": 9007199254740993}"#, ignored, &odd);
    let valid = Decoded::new(DType::Float64, [NAN, NAN, NAN, near, -3.0]);
    let attributes = r#"{"valid_min": -9223372036854775805, "valid_max": 9007199254740992}"#;
    check(int64, &bytes, attributes, ValidRange::Masked, &valid);
    let plain = elements.map(|it| it as f64);
    check(int64, &bytes, attributes, ignored, &Decoded::new(DType::Int64, plain));
}

#[test]
fn floats_are_masked_by_their_value() {
    let bytes: Vec<u8> = [1.5_f32, -999.0, 0.1].iter().flat_map(|it| it.to_le_bytes()).collect();
    let float32 = DType::Float32;
    let masked = Decoded::new(DType::Float32, [1.5, NAN, f64::from(0.1_f32)]);
    check(float32, &bytes, r#"{"missing_value": -999}"#, ValidRange::Ignored, &masked);
    // 0.1 as a float64 is no float32.
    check(float32, &bytes, r#"{"missing_value": [-999.0, 0.1]}"#, ValidRange::Ignored, &masked);
    let valid = Decoded::new(DType::Float32, [1.5, NAN, NAN]);
    check(float32, &bytes, r#"{"valid_range": [1, 2]}"#, ValidRange::Masked, &valid);
}

#[test]
fn bytes_that_xarray_stored_for_truths_are_truths() {
    let truths = Decoded::new(DType::Bool, [0.0, 1.0, 1.0]);
    let int8 = DType::Int8;
    check(int8, &[0, 1, 255], r#"{"dtype": "bool"}"#, ValidRange::Ignored, &truths);
    let numbers = Decoded::new(DType::Int8, [0.0, 1.0, 1.0]);
    check(int8, &[0, 1, 1], r#"{"dtype": "int"}"#, ValidRange::Ignored, &numbers);
}

#[test]
fn what_is_no_time_is_masked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.npy");
    let bytes = [7_i64, i64::MIN].map(i64::to_le_bytes).concat();
    fs::write(&path, crate::common::npy("<M8[s]", "False", "(2,)", &bytes)).unwrap();
    let read = read(&path, ValidRange::Ignored);
    assert_eq!(read.dtype, DType::Float64);
    assert!(matches!(read.values[..], [7.0, time] if time.is_nan()));
}

#[test]
fn decoded_datasets_have_no_attributes_that_decode_them() {
    let attrs = |attributes: &str, range: ValidRange| {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("x.zarr");
        array(&folder, DType::Int16, &[1, 0, 2, 0], attributes);
        let catalog = decoded(open(&folder, &OpenOptions::default()).unwrap().catalog, range);
        let dataset = &catalog.datasets()[0];
        let kept = dataset.attrs.keys().cloned().collect::<Vec<_>>().join(" ");
        (kept, dataset.meaning.as_ref().map_or_else(String::new, |it| it.attrs.join(" ")))
    };
    let (ignored, masked) = (ValidRange::Ignored, ValidRange::Masked);
    for (attributes, range, kept, applied) in [
        (r#"{"units": "K", "scale_factor": 2.0}"#, ignored, "units", "scale_factor"),
        (r#"{"add_offset": 2.0, "valid_min": 0}"#, ignored, "", "add_offset valid_min"),
        (r#"{"_FillValue": 1, "missing_value": 2}"#, ignored, "", "_FillValue missing_value"),
        // The range of values that are not packed is theirs, decoded or not.
        (r#"{"_FillValue": 1, "valid_min": 0}"#, ignored, "valid_min", "_FillValue"),
        (r#"{"valid_range": [0, 1]}"#, ignored, "valid_range", ""),
        (r#"{"valid_range": [0, 1]}"#, masked, "", "valid_range"),
        (r#"{"_Unsigned": "true", "valid_max": 9}"#, ignored, "", "_Unsigned valid_max"),
        (r#"{"scale_factor": [1.0, 2.0]}"#, ignored, "scale_factor", ""),
        (r#"{"units": "K", "long_name": "t"}"#, ignored, "long_name units", ""),
    ] {
        assert_eq!(attrs(attributes, range), (kept.to_owned(), applied.to_owned()), "{attributes}");
    }
}

#[test]
fn masked_times_stay_integers_where_they_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("x.zarr");
    let late = 1_577_836_800_000_000_001_i64;
    let bytes = [late, -1].map(i64::to_le_bytes).concat();
    let attributes = r#"{"units": "ns since 1970-01-01", "_FillValue": -1}"#;
    array(&folder, DType::Int64, &bytes, attributes);
    let catalog = open(&folder, &OpenOptions::default()).unwrap().catalog;
    let read = |catalog: &Catalog| {
        let dataset = &catalog.datasets()[0];
        let slab = Hyperslab::whole(dataset.shape());
        dataset.read(&slab, &Execution::default()).unwrap().value.get(0)
    };
    let decoding = Decoding::default();
    assert_eq!(read(&decoding.compared(catalog.clone())), Some(Scalar::Int(late.into())));
    assert!(matches!(read(&decoding.shown(catalog.clone())), Some(Scalar::Float64(_))));
    let dates = decoding.printed(catalog, &Execution::default());
    let dataset = &dates.datasets()[0];
    let slab = Hyperslab::whole(dataset.shape());
    let texts = dataset.read_texts(&slab, &Execution::default()).unwrap().value;
    assert_eq!(texts, ["2020-01-01T00:00:00.000000001", "NaT"]);
}

#[test]
fn masked_elements_are_null() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("x.zarr");
    array(&folder, DType::Int8, &[1, 255, 3, 4], r#"{"_FillValue": -1, "missing_value": 4}"#);
    let catalog = open(&folder, &OpenOptions::default()).unwrap().catalog;
    assert_eq!(fill_of(&catalog.datasets()[0]), Some(Number::Int(-1)));
    let catalog = decoded(catalog, ValidRange::Ignored);
    let dataset = &catalog.datasets()[0];
    let slab = Hyperslab::whole(dataset.shape());
    let counted = Reduction::all(Op::NullCount);
    let found = dataset.reduce(&slab, &counted, &Execution::default()).unwrap().value;
    assert_eq!(found.values.get(0), Some(Scalar::Int(2)));
}
