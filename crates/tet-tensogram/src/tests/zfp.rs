//! zfp payloads of `tensogram` 0.24.0: the same numbers as it decodes, and damaged ones.

use tet_format::DType;

use crate::testing::objects::{decode, text};
use crate::{Descriptor, Error, Value, rule};

/// The numbers 0, 1, 2.5, -3, 1e6, 0.001 and 7 in each mode: its parameter, the payload, and what is read.
fn cases() -> [(&'static str, &'static str, Value, &'static str, [f64; 7]); 3] {
    [
        (
            "fixed_rate",
            "zfp_rate",
            Value::Float(16.0),
            "0328b1521d0a000027680b802a0a00a8",
            [0.0, 1.0, 2.5, -3.0, 999_936.0, 0.0, 0.0],
        ),
        (
            "fixed_precision",
            "zfp_precision",
            Value::Int(20),
            "0328b1521d0a00000000009ca02d00aa2800a08228800200",
            [0.0, 1.0, 2.5, -3.0, 1_000_000.0, 8.0, 8.0],
        ),
        (
            "fixed_accuracy",
            "zfp_tolerance",
            Value::Float(0.125),
            "0328b1521dca09da02a08a02002a8802a8862f1400000000",
            [0.0, 1.0, 2.5, -3.0, 1_000_000.0, 0.0, 7.0],
        ),
    ]
}

fn bytes(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().as_chunks::<2>().0.iter();
    pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn descriptor(dtype: DType, count: u64) -> Descriptor {
    let descriptor = Descriptor::new(dtype, &[count]).unwrap();
    descriptor.with("compression", text("zfp"))
}

#[test]
fn every_mode_is_decoded_as_by_the_reference() {
    for (mode, key, value, payload, wanted) in cases() {
        for order in ["little", "big"] {
            let object = descriptor(DType::Float64, 7).with("byte_order", text(order));
            let object = object.with("zfp_mode", text(mode)).with(key, value.clone());
            let found = decode(&object, &bytes(payload)).unwrap();
            assert_eq!(found, wanted.map(f64::to_le_bytes).concat(), "{mode} {order}");
        }
    }
}

#[test]
fn short_payloads_and_other_parameters_are_refused() {
    let (mode, key, value, payload, _) = cases()[0].clone();
    let sound = descriptor(DType::Float64, 7).with("zfp_mode", text(mode)).with(key, value);
    let id = |error: Error| error.fault().map(|fault| fault.rule.id);
    let short = decode(&sound, &bytes(payload)[..15]).unwrap_err();
    assert_eq!(id(short), Some(rule::ZFP_STREAM.id));
    for bad in [
        sound.clone().without("zfp_mode"),
        sound.clone().with("zfp_mode", text("reversible")),
        sound.clone().without("zfp_rate"),
        sound.clone().with("zfp_rate", Value::Float(1e9)),
        sound.with("zfp_rate", Value::Float(-1.0)),
    ] {
        let error = decode(&bad, &bytes(payload)).unwrap_err();
        assert_eq!(id(error), Some(rule::CODEC_PARAMETER.id));
    }
    let narrow = descriptor(DType::Float32, 7).with("zfp_mode", text("fixed_rate"));
    let error = decode(&narrow.with("zfp_rate", Value::Float(16.0)), &bytes(payload)).unwrap_err();
    assert_eq!(id(error), Some(rule::CODEC_DTYPE.id));
    let long = descriptor(DType::Float64, 1 << 20).with("zfp_mode", text("fixed_accuracy"));
    let error = decode(&long.with("zfp_tolerance", Value::Float(1.0)), &bytes(payload));
    assert_eq!(id(error.unwrap_err()), Some(rule::PAYLOAD_SHORT.id));
}
