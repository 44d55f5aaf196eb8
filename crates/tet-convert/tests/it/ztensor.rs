//! zTensor files read in place, and converted from container to container and back.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::opened;
use tet_convert::{ConvertOptions, Note, SparseOutput, convert, verify};
use tet_format::DType;
use tet_io::Source;
use tet_query::{AxisSlice, DigestPolicy, Execution, Hyperslab};
use tet_verify::{Level, VerifyOptions};
use tet_ztensor::{
    Check, Checksum, Declaration, EncodingChoice, Limits, Value, WriteOptions, Writer, ZTensorFile,
};

fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rivals/zt");
    let files = fs::read_dir(folder).expect("the samples");
    let paths = files.map(|file| file.expect("a file").path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|it| it == "zt")).collect();
    paths.sort();
    assert!(paths.len() >= 11);
    paths
}

/// Name, dtype, shape and elements of every dataset.
type Held = Vec<(String, String, Vec<u64>, Vec<u8>)>;

fn held(path: &Path) -> Held {
    let opened = opened(path);
    let catalog = &opened.catalog;
    let how = Execution::default();
    let datasets = catalog.datasets().iter().filter(|it| it.name != "__metadata__");
    let held = datasets.map(|dataset| {
        let slab = Hyperslab::whole(dataset.shape());
        let array = dataset.read(&slab, &how);
        let array = array.unwrap_or_else(|error| panic!("{path:?}, {}: {error}", dataset.name));
        let is_scalar = dataset.attrs.contains_key("tet:scalar");
        let shape = if is_scalar { Vec::new() } else { dataset.shape().to_vec() };
        (dataset.name.clone(), dataset.dtype_name.clone(), shape, array.bytes().to_vec())
    });
    held.collect()
}

#[test]
fn samples_are_read_in_place_value_for_value() {
    for path in samples() {
        let file = ZTensorFile::open(Source::open(&path).unwrap(), &Limits::default()).unwrap();
        let facts = fs::read_to_string(path.with_extension("json")).unwrap();
        let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
        let held = held(&path);
        let described = facts["tensors"].as_array().unwrap();
        assert_eq!(held.len(), described.len(), "{path:?}");
        for ((tensor, (name, dtype, shape, bytes)), described) in
            file.tensors().zip(held).zip(described)
        {
            assert_eq!(name, described["name"].as_str().unwrap());
            assert_eq!(dtype, described["dtype"].as_str().unwrap());
            let extents: Vec<u64> = described["shape"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it.as_u64().unwrap())
                .collect();
            assert_eq!(shape, extents);
            assert_eq!(bytes, file.read(tensor, Check::Always).unwrap(), "{path:?} {name}");
            if !tensor.is_sparse() {
                let digest = Checksum::sha256(&bytes).to_string();
                let wanted = described["decoded_le_sha256"].as_str().unwrap();
                assert_eq!(digest, format!("sha256:{wanted}"), "{path:?} {name}");
            }
        }
    }
}

#[test]
fn samples_go_through_every_container_and_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let go = |from: &Path, to: &Path, options: &ConvertOptions| {
        let _ = fs::remove_file(to);
        convert(from, to, options).unwrap_or_else(|error| panic!("{from:?} to {to:?}: {error}"))
    };
    let mut dense = ConvertOptions::default();
    dense.sparse = SparseOutput::Dense;
    for path in samples() {
        let wanted = held(&path);
        for (between, back) in [("a.tet", "b.zt"), ("a.zt", "b.zt"), ("a.safetensors", "b.zt")] {
            go(&path, &at(between), &dense);
            assert_eq!(sorted(held(&at(between))), sorted(wanted.clone()), "{path:?} {between}");
            go(&at(between), &at(back), &dense);
            assert_eq!(sorted(held(&at(back))), sorted(wanted.clone()), "{path:?} {between}");
            for name in [between, back] {
                let options = VerifyOptions { level: Level::Deep, ..VerifyOptions::default() };
                let report = verify(&Source::open(at(name)).unwrap(), &options).unwrap();
                assert!(report.is_ok(), "{path:?} {name}: {:?}", report.findings);
            }
        }
        let mut sparse = ConvertOptions::default();
        sparse.sparse = SparseOutput::Sparse;
        sparse.storage.sparse = tet_convert::SparseLayout::Native;
        go(&path, &at("s.zt"), &sparse);
        assert_eq!(held(&at("s.zt")), wanted, "{path:?}");
    }
}

fn sorted(mut held: Held) -> Held {
    held.sort();
    held
}

