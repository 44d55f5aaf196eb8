//! Fill values: every spelling of versions 2 and 3, as the bytes of one element.

use serde_json::Value;
use tet_format::DType;

use crate::base64;
use crate::element::{ZarrElement, ZarrOrder};
use crate::error::{Broken, broken};
use crate::rule;

/// The bytes of a fill value, numbers with the lowest byte first and texts as they are stored; `None` where it is undefined
/// (`null`), or where the type is not read. Raw bytes, structures and texts of a fixed length are without zeros at the
/// end: the length that a document declares takes no memory.
///
/// `order` is that of the type, for values in base64.
pub(crate) fn element_of(
    value: Option<&Value>,
    element: &ZarrElement,
    order: ZarrOrder,
) -> Result<Option<Vec<u8>>, Broken> {
    let value = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(value) => value,
    };
    let bytes = match element {
        ZarrElement::Unsupported { .. } => return Ok(None),
        ZarrElement::Number(dtype) => number(value, *dtype, order),
        ZarrElement::Time { .. } => match value {
            Value::String(text) => (text == "NaT").then(|| i64::MIN.to_le_bytes().to_vec()),
            _ => integer(value, DType::Int64),
        },
        ZarrElement::Raw { size } | ZarrElement::Structure { size, .. } => raw(value, *size),
        ZarrElement::FixedText { size, is_points } => fixed_text(value, *size, *is_points, order),
        ZarrElement::Text => match value {
            Value::String(text) => Some(text.as_bytes().to_vec()),
            // Version 2 writes numbers where no text was given.
            _ => Some(Vec::new()),
        },
    };
    bytes.map(Some).ok_or(broken(&rule::FILL_VALUE, 0, 0))
}

/// The bytes of the attribute `_FillValue` of a float array as xarray writes it in version 3: a
/// `float64` in base64, whatever the type of the array. `None` for another value.
pub(crate) fn of_attribute(value: &Value, element: &ZarrElement) -> Option<Vec<u8>> {
    let ZarrElement::Number(dtype) = element else { return None };
    let bytes = base64_number(value.as_str()?, 8, 1, ZarrOrder::Little)?;
    narrow(f64::from_le_bytes(*bytes.first_chunk()?), *dtype)
}

fn number(value: &Value, dtype: DType, order: ZarrOrder) -> Option<Vec<u8>> {
    match dtype {
        DType::Bool => match value {
            Value::Bool(value) => Some(vec![u8::from(*value)]),
            Value::String(_) => None,
            _ => whole(value).and_then(|value| {
                Some(vec![u8::from(match value {
                    0 => false,
                    1 => true,
                    _ => return None,
                })])
            }),
        },
        DType::Complex64 | DType::Complex128 => {
            let half = if dtype == DType::Complex64 { DType::Float32 } else { DType::Float64 };
            match value {
                Value::Array(parts) => {
                    let [real, imaginary] = parts.as_slice() else { return None };
                    let mut bytes = float(real, half)?;
                    bytes.extend(float(imaginary, half)?);
                    Some(bytes)
                }
                Value::String(text) => match float(value, half) {
                    Some(bytes) => Some(with_zero(bytes)),
                    None => base64_number(text, half.size()?, 2, order),
                },
                _ => float(value, half).map(with_zero),
            }
        }
        _ if dtype.is_float() => match float(value, dtype) {
            Some(bytes) => Some(bytes),
            None => base64_number(value.as_str()?, dtype.size()?, 1, order),
        },
        _ => integer(value, dtype),
    }
}

/// A real number with an imaginary part of 0.
fn with_zero(mut real: Vec<u8>) -> Vec<u8> {
    real.resize(real.len() * 2, 0);
    real
}

/// A whole number, also one that is written with a decimal point, or as text.
fn whole(value: &Value) -> Option<i128> {
    let number = match value {
        Value::Number(number) => number,
        Value::String(text) => return text.trim().parse().ok(),
        _ => return None,
    };
    if let Some(value) = number.as_i64() {
        return Some(value.into());
    }
    if let Some(value) = number.as_u64() {
        return Some(value.into());
    }
    let value = number.as_f64().filter(|value| value.fract() == 0.0 && value.abs() < 2e19)?;
    format!("{value:.0}").parse().ok()
}

