//! One element as text that reads back as itself.

use std::fmt::Write;

use half::{bf16, f16};
use tet_format::DType;

/// Whether elements of `dtype` have a text.
pub(crate) fn is_known(dtype: DType) -> bool {
    !matches!(dtype, DType::Complex64 | DType::Complex128) && dtype.size().is_some()
}

/// Appends the text of one little-endian element.
pub(crate) fn push(dtype: DType, element: &[u8], out: &mut String) {
    macro_rules! le {
        ($T:ty) => {
            element.try_into().map(<$T>::from_le_bytes).unwrap_or_default()
        };
    }
    let written = match dtype {
        DType::Float16 => shortest(f64::from(le!(f16)), out, |value| {
            f16::from_f64(value).to_bits() == le!(f16).to_bits()
        }),
        DType::BFloat16 => shortest(f64::from(le!(bf16)), out, |value| {
            bf16::from_f64(value).to_bits() == le!(bf16).to_bits()
        }),
        DType::Float32 => write!(out, "{:?}", le!(f32)),
        DType::Float64 => write!(out, "{:?}", le!(f64)),
        DType::Int8 => write!(out, "{}", le!(i8)),
        DType::Int16 => write!(out, "{}", le!(i16)),
        DType::Int32 => write!(out, "{}", le!(i32)),
        DType::Int64 => write!(out, "{}", le!(i64)),
        DType::UInt8 | DType::Bool => write!(out, "{}", le!(u8)),
        DType::UInt16 => write!(out, "{}", le!(u16)),
        DType::UInt32 => write!(out, "{}", le!(u32)),
        DType::UInt64 => write!(out, "{}", le!(u64)),
        _ => Ok(()),
    };
    written.expect("a string takes any text");
}

/// Writes the fewest digits that `is_same` accepts; NaN and infinities as they are.
fn shortest(value: f64, out: &mut String, is_same: impl Fn(f64) -> bool) -> std::fmt::Result {
    if !value.is_finite() {
        return write!(out, "{value:?}");
    }
    // Five significant digits tell all 16-bit floats apart.
    for precision in 0..=4 {
        let text = format!("{value:.precision$e}");
        match text.parse::<f64>() {
            Ok(rounded) if is_same(rounded) => return write!(out, "{rounded:?}"),
            _ => {}
        }
    }
    write!(out, "{value:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(dtype: DType, element: &[u8]) -> String {
        let mut out = String::new();
        push(dtype, element, &mut out);
        out
    }

    #[test]
    fn every_half_reads_back_in_at_most_five_digits() {
        for bits in 0..=u16::MAX {
            let half = f16::from_bits(bits);
            let found = text(DType::Float16, &bits.to_le_bytes());
            let read = f16::from_f64(found.parse::<f64>().unwrap());
            assert!(read.to_bits() == bits || half.is_nan() && read.is_nan(), "{found}");
            let brain = bf16::from_bits(bits);
            let found = text(DType::BFloat16, &bits.to_le_bytes());
            let read = bf16::from_f64(found.parse::<f64>().unwrap());
            assert!(read.to_bits() == bits || brain.is_nan() && read.is_nan(), "{found}");
        }
        assert_eq!(text(DType::Float16, &f16::from_f32(0.1).to_le_bytes()), "0.1");
        assert_eq!(text(DType::Float16, &f16::MAX.to_le_bytes()), "65500.0");
    }

    #[test]
    fn values_are_shortest_and_special_ones_have_names() {
        for (value, wanted) in [
            (0.1, "0.1"),
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (1e300, "1e300"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(text(DType::Float64, &value.to_le_bytes()), wanted);
        }
        assert_eq!(text(DType::Float32, &0.1_f32.to_le_bytes()), "0.1");
        assert_eq!(text(DType::Int64, &i64::MIN.to_le_bytes()), "-9223372036854775808");
        assert_eq!(text(DType::UInt64, &u64::MAX.to_le_bytes()), "18446744073709551615");
        assert_eq!(text(DType::Bool, &[1]), "1");
    }
}
