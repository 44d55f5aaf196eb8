//! Sums: exact for integers and, over a whole selection, for float32; compensated elsewhere.
//!
//! Floats have three kernels, because each is at the speed of memory where the others are not: one cell of
//! narrow floats (`whole.rs`), many cells of them (`lanes.rs`), and float64 (`pair.rs`).

mod exact;
mod fixed;
mod integer;
mod lanes;
mod pair;
mod whole;

pub(super) use exact::add_lanes;
pub(crate) use fixed::FixedF64;
pub(super) use fixed::power_of_two;
pub(super) use integer::{Integer, IntegerSum, Terms, Total};
pub(super) use lanes::LaneSum;
pub(crate) use pair::two_sum;
pub(super) use pair::{Pair, PairSum};
pub(super) use whole::ExactSum;

use half::{bf16, f16};

use super::Kernel;
use crate::element::Element;

/// A sum that a mean can be taken of.
pub(crate) trait SumKernel<T: Element>: Kernel<T> {
    /// The sum of each cell divided by its count; any number where that is 0.
    fn means(self, counts: &[u64]) -> Vec<f64>;
    /// How many NaN one cell met.
    fn nan_count_of(&self, cell: usize) -> u64;
}

/// The sums of an element type.
pub(crate) trait Summed: Element {
    /// The sum of a whole selection.
    type Whole: SumKernel<Self>;
    /// The sums along some axes.
    type PerCell: SumKernel<Self>;
}

macro_rules! summed {
    ($($type:ty => $whole:ty, $per_cell:ty;)+) => {$(
        impl Summed for $type {
            type Whole = $whole;
            type PerCell = $per_cell;
        }
    )+};
}

summed! {
    f16 => ExactSum, LaneSum;
    bf16 => ExactSum, LaneSum;
    f32 => ExactSum, LaneSum;
    f64 => PairSum, PairSum;
    i8 => IntegerSum, IntegerSum;
    i16 => IntegerSum, IntegerSum;
    i32 => IntegerSum, IntegerSum;
    i64 => IntegerSum, IntegerSum;
    u8 => IntegerSum, IntegerSum;
    u16 => IntegerSum, IntegerSum;
    u32 => IntegerSum, IntegerSum;
    u64 => IntegerSum, IntegerSum;
}
