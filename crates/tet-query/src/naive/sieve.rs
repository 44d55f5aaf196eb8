//! Which elements count: comparisons with numbers, and what is null.

use std::cmp::Ordering;

use half::{bf16, f16};
use tet_format::DType;

use super::Cell;
use crate::reduction::{Compare, Filter, Number};

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
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "rounding is what is wanted"
)]
fn narrowed(dtype: DType, number: Number) -> f64 {
    let wide = number.to_f64();
    let (narrow, most) = match dtype {
        DType::Float16 => (f16::from_f64(wide).to_f64(), f16::MAX.to_f64()),
        DType::BFloat16 => (bf16::from_f64(wide).to_f64(), bf16::MAX.to_f64()),
        DType::Float32 => (f64::from(wide as f32), f64::from(f32::MAX)),
        _ => (wide, f64::MAX),
    };
    if wide.abs() <= most { narrow } else { wide }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_at_the_right_width() {
        use Ordering::{Equal, Greater, Less};
        let big = (1_i128 << 60) + 1;
        for (dtype, element, number, wanted) in [
            (DType::Float32, Cell::Float(0.1_f32.into()), Number::Float(0.1), Some(Equal)),
            (DType::Float64, Cell::Float(0.1_f32.into()), Number::Float(0.1), Some(Greater)),
            (DType::Float16, Cell::Float(f64::INFINITY), Number::Int(70_000), Some(Greater)),
            (DType::Float16, Cell::Float(65_504.0), Number::Int(70_000), Some(Less)),
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
}
