//! The dialect 0.1.x, byte for byte against files of the programs of 0.1.x.

use serde_json::Value as Json;
use tet_cbor::Value;
use tet_codec::{Decode, Zstd};
use tet_format::DType;

use super::*;
use crate::Places;
use crate::error::Result;
use crate::words::dtype;

/// A custom field of the samples' facts.
fn custom(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Int(number.into()),
            None => Value::Float(number.as_f64().unwrap()),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::Array(items.iter().map(custom).collect()),
        Json::Object(object) => {
            let (kind, json) = object.iter().next().unwrap();
            let text = json.as_str().unwrap_or_default();
            match kind.as_str() {
                "$int" => Value::Int(text.parse().unwrap()),
                "$float" => Value::Float(text.parse().unwrap()),
                "$bytes" => {
                    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
                    Value::Bytes((0..text.len()).step_by(2).map(byte).collect())
                }
                "$map" => {
                    let pairs = json.as_array().unwrap().iter();
                    // The other way round than they were written.
                    Value::Map(pairs.rev().map(|it| (custom(&it[0]), custom(&it[1]))).collect())
                }
                kind => panic!("{kind}"),
            }
        }
    }
}

fn declaration(tensor: &Json) -> Declaration {
    let shape: Vec<u64> =
        tensor["shape"].as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).collect();
    let dtype = dtype(tensor["dtype"].as_str().unwrap()).unwrap();
    let mut declaration = Declaration::new(tensor["name"].as_str().unwrap(), dtype, shape);
    let fields = tensor["custom"].as_object().unwrap().iter().rev();
    declaration.custom = fields.map(|(key, json)| (key.clone(), custom(json))).collect();
    declaration
}

fn options(tensor: &Json) -> WriteOptions {
    let encoding = match tensor["encoding"].as_str() {
        Some("raw") => EncodingChoice::Raw,
        _ => EncodingChoice::Zstd { level: 0 },
    };
    let checksum = match tensor["checksum"].as_str() {
        None => ChecksumChoice::Left,
        Some(_) => ChecksumChoice::Crc32c,
    };
    let sparse = SparseChoice::Native;
    WriteOptions { encoding, checksum, sparse, ..WriteOptions::v01x() }
}

/// Writes a sample anew from its facts; its elements are those of its own blobs.
fn rebuilt(name: &str) -> Result<(Vec<u8>, Vec<u8>)> {
    let original = sample(&format!("{name}.zt"));
    let facts: Json = serde_json::from_slice(&sample(&format!("{name}.json"))).unwrap();
    let mut writer = Writer::new(Vec::new(), &WriteOptions::v01x())?;
    for tensor in facts["tensors"].as_array().unwrap() {
        let number = |key: &str| usize::try_from(tensor[key].as_u64().unwrap()).unwrap();
        let stored = &original[number("offset")..number("offset") + number("size")];
        let mut elements = vec![0; number("decoded_bytes")];
        match tensor["encoding"].as_str() {
            Some("raw") => elements.copy_from_slice(stored),
            _ => Zstd.decode(stored, &mut elements).unwrap(),
        }
        let options = options(tensor);
        let layout = tensor["layout"].as_str().unwrap();
        if layout == "dense" {
            let mut writing = writer.tensor_as(declaration(tensor), &options)?;
            elements.chunks(7).try_for_each(|piece| writing.write(piece))?;
            writing.finish()?;
            continue;
        }
        writer.options = options;
        sparse(&mut writer, declaration(tensor), layout, &elements)?;
    }
    Ok((original, writer.finish()?.0))
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
}

fn sparse(
    writer: &mut Writer<Vec<u8>>,
    declaration: Declaration,
    layout: &str,
    blob: &[u8],
) -> Result<()> {
    let width = usize::try_from(declaration.dtype.size().unwrap()).unwrap();
    let rank = declaration.shape.len();
    if layout == "sparsecsr" {
        let rows = usize::try_from(declaration.shape[0]).unwrap() + 1;
        let indptr = words(&blob[..8 * rows]);
        let count = usize::try_from(indptr[rows - 1]).unwrap();
        let indices = words(&blob[8 * rows..8 * (rows + count)]);
        let values = &blob[8 * (rows + count)..];
        return writer.sparse(declaration, &Places::Csr { indptr, indices }, values);
    }
    let (mut coords, mut values) = (Vec::new(), Vec::new());
    for record in blob.chunks(8 * rank + width) {
        coords.extend(words(&record[..8 * rank]));
        values.extend_from_slice(&record[8 * rank..]);
    }
    writer.sparse(declaration, &Places::Coo { coords }, &values)
}

#[test]
fn samples_of_0_1_x_are_written_again_byte_for_byte() {
    let names = [
        "py_all_dtypes",
        "py_special_floats",
        "rs_scalars",
        "rs_custom_fields",
        "rs_crc32c_zstd",
        "rs_sparse_csr",
        "rs_sparse_coo",
    ];
    for name in names {
        let (original, ours) = rebuilt(name).unwrap();
        assert!(original == ours, "{name}");
    }
}

#[test]
fn a_file_without_tensors_is_17_bytes() {
    let (bytes, written) =
        Writer::new(Vec::new(), &WriteOptions::default()).unwrap().finish().unwrap();
    assert_eq!(bytes, b"ZTEN0001\x80\x01\0\0\0\0\0\0\0");
    assert_eq!(written.file_len, 17);
}

/// The bytes of the format's example, by hand.
#[test]
fn an_entry_is_the_bytes_of_the_example() {
    let mut writer = Writer::new(Vec::new(), &WriteOptions::v01x()).unwrap();
    writer.whole(Declaration::new("f", DType::Float32, [2, 3]), &[0; 24]).unwrap();
    let (bytes, _) = writer.finish().unwrap();
    let wanted = b"\x81\xbf\x64name\x61f\x66offset\x18\x40\x64size\x18\x18\x65dtype\x67float32\
        \x66layout\x65dense\x65shape\x82\x02\x03\x68encoding\x63raw\x6fdata_endianness\x66little\xff";
    assert_eq!(bytes[88..bytes.len() - 8], wanted[..]);
    assert_eq!(bytes[bytes.len() - 8..], (wanted.len() as u64).to_le_bytes());
}
