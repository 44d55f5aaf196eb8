//! Fill values that an input has of its own: they are in the outputs that have such values, bit for bit, and what is
//! not stored has their bits. They are no missing values where the input has none.

use std::fs;
use std::path::Path;

use crate::common::{npy, opened, read, world};
use serde_json::{Value, json};
use tet_convert::{ConvertOptions, DimNames, ShardChoice, convert};
use tet_format::{DType, Span};
use tet_hdf5::write::{
    DraftChunk, DraftDataset, DraftLayout, DraftType, Hdf5Draft, SUPERBLOCK_LEN,
};
use tet_zarr::{ZarrFormat, fill_json};

/// Fill values of every type, among them those that a number of JSON is not.
fn fills() -> Vec<(DType, Vec<u8>)> {
    let (nan32, nan64) = (0x7fc0_0001_u32.to_le_bytes(), 0xfff8_0000_0000_0007_u64.to_le_bytes());
    let minus = [(-0.0_f32).to_le_bytes(), (-0.0_f32).to_le_bytes()].concat();
    vec![
        (DType::Int8, vec![0xf7]),
        (DType::Int16, vec![0xf7, 0xff]),
        (DType::Int32, (-7_i32).to_le_bytes().to_vec()),
        (DType::Int64, i64::MIN.to_le_bytes().to_vec()),
        (DType::UInt8, vec![255]),
        (DType::UInt16, vec![1, 2]),
        (DType::UInt32, vec![1, 2, 3, 4]),
        (DType::UInt64, vec![255; 8]),
        (DType::Float16, vec![1, 0x7e]),
        (DType::Float16, vec![0, 0x80]),
        (DType::Float32, nan32.to_vec()),
        (DType::Float32, (-0.0_f32).to_le_bytes().to_vec()),
        (DType::Float32, 0.1_f32.to_le_bytes().to_vec()),
        (DType::Float64, nan64.to_vec()),
        (DType::Float64, f64::NEG_INFINITY.to_le_bytes().to_vec()),
        (DType::Bool, vec![1]),
        (DType::Complex64, [nan32, (-0.0_f32).to_le_bytes()].concat()),
        (DType::Complex64, minus),
        (DType::Complex128, [nan64, 1.5_f64.to_le_bytes()].concat()),
    ]
}

const SHAPE: [u64; 2] = [5, 7];
const CHUNK: [u64; 2] = [2, 3];

/// All elements: zeros in the first chunk, and the fill value.
fn elements(fill: &[u8]) -> Vec<u8> {
    let zero = vec![0; fill.len()];
    let at = |row: u64, column: u64| if row < 2 && column < 3 { &zero[..] } else { fill };
    (0..5).flat_map(|row| (0..7).flat_map(move |column| at(row, column).to_vec())).collect()
}

/// An HDF5 file of these fill values: `d0`, `d1` and so on, each with one chunk of zeros.
fn hdf5(path: &Path) {
    let mut draft = Hdf5Draft::default();
    let (mut file, start) = (vec![0; 48], SUPERBLOCK_LEN);
    let mut end = start;
    for (number, (dtype, fill)) in fills().into_iter().enumerate() {
        let span = Span::new(end, 6 * fill.len() as u64).expect("a short span");
        let (chunks, filters) = (vec![DraftChunk { number: 0, span }], Vec::new());
        let layout = DraftLayout::Chunked { chunk_shape: CHUNK.to_vec(), filters, chunks };
        let name = format!("d{number}");
        let new = DraftDataset::new(&name, DraftType::Number(dtype), &SHAPE, layout);
        draft.datasets.push(DraftDataset { fill: Some(fill), ..new });
        end = span.end();
    }
    file.resize(usize::try_from(end).expect("a short file"), 0);
    let rest = draft.encode(end).expect("it fits");
    file[..48].copy_from_slice(&rest.superblock);
    file.extend(rest.metadata);
    fs::write(path, file).expect("it is written");
}

