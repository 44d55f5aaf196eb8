//! Masks: where their blobs may lie, and what is restored.

use tet_format::{DType, ForeignRule};

use crate::testing::objects::{decode, plan, text};
use crate::{Descriptor, Error, MaskKind, Value, rule};

fn entry(method: &str, offset: i128, length: i128) -> Value {
    let number = Value::Int;
    Value::Map(vec![
        (text("method"), text(method)),
        (text("offset"), number(offset)),
        (text("length"), number(length)),
    ])
}

fn masked(dtype: DType, count: u64, masks: &[(&str, Value)]) -> Descriptor {
    let pairs = masks.iter().map(|(key, value)| (text(key), value.clone())).collect();
    Descriptor::new(dtype, &[count]).unwrap().with("masks", Value::Map(pairs))
}

#[test]
fn elements_are_restored_as_the_one_value_of_their_kind() {
    let cases: [(DType, [&[u8]; 3]); 6] = [
        (DType::Float16, [&[0, 0x7E], &[0, 0x7C], &[0, 0xFC]]),
        (DType::BFloat16, [&[0xC0, 0x7F], &[0x80, 0x7F], &[0x80, 0xFF]]),
        (DType::Float32, [&[0, 0, 0xC0, 0x7F], &[0, 0, 0x80, 0x7F], &[0, 0, 0x80, 0xFF]]),
        (
            DType::Complex64,
            [
                &[0, 0, 0xC0, 0x7F, 0, 0, 0xC0, 0x7F],
                &[0, 0, 0x80, 0x7F, 0, 0, 0x80, 0x7F],
                &[0, 0, 0x80, 0xFF, 0, 0, 0x80, 0xFF],
            ],
        ),
        (
            DType::Float64,
            [
                &[0, 0, 0, 0, 0, 0, 0xF8, 0x7F],
                &[0, 0, 0, 0, 0, 0, 0xF0, 0x7F],
                &[0, 0, 0, 0, 0, 0, 0xF0, 0xFF],
            ],
        ),
        (
            DType::Complex128,
            [
                &[0, 0, 0, 0, 0, 0, 0xF8, 0x7F, 0, 0, 0, 0, 0, 0, 0xF8, 0x7F],
                &[0, 0, 0, 0, 0, 0, 0xF0, 0x7F, 0, 0, 0, 0, 0, 0, 0xF0, 0x7F],
                &[0, 0, 0, 0, 0, 0, 0xF0, 0xFF, 0, 0, 0, 0, 0, 0, 0xF0, 0xFF],
            ],
        ),
    ];
    for (dtype, values) in cases {
        let size = dtype.size().unwrap();
        let len = i128::from(size) * 10;
        // Blobs in another order than that of the wire; the last bits have no meaning.
        let masks = [
            ("nan", entry("none", len + 2, 2)),
            ("inf+", entry("none", len, 2)),
            ("inf-", entry("rle", len + 4, 4)),
        ];
        let object = masked(dtype, 10, &masks);
        let mut region = vec![9; len as usize];
        region.extend([0b0100_0000, 0b0111_1111, 0b1000_0000, 0b0000_0001, 0, 8, 1, 1]);
        let found = decode(&object, &region).unwrap();
        let size = size as usize;
        let mut wanted = vec![9; size * 10];
        for (element, value) in [(0, 0), (1, 1), (9, 1), (8, 2)] {
            wanted[element * size..][..size].copy_from_slice(values[value]);
        }
        assert_eq!(found, wanted, "{dtype}");

        let whole = plan(&object, &region).unwrap();
        let blobs = whole.masks();
        let masks = whole.read_masks(&region[blobs.start as usize..]).unwrap();
        assert_eq!(masks.bits(MaskKind::NegInf), Some(&[0, 0b1000_0000][..]));
        let whole = whole.with_masks(masks);
        for start in 0..10 {
            for end in start..10 {
                let part = start * size..end * size;
                let mut out = vec![0; part.len()];
                let elements = start as u64..end as u64;
                whole.decode_range(&region[part.clone()], &elements, &mut out).unwrap();
                assert_eq!(out, wanted[part]);
            }
        }
    }
}

