//! Attributes as JSON, and the attribute `_FillValue` as the fill value of an array.
//!
//! Numbers lose their types, since JSON has none; each keeps its value, so a `float32` is written with the
//! digits of the `float64` it is equal to, as xarray does.

use crate::ZarrFormat;
use half::f16;
use serde_json::{Number, Value, json};
use tet_format::DType;
use tet_query::AttrText;

use tet_container::model::attributes::FILL_KEY;
use tet_container::model::number::{le_bytes, numbers};

/// Digits of an integer that JSON readers may round, at least.
const DIGITS_MAX: usize = 19;

/// An attribute as JSON; `None` where JSON readers would change it.
pub(in super::super) fn json(attr: &AttrText) -> Option<Value> {
    let text = match attr {
        AttrText::Text(text) => return Some(Value::from(text.as_str())),
        AttrText::Json(json) | AttrText::Numbers { json, .. } => json,
    };
    let value = serde_json::from_str(text).ok().filter(|_| !has_long_integer(text))?;
    Some(match attr {
        AttrText::Numbers { dtype, .. } => widened(value, *dtype),
        _ => value,
    })
}

/// Whether JSON text has an integer with too many digits for programs that read integers as floats.
fn has_long_integer(json: &str) -> bool {
    let (mut is_text, mut is_escaped, mut is_fraction, mut count) = (false, false, false, 0);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'0'..=b'9' => count += usize::from(!is_fraction),
            b'.' | b'e' | b'E' => (is_fraction, count) = (true, 0),
            b'+' | b'-' => {}
            _ => {
                if DIGITS_MAX < count {
                    return true;
                }
                (is_fraction, count) = (false, 0);
            }
        }
    }
    DIGITS_MAX < count
}

/// Narrow floats as the `float64` that they are.
fn widened(value: Value, dtype: DType) -> Value {
    let narrow = |value: f64| match dtype {
        #[allow(clippy::cast_possible_truncation, reason = "the digits stand for the nearest one")]
        DType::Float32 | DType::Complex64 => f64::from(value as f32),
        DType::Float16 => f16::from_f64(value).to_f64(),
        _ => value,
    };
    match value {
        Value::Array(list) => list.into_iter().map(|it| widened(it, dtype)).collect(),
        Value::Number(number) if dtype.is_float() || dtype.is_complex() => {
            let wide = number.as_f64().map(narrow).and_then(Number::from_f64);
            Value::Number(wide.unwrap_or(number))
        }
        value => value,
    }
}

/// The fill value of an array.
#[derive(Debug)]
pub(super) struct Fill {
    /// Its bytes.
    pub(super) element: Vec<u8>,
    /// Its value in a JSON document.
    pub(super) json: Value,
}

/// The fill value that an attribute is, where it is a number that the type has.
pub(super) fn given_fill(attr: &AttrText, dtype: DType) -> Option<Fill> {
    let element = le_bytes(dtype, &one(attr)?)?;
    let json = serde_json::from_str(AttrText::number(dtype, &element).json()?).ok()?;
    Some(Fill { element, json })
}

/// The only number of an attribute; files without types of attributes have NaN as text.
fn one(attr: &AttrText) -> Option<Value> {
    let mut values = match attr {
        AttrText::Text(text) => vec![Value::from(text.as_str())],
        attr => numbers(attr)?.0,
    };
    values.pop().filter(|_| values.is_empty())
}

/// The attribute `_FillValue` of version 3 for an array of this type, as xarray encodes it.
pub(super) fn fill_attribute(attr: &AttrText, dtype: DType, format: ZarrFormat) -> Option<Value> {
    if format == ZarrFormat::V2 {
        return None;
    }
    if dtype.is_float() {
        let double = le_bytes(DType::Float64, &json(&number_of(attr)?)?)?;
        let double = f64::from_le_bytes(double.try_into().ok()?);
        return Some(json!(crate::fill_attribute(double)));
    }
    // A list of one number is that number.
    dtype.is_integer().then(|| one(attr).filter(Value::is_number)).flatten()
}

/// An attribute of one number as that number, with its type.
fn number_of(attr: &AttrText) -> Option<AttrText> {
    let json = one(attr)?.to_string();
    Some(match attr {
        AttrText::Numbers { dtype, .. } => AttrText::Numbers { dtype: *dtype, json },
        _ => AttrText::Json(json),
    })
}

/// Whether an attribute is the one of the fill value.
pub(in super::super) fn is_fill(key: &str) -> bool {
    key == FILL_KEY
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(dtype: DType, json: &str) -> AttrText {
        AttrText::Numbers { dtype, json: json.to_owned() }
    }

    #[test]
    fn numbers_keep_their_values() {
        assert_eq!(json(&typed(DType::Float32, "0.1")), Some(json!(0.100_000_001_490_116_12)));
        assert_eq!(json(&typed(DType::Float64, "[0.1,\"NaN\"]")), Some(json!([0.1, "NaN"])));
        assert_eq!(json(&typed(DType::Int8, "[-1]")), Some(json!([-1])));
        let of = |text: &str| json(&AttrText::Json(text.to_owned()));
        assert_eq!(of("9223372036854775807"), Some(json!(i64::MAX)));
        assert!(of("{\"a\": \"12345678901234567890123\"}").is_some());
        assert!(of("0.12345678901234567890123").is_some());
        assert_eq!(of("[1, 12345678901234567890123]"), None);
        assert_eq!(of("1e999"), None);
    }

    #[test]
    fn a_fill_value_is_exact_or_absent() {
        let of = |attr: &AttrText, dtype| given_fill(attr, dtype).map(|it| (it.element, it.json));
        let nan = AttrText::Text("NaN".to_owned());
        assert_eq!(of(&nan, DType::Float32), Some((vec![0, 0, 0xc0, 0x7f], json!("NaN"))));
        let minus = typed(DType::Float64, "[-0.0]");
        assert_eq!(of(&minus, DType::Float64), Some((vec![0, 0, 0, 0, 0, 0, 0, 128], json!(-0.0))));
        assert_eq!(of(&typed(DType::Int16, "-9"), DType::Int16), Some((vec![247, 255], json!(-9))));
        assert_eq!(of(&typed(DType::Int16, "300"), DType::Int8), None);
        assert_eq!(of(&typed(DType::Int16, "[1,2]"), DType::Int16), None);
        assert_eq!(of(&AttrText::Text("none".to_owned()), DType::Float32), None);
    }

    #[test]
    fn version_3_has_floats_in_base64() {
        let of = |attr: &AttrText, dtype| fill_attribute(attr, dtype, ZarrFormat::V3);
        let nan = typed(DType::Float32, "\"NaN\"");
        assert_eq!(of(&nan, DType::Float32), Some(json!("AAAAAAAA+H8=")));
        assert_eq!(
            of(&typed(DType::Float64, "[-5.5]"), DType::Float64),
            Some(json!("AAAAAAAAFsA="))
        );
        assert_eq!(of(&typed(DType::Int16, "[-9]"), DType::Int16), Some(json!(-9)));
        assert_eq!(of(&AttrText::Text("x".to_owned()), DType::Float32), None);
        assert_eq!(fill_attribute(&nan, DType::Float32, ZarrFormat::V2), None);
    }
}
