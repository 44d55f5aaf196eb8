//! The fill value of a new array, from the bytes of its element.

use serde_json::{Value, json};
use tet_format::DType;

use crate::array::ZarrFormat;
use crate::element::{ZarrElement, ZarrOrder};
use crate::fill;

/// The fill value whose element has these little-endian bytes, as a document has it; `None` where the version has no
/// spelling of it: in version 2 every NaN is one.
///
/// ```
/// use serde_json::json;
/// use tet_format::DType;
/// use tet_zarr::{ZarrFormat, fill_json};
///
/// let fill = |dtype, bytes: &[u8], format| fill_json(dtype, bytes, format);
/// assert_eq!(fill(DType::Int16, &[0xf7, 0xff], ZarrFormat::V2), Some(json!(-9)));
/// let nan = [1, 0, 0xc0, 0x7f];
/// assert_eq!(fill(DType::Float32, &nan, ZarrFormat::V3), Some(json!("0x7fc00001")));
/// assert_eq!(fill(DType::Float32, &nan, ZarrFormat::V2), None);
/// ```
#[must_use]
pub fn fill_json(dtype: DType, element: &[u8], format: ZarrFormat) -> Option<Value> {
    let half = match dtype {
        DType::Complex64 => Some(DType::Float32),
        DType::Complex128 => Some(DType::Float64),
        _ => None,
    };
    let value = match half {
        Some(half) => {
            let (real, imaginary) = element.split_at_checked(element.len() / 2)?;
            json!([fill_json(half, real, format)?, fill_json(half, imaginary, format)?])
        }
        None => plain(dtype, element)?,
    };
    let read = |value: &Value| {
        let number = ZarrElement::Number(dtype);
        fill::element_of(Some(value), &number, ZarrOrder::Little).ok().flatten()
    };
    let is_exact = |value: &Value| read(value).is_some_and(|read| read == element);
    if is_exact(&value) {
        return Some(value);
    }
    let digits: String = element.iter().rev().map(|byte| format!("{byte:02x}")).collect();
    let bits = Value::from(format!("0x{digits}"));
    (format == ZarrFormat::V3 && dtype.is_float() && is_exact(&bits)).then_some(bits)
}

/// The value as a number, or as a name of a float that is none.
fn plain(dtype: DType, element: &[u8]) -> Option<Value> {
    macro_rules! number {
        ($T:ty) => {
            <$T>::from_le_bytes(element.try_into().ok()?)
        };
    }
    Some(match dtype {
        DType::Bool => json!(element == [1]),
        DType::Int8 => json!(number!(i8)),
        DType::Int16 => json!(number!(i16)),
        DType::Int32 => json!(number!(i32)),
        DType::Int64 => json!(number!(i64)),
        DType::UInt8 => json!(number!(u8)),
        DType::UInt16 => json!(number!(u16)),
        DType::UInt32 => json!(number!(u32)),
        DType::UInt64 => json!(number!(u64)),
        DType::Float16 => float(half(number!(u16))),
        DType::Float32 => float(f64::from(number!(f32))),
        DType::Float64 => float(number!(f64)),
        _ => return None,
    })
}

fn float(value: f64) -> Value {
    match value {
        value if value.is_nan() => json!("NaN"),
        f64::INFINITY => json!("Infinity"),
        f64::NEG_INFINITY => json!("-Infinity"),
        value => json!(value),
    }
}

/// The number that these bits of a `float16` are.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (bits >> 10 & 0x1f, f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2_f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        exponent => (1024.0 + fraction) * 2_f64.powi(i32::from(exponent) - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_comes_back() {
        let read = |dtype, value: &Value| {
            let number = ZarrElement::Number(dtype);
            fill::element_of(Some(value), &number, ZarrOrder::Little).ok().flatten()
        };
        for bits in 0..=u16::MAX {
            for dtype in [DType::Float16, DType::Int16, DType::UInt16] {
                let element = bits.to_le_bytes();
                let value = fill_json(dtype, &element, ZarrFormat::V3).unwrap();
                assert_eq!(read(dtype, &value).unwrap(), element, "{dtype:?} {bits:04x}");
                let is_nan = dtype == DType::Float16 && half(bits).is_nan() && bits != 0x7e00;
                let older = fill_json(dtype, &element, ZarrFormat::V2);
                assert_eq!(older, Some(value).filter(|_| !is_nan), "{dtype:?} {bits:04x}");
            }
        }
        let floats = [0.1, -0.0, 1e-45, f32::MAX, f32::INFINITY, f32::NAN, -f32::NAN];
        for (value, other) in floats.iter().zip(floats.iter().rev()) {
            let element = value.to_le_bytes();
            let json = fill_json(DType::Float32, &element, ZarrFormat::V3).unwrap();
            assert_eq!(read(DType::Float32, &json).unwrap(), element, "{value}");
            let pair = [value.to_le_bytes(), other.to_le_bytes()].concat();
            let json = fill_json(DType::Complex64, &pair, ZarrFormat::V3).unwrap();
            assert_eq!(read(DType::Complex64, &json).unwrap(), pair, "{value} {other}");
        }
    }

    #[test]
    fn values_that_are_none_are_left_out() {
        assert_eq!(fill_json(DType::Bool, &[1], ZarrFormat::V2), Some(json!(true)));
        assert_eq!(fill_json(DType::Bool, &[0], ZarrFormat::V2), Some(json!(false)));
        assert_eq!(fill_json(DType::Bool, &[2], ZarrFormat::V3), None);
        assert_eq!(fill_json(DType::Int32, &[1, 2], ZarrFormat::V3), None);
        assert_eq!(fill_json(DType::Complex64, &[0; 5], ZarrFormat::V3), None);
    }
}