#[track_caller]
fn breaks(object: &Descriptor, region: &[u8], wanted: &'static ForeignRule) {
    let error = decode(object, region).unwrap_err();
    assert_eq!(error.fault().map(|fault| fault.rule.id), Some(wanted.id), "{error}");
}

#[test]
fn blobs_follow_the_payload_and_each_other() {
    let two = |one, other| masked(DType::Float32, 4, &[("nan", one), ("inf+", other)]);
    let none = |offset, len| entry("none", offset, len);
    decode(&two(none(16, 1), none(17, 1)), &[0; 18]).unwrap();
    decode(&two(none(17, 1), none(16, 1)), &[0; 18]).unwrap();
    breaks(&two(none(16, 1), none(16, 1)), &[0; 18], &rule::MASK_OVERLAP);
    breaks(&two(none(16, 2), none(17, 1)), &[0; 18], &rule::MASK_OVERLAP);
    breaks(&two(none(16, 1), none(18, 1)), &[0; 19], &rule::MASK_GAP);
    breaks(&two(none(16, 1), none(17, 1)), &[0; 19], &rule::MASK_GAP);
    breaks(&two(none(16, 1), none(17, 2)), &[0; 18], &rule::MASK_BOUNDS);
    breaks(&two(none(16, i128::from(u64::MAX)), none(17, 1)), &[0; 18], &rule::MASK_BOUNDS);
    breaks(&two(none(17, 1), none(18, 1)), &[0; 19], &rule::PAYLOAD_LEN);
    breaks(&two(none(16, 2), none(18, 1)), &[0; 19], &rule::MASK_BITS);
    breaks(&two(none(16, 1), entry("rle", 17, 2)), &[0; 19], &rule::MASK_BITS);
    breaks(&two(none(16, 1), entry("lz4", 17, 2)), &[0; 19], &rule::MASK_BITS);
    breaks(&two(none(16, 1), entry("zstd", 17, 2)), &[0; 19], &rule::MASK_BITS);
    breaks(&two(none(16, 1), entry("roaring", 17, 2)), &[0; 19], &rule::MASK_BITS);
}

#[test]
fn entries_have_method_offset_and_length() {
    let one = |value| masked(DType::Float32, 4, &[("nan", value)]);
    let cut = |key: &str| {
        let Value::Map(mut pairs) = entry("none", 16, 1) else { panic!() };
        pairs.retain(|(found, _)| found.as_text() != Some(key));
        Value::Map(pairs)
    };
    for value in [Value::Null, cut("method"), cut("offset"), cut("length"), entry("none", -1, 1)] {
        breaks(&one(value), &[0; 17], &rule::MASK_ENTRY);
    }
    let object = Descriptor::new(DType::Float32, &[4]).unwrap();
    breaks(&object.clone().with("masks", Value::Int(1)), &[0; 16], &rule::MASK_ENTRY);
    decode(&object.with("masks", Value::Null), &[0; 16]).unwrap();

    let error = decode(&one(entry("sz3", 16, 1)), &[0; 17]).unwrap_err();
    let Error::NotBuilt { codec, fault } = error else { panic!("{error}") };
    assert_eq!((&*codec, fault.rule), ("sz3", &rule::MASK_BUILT));
}

#[test]
fn masks_that_say_nothing_are_noted() {
    let mask = [("nan", entry("none", 4, 1))];
    breaks(&masked(DType::Bitmask, 32, &mask), &[0; 5], &rule::MASK_DTYPE);
    let object = masked(DType::Int8, 4, &mask);
    assert_eq!(object.faults()[0].rule, &rule::NOTE_MASK_INTEGER);
    assert_eq!(decode(&object, &[1, 2, 3, 4, 0xF0]).unwrap(), [1, 2, 3, 4]);
    let object = masked(DType::Float16, 2, &[("snan", entry("new", 4, 1))]);
    assert_eq!(object.faults()[0].rule, &rule::NOTE_MASK_KIND);
    assert_eq!(decode(&object, &[1, 2, 3, 4, 0xF0]).unwrap(), [1, 2, 3, 4]);
}
