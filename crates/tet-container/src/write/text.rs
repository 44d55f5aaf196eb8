//! One element as text that reads back as itself.

use std::fmt::Write;

use half::{bf16, f16};
use tet_format::DType;
use tet_query::{Dataset, nearest_bf16, nearest_f16};

use crate::write::stream;
use crate::{Error, Result};

/// Whether elements of `dtype` have a text.
pub fn is_known(dtype: DType) -> bool {
    !matches!(dtype, DType::Complex64 | DType::Complex128) && dtype.size().is_some()
}

/// Checks that the elements of a dataset of numbers have a text; messages name the format `encoding`.
///
/// # Errors
/// The dataset cannot be read, or its type has no text.
pub fn check(dataset: &Dataset, encoding: &'static str) -> Result<()> {
    let dtype = stream::whole(dataset)?.dtype();
    let name = || dataset.name.clone();
    is_known(dtype).then_some(()).ok_or_else(|| Error::NoDType { dataset: name(), dtype, encoding })
}

/// Appends the text of one little-endian element.
///
/// # Panics
/// Never: writing to a string does not fail.
pub fn push(dtype: DType, element: &[u8], out: &mut String) {
    macro_rules! le {
        ($T:ty) => {
            element.try_into().map(<$T>::from_le_bytes).unwrap_or_default()
        };
    }
    let written = match dtype {
        DType::Float16 => shortest(f64::from(le!(f16)), out, |value| {
            nearest_f16(value).to_bits() == le!(f16).to_bits()
        }),
        DType::BFloat16 => shortest(f64::from(le!(bf16)), out, |value| {
            nearest_bf16(value).to_bits() == le!(bf16).to_bits()
        }),
        DType::Float32 => write!(out, "{:?}", le!(f32)),
        DType::Float64 => write!(out, "{:?}", le!(f64)),
        DType::Int8 => write!(out, "{}", le!(i8)),
        DType::Int16 => write!(out, "{}", le!(i16)),
        DType::Int32 => write!(out, "{}", le!(i32)),
        DType::Int64 => write!(out, "{}", le!(i64)),
        DType::UInt8 => write!(out, "{}", le!(u8)),
        DType::Bool => write!(out, "{}", le!(u8) != 0),
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

    /// The text lies nearer to its element than to both neighbors, or as near where that is even.
    fn check_nearest(dtype: DType, wide: fn(u16) -> f64) {
        for bits in 0..=u16::MAX {
            let found = text(dtype, &bits.to_le_bytes());
            let (value, read) = (wide(bits), found.parse::<f64>().unwrap());
            if !value.is_finite() {
                assert!(value.total_cmp(&read).is_eq() || value.is_nan() && read.is_nan());
                continue;
            }
            for other in [bits.wrapping_add(1), bits.wrapping_sub(1)].map(wide) {
                let (near, far) = ((read - value).abs(), (read - other).abs());
                assert!(near < far || far.is_nan() || near == far && bits & 1 == 0, "{found}");
            }
        }
    }

    #[test]
    fn every_half_reads_back_in_at_most_five_digits() {
        check_nearest(DType::Float16, |bits| f16::from_bits(bits).to_f64());
        check_nearest(DType::BFloat16, |bits| bf16::from_bits(bits).to_f64());
        // Between these two lies 1.39e-13, so near to the middle that it takes all bits to tell.
        assert_eq!(text(DType::BFloat16, &0x2a1c_u16.to_le_bytes()), "1.386e-13");
        assert_eq!(text(DType::BFloat16, &0x2a1d_u16.to_le_bytes()), "1.39e-13");
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
        assert_eq!(text(DType::Bool, &[0]), "false");
        assert_eq!(text(DType::Bool, &[2]), "true");
    }
}
