//! Sums: exact for integers and, over a whole selection, for float32; compensated elsewhere.

mod exact;
mod fixed;
mod integer;
mod lanes;
mod pair;
mod whole;

pub(super) use exact::add_lanes;
pub(super) use fixed::power_of_two;
pub(super) use integer::{Integer, IntegerSum};
pub(super) use lanes::LaneSum;
pub(crate) use pair::two_sum;
pub(super) use pair::{Pair, PairSum};
pub(super) use whole::ExactSum;

use super::Kernel;
use crate::element::Element;

/// A sum that a mean can be taken of.
pub(crate) trait SumKernel<T: Element>: Kernel<T> {
    /// The sum of each cell divided by its count; any number where that is 0.
    fn means(self, counts: &[u64]) -> Vec<f64>;
    /// How many NaN one cell met.
    fn nan_count_of(&self, cell: usize) -> u64;
}
