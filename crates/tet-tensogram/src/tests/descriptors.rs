//! Descriptors in other dialects, and those that break a rule.

use tet_format::{DType, ForeignRule};

use crate::testing::objects::{reread, text};
use crate::{ByteOrder, Descriptor, DescriptorStage, Limits, Value, rule};

fn plain() -> Descriptor {
    Descriptor::new(DType::Float32, &[2, 3]).unwrap()
}

fn ints(numbers: &[i128]) -> Value {
    Value::Array(numbers.iter().map(|number| Value::Int(*number)).collect())
}

fn read(bytes: &[u8]) -> Result<Descriptor, crate::Error> {
    Descriptor::read(bytes, 1000, &Limits::default())
}

#[test]
fn keys_are_written_in_canonical_order() {
    let descriptor =
        plain().with("masks", Value::Map(Vec::new())).with("zstd_level", Value::Int(3));
    let read = reread(&descriptor);
    let keys: Vec<&str> = read.fields().map(|(key, _)| key).collect();
    let wanted = [
        "ndim",
        "type",
        "dtype",
        "masks",
        "shape",
        "filter",
        "strides",
        "encoding",
        "byte_order",
        "zstd_level",
        "compression",
    ];
    assert_eq!(keys, wanted);
    assert_eq!(read.parameters().collect::<Vec<_>>(), [("zstd_level", &Value::Int(3))]);
    assert_eq!(
        (read.kind(), read.dtype(), read.ndim()),
        ("ntensor", Some(DType::Float32), Some(2))
    );
    assert_eq!((read.shape(), read.strides()), (&[2, 3][..], &[3, 1][..]));
    assert_eq!((read.element_count(), read.decoded_len()), (Some(6), Some(24)));
    assert_eq!(read.stage(DescriptorStage::Filter), "none");
    assert_eq!(read.faults(), []);
}

#[test]
fn other_spellings_are_read() {
    let wanted = plain().encode().unwrap();
    // Without a count, long heads, in reverse, with a tag, and followed by a payload.
    let mut other = vec![0xD9, 0xD9, 0xF7, 0xBF];
    let fields: Vec<(String, Value)> =
        plain().fields().map(|(key, value)| (key.to_owned(), value.clone())).collect();
    for (key, value) in fields.into_iter().rev() {
        other.extend([0x78, key.len() as u8]);
        other.extend(key.as_bytes());
        match value {
            Value::Text(text) => {
                other.push(0x7F);
                tet_cbor::text(&text, &mut other);
                other.push(0xFF);
            }
            Value::Array(items) => {
                other.push(0x9F);
                items.iter().for_each(|item| {
                    other.extend([0x1B, 0, 0, 0, 0, 0, 0, 0, item.as_u64().unwrap() as u8]);
                });
                other.push(0xFF);
            }
            value => tet_cbor::encode(&value, &mut other),
        }
    }
    other.push(0xFF);
    let len = other.len() as u64;
    other.extend([0; 24]);
    let found = read(&other).unwrap();
    assert_eq!(found.faults(), []);
    assert_eq!((found.stored_len(), found.at()), (len, 1000));
    assert_eq!(found.encode().unwrap(), wanted);
}

#[track_caller]
fn breaks(descriptor: &Descriptor, wanted: &'static ForeignRule) {
    let bytes = descriptor.encode().unwrap();
    let found = read(&bytes).unwrap();
    assert_eq!(found.faults().iter().map(|it| it.rule.id).collect::<Vec<_>>(), [wanted.id]);
    assert_eq!(found.check().is_err(), wanted.id.starts_with("TGM-D"));
}

