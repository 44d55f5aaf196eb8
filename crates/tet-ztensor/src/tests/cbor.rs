//! CBOR that is damaged, odd, or both (ZT-I1, ZT-I4, ZT-T5).

use crate::error::Fault;
use crate::testing::{Fields, array, file, head, open, refused, tensor_refused, text, with_good};
use crate::testing::{read, uint, uints};
use crate::{Limits, Value, rule};

/// The place of the value of `x`, a custom field at the end of the last entry.
fn with_value(value: &[u8]) -> Vec<u8> {
    let fields = Fields::dense("t", 64, 3, "uint8", &[3]).with("x", value.to_vec());
    with_good(&[1, 2, 3], &fields)
}

fn found(value: &[u8]) -> Value {
    let bytes = with_value(value);
    let file = open(&bytes).unwrap();
    let tensor = file.find("t").unwrap();
    assert_eq!(tensor.fault(), None, "{value:02x?}");
    let custom = tensor.custom().unwrap();
    assert_eq!(tensor.custom_bytes(), [("x".into(), value)]);
    let alone = tensor.custom_value("x").unwrap().unwrap();
    assert_eq!(format!("{alone:?}"), format!("{:?}", custom[0].1), "NaN is not equal to itself");
    custom.into_iter().next().unwrap().1
}

#[test]
fn values_are_exact() {
    let cases: [(&[u8], Value); 16] = [
        (&[0x17], Value::Int(23)),
        (&[0x1B, 0, 0, 0, 0, 0, 0, 0, 1], Value::Int(1)),
        (&[0x1B, 255, 255, 255, 255, 255, 255, 255, 255], Value::Int(u64::MAX.into())),
        (&[0x3B, 255, 255, 255, 255, 255, 255, 255, 255], Value::Int(-(1 << 64))),
        (&[0x20], Value::Int(-1)),
        (&[0xF9, 0x3E, 0], Value::Float(1.5)),
        (&[0xFA, 0x3F, 0x80, 0, 0], Value::Float(1.0)),
        (&[0xFB, 0x40, 9, 0x21, 0xFB, 0x54, 0x44, 0x2D, 0x18], Value::Float(std::f64::consts::PI)),
        (&[0xF4], Value::Bool(false)),
        (&[0xF6], Value::Null),
        (&[0xF7], Value::Undefined),
        (&[0xF8, 0x20], Value::Simple(32)),
        (&[0xE0], Value::Simple(0)),
        (&[0x5F, 0x41, 1, 0x42, 2, 3, 0xFF], Value::Bytes(vec![1, 2, 3])),
        (&[0x7F, 0x61, b'a', 0x60, 0x61, b'b', 0xFF], Value::Text("ab".to_owned())),
        (&[0xC1, 0x9F, 0xF5, 0xFF], Value::Tag(1, Box::new(Value::Array(vec![Value::Bool(true)])))),
    ];
    for (bytes, wanted) in cases {
        assert_eq!(found(bytes), wanted);
    }
    let pairs = vec![(Value::Int(7), Value::Text("a".to_owned())), (Value::Int(7), Value::Null)];
    assert_eq!(found(&[0xBF, 7, 0x61, b'a', 7, 0xF6, 0xFF]), Value::Map(pairs));
    assert!(matches!(found(&[0xF9, 0x7E, 0]), Value::Float(nan) if nan.is_nan()));
}

