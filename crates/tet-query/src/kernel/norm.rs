//! Norms: the sum of magnitudes, and the root of the sum of squares.
//!
//! ```text
//!   l1   magnitudes go into the sums there are: exact for integers, within their bounds for floats
//!   l2   integers: squares in planes of 32 bits, exact until the root
//!        floats: blocks of squares, compensated between them; those too large or too small for
//!        that are scaled first
//! ```

mod float;
mod integer;
mod magnitude;
mod square;
#[cfg(test)]
mod tests;

use half::{bf16, f16};

use self::float::FloatNorm;
use self::integer::IntegerNorm;
pub(super) use self::integer::SquareSum;
pub(super) use self::magnitude::{Magnitude, MagnitudeSum};
pub(super) use self::square::Square;
use super::Kernel;
use crate::element::Element;

/// The root of the sum of squares of an element type.
pub(super) trait Normed: Element {
    type Norm: Kernel<Self>;
}

macro_rules! normed {
    ($($type:ty => $norm:ty;)+) => {$(
        impl Normed for $type {
            type Norm = $norm;
        }
    )+};
}

normed! {
    f16 => FloatNorm;
    bf16 => FloatNorm;
    f32 => FloatNorm;
    f64 => FloatNorm;
    i8 => IntegerNorm;
    i16 => IntegerNorm;
    i32 => IntegerNorm;
    i64 => IntegerNorm;
    u8 => IntegerNorm;
    u16 => IntegerNorm;
    u32 => IntegerNorm;
    u64 => IntegerNorm;
}
