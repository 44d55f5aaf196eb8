//! Conversion of a number to another type: exact, but for floats that become shorter ones.
//!
//! Integers never pass through floats. A float becomes an integer only where it is whole; an integer becomes a
//! float only where the float is that integer; a float becomes the nearest one of the other type.

use half::{bf16, f16};

use super::compute::Narrow;
use crate::element::Element;
use crate::reduction::Number;

/// Elements whose numbers other types may have.
pub(crate) trait ToNumber: Element {
    /// The number, without loss.
    fn number(self) -> Number;
}

/// Elements that numbers become.
pub(crate) trait FromExact: Element {
    /// The element of this number; `None` where the type has none.
    fn from_exact(number: Number) -> Option<Self>;
}

macro_rules! integers {
    ($($type:ty),+) => {$(
        impl ToNumber for $type {
            #[inline(always)]
            fn number(self) -> Number {
                Number::Int(self.into())
            }
        }

        impl FromExact for $type {
            #[inline(always)]
            fn from_exact(number: Number) -> Option<$type> {
                match number {
                    Number::Int(integer) => integer.try_into().ok(),
                    Number::Float(float) => whole(float)?.try_into().ok(),
                }
            }
        }
    )+};
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! floats {
    ($($type:ty: $wide:expr;)+) => {$(
        impl ToNumber for $type {
            #[inline(always)]
            fn number(self) -> Number {
                let wide: fn($type) -> f64 = $wide;
                Number::Float(wide(self))
            }
        }

        impl FromExact for $type {
            #[inline(always)]
            fn from_exact(number: Number) -> Option<$type> {
                let wide: fn($type) -> f64 = $wide;
                let (float, integer) = match number {
                    Number::Int(integer) => (double(integer)?, true),
                    Number::Float(float) => (float, false),
                };
                let near = <$type>::narrow(float);
                let found = wide(near);
                let is_kept = if integer { found == float } else { found.is_finite() == float.is_finite() };
                is_kept.then_some(near)
            }
        }
    )+};
}

floats! {
    f16: |half| f64::from(half.to_f32());
    bf16: |half| f64::from(half.to_f32());
    f32: f64::from;
    f64: |double| double;
}

/// The integer that a float is.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "it is whole, and below 2^65")]
fn whole(float: f64) -> Option<i128> {
    const END: f64 = 36_893_488_147_419_103_232.0;
    (float.fract() == 0.0 && float.abs() < END).then_some(float as i128)
}

/// The double that an integer of at most 64 bits is.
#[inline(always)]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "it is compared")]
fn double(integer: i128) -> Option<f64> {
    let near = integer as f64;
    (near as i128 == integer).then_some(near)
}

/// Converts elements; gives the place of the first that the other type does not have.
pub(crate) fn convert<T: ToNumber, O: FromExact>(elements: &[T], out: &mut [O]) -> Option<usize> {
    let mut is_lost = false;
    for (out, element) in out.iter_mut().zip(elements) {
        match O::from_exact(element.number()) {
            Some(number) => *out = number,
            None => is_lost = true,
        }
    }
    let first = || elements.iter().position(|element| O::from_exact(element.number()).is_none());
    if is_lost { first() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact<T: ToNumber, O: FromExact>(element: T) -> Option<O> {
        O::from_exact(element.number())
    }

    #[test]
    fn integers_become_only_what_they_are() {
        assert_eq!(exact::<i64, u64>(-1), None);
        assert_eq!(exact::<u64, i64>(u64::MAX), None);
        assert_eq!(exact::<u64, u64>(u64::MAX), Some(u64::MAX));
        assert_eq!(exact::<i16, i8>(-128), Some(-128_i8));
        assert_eq!(exact::<i16, i8>(128), None);
        assert_eq!(exact::<i32, f32>(1 << 24), Some(16_777_216.0_f32));
        assert_eq!(exact::<i32, f32>((1 << 24) + 1), None);
        assert_eq!(exact::<i64, f64>((1 << 53) + 1), None);
        assert_eq!(exact::<u64, f64>(u64::MAX), None);
        assert_eq!(exact::<i64, f64>(i64::MIN), Some(-(2_f64.powi(63))));
        assert_eq!(exact::<u32, f16>(65_504), Some(f16::MAX));
        assert_eq!(exact::<u32, f16>(65_505), None);
        assert_eq!(exact::<u32, f16>(100_000), None);
        assert_eq!(exact::<i16, bf16>(257), None);
    }

    #[test]
    fn floats_become_integers_where_they_are_whole() {
        assert_eq!(
            exact::<f64, u64>(18_446_744_073_709_549_568.0),
            Some(18_446_744_073_709_549_568)
        );
        assert_eq!(exact::<f64, u64>(18_446_744_073_709_551_616.0), None);
        assert_eq!(exact::<f64, i64>(-(2_f64.powi(63))), Some(i64::MIN));
        assert_eq!(exact::<f32, i32>(-0.0), Some(0));
        assert_eq!(exact::<f32, i32>(0.5), None);
        for lost in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
            assert_eq!(exact::<f64, i64>(lost), None, "{lost}");
        }
    }

    #[test]
    fn floats_become_the_nearest_and_finite_ones_stay_finite() {
        assert_eq!(exact::<f64, f32>(0.1), Some(0.1_f32));
        assert_eq!(exact::<f64, f32>(1e39), None);
        assert_eq!(exact::<f64, f32>(f64::INFINITY), Some(f32::INFINITY));
        assert_eq!(exact::<f64, f32>(1e-60), Some(0.0_f32));
        assert_eq!(exact::<f32, f16>(65_519.0), Some(f16::MAX));
        assert_eq!(exact::<f32, f16>(65_520.0), None);
        assert!(exact::<f32, f64>(f32::NAN).is_some_and(f64::is_nan));
        assert_eq!(exact::<f32, f64>(-0.0).map(f64::to_bits), Some((-0.0_f64).to_bits()));
        // A little above the middle of two neighbors, by less than a float32 can resolve.
        let above = 1.0 + 2_f64.powi(-11) + f64::EPSILON;
        assert_eq!(exact::<f64, f16>(above).map(f16::to_bits), Some(0x3c01));
    }

    #[test]
    fn the_first_element_that_is_lost_is_told() {
        let mut out = [0_u8; 4];
        assert_eq!(convert(&[1_i32, 2, 300, -1], &mut out), Some(2));
        assert_eq!(convert(&[1_i32, 2, 255, 0], &mut out), None);
        assert_eq!(out, [1, 2, 255, 0]);
    }
}