#[test]
fn what_is_not_well_formed_costs_the_file_at_its_place() {
    // The bytes, and which of them is wrong.
    let cases: [(&[u8], usize); 20] = [
        (&[0x1C], 0),
        (&[0x1D], 0),
        (&[0x1E], 0),
        (&[0x1F], 0),
        (&[0x3F], 0),
        (&[0x5C], 0),
        (&[0xDF, 0], 0),
        (&[0xFC], 0),
        (&[0xFD], 0),
        (&[0xF8, 0x1F], 0),
        (&[0xF8, 0x00], 0),
        (&[0x81, 0xFF], 1),
        (&[0xC0, 0xFF], 1),
        (&[0xA1, 0x00, 0xFF], 2),
        (&[0xBF, 0x00, 0xFF], 2),
        (&[0x5F, 0x61, b'a', 0xFF], 1),
        (&[0x7F, 0x41, b'a', 0xFF], 1),
        (&[0x7F, 0x7F, 0xFF, 0xFF], 1),
        (&[0x9B, 255, 255, 255, 255, 255, 255, 255, 255], 0),
        (&[0xBA, 1, 0, 0, 0], 0),
    ];
    for (value, at) in cases {
        let bytes = with_value(value);
        refused(&bytes, &rule::INDEX_SYNTAX);
        let start = bytes.len() - 8 - 1 - value.len();
        let crate::Error::Format(fault) = open(&bytes).unwrap_err() else { panic!() };
        assert_eq!(fault.at, (start + at) as u64, "{value:02x?}");
    }
}

#[test]
fn lengths_past_the_end_allocate_nothing() {
    for number in [1_u64 << 32, 1 << 40, 1 << 60, 1 << 62, 1 << 63, u64::MAX] {
        for major in [2, 3, 4, 5] {
            refused(&with_value(&head(major, number)), &rule::INDEX_SYNTAX);
            refused(
                &file(&[], &head(major, number)),
                match major {
                    4 | 5 => &rule::INDEX_SYNTAX,
                    _ => &rule::INDEX_ARRAY,
                },
            );
        }
    }
    let fields = |key: &str| {
        let entry = Fields::dense("t", 64, 3, "uint8", &[3]);
        with_good(&[1, 2, 3], &entry.with(key, head(4, 1 << 40)))
    };
    refused(&fields("shape"), &rule::INDEX_SYNTAX);
}

#[test]
fn what_is_cut_short_costs_the_file() {
    for value in [&[0x18][..], &[0x19, 1], &[0x62, b'a'], &[0x9F, 1], &[0xBF], &[0x5F], &[0xC1]] {
        let index = [vec![0x81, 0xA1], text("x"), value.to_vec()].concat();
        refused(&file(&[], &index), &rule::INDEX_SYNTAX);
    }
}

#[test]
fn nesting_ends_at_the_limit() {
    // The array of the index and the map of the entry are two levels.
    let nested = |open: u8, count: usize| [vec![open; count], vec![0]].concat();
    for open in [0x81, 0xC1] {
        assert_eq!(read(&with_value(&nested(open, 126)), 1).unwrap(), [1, 2, 3]);
        found(&nested(open, 126));
        for count in [127, 200, 50_000] {
            refused(&with_value(&nested(open, count)), &rule::INDEX_DEPTH);
        }
    }
    let maps = [[0xA1, 0x00].repeat(20_000), vec![0]].concat();
    refused(&with_value(&maps), &rule::INDEX_DEPTH);
    refused(&file(&[], &[0x9F].repeat(50_000)), &rule::INDEX_DEPTH);
    refused(&file(&[], &nested(0xC1, 50_000)), &rule::INDEX_DEPTH);
}

#[test]
fn text_that_is_none_costs_one_tensor() {
    let bad = |text: &[u8]| [head(3, text.len() as u64), text.to_vec()].concat();
    let entry = || Fields::dense("t", 64, 3, "uint8", &[3]);
    let spoiled = [
        entry().with("name", bad(b"ab\xFFc")),
        entry().with("name", [vec![0x7F], bad(b"\xC3"), bad(b"\xA9"), vec![0xFF]].concat()),
        entry().and(bad(b"\x80"), uint(1)),
        entry().and(bad(&[0xFF; 40]), uint(1)),
        entry().with("x", bad(b"\xED\xA0\x80")),
        entry().with("x", array(&[bad(b"\xC0\x80")])),
        entry().with("layout", bad(b"\xFF")),
        entry().with("checksum", bad(b"crc32c:\xFF")),
    ];
    for fields in spoiled {
        tensor_refused(&with_good(&[1, 2, 3], &fields), &rule::NAME_TEXT);
    }
    let fields = entry().with("name", bad(b"ab\xFFc"));
    let file = open(&with_good(&[1, 2, 3], &fields)).unwrap();
    assert_eq!(file.tensor(1).unwrap().name(), "ab", "the name as far as it is one");
}

