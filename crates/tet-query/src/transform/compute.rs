//! The loops over elements that a transform is made of.
//!
//! Everything is computed in float64 and rounded once. A NaN comes out as one and the same NaN, so
//! that bits do not depend on how a machine hands NaN on.

use half::{bf16, f16};
use multiversion::multiversion;

use crate::element::{Element, nearest_bf16, nearest_f16};
use crate::kernel::Numeric;

/// Elements that are computed with as float64.
pub(crate) trait Wide: Numeric {
    /// The type of what comes out: floats keep theirs.
    type Float: Narrow;
}

/// Elements that float64 are rounded to.
pub(crate) trait Narrow: Element {
    /// The one NaN.
    const NAN: Self;
    /// The nearest value.
    fn narrow(value: f64) -> Self;
}

macro_rules! floats {
    ($($type:ty: $narrow:expr;)+) => {$(
        impl Wide for $type {
            type Float = $type;
        }

        impl Narrow for $type {
            const NAN: $type = <$type>::NAN;
            #[inline(always)]
            fn narrow(value: f64) -> $type {
                let narrow: fn(f64) -> $type = $narrow;
                if value.is_nan() { <$type>::NAN } else { narrow(value) }
            }
        }
    )+};
}

floats! {
    f16: nearest_f16;
    bf16: nearest_bf16;
    f32: |value| value as f32;
    f64: |value| value;
}

macro_rules! integers {
    ($($type:ty),+) => {$(
        impl Wide for $type {
            type Float = f64;
        }
    )+};
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64);

/// The numbers of the cells that some elements belong to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Params<'a> {
    /// All belong to one.
    One { shift: f64, scale: f64 },
    /// Each to its own.
    Each { shift: &'a [f64], scale: &'a [f64] },
}

impl Params<'_> {
    /// The divisor of the element at `at`.
    pub(super) fn scale(self, at: usize) -> f64 {
        match self {
            Params::One { scale, .. } => scale,
            Params::Each { scale, .. } => scale[at],
        }
    }
}

/// `(x - shift) / scale`, and NaN where the scale is zero.
pub(super) fn linear<T: Wide, O: Narrow>(elements: &[T], params: Params<'_>, out: &mut [O]) {
    match params {
        Params::One { shift, scale } => linear_one(elements, shift, or_nan(scale), out),
        Params::Each { shift, scale } => linear_each(elements, shift, scale, out),
    }
}

#[inline(always)]
fn or_nan(scale: f64) -> f64 {
    if scale == 0.0 { f64::NAN } else { scale }
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn linear_one<T: Wide, O: Narrow>(elements: &[T], shift: f64, scale: f64, out: &mut [O]) {
    for (out, element) in out.iter_mut().zip(elements) {
        *out = O::narrow((element.wide() - shift) / scale);
    }
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn linear_each<T: Wide, O: Narrow>(elements: &[T], shift: &[f64], scale: &[f64], out: &mut [O]) {
    let cells = shift.iter().zip(scale);
    for ((out, element), (shift, &scale)) in out.iter_mut().zip(elements).zip(cells) {
        *out = O::narrow((element.wide() - shift) / or_nan(scale));
    }
}

/// `exp(x - shift) / scale`.
pub(super) fn exp<T: Wide, O: Narrow>(elements: &[T], params: Params<'_>, out: &mut [O]) {
    for (at, (out, element)) in out.iter_mut().zip(elements).enumerate() {
        let (shift, scale) = match params {
            Params::One { shift, scale } => (shift, scale),
            Params::Each { shift, scale } => (shift[at], scale[at]),
        };
        *out = O::narrow((element.wide() - shift).exp() / scale);
    }
}

/// `ln(1 + x)`.
pub(super) fn log1p<T: Wide, O: Narrow>(elements: &[T], out: &mut [O]) {
    for (out, element) in out.iter_mut().zip(elements) {
        *out = O::narrow(element.wide().ln_1p());
    }
}

/// The square root.
#[multiversion(targets("x86_64+avx+avx2"))]
pub(super) fn sqrt<T: Wide, O: Narrow>(elements: &[T], out: &mut [O]) {
    for (out, element) in out.iter_mut().zip(elements) {
        *out = O::narrow(element.wide().sqrt());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A little past the middle of 1 and the next number, by less than a float32 can resolve.
    #[test]
    fn results_are_rounded_once() {
        let shifted =
            |digits: i32| Params::One { shift: -(2_f64.powi(-digits) + f64::EPSILON), scale: 1.0 };
        let (mut half, mut brain) = ([f16::ZERO], [bf16::ZERO]);
        linear::<f16, f16>(&[f16::ONE], shifted(11), &mut half);
        linear::<bf16, bf16>(&[bf16::ONE], shifted(8), &mut brain);
        assert_eq!((half[0].to_bits(), brain[0].to_bits()), (0x3c01, 0x3f81));
    }
}
