//! Files that the programs of 2025 wrote, against what is known of them.

use std::fs;
use std::path::PathBuf;

use serde_json::Value as Json;
use tet_io::Source;

use crate::testing::deep;
use crate::{ByteOrder, Check, Checksum, Encoding, Layout, Limits, Tensor, Value, ZTensorFile};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rivals/zt")
}

/// Every file, with its facts and its values.
fn samples() -> Vec<(String, Vec<u8>, Json, Vec<u8>)> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "zt"))
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let facts = fs::read_to_string(path.with_extension("json")).unwrap();
        let values = fs::read(path.with_extension("npz")).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, fs::read(path).unwrap(), serde_json::from_str(&facts).unwrap(), values)
    };
    paths.into_iter().map(read).collect()
}

fn sha256(bytes: &[u8]) -> String {
    Checksum::sha256(bytes).to_string().replace("sha256:", "")
}

/// The bytes of an array in an `.npz` file, whose members are not compressed.
fn member<'a>(npz: &'a [u8], name: &str, len: usize) -> &'a [u8] {
    let find = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).position(|it| it == part);
    let at = find(npz, format!("{name}.npy").as_bytes()).unwrap();
    let npy = &npz[at + find(&npz[at..], b"\x93NUMPY").unwrap()..];
    let header_len = usize::from(u16::from_le_bytes([npy[8], npy[9]]));
    &npy[10 + header_len..][..len]
}

#[test]
fn every_sample_is_sound() {
    let samples = samples();
    assert_eq!(samples.len(), 11);
    for (name, bytes, ..) in samples {
        let report = deep(&bytes);
        assert!(report.is_ok(), "{name}: {:?}", report.findings);
    }
}

#[test]
fn every_sample_says_what_is_known_of_it() {
    for (name, bytes, facts, _) in samples() {
        let file = ZTensorFile::open(Source::from_bytes(bytes), &Limits::default()).unwrap();
        let listed = facts["tensors"].as_array().unwrap();
        assert_eq!(file.len(), listed.len(), "{name}");
        for (tensor, facts) in file.tensors().zip(listed) {
            says(&tensor, facts);
            assert_eq!(file.find(tensor.name()).unwrap().position(), tensor.position());
        }
    }
}

fn says(tensor: &Tensor<'_>, facts: &Json) {
    assert_eq!(tensor.fault(), None);
    assert_eq!(tensor.name(), facts["name"]);
    assert_eq!(tensor.dtype().unwrap().name(), facts["dtype"]);
    assert_eq!(*tensor.dtype_word(), *facts["dtype"].as_str().unwrap());
    assert_eq!(serde_json::json!(tensor.shape()), facts["shape"]);
    assert_eq!(tensor.layout().unwrap().word(), facts["layout"]);
    assert_eq!(tensor.field_at("layout").is_some(), facts["layout_key_present"]);
    assert_eq!(tensor.encoding().map(Encoding::word), facts["encoding"].as_str());
    let byte_order = tensor.stated_byte_order().map(ByteOrder::word);
    assert_eq!(byte_order, facts["data_endianness"].as_str());
    assert_eq!(tensor.checksum_text(), facts["checksum"].as_str());
    assert_eq!(tensor.offset(), facts["offset"].as_u64());
    assert_eq!(tensor.size(), facts["size"].as_u64());
    let custom = tensor.custom().unwrap();
    let wanted = facts["custom"].as_object().unwrap();
    assert_eq!(custom.len(), wanted.len());
    for (key, value) in custom {
        assert!(is(&value, &wanted[&key]), "{key}: {value:?}");
    }
}

/// Whether a value is that of the facts, which spell what JSON cannot.
fn is(value: &Value, facts: &Json) -> bool {
    match value {
        Value::Null => facts.is_null(),
        Value::Bool(truth) => facts == truth,
        Value::Int(number) => {
            let text = facts["$int"].as_str().map(str::to_owned);
            text.unwrap_or(facts.to_string()) == number.to_string()
        }
        Value::Float(number) if number.is_nan() => facts["$float"] == "nan",
        Value::Float(number) => facts.as_f64() == Some(*number),
        Value::Text(text) => facts == text,
        Value::Bytes(bytes) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            facts["$bytes"] == hex
        }
        Value::Array(items) => {
            let facts = facts.as_array().unwrap();
            items.len() == facts.len() && items.iter().zip(facts).all(|(item, it)| is(item, it))
        }
        Value::Map(pairs) => pairs.iter().all(|(key, value)| {
            let facts = facts["$map"].as_array().unwrap();
            facts.iter().any(|pair| is(key, &pair[0]) && is(value, &pair[1]))
        }),
        _ => false,
    }
}

/// By position and from memory, whole and in part.
#[test]
fn every_value_of_every_sample_is_read() {
    for (name, bytes, facts, npz) in samples() {
        let path = folder().join(format!("{name}.zt"));
        for source in [Source::open(path).unwrap(), Source::from_bytes(bytes)] {
            let file = ZTensorFile::open(source, &Limits::default()).unwrap();
            for (tensor, facts) in file.tensors().zip(facts["tensors"].as_array().unwrap()) {
                let found = file.read(tensor, Check::Always).unwrap();
                values(&file, tensor, facts, &found, &npz);
                if let Some(view) = file.view(tensor).unwrap() {
                    assert_eq!(*view, *found);
                }
            }
        }
    }
}

fn values(file: &ZTensorFile, tensor: Tensor<'_>, facts: &Json, found: &[u8], npz: &[u8]) {
    let sum = &facts["decoded_le_sha256"];
    match tensor.layout().unwrap() {
        Layout::Dense => {
            assert_eq!(sha256(found), *sum, "{}", tensor.name());
            assert_eq!(member(npz, facts["npz"].as_str().unwrap(), found.len()), found);
        }
        _ => {
            let member = |part: &str, len| member(npz, facts["npz"][part].as_str().unwrap(), len);
            assert_eq!(member("dense", found.len()), found);
            let sparse = file.read_sparse(tensor, Check::Always).unwrap();
            assert_eq!(member("values", sparse.values.len()), sparse.values);
            if tensor.encoding() == Some(Encoding::Raw) {
                let stored = tensor.stored().unwrap();
                let stored = file.source().read_vec(stored.start(), stored.len()).unwrap();
                assert_eq!(sha256(&stored), *sum);
            }
        }
    }
}