#[test]
fn every_spelling_of_an_entry_is_read() {
    let entry = Fields::dense("name", 64, 3, "uint8", &[3]);
    let long = |major: u8, number: u8| vec![major << 5 | 27, 0, 0, 0, 0, 0, 0, 0, number];
    let pieces = |text: &str| {
        let (a, b) = text.split_at(1);
        [&[0x7F], &self::text(a)[..], &self::text(b), &[0xFF]].concat()
    };
    let odd = Fields(
        entry
            .0
            .iter()
            .rev()
            .map(|(key, value)| {
                let key = std::str::from_utf8(&key[1..]).unwrap();
                let value = match key {
                    "offset" => long(0, 64),
                    "size" => [vec![0xC1], uint(3)].concat(),
                    "shape" => vec![0x9F, 0x18, 3, 0xFF],
                    _ => pieces(std::str::from_utf8(&value[1..]).unwrap()),
                };
                (pieces(key), value)
            })
            .collect(),
    );
    let wanted = open(&file(&[&[7, 8, 9]], &array(&[entry.entry()]))).unwrap();
    for item in [odd.entry(), odd.counted(), [vec![0xD9, 0xD9, 0xF7], odd.entry()].concat()] {
        let indexes = [
            array(std::slice::from_ref(&item)),
            [vec![0x9F], item.clone(), vec![0xFF]].concat(),
            [long(4, 1), item.clone()].concat(),
            [vec![0xD9, 0xD9, 0xF7, 0x81], item.clone()].concat(),
        ];
        for index in indexes {
            let bytes = file(&[&[7, 8, 9]], &index);
            let file = open(&bytes).unwrap();
            let (tensor, wanted) = (file.find("name").unwrap(), wanted.tensor(0).unwrap());
            assert_eq!(tensor.fault(), None);
            assert_eq!(tensor.shape(), wanted.shape());
            assert_eq!(tensor.dtype(), wanted.dtype());
            assert_eq!(tensor.stored(), wanted.stored());
            assert_eq!(tensor.entry_bytes(), item);
            assert_eq!(read(&bytes, 0).unwrap(), [7, 8, 9]);
        }
    }
}

#[test]
fn limits_bound_what_an_index_may_come_to() {
    let limits = Limits { entry_count_max: 2, item_count_max: 3, ..Limits::default() };
    let read = |index: Vec<u8>| crate::Index::read(index, 640, &limits);
    assert_eq!(read(vec![0x82, 0, 0]).unwrap().len(), 2);
    let fault = Fault { rule: &rule::LIMIT_ENTRIES, at: 643, found: 3, wanted: 2 };
    assert_eq!(read(vec![0x83, 0, 0, 0]).unwrap_err(), fault);
    let shape = |rank| Fields::default().with("shape", uints(&vec![1; rank])).entry();
    assert!(read(array(&[shape(16)])).is_ok());
    assert_eq!(read(array(&[shape(17)])).unwrap_err().rule, &rule::LIMIT_ENTRIES);
    let custom = |count| array(&[Fields::default().with("x", uints(&vec![1; count])).entry()]);
    assert!(read(custom(2)).unwrap().tensor(0).unwrap().custom().is_ok());
    let index = read(custom(3)).unwrap();
    assert_eq!(index.tensor(0).unwrap().custom().unwrap_err().rule(), Some(&rule::LIMIT_ITEMS));
    let limits = Limits { index_len_max: 5, ..Limits::default() };
    assert!(crate::Index::read(vec![0x84, 0, 0, 0, 0], 8, &limits).is_ok());
    let fault = crate::Index::read(vec![0x85, 0, 0, 0, 0, 0], 8, &limits).unwrap_err();
    assert_eq!(fault, Fault { rule: &rule::LIMIT_INDEX, at: 8, found: 6, wanted: 5 });
}
