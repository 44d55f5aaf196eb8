//! sz3 payloads of `tensogram` 0.24.0: the same numbers as it decodes, and damaged ones.

use tet_format::DType;

use crate::testing::objects::{decode, text};
use crate::{Descriptor, Error, rule};

/// The numbers 0, 1, 2.5, -3, 1e6, 0.001 and 7 with an absolute error of 0.5; so few are stored as they are.
const FEW: &str = concat!(
    "10f342f3000203033800000000000000380000000000000028b52ffd20383d0100d80000f03f0004400008c000",
    "00000080842e41fca9f1d24d62501c40040087ca05da00c2e00016210103070700000000000000040000000000",
    "0000e03fe001000001008000000001",
);

/// The sines of 0, 0.2, 0.4 and so on up to 7.8 with an absolute error of 0.125.
const SINES: &str = concat!(
    "10f342f3000203037400000000000000b30000000000000028b52ffd20b31d030032440f1dc025ad01ae15f47fbf0aeeba8e",
    "7ffdcd6d4d108d4009d96413b2c99629acb54313180aabbbcf124d5163911c793ccd4d570e1209176b0217e21d500510003a",
    "09c8bcc91b126601ad64c00560a0cae01762053b8075a01eb80e0c0e50888136210106282800000000000000020000000000",
    "0000c03fe001000001008000000001",
);

fn bytes(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().as_chunks::<2>().0.iter();
    pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn descriptor(dtype: DType, count: u64) -> Descriptor {
    let descriptor = Descriptor::new(dtype, &[count]).unwrap();
    descriptor.with("compression", text("sz3"))
}

fn id(error: Error) -> Option<&'static str> {
    error.fault().map(|fault| fault.rule.id)
}

#[test]
fn payloads_are_decoded_as_by_the_reference() {
    for order in ["little", "big"] {
        let few = descriptor(DType::Float64, 7).with("byte_order", text(order));
        let wanted = [0.0_f64, 1.0, 2.5, -3.0, 1e6, 0.001, 7.0];
        assert_eq!(decode(&few, &bytes(FEW)).unwrap(), wanted.map(f64::to_le_bytes).concat());
        let sines = descriptor(DType::Float64, 40).with("byte_order", text(order));
        let found = decode(&sines, &bytes(SINES)).unwrap();
        let found: Vec<f64> =
            found.as_chunks().0.iter().map(|it| f64::from_le_bytes(*it)).collect();
        assert_eq!(
            found[..8],
            [
                0.0,
                0.22876953125000007,
                0.42651562500000006,
                0.59336328125,
                0.7289375,
                0.8324882812499999,
                0.905265625,
                0.94764453125
            ]
        );
        for (at, found) in (0..).zip(found) {
            assert!(
                (f64::from(at) / 5.0).sin().mul_add(-1.0, found).abs() <= 0.125,
                "{at}: {found}"
            );
        }
    }
}

#[test]
fn damaged_and_other_payloads_are_refused() {
    let sound = descriptor(DType::Float64, 40);
    let payload = bytes(SINES);
    for len in 0..payload.len() {
        let error = decode(&sound, &payload[..len]).unwrap_err();
        let rules = [rule::SZ3_STREAM.id, rule::PAYLOAD_SHORT.id];
        assert!(id(error).is_some_and(|id| rules.contains(&id)), "{len}");
    }
    for at in 0..payload.len() {
        let mut other = payload.clone();
        other[at] ^= 0x10;
        if let Err(error) = decode(&sound, &other) {
            assert!(id(error).is_some(), "{at}");
        }
    }
    let mut other = payload.clone();
    other[7] = 4;
    assert_eq!(id(decode(&sound, &other).unwrap_err()), Some(rule::SZ3_BUILT.id));
    let longer = decode(&descriptor(DType::Float64, 41), &payload).unwrap_err();
    assert_eq!(id(longer), Some(rule::SZ3_STREAM.id));
    let narrow = decode(&descriptor(DType::Float32, 40), &payload).unwrap_err();
    assert_eq!(id(narrow), Some(rule::CODEC_DTYPE.id));
}