fn integer(value: &Value, dtype: DType) -> Option<Vec<u8>> {
    let value = match value {
        Value::Bool(value) => i128::from(*value),
        _ => whole(value)?,
    };
    Some(match dtype {
        DType::Int8 => i8::try_from(value).ok()?.to_le_bytes().to_vec(),
        DType::Int16 => i16::try_from(value).ok()?.to_le_bytes().to_vec(),
        DType::Int32 => i32::try_from(value).ok()?.to_le_bytes().to_vec(),
        DType::Int64 => i64::try_from(value).ok()?.to_le_bytes().to_vec(),
        DType::UInt8 => u8::try_from(value).ok()?.to_le_bytes().to_vec(),
        DType::UInt16 => u16::try_from(value).ok()?.to_le_bytes().to_vec(),
        DType::UInt32 => u32::try_from(value).ok()?.to_le_bytes().to_vec(),
        DType::UInt64 => u64::try_from(value).ok()?.to_le_bytes().to_vec(),
        _ => return None,
    })
}

fn float(value: &Value, dtype: DType) -> Option<Vec<u8>> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::Bool(value) => f64::from(u8::from(*value)),
        Value::String(text) => match text.as_str() {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            text => match bits(text, dtype) {
                Some(bytes) => return Some(bytes),
                None => text.trim().parse().ok()?,
            },
        },
        _ => return None,
    };
    narrow(number, dtype)
}

/// A number as the nearest of a type; `None` for a type that is no float.
fn narrow(number: f64, dtype: DType) -> Option<Vec<u8>> {
    Some(match dtype {
        DType::Float64 => number.to_le_bytes().to_vec(),
        DType::Float32 => narrow32(number).to_le_bytes().to_vec(),
        DType::Float16 => narrow16(number, 5).to_le_bytes().to_vec(),
        DType::BFloat16 => narrow16(number, 8).to_le_bytes().to_vec(),
        _ => return None,
    })
}

/// The nearest `float32`.
#[allow(clippy::cast_possible_truncation, reason = "this conversion rounds to the nearest")]
fn narrow32(number: f64) -> f32 {
    number as f32
}

/// The bits of the nearest number of 16 bits, of which `exponent_bits` are the exponent; ties go to
/// the even one.
fn narrow16(number: f64, exponent_bits: u32) -> u16 {
    let fraction_bits = 15 - exponent_bits;
    let all_ones = (1_u64 << exponent_bits) - 1;
    let bits = number.to_bits();
    let sign = u16::try_from(bits >> 63).unwrap_or(0) << 15;
    let infinity = all_ones << fraction_bits;
    let magnitude = if number.is_nan() {
        infinity | 1 << (fraction_bits - 1)
    } else {
        // The exponent of the result, counted from the least normal number's, which is 1.
        let exponent = i64::try_from(bits >> 52 & 0x7ff).unwrap_or(0) - 1023;
        let biased = exponent + (1 << (exponent_bits - 1)) - 1;
        let fraction = bits & ((1 << 52) - 1) | 1 << 52;
        let below = u32::try_from((1 - biased).clamp(0, 64)).unwrap_or(64);
        let shift = 52 - fraction_bits + below;
        if i64::try_from(all_ones).unwrap_or(i64::MAX) <= biased {
            infinity
        } else if 54 <= shift {
            0
        } else {
            let kept = fraction >> shift;
            let rest = fraction & ((1 << shift) - 1);
            let half = 1_u64 << (shift - 1);
            let up = half < rest || half == rest && kept & 1 == 1;
            let base = u64::try_from((biased - 1).max(0)).unwrap_or(0) << fraction_bits;
            (base + kept + u64::from(up)).min(infinity)
        }
    };
    sign | u16::try_from(magnitude).unwrap_or(0)
}

/// The bits of a number in hexadecimal, the highest digit first.
fn bits(text: &str, dtype: DType) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?;
    let size = usize::try_from(dtype.size()?).ok()?;
    if digits.len() != size * 2 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let bits = u64::from_str_radix(digits, 16).ok()?;
    Some(bits.to_le_bytes()[..size].to_vec())
}