/// The document of an array of Zarr 3.
fn document(dtype: DType, fill: &Value, attributes: &Value) -> Value {
    json!({
        "zarr_format": 3, "node_type": "array", "shape": SHAPE, "data_type": dtype.name(),
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": CHUNK}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": fill, "attributes": attributes,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    })
}

fn array(folder: &Path, document: &Value, chunk: &[u8]) {
    fs::create_dir_all(folder.join("c/0")).expect("it is made");
    fs::write(folder.join("zarr.json"), document.to_string()).expect("it is written");
    fs::write(folder.join("c/0/0"), chunk).expect("it is written");
}

/// Arrays of all types and their fill values, as Zarr 3.
fn zarr(folder: &Path) {
    for (number, (dtype, fill)) in fills().into_iter().enumerate() {
        let spelled = fill_json(dtype, &fill, ZarrFormat::V3).expect("version 3 has all");
        let document = document(dtype, &spelled, &json!({}));
        array(&folder.join(format!("d{number}")), &document, &vec![0; 6 * fill.len()]);
    }
    group(folder);
}

fn group(folder: &Path) {
    let group = json!({"zarr_format": 3, "node_type": "group", "attributes": {}});
    fs::write(folder.join("zarr.json"), group.to_string()).expect("it is written");
}

/// The options for an output of this name.
fn options(output: &str) -> ConvertOptions {
    let mut options = world::options();
    options.tet.chunks = world::chunks(&CHUNK);
    if output.contains("zarr") {
        let variant = if output.starts_with("two") { "2" } else { "3" };
        options.storage.variant = Some(variant.to_owned());
        options.storage.shards = ShardChoice::None;
    }
    options
}

const OUTPUTS: [&str; 5] = ["out.h5", "out.nc", "three.zarr", "three.zarr.zip", "two.zarr"];

/// The fill value in an output that has no names of axes.
fn wanted(output: &str, dtype: DType, fill: &[u8]) -> Option<Vec<u8>> {
    let own = Some(fill.to_vec());
    match output {
        "two.zarr" => own.filter(|_| fill_json(dtype, fill, ZarrFormat::V2).is_some()),
        // Parts of complex numbers are elements of their own, for which NetCDF has a value.
        "out.nc" if dtype.is_complex() => {
            let (real, imaginary) = fill.split_at(fill.len() / 2);
            let plain = match dtype {
                DType::Complex64 => 0x7cf0_0000_u32.to_le_bytes().to_vec(),
                _ => 0x479e_0000_0000_0000_u64.to_le_bytes().to_vec(),
            };
            own.filter(|_| real == imaginary).or_else(|| Some(plain.repeat(2)))
        }
        _ => own,
    }
}

#[test]
fn fill_values_come_over_bit_for_bit() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    hdf5(&path("in.h5"));
    zarr(&path("in.zarr"));
    let roads = ["in.h5", "in.zarr"].into_iter().flat_map(|from| OUTPUTS.map(|to| (from, to)));
    for (from, output) in roads {
        let (from, to) = (path(from), path(output));
        let report = convert(&from, &to, &options(output)).expect("it is converted");
        let what = format!("{} {output}", from.display());
        let file = opened(&to);
        for (number, (dtype, fill)) in fills().into_iter().enumerate() {
            let name = format!("d{number}");
            assert_eq!(read(&file, &name).bytes(), elements(&fill), "{what} {name}");
            let dataset = file.catalog.find(&name).expect("it is there");
            assert_eq!(dataset.fill, wanted(output, dtype, &fill), "{what} {name} {dtype:?}");
            assert!(!dataset.attrs.contains_key("_FillValue"), "{what} {name}");
            if output == "three.zarr" {
                assert!(to.join(format!("{name}/c/0/0")).exists(), "{what} {name}");
                assert!(!to.join(format!("{name}/c/0/1")).exists(), "{what} {name}");
            }
        }
        let lost = report.notes.iter().filter(|it| !format!("{it:?}").contains("AsBits"));
        let lost: Vec<_> = lost.filter(|it| !format!("{it:?}").contains("AxisRenamed")).collect();
        assert!(lost.is_empty(), "{what} {lost:?}");
    }
    // And the way back, over outputs that keep all.
    for (from, to) in [("out.h5", "again.zarr"), ("three.zarr", "again.h5")] {
        convert(&path(from), &path(to), &options(to)).expect("it is converted");
        for (number, (_, fill)) in fills().into_iter().enumerate() {
            let file = opened(&path(to));
            let found = file.catalog.find(&format!("d{number}")).expect("it is there");
            assert_eq!(found.fill, Some(fill), "{from} {to}");
        }
    }
}

