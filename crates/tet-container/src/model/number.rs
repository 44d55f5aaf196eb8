//! Numbers of attributes, from JSON to bytes.

use serde_json::Value;
use tet_format::DType;
use tet_query::AttrText;

/// A number of an attribute as little-endian bytes of a type; `None` where the type does not have the
/// number. A float is the nearest one.
pub fn le_bytes(dtype: DType, number: &Value) -> Option<Vec<u8>> {
    macro_rules! integer {
        ($T:ty) => {
            integer(number).and_then(|it| <$T>::try_from(it).ok())?.to_le_bytes().to_vec()
        };
    }
    Some(match dtype {
        DType::Int8 => integer!(i8),
        DType::Int16 => integer!(i16),
        DType::Int32 => integer!(i32),
        DType::Int64 => integer!(i64),
        DType::UInt8 => integer!(u8),
        DType::UInt16 => integer!(u16),
        DType::UInt32 => integer!(u32),
        DType::UInt64 => integer!(u64),
        #[allow(clippy::cast_possible_truncation, reason = "the nearest float is wanted")]
        DType::Float32 => (float(number)? as f32).to_le_bytes().to_vec(),
        DType::Float16 => half::f16::from_f64(float(number)?).to_le_bytes().to_vec(),
        DType::BFloat16 => half::bf16::from_f64(float(number)?).to_le_bytes().to_vec(),
        DType::Float64 => float(number)?.to_le_bytes().to_vec(),
        _ => return None,
    })
}

/// The integer that a number is.
fn integer(number: &Value) -> Option<i128> {
    let Value::Number(number) = number else { return None };
    if let Some(integer) = number.as_i128() {
        return Some(integer);
    }
    let value = number.as_f64()?;
    let is_whole = value.fract() == 0.0 && value.abs() < 2.0_f64.powi(63);
    #[allow(clippy::cast_possible_truncation, reason = "it is whole and below 2^63")]
    is_whole.then_some(value as i128)
}

/// The float that a number is; integers that no float is have none.
fn float(number: &Value) -> Option<f64> {
    match number {
        Value::String(name) => special(name),
        Value::Number(number) => {
            let value = number.as_f64()?;
            let exact = number.as_i128().is_none_or(|it| it.unsigned_abs() <= 1 << 53);
            exact.then_some(value)
        }
        _ => None,
    }
}

/// A float that JSON has no number for.
fn special(name: &str) -> Option<f64> {
    match name {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// Whether a value is a number, or a float that JSON has no number for.
pub fn is_number(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::String(name) => special(name).is_some(),
        _ => false,
    }
}

/// The numbers of an attribute, and whether it is a list of them; `None` for other attributes.
pub fn numbers(attr: &AttrText) -> Option<(Vec<Value>, Listing)> {
    let value: Value = serde_json::from_str(attr.json()?).ok()?;
    let (values, listing) = match value {
        Value::Array(values) => (values, Listing::List),
        value => (vec![value], Listing::One),
    };
    let has_number = values.iter().any(|value| matches!(value, Value::Number(_)));
    let is_typed = matches!(attr, AttrText::Numbers { .. });
    let are_numbers = values.iter().all(is_number) && (is_typed || has_number);
    are_numbers.then_some((values, listing))
}

/// Whether an attribute is a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// One number.
    One,
    /// A list of any length.
    List,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_or_absent() {
        let bytes = |dtype, text: &str| le_bytes(dtype, &serde_json::from_str(text).expect("JSON"));
        assert_eq!(bytes(DType::Int8, "-1"), Some(vec![255]));
        assert_eq!(bytes(DType::Int8, "-1.0"), Some(vec![255]));
        assert_eq!(bytes(DType::Int8, "200"), None);
        assert_eq!(bytes(DType::Int8, "1.5"), None);
        assert_eq!(bytes(DType::UInt64, "18446744073709551615"), Some(vec![255; 8]));
        assert_eq!(bytes(DType::Float64, "9007199254740993"), None);
        assert_eq!(bytes(DType::Float32, "0.1"), Some(0.1_f32.to_le_bytes().to_vec()));
        assert_eq!(bytes(DType::Float64, "\"-Infinity\""), {
            Some(f64::NEG_INFINITY.to_le_bytes().to_vec())
        });
        assert_eq!(bytes(DType::Float64, "\"x\""), None);
    }

    #[test]
    fn lists_of_numbers_are_told_from_others() {
        let of = |text: &str| numbers(&AttrText::Json(text.to_owned()));
        assert_eq!(of("5").map(|(values, listing)| (values.len(), listing)), {
            Some((1, Listing::One))
        });
        assert_eq!(of("[1, 2.5]").map(|(values, listing)| (values.len(), listing)), {
            Some((2, Listing::List))
        });
        for other in ["[]", "true", "[1, \"a\"]", "[[1]]", "{}", "[\"NaN\"]"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