#[test]
fn types_that_tet_lacks_come_back_with_what_is_said_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut writer = Writer::new(Vec::new(), &WriteOptions::default()).unwrap();
    writer.metadata(vec![("title".to_owned(), Value::Text("x".to_owned()))]).unwrap();
    let said = [
        ("scale", Value::Float(0.125)),
        ("nan", Value::Float(f64::NAN)),
        ("raw", Value::Bytes(vec![0, 255])),
        ("big", Value::Int(u64::MAX.into())),
        ("list", Value::Array(vec![Value::Null, Value::Bool(true), Value::Text("t".to_owned())])),
        ("map", Value::Map(vec![(Value::Int(7), Value::Text("seven".to_owned()))])),
        ("dims", Value::Array(["y", "x"].map(|it| Value::Text(it.to_owned())).into())),
    ];
    for (name, dtype) in [("h", DType::BFloat16), ("b", DType::Bool), ("i", DType::Int8)] {
        let mut tensor = Declaration::new(name, dtype, [2, 3]);
        tensor.custom =
            said.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let size = dtype.size().unwrap();
        let bytes: Vec<u8> = (0..6 * size)
            .map(|at| if dtype == DType::Bool { at as u8 & 1 } else { (at * 45) as u8 })
            .collect();
        writer.whole(tensor, &bytes).unwrap();
    }
    fs::write(at("a.zt"), writer.finish().unwrap().0).unwrap();
    let how = ConvertOptions::default();
    let report = convert(&at("a.zt"), &at("a.tet"), &how).unwrap();
    let is_kept = |note: &&Note| matches!(note, Note::AsBits { .. } | Note::Widened { .. });
    let kept = report.notes.iter().filter(is_kept).count();
    assert_eq!(kept, 3, "{:?}", report.notes);
    convert(&at("a.tet"), &at("b.zt"), &how).unwrap();
    assert_eq!(held(&at("b.zt")), held(&at("a.zt")));
    let [first, last] = ["a.zt", "b.zt"].map(|name| {
        ZTensorFile::open(Source::open(at(name)).unwrap(), &Limits::default()).unwrap()
    });
    for a in first.tensors() {
        let b = last.find(a.name()).unwrap();
        let fields = |tensor: tet_ztensor::Tensor<'_>| {
            let mut fields = tensor.custom().unwrap();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            format!("{fields:?}")
        };
        assert_eq!(fields(a), fields(b), "{}", a.name());
    }
    let tet = opened(&at("a.tet"));
    assert_eq!(tet.catalog.find("h").unwrap().dtype, Some(DType::BFloat16));
    assert_eq!(tet.catalog.find("h").unwrap().dims, ["y", "x"]);
}

#[test]
fn slices_of_compressed_tensors_decode_what_they_need() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zt");
    let options = WriteOptions { encoding: EncodingChoice::zstd(), ..WriteOptions::default() };
    let mut writer = Writer::new(Vec::new(), &options).unwrap();
    let rows = 5000_u64;
    let elements: Vec<u8> =
        (0..rows * 250).flat_map(|at| (at.wrapping_mul(2654435761) >> 7).to_le_bytes()).collect();
    writer.whole(Declaration::new("w", DType::UInt64, [rows, 250]), &elements).unwrap();
    fs::write(&path, writer.finish().unwrap().0).unwrap();
    let opened = opened(&path);
    let dataset = opened.catalog.find("w").unwrap();
    assert!(dataset.grid.chunk_count() > 4, "{:?}", dataset.grid);
    let whole = Hyperslab::whole(dataset.shape());
    let all = tet_query::plan(dataset, &whole, tet_query::Coalesce::DEFAULT).unwrap().stored_len;
    for (start, stop) in [(0, 1), (17, 2500), (4999, 5000), (0, 5000)] {
        let rows = AxisSlice { start, stop, step: 1, axis: Default::default() };
        let columns = AxisSlice { start: 0, stop: 250, step: 1, axis: Default::default() };
        let slab = Hyperslab::new(vec![rows, columns], dataset.shape()).unwrap();
        let plan = tet_query::plan(dataset, &slab, tet_query::Coalesce::DEFAULT).unwrap();
        let share = (stop - start) * 2000 + 2 * (1 << 20);
        assert!(plan.stored_len <= share.min(all), "{start}..{stop}");
        let array = dataset.read(&slab, &Execution::default()).unwrap();
        let range = (start * 2000) as usize..(stop * 2000) as usize;
        assert!(array.bytes() == &elements[range], "{start}..{stop}");
    }
}

