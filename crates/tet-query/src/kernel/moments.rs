//! Variances: how many elements a cell took, their mean, and the sum of their squared distances
//! from it.
//!
//! ```text
//!   8, 16 bits   exact sums of the elements and of their squares, subtracted at the end
//!   others       blocks and strips, less a pivot near their mean
//!                  -> count, mean, squared distances --Chan--> those of the cell
//! ```
//!
//! A mean is the sum of two floats, so that merging loses nothing where elements are large and
//! close together. Integers of 64 bits are not rounded before the pivot is taken off.

mod distance;
mod exact;
mod part;
mod shifted;
#[cfg(test)]
mod tests;

use std::fmt::Debug;

use half::{bf16, f16};

use self::exact::ExactSpread;
use self::shifted::ShiftedSpread;
use super::Kernel;
use crate::element::Element;

/// Result that is made of a variance.
pub(crate) trait Measure: Debug + Send + 'static {
    fn from_variance(variance: f64) -> f64;
}

/// The variance itself.
#[derive(Debug)]
pub(crate) struct Variance;

/// Its root: the standard deviation.
#[derive(Debug)]
pub(crate) struct Deviation;

impl Measure for Variance {
    fn from_variance(variance: f64) -> f64 {
        variance
    }
}

impl Measure for Deviation {
    fn from_variance(variance: f64) -> f64 {
        variance.sqrt()
    }
}

/// The variances of an element type.
pub(super) trait Spread: Element {
    /// Null where nothing was folded; as NumPy divides by 0 where no more than `ddof` elements were.
    type Spread<M: Measure>: Kernel<Self>;
}

macro_rules! spread {
    ($($type:ty => $spread:ident;)+) => {$(
        impl Spread for $type {
            type Spread<M: Measure> = $spread<M>;
        }
    )+};
}

spread! {
    f16 => ShiftedSpread;
    bf16 => ShiftedSpread;
    f32 => ShiftedSpread;
    f64 => ShiftedSpread;
    i8 => ExactSpread;
    i16 => ExactSpread;
    i32 => ShiftedSpread;
    i64 => ShiftedSpread;
    u8 => ExactSpread;
    u16 => ExactSpread;
    u32 => ShiftedSpread;
    u64 => ShiftedSpread;
}

/// The squared distances of `count` elements by what is left of them.
#[allow(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn variance(m2: f64, count: u64, ddof: u32) -> f64 {
    m2 / count.saturating_sub(u64::from(ddof)) as f64
}
