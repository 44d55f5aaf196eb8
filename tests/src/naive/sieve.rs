//! Which elements count: comparisons with numbers, and what is null.

use std::cmp::Ordering;

use half::{bf16, f16};
use tet_format::DType;

use super::cell::Cell;
use tet_query::{Compare, Filter, Number};

/// Whether an element passes all tests of a filter.
pub(super) fn passes(dtype: DType, element: Cell, filter: &Filter) -> bool {
    let null = is_nan(element) || filter.fill.is_some_and(|fill| is_fill(dtype, element, fill));
    let tests = filter.tests.iter().all(|&(compare, number)| {
        let order = order(dtype, element, number);
        match compare {
            Compare::Eq => order == Some(Ordering::Equal),
            Compare::Ne => order != Some(Ordering::Equal),
            Compare::Lt => order == Some(Ordering::Less),
            Compare::Le => order.is_some_and(Ordering::is_le),
            Compare::Gt => order == Some(Ordering::Greater),
            Compare::Ge => order.is_some_and(Ordering::is_ge),
        }
    });
    tests && (!filter.is_null || null) && (!filter.is_not_null || !null)
}

pub(super) fn is_nan(element: Cell) -> bool {
    matches!(element, Cell::Float(float) if float.is_nan())
}

/// Whether an element is the fill value; NaN is when the fill value is NaN.
pub(super) fn is_fill(dtype: DType, element: Cell, fill: Number) -> bool {
    let both = is_nan(element) && fill.to_f64().is_nan();
    both || order(dtype, element, fill) == Some(Ordering::Equal)
}

/// How an element lies to a number; nothing when one of them is NaN.
fn order(dtype: DType, element: Cell, number: Number) -> Option<Ordering> {
    match (element, number) {
        (Cell::Int(element), Number::Int(number)) => Some(element.cmp(&number)),
        (Cell::Int(element), Number::Float(number)) => beside_float(element, number),
        (Cell::Float(element), number) => element.partial_cmp(&narrowed(dtype, number)),
        (Cell::Null, _) => None,
    }
}

/// An integer beside a float, both exact.
#[allow(clippy::cast_possible_truncation, reason = "a float of this size is a whole number's")]
fn beside_float(element: i128, number: f64) -> Option<Ordering> {
    let limit = 2_f64.powi(126);
    if number.is_nan() || limit <= number.abs() {
        return 0.0.partial_cmp(&number);
    }
    let below = number.floor();
    Some(element.cmp(&(below as i128)).then(below.total_cmp(&number)))
}

/// A number at the width of the elements, if it lies in their range.
fn narrowed(dtype: DType, number: Number) -> f64 {
    let wide = number.to_f64();
    if wide.abs() <= most(dtype) { at_width(dtype, wide) } else { wide }
}

/// The greatest finite element.
fn most(dtype: DType) -> f64 {
    match dtype {
        DType::Float16 => f16::MAX.to_f64(),
        DType::BFloat16 => bf16::MAX.to_f64(),
        DType::Float32 => f32::MAX.into(),
        _ => f64::MAX,
    }
}

/// The element nearest to a number: a whole multiple of what its last digit is worth.
pub(super) fn at_width(dtype: DType, wide: f64) -> f64 {
    let (digits, least) = match dtype {
        DType::Float16 => (11, -24),
        DType::BFloat16 => (8, -133),
        DType::Float32 => (24, -149),
        _ => return wide,
    };
    if !wide.is_finite() {
        return wide;
    }
    let exponent = i32::from((wide.to_bits() >> 52) as u16 & 0x7ff) - 1023;
    let unit = 2_f64.powi((exponent + 1 - digits).max(least));
    let near = (wide / unit).round_ties_even() * unit;
    if near.abs() <= most(dtype) { near } else { f64::INFINITY.copysign(wide) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_at_the_right_width() {
        use Ordering::{Equal, Greater, Less};
        let big = (1_i128 << 60) + 1;
        let (half_way, brain_way) = (1.0 + 2_f64.powi(-11), 1.0 + 2_f64.powi(-8));
        for (dtype, element, number, wanted) in [
            (DType::Float32, Cell::Float(0.1_f32.into()), Number::Float(0.1), Some(Equal)),
            (DType::Float64, Cell::Float(0.1_f32.into()), Number::Float(0.1), Some(Greater)),
            (DType::Float16, Cell::Float(f64::INFINITY), Number::Int(70_000), Some(Greater)),
            (DType::Float16, Cell::Float(65_504.0), Number::Int(70_000), Some(Less)),
            (DType::Float16, Cell::Float(1.0), Number::Float(half_way), Some(Equal)),
            (DType::Float16, Cell::Float(1.0), Number::Float(half_way.next_up()), Some(Less)),
            (DType::BFloat16, Cell::Float(1.0), Number::Float(brain_way), Some(Equal)),
            (DType::BFloat16, Cell::Float(1.0), Number::Float(brain_way.next_up()), Some(Less)),
            (DType::Float16, Cell::Float(f16::MAX.to_f64()), Number::Float(65_519.9), Some(Less)),
            (DType::Float64, Cell::Float(-0.0), Number::Int(0), Some(Equal)),
            (DType::Float64, Cell::Float(f64::NAN), Number::Int(0), None),
            (DType::Int64, Cell::Int(big), Number::Int(big - 1), Some(Greater)),
            (DType::Int64, Cell::Int(big), Number::Float(2_f64.powi(60)), Some(Greater)),
            (DType::Int32, Cell::Int(2), Number::Float(2.5), Some(Less)),
            (DType::Int32, Cell::Int(-2), Number::Float(-2.5), Some(Greater)),
            (DType::Int32, Cell::Int(3), Number::Float(3.0), Some(Equal)),
            (DType::Int32, Cell::Int(3), Number::Float(1e300), Some(Less)),
            (DType::Int32, Cell::Int(3), Number::Float(f64::NEG_INFINITY), Some(Greater)),
        ] {
            assert_eq!(order(dtype, element, number), wanted, "{dtype:?} {element:?} {number:?}");
        }
    }

    #[test]
    fn elements_are_the_nearest_to_themselves_and_singles_round_as_the_machine_does() {
        for bits in 0..=u16::MAX {
            let (half, brain) = (f16::from_bits(bits).to_f64(), bf16::from_bits(bits).to_f64());
            for (dtype, element) in [(DType::Float16, half), (DType::BFloat16, brain)] {
                let found = at_width(dtype, element);
                assert!(found.to_bits() == element.to_bits() || element.is_nan(), "{element:e}");
            }
            let wide = f64::from_bits(u64::from(bits).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            for wide in [wide, brain * 1.000_000_123_456_789, f64::from(f32::MAX) * 1.000_000_1] {
                let (found, wanted) = (at_width(DType::Float32, wide), f64::from(wide as f32));
                assert!(found.to_bits() == wanted.to_bits() || wide.is_nan(), "{wide:e}");
            }
        }
        assert_eq!(at_width(DType::Float16, 65_520.0), f64::INFINITY);
        assert_eq!(at_width(DType::Float16, -65_519.9), -65_504.0);
    }
}