/// A number of `count` parts in base64, in the order of bytes of the type.
fn base64_number(text: &str, size: u64, count: u64, order: ZarrOrder) -> Option<Vec<u8>> {
    let size = usize::try_from(size).ok()?;
    // Without the padding it could be a short number in hexadecimal.
    let mut bytes = base64::decode(text.as_bytes()).filter(|_| text.len().is_multiple_of(4))?;
    if u64::try_from(bytes.len() / size).ok()? != count || bytes.len() % size != 0 {
        return None;
    }
    if order == ZarrOrder::Big {
        bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    Some(bytes)
}

/// A text: of bytes in base64, of characters as it is.
fn fixed_text(value: &Value, size: u64, is_points: bool, order: ZarrOrder) -> Option<Vec<u8>> {
    let len = usize::try_from(size).ok()?;
    let bytes = match value {
        Value::String(text) if is_points => {
            let points = text.chars().map(u32::from);
            let little = points.flat_map(|point| match order {
                ZarrOrder::Little => point.to_le_bytes(),
                ZarrOrder::Big => point.swap_bytes().to_le_bytes(),
            });
            little.collect()
        }
        // Some writers write plain text.
        Value::String(text) => base64::decode(text.as_bytes())
            .filter(|bytes| bytes.len() <= len)
            .unwrap_or_else(|| text.as_bytes().to_vec()),
        Value::Number(_) if whole(value) == Some(0) => Vec::new(),
        _ => return None,
    };
    (bytes.len() <= len).then(|| without_zeros(bytes))
}

fn without_zeros(mut bytes: Vec<u8>) -> Vec<u8> {
    let len = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    bytes.truncate(len);
    bytes
}

fn raw(value: &Value, size: u64) -> Option<Vec<u8>> {
    let len = usize::try_from(size).ok()?;
    let bytes = match value {
        Value::String(text) => match text.strip_prefix("0x") {
            Some(digits) if digits.len() / 2 == len && digits.len() % 2 == 0 => hex(digits)?,
            _ => base64::decode(text.as_bytes())?,
        },
        Value::Array(list) => {
            let byte = |value: &Value| u8::try_from(value.as_u64()?).ok();
            list.iter().map(byte).collect::<Option<Vec<u8>>>()?
        }
        Value::Number(_) if whole(value) == Some(0) => return Some(Vec::new()),
        _ => return None,
    };
    (bytes.len() == len).then(|| without_zeros(bytes))
}

fn hex(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = digits.as_bytes().chunks_exact(2);
    pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fill_bytes(value: Value, dtype: DType) -> Option<Vec<u8>> {
        let element = ZarrElement::Number(dtype);
        element_of(Some(&value), &element, ZarrOrder::Little).ok().flatten()
    }

    #[test]
    fn every_spelling_is_read() {
        assert_eq!(fill_bytes(json!(-1), DType::Int16), Some(vec![0xff, 0xff]));
        assert_eq!(fill_bytes(json!(7.0), DType::UInt8), Some(vec![7]));
        assert_eq!(fill_bytes(json!(u64::MAX), DType::UInt64), Some(vec![0xff; 8]));
        assert_eq!(fill_bytes(json!(true), DType::Bool), Some(vec![1]));
        assert_eq!(fill_bytes(json!("NaN"), DType::Float32), Some(f32::NAN.to_le_bytes().to_vec()));
        assert_eq!(fill_bytes(json!("-Infinity"), DType::Float16), Some(vec![0, 0xfc]));
        assert_eq!(fill_bytes(json!("0x7fc00001"), DType::Float32), Some(vec![1, 0, 0xc0, 0x7f]));
        assert_eq!(fill_bytes(json!([1, "NaN"]), DType::Complex64).map(|it| it.len()), Some(8));
        assert_eq!(
            fill_bytes(json!("AACAPwAAAEA="), DType::Complex64),
            fill_bytes(json!([1, 2]), DType::Complex64)
        );
        assert_eq!(fill_bytes(json!(null), DType::Int8), None);
    }

    #[test]
    fn numbers_as_text_are_numbers() {
        assert_eq!(fill_bytes(json!("0"), DType::UInt16), Some(vec![0, 0]));
        assert_eq!(fill_bytes(json!(" -2"), DType::Int8), Some(vec![0xfe]));
        assert_eq!(
            fill_bytes(json!("7.5"), DType::Float32),
            fill_bytes(json!(7.5), DType::Float32)
        );
        assert_eq!(
            fill_bytes(json!("1e2"), DType::Float64),
            fill_bytes(json!(100), DType::Float64)
        );
        assert_eq!(
            fill_bytes(json!("nan"), DType::Float16),
            fill_bytes(json!("NaN"), DType::Float16)
        );
        assert_eq!(
            fill_bytes(json!("2"), DType::Complex64),
            fill_bytes(json!([2, 0]), DType::Complex64)
        );
        for (text, dtype) in [("7.5", DType::Int16), ("70000", DType::UInt16), ("1", DType::Bool)] {
            assert_eq!(fill_bytes(json!(text), dtype), None, "{text}");
        }
    }

    #[test]
    fn attributes_of_xarray_are_float64_in_base64() {
        let of = |text: &str, dtype| of_attribute(&json!(text), &ZarrElement::Number(dtype));
        assert_eq!(of("AAAAAAAA+H8=", DType::Float32), Some(f32::NAN.to_le_bytes().to_vec()));
        assert_eq!(of("AAAAAAAA8L8=", DType::Float64), Some((-1_f64).to_le_bytes().to_vec()));
        assert_eq!(of("AAAAAAAA8L8=", DType::Int16), None, "integers are numbers of JSON");
        assert_eq!(of("AACAPw==", DType::Float32), None, "four bytes");
        assert_eq!(of("missing", DType::Float32), None);
    }

    #[test]
    fn texts_are_without_zeros_at_their_end() {
        let of = |value: Value, is_points| {
            let element = ZarrElement::FixedText { size: 8, is_points };
            element_of(Some(&value), &element, ZarrOrder::Big).ok().flatten()
        };
        assert_eq!(of(json!("YWI="), false), Some(b"ab".to_vec()));
        assert_eq!(of(json!("b"), true), Some(vec![0, 0, 0, b'b']));
        assert_eq!(of(json!(0), true), Some(vec![]));
        assert_eq!(of(json!(""), false), Some(vec![]));
        for value in [json!("abc"), json!(1), json!([])] {
            assert_eq!(of(value.clone(), true), None, "{value}");
        }
        let text = element_of(Some(&json!("\u{e9}")), &ZarrElement::Text, ZarrOrder::Little);
        assert_eq!(text.ok().flatten(), Some("\u{e9}".as_bytes().to_vec()));
    }

    #[test]
    fn values_of_other_types_are_refused() {
        for (value, dtype) in [
            (json!(256), DType::UInt8),
            (json!(0.5), DType::Int32),
            (json!("x"), DType::Float32),
            (json!("0x7fc0"), DType::Float32),
            (json!("1e2"), DType::Int32),
            (json!([1]), DType::Complex64),
            (json!(2), DType::Bool),
            (json!({}), DType::Int8),
        ] {
            let element = ZarrElement::Number(dtype);
            assert!(element_of(Some(&value), &element, ZarrOrder::Little).is_err(), "{value}");
        }
    }

    #[test]
    fn narrow_numbers_are_the_nearest() {
        let cases = [
            (1.0, 0x3c00),
            (65504.0, 0x7bff),
            (65519.0, 0x7bff),
            (65520.0, 0x7c00),
            (1e300, 0x7c00),
            (5.960_464_477_539_063e-8, 1),
            (2.980_232_238_769_531_3e-8, 0),
            (2.99e-8, 1),
            (6.097_555_160_522_461e-5, 0x3ff),
            (6.103_515_625e-5, 0x400),
            (1.000_488_281_25, 0x3c00),
            (1.001_464_843_75, 0x3c02),
            (0.0, 0),
            (5e-324, 0),
        ];
        for (number, wanted) in cases {
            assert_eq!(narrow16(number, 5), wanted, "{number}");
            assert_eq!(narrow16(-number, 5), wanted | 0x8000, "-{number}");
        }
        assert_eq!(narrow16(1.0, 8), 0x3f80);
        assert_eq!(narrow16(3.4e38, 8), 0x7f80);
        assert_eq!(narrow16(f64::NAN, 8), 0x7fc0);
    }
}