#[test]
fn a_changed_byte_of_a_blob_is_noticed_by_policy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zt");
    let mut writer = Writer::new(Vec::new(), &WriteOptions::default()).unwrap();
    writer.whole(Declaration::new("w", DType::UInt8, [100]), &[7; 100]).unwrap();
    let mut bytes = writer.finish().unwrap().0;
    bytes[64 + 50] ^= 1;
    fs::write(&path, bytes).unwrap();
    for (digests, wanted) in
        [(DigestPolicy::Auto, true), (DigestPolicy::Always, true), (DigestPolicy::Never, false)]
    {
        let opened = opened(&path);
        let dataset = opened.catalog.find("w").unwrap();
        let how = Execution { digests, ..Execution::default() };
        let read = dataset.read(&Hyperslab::whole(&[100]), &how);
        assert_eq!(read.is_err(), wanted, "{digests:?}");
        if let Err(error) = read {
            assert!(error.to_string().contains("ZT-B4"), "{error}");
        }
    }
}

#[test]
fn the_dialect_of_0_1_x_gives_raw_samples_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let mut how = ConvertOptions::default();
    how.storage.variant = Some("0.1.x".to_owned());
    for name in ["py_all_dtypes.zt", "py_special_floats.zt"] {
        let path = samples().into_iter().find(|path| path.ends_with(name)).unwrap();
        let out = folder.path().join(name);
        convert(&path, &out, &how).unwrap();
        assert!(fs::read(&path).unwrap() == fs::read(&out).unwrap(), "{name}");
    }
}

#[test]
fn custom_fields_come_through_exactly_whatever_their_keys_and_values() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // Floats that a careless parser misses by one digit, and keys that the format has for itself.
    let mut state = 1_u64;
    let floats = (0..3000).map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        Value::Float(f64::from_bits((state >> 2) | (0x3000 << 48)))
    });
    let floats: Vec<Value> = floats.collect();
    let mut writer = Writer::new(Vec::new(), &WriteOptions::default()).unwrap();
    writer
        .whole(
            Declaration::new("w", DType::UInt8, [2])
                .with("floats", Value::Array(floats))
                .with("attr:name", Value::Text("x".to_owned())),
            &[1, 2],
        )
        .unwrap();
    fs::write(at("a.zt"), writer.finish().unwrap().0).unwrap();
    let header = "{\"__metadata__\":{\"dtype\":\"bf16\",\"name\":\"n\"},\
        \"w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.bytes().chain([7]));
    fs::write(at("m.safetensors"), &bytes).unwrap();
    let how = ConvertOptions::default();
    let go = |from: &str, to: &str| {
        convert(&at(from), &at(to), &how).unwrap_or_else(|error| panic!("{from} to {to}: {error}"))
    };
    go("a.zt", "a.tet");
    go("a.tet", "b.zt");
    let fields = |name: &str| {
        let file = ZTensorFile::open(Source::open(at(name)).unwrap(), &Limits::default()).unwrap();
        let mut fields = file.find("w").unwrap().custom().unwrap();
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        fields
    };
    assert!(fields("a.zt") == fields("b.zt"));
    go("m.safetensors", "m.zt");
    go("m.zt", "n.safetensors");
    assert!(fs::read(at("n.safetensors")).unwrap() == bytes);
}

#[test]
fn narrow_floats_are_copied_whatever_the_chunks() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let header = "{\"e\":{\"dtype\":\"F8_E4M3\",\"shape\":[10,50],\"data_offsets\":[0,500]},\
        \"s\":{\"dtype\":\"F8_E5M2\",\"shape\":[],\"data_offsets\":[500,501]},\
        \"f\":{\"dtype\":\"F4\",\"shape\":[10000000],\"data_offsets\":[501,5000501]}}";
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.bytes());
    bytes.extend((0..5_000_501_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 11) as u8));
    fs::write(at("a.safetensors"), &bytes).unwrap();
    for between in ["b.zt", "b.tet"] {
        let how = ConvertOptions::default();
        convert(&at("a.safetensors"), &at(between), &how).unwrap();
        let _ = fs::remove_file(at("c.safetensors"));
        convert(&at(between), &at("c.safetensors"), &how).unwrap();
        assert!(fs::read(at("c.safetensors")).unwrap() == bytes, "{between}");
    }
    let mut tiles = ConvertOptions::default();
    tiles.tet.chunks = tet_convert::ChunkChoice::Shape(vec![3, 7]).into();
    tiles.tet.include = vec!["e".to_owned()];
    convert(&at("a.safetensors"), &at("t.tet"), &tiles).unwrap();
    convert(&at("t.tet"), &at("t.zt"), &ConvertOptions::default()).unwrap();
    let file = ZTensorFile::open(Source::open(at("t.zt")).unwrap(), &Limits::default()).unwrap();
    let start = bytes.len() - 5_000_501;
    assert!(
        file.read(file.find("e").unwrap(), Check::Always).unwrap() == bytes[start..start + 500]
    );
}
