//! The fill value of a dataset, which marks missing elements.
//!
//! It comes from the attributes `_FillValue`, `missing_value` and `fill_value`, the first of them
//! that is a number.

use tet_format::DType;

use crate::catalog::{AttrText, Dataset};
use crate::reduction::Number;

/// The attributes that may hold the fill value, by precedence.
const ATTRS: [&str; 3] = ["_FillValue", "missing_value", "fill_value"];

/// The fill value of a dataset, if its attributes have one; where masked elements are decoded, it is NaN.
#[must_use]
pub fn fill_of(dataset: &Dataset) -> Option<Number> {
    if dataset.is_masked() {
        return Some(Number::Float(f64::NAN));
    }
    ATTRS.iter().find_map(|&name| number(dataset.attrs.get(name)?))
}

impl Dataset {
    /// The integer of masked elements, in decoded times that stay integers ([`Dataset::with_exact_times`]): NumPy's NaT.
    /// Masked elements of any other decoded dataset are NaN.
    #[must_use]
    pub fn masked_integer(&self) -> Option<i64> {
        (self.dtype == Some(DType::Int64) && self.is_masked()).then_some(i64::MIN)
    }
}

impl Number {
    /// Whether a dtype holds the number, rounded if it is a float.
    #[must_use]
    pub fn fits(self, dtype: DType) -> bool {
        if dtype.is_float() {
            return true;
        }
        let integer = match self {
            Number::Int(integer) => integer,
            #[allow(
                clippy::cast_possible_truncation,
                reason = "whole and inside an i128 by the test"
            )]
            Number::Float(float) if float.fract() == 0.0 && float.abs() < 1e30 => float as i128,
            Number::Float(_) => return false,
        };
        let bits = dtype.bit_width();
        match dtype {
            DType::Bool => (0..=1).contains(&integer),
            _ if dtype.is_unsigned_integer() => 0 <= integer && integer >> bits == 0,
            _ if dtype.is_signed_integer() => matches!(integer >> (bits - 1), 0 | -1),
            _ => false,
        }
    }
}

/// The number of an attribute that is a number, a list of one, or text.
fn number(attr: &AttrText) -> Option<Number> {
    let text = match attr {
        AttrText::Text(text) => text.trim(),
        AttrText::Json(json) | AttrText::Numbers { json, .. } => {
            let json = json.trim();
            let single = json.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            let text = single.unwrap_or(json).trim();
            text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text).trim()
        }
    };
    let float = || text.parse::<f64>().ok().map(Number::Float);
    text.parse::<i128>().ok().map(Number::Int).or_else(float)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fill_value_must_be_one_of_the_dtype() {
        for (number, dtype, wanted) in [
            (Number::Int(255), DType::UInt8, true),
            (Number::Int(256), DType::UInt8, false),
            (Number::Int(-1), DType::UInt8, false),
            (Number::Int(127), DType::Int8, true),
            (Number::Int(128), DType::Int8, false),
            (Number::Int(-128), DType::Int8, true),
            (Number::Int(-129), DType::Int8, false),
            (Number::Int(u64::MAX.into()), DType::UInt64, true),
            (Number::Int(i64::MIN.into()), DType::Int64, true),
            (Number::Int(i128::MAX), DType::UInt64, false),
            (Number::Float(-9999.0), DType::Int16, true),
            (Number::Float(0.5), DType::Int16, false),
            (Number::Float(f64::NAN), DType::Int64, false),
            (Number::Float(1e300), DType::Int64, false),
            (Number::Float(2_f64.powi(63)), DType::Int64, false),
            (Number::Float(2_f64.powi(63)), DType::UInt64, true),
            (Number::Float(1e300), DType::Float16, true),
            (Number::Int(1), DType::Bool, true),
            (Number::Int(2), DType::Bool, false),
        ] {
            assert_eq!(number.fits(dtype), wanted, "{number:?} {dtype:?}");
        }
    }

    #[test]
    fn numbers_are_read_from_numbers_lists_and_text() {
        let text = |text: &str| number(&AttrText::Text(text.to_owned()));
        let json = |json: &str| number(&AttrText::Json(json.to_owned()));
        for (found, wanted) in [
            (text("-9999"), Some(Number::Int(-9999))),
            (text(" 1e20 "), Some(Number::Float(1e20))),
            (text("-9999.0"), Some(Number::Float(-9999.0))),
            (text("none"), None),
            (text(""), None),
            (json("18446744073709551615"), Some(Number::Int(u64::MAX.into()))),
            (json("[ -32768 ]"), Some(Number::Int(-32768))),
            (json("\"0.5\""), Some(Number::Float(0.5))),
            (json("[1, 2]"), None),
            (json("null"), None),
            (json("true"), None),
            (json("{}"), None),
        ] {
            assert_eq!(found, wanted);
        }
        assert!(matches!(text("NaN"), Some(Number::Float(float)) if float.is_nan()));
        assert!(matches!(json("\"nan\""), Some(Number::Float(float)) if float.is_nan()));
    }
}
