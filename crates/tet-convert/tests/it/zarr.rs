//! Zarr hierarchies: missing values as xarray stores them.
#![allow(clippy::unwrap_used, reason = "what does not hold here fails the test")]

use std::fs;
use std::path::Path;

use tet_convert::{OpenOptions, ValidRange, decoded, open, verify};
use tet_format::DType;
use tet_io::{Kind, Source};
use tet_query::{AttrText, Execution, Hyperslab};
use tet_verify::{Level, VerifyOptions};

/// An array of four int16, -1 the second, and the attributes of xarray.
fn of_version_2(folder: &Path, attributes: &str) {
    let array = r#"{"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i2", "order": "C",
        "fill_value": -1, "filters": null, "compressor": null}"#;
    let bytes: Vec<u8> = [3_i16, -1, 5, 7].iter().flat_map(|it| it.to_le_bytes()).collect();
    write(
        folder,
        &[(".zarray", array.as_bytes()), (".zattrs", attributes.as_bytes()), ("0", &bytes)],
    );
}

/// An array of three float32, NaN the first and -1 the last.
fn of_version_3(folder: &Path, attributes: &str) {
    let array = r#"{"zarr_format": 3, "node_type": "array", "shape": [3], "data_type": "float32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}},
        "chunk_key_encoding": {"name": "v2"}, "fill_value": 0.0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": "#;
    let document = format!("{array}{attributes}}}");
    let bytes: Vec<u8> = [f32::NAN, 0.0, -1.0].iter().flat_map(|it| it.to_le_bytes()).collect();
    write(folder, &[("zarr.json", document.as_bytes()), ("0", &bytes)]);
}

fn write(folder: &Path, files: &[(&str, &[u8])]) {
    fs::create_dir(folder).unwrap();
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).unwrap();
    }
}

/// The elements after decoding, and the attribute.
fn check(folder: &Path, wanted: &[f64], missing: Option<(DType, &str)>) {
    let catalog = open(folder, &OpenOptions::default()).unwrap().catalog;
    let attr = missing.map(|(dtype, json)| AttrText::Numbers { dtype, json: json.to_owned() });
    let dataset = &catalog.datasets()[0];
    assert_eq!(dataset.attrs.get("_FillValue"), attr.as_ref(), "{folder:?}");
    let catalog = decoded(catalog, ValidRange::Ignored);
    let dataset = &catalog.datasets()[0];
    let slab = Hyperslab::whole(dataset.shape());
    let array = dataset.read(&slab, &Execution::default()).unwrap().value;
    let found: Vec<u64> =
        (0..wanted.len()).map(|at| array.get(at).unwrap().to_f64().unwrap().to_bits()).collect();
    let wanted: Vec<u64> = wanted.iter().map(|it| it.to_bits()).collect();
    assert_eq!(found, wanted, "{folder:?}");
}

#[test]
fn fill_values_of_version_2_are_missing_values_where_xarray_wrote_them() {
    let folder = tempfile::tempdir().unwrap();
    let (by_xarray, plain) = (folder.path().join("x.zarr"), folder.path().join("plain.zarr"));
    of_version_2(&by_xarray, r#"{"_ARRAY_DIMENSIONS": ["x"]}"#);
    check(&by_xarray, &[3.0, f64::NAN, 5.0, 7.0], Some((DType::Int16, "-1")));
    of_version_2(&plain, "{}");
    check(&plain, &[3.0, -1.0, 5.0, 7.0], None);
}

#[test]
fn missing_values_of_version_3_are_float64_in_base64() {
    let folder = tempfile::tempdir().unwrap();
    let (by_xarray, plain) = (folder.path().join("x.zarr"), folder.path().join("plain.zarr"));
    of_version_3(&by_xarray, r#"{"_FillValue": "AAAAAAAA8L8="}"#);
    check(&by_xarray, &[f64::NAN, 0.0, f64::NAN], Some((DType::Float32, "-1.0")));
    of_version_3(&plain, "{}");
    check(&plain, &[f64::NAN, 0.0, -1.0], None);
}

#[test]
fn an_empty_file_is_no_absent_chunk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr");
    of_version_2(&path, "{}");
    let read = || {
        let catalog = open(&path, &OpenOptions::default()).unwrap().catalog;
        let dataset = &catalog.datasets()[0];
        let read = dataset.read(&Hyperslab::whole(dataset.shape()), &Execution::default());
        read.map(|read| read.value.get(0).unwrap().to_f64().unwrap())
    };
    assert_eq!(read().unwrap(), 3.0);
    fs::write(path.join("0"), b"").unwrap();
    assert_eq!(read().unwrap_err().kind(), Kind::Format);
    let report = verify(
        &Source::open(tet_convert::document_of(&path)).unwrap(),
        &VerifyOptions { level: Level::Deep, ..VerifyOptions::default() },
    );
    let findings = report.unwrap().findings;
    assert!(findings.iter().any(|it| it.code.id() == "ZR-P3"), "{findings:?}");
    fs::remove_file(path.join("0")).unwrap();
    assert_eq!(read().unwrap(), -1.0);
}
