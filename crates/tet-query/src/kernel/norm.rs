//! Norms: the sum of magnitudes, and the root of the sum of squares.
//!
//! ```text
//!   l1   magnitudes go into the sums there are: exact for integers, within their bounds for floats
//!   l2   8, 16 bits   squares go into the sums of integers, exact until the root
//!        others       float64 blocks of squares, compensated between them; those too large or too
//!                     small for that are scaled first
//! ```
//!
//! Exact squares are kept where float64 would be slower than memory.

mod float;
mod magnitude;
mod square;
#[cfg(test)]
mod tests;

use half::{bf16, f16};

use self::float::FloatNorm;
pub(super) use self::magnitude::{Magnitude, MagnitudeSum};
use self::square::Root;
pub(super) use self::square::{Square, Squares};
use super::Kernel;
use crate::element::Element;

/// The root of the sum of squares of an element type.
pub(super) trait Normed: Element {
    type Norm: Kernel<Self>;
}

macro_rules! normed {
    ($($norm:ty: $($type:ty),+;)+) => {$($(
        impl Normed for $type {
            type Norm = $norm;
        }
    )+)+};
}

normed! {
    Root: i8, i16, u8, u16;
    FloatNorm: f16, bf16, f32, f64, i32, i64, u32, u64;
}