#[test]
fn version_2_has_them_where_xarray_does_not_mask_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    hdf5(&path("in.h5"));
    let mut how = options("two.zarr");
    let names = ["y".to_owned(), "x".to_owned()];
    for is_kept in [true, false] {
        how.tet.dims = Vec::new();
        if !is_kept {
            how.tet.dims.push(DimNames { dataset: None, names: names.to_vec() });
        }
        convert(&path("in.h5"), &path("two.zarr"), &how).expect("it is converted");
        let (file, (_, fill)) = (opened(&path("two.zarr")), fills().swap_remove(2));
        assert_eq!(read(&file, "d2").bytes(), elements(&fill));
        let dataset = file.catalog.find("d2").expect("it is there");
        assert_eq!(dataset.fill, Some(fill).filter(|_| is_kept));
        // Undefined elements are stored.
        assert_eq!(path("two.zarr/d2/0.1").exists(), !is_kept);
        assert!(!dataset.attrs.contains_key("_FillValue"));
    }
}

#[test]
fn a_missing_value_is_another_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let plain = document(DType::Int16, &json!(5), &json!({"_FillValue": -9}));
    array(&path("in.zarr/d"), &plain, &[0; 12]);
    group(&path("in.zarr"));
    let five = elements(&[5, 0]);
    for (output, own) in [
        ("out.h5", 5_i16),
        // In NetCDF and for xarray in version 2 both are one.
        ("out.nc", -9),
        ("three.zarr", 5),
        ("two.zarr", -9),
    ] {
        let mut how = options(output);
        convert(&path("in.zarr"), &path(output), &how).expect("it is converted");
        let file = opened(&path(output));
        assert_eq!(read(&file, "d").bytes(), five, "{output}");
        let dataset = file.catalog.find("d").expect("it is there");
        assert_eq!(dataset.fill, Some(own.to_le_bytes().to_vec()), "{output}");
        let attr = dataset.attrs.get("_FillValue").map(|attr| attr.text().to_owned());
        let attr = attr.map(|text| text.trim_matches(['[', ']']).to_owned());
        assert_eq!(attr.as_deref(), Some("-9"), "{output}");
        // The one that the caller gives is both.
        how.tet.attrs = vec![world::attr(None, "_FillValue", "3")];
        convert(&path("in.zarr"), &path(output), &how).expect("it is converted");
        let file = opened(&path(output));
        assert_eq!(file.catalog.find("d").expect("it is there").fill, Some(vec![3, 0]), "{output}");
        assert_eq!(read(&file, "d").bytes(), five, "{output}");
    }
}

#[test]
fn inputs_without_one_give_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let input = npy("<i2", "False", "(5, 7)", &[7; 70]);
    fs::write(path("x.npy"), input).expect("it is written");
    for (output, own) in [
        ("out.h5", None),
        ("out.nc", Some(-32_767_i16)),
        ("three.zarr", Some(0)),
        ("two.zarr", None),
    ] {
        convert(&path("x.npy"), &path(output), &options(output)).expect("it is converted");
        let found = opened(&path(output)).catalog.find("x").expect("it is there").fill.clone();
        assert_eq!(found, own.map(|own| own.to_le_bytes().to_vec()), "{output}");
    }
}
