//! Which kernel computes which operation over which elements.

use half::{bf16, f16};
use tet_format::DType;

use super::count::Count;
use super::extrema::{Max, Min};
use super::mean::Mean;
use super::{CellCount, Maker, Setup, Test, sum};
use crate::element::{Element, dispatch};
use crate::op::Op;

/// Picks the kernel of an operation; `None` for an operation that is not made of one, and for a
/// dtype whose elements are not numbers here.
pub(crate) fn maker(
    dtype: DType,
    op: Op,
    cells: CellCount,
    setup: Setup,
    filter: Option<Test>,
) -> Option<Maker> {
    dispatch!(dtype, T => Some(match (op.plain(), cells) {
        (Op::Count, _) => Maker::of::<T, Count>(setup, filter),
        (Op::Min, _) => Maker::of::<T, Min<T>>(setup, filter),
        (Op::Max, _) => Maker::of::<T, Max<T>>(setup, filter),
        (Op::Sum, CellCount::One) => Maker::of::<T, <T as Summed>::Whole>(setup, filter),
        (Op::Sum, CellCount::Many) => Maker::of::<T, <T as Summed>::Kept>(setup, filter),
        (Op::Mean, CellCount::One) => Maker::of::<T, Mean<<T as Summed>::Whole>>(setup, filter),
        (Op::Mean, CellCount::Many) => Maker::of::<T, Mean<<T as Summed>::Kept>>(setup, filter),
        _ => return None,
    }))?
}

/// The sums of an element type.
pub(super) trait Summed: Element {
    /// The sum of a whole selection.
    type Whole: sum::SumKernel<Self>;
    /// The sums along some axes.
    type Kept: sum::SumKernel<Self>;
}

macro_rules! summed {
    ($($type:ty => $whole:ty, $kept:ty;)+) => {$(
        impl Summed for $type {
            type Whole = $whole;
            type Kept = $kept;
        }
    )+};
}

summed! {
    f16 => sum::ExactSum, sum::LaneSum;
    bf16 => sum::ExactSum, sum::LaneSum;
    f32 => sum::ExactSum, sum::LaneSum;
    f64 => sum::PairSum, sum::PairSum;
    i8 => sum::IntegerSum, sum::IntegerSum;
    i16 => sum::IntegerSum, sum::IntegerSum;
    i32 => sum::IntegerSum, sum::IntegerSum;
    i64 => sum::IntegerSum, sum::IntegerSum;
    u8 => sum::IntegerSum, sum::IntegerSum;
    u16 => sum::IntegerSum, sum::IntegerSum;
    u32 => sum::IntegerSum, sum::IntegerSum;
    u64 => sum::IntegerSum, sum::IntegerSum;
}