#[test]
fn every_rule_of_fields_is_told() {
    for key in ["type", "ndim", "shape", "strides", "encoding", "filter", "compression"] {
        breaks(
            &plain().with("byte_order", text("little")).without(key),
            &rule::DESCRIPTOR_KEY_MISSING,
        );
    }
    let mistyped = [
        ("type", Value::Int(1)),
        ("ndim", text("2")),
        ("shape", Value::Int(6)),
        ("strides", ints(&[3, -1])),
        ("encoding", Value::Null),
    ];
    for (key, value) in mistyped {
        let descriptor = plain().with(key, value);
        let rules: Vec<_> = descriptor.faults().iter().map(|fault| fault.rule.id).collect();
        assert_eq!(rules[0], rule::DESCRIPTOR_FIELD_TYPE.id, "{key}");
    }
    breaks(&plain().with("dtype", text("bool")), &rule::DESCRIPTOR_DTYPE);
    breaks(&plain().with("dtype", text("float8")), &rule::DESCRIPTOR_DTYPE);
    breaks(&plain().with("byte_order", text("middle")), &rule::DESCRIPTOR_BYTE_ORDER);
    breaks(&plain().with("ndim", Value::Int(3)), &rule::NOTE_NDIM);
    breaks(&plain().with("strides", ints(&[1, 2])), &rule::NOTE_STRIDES);
    breaks(&plain().with("type", text("ptensor")), &rule::NOTE_TYPE);
    breaks(&plain().without("byte_order"), &rule::NOTE_BYTE_ORDER);
    assert_eq!(plain().without("byte_order").byte_order(), ByteOrder::Little);
}

#[test]
fn elements_are_counted_without_a_wrap() {
    let of = |shape: &[i128]| {
        let strides = vec![1; shape.len()];
        plain().with("shape", ints(shape)).with("strides", ints(&strides))
    };
    let count = |shape: &[i128]| of(shape).decoded_len();
    assert_eq!(count(&[]), Some(4));
    assert_eq!(count(&[1 << 63, 4, 0]), Some(0));
    assert_eq!(count(&[0, (1 << 64) - 1]), Some(0));
    assert_eq!(count(&[(1 << 61) - 1]), Some((1 << 63) - 4));
    for shape in [&[1 << 61][..], &[1 << 32, 1 << 32], &[(1 << 64) - 1, (1 << 64) - 1]] {
        assert_eq!(count(shape), None);
        let rules: Vec<_> = of(shape).faults().iter().map(|fault| fault.rule.id).collect();
        assert!(rules.contains(&rule::DESCRIPTOR_COUNT.id), "{shape:?}");
    }
}

#[test]
fn what_is_no_descriptor_is_refused() {
    let rule_of = |bytes: &[u8]| read(bytes).unwrap_err().fault().unwrap().rule.id;
    assert_eq!(rule_of(&[]), "TGM-D1");
    assert_eq!(rule_of(&[0xA1]), "TGM-D1");
    assert_eq!(rule_of(&[0x80]), "TGM-D2");
    let deep: Vec<u8> = [&[0xA1, 0x61, b'a'][..], &[0x81; 300], &[0]].concat();
    assert_eq!(rule_of(&deep), "TGM-D10");
    let few = Limits { item_count_max: 8, cbor_len_max: 60, ..Limits::default() };
    let bytes = plain().encode().unwrap();
    let error = Descriptor::read(&bytes, 0, &few).unwrap_err();
    assert_eq!(error.fault().unwrap().rule, &rule::LIMIT_ITEMS);
    let short = Limits { cbor_len_max: 60, ..Limits::default() };
    let error = Descriptor::read(&bytes, 0, &short).unwrap_err();
    assert_eq!(error.fault().unwrap().rule, &rule::LIMIT_CBOR);

    let ids = |bytes: &[u8]| -> Vec<&str> {
        read(bytes).unwrap().faults().iter().map(|fault| fault.rule.id).collect()
    };
    assert_eq!(ids(&[0xA1, 1, 2])[0], "TGM-D2");
    let twice = [&[0xAA][..], &bytes[1..], b"\x64type\x67ntensor"].concat();
    assert_eq!(ids(&twice), ["TGM-D3"]);
    let bad = [&[0xAA][..], &bytes[1..], b"\x61a\x61\xFF"].concat();
    assert_eq!(ids(&bad), ["TGM-D6"]);
}
