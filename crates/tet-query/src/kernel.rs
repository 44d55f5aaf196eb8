//! Reductions: a state, how elements fold into it, how states merge, what comes out.
//!
//! ```text
//!             one cell (the whole selection)     many cells (some axes kept)
//!   integers  exact: 64-bit halves, then i128    the same
//!   float32   exact, rounded once at the end     float64 chains of 64, compensated between
//!   float64   compensated element by element     the same
//! ```
//!
//! float16 and bfloat16 go with float32. Lanes, blocks and trees are fixed, so that one cut of the
//! elements gives the same bits on every machine; what is exact gives them for any cut.

mod count;
mod extrema;
mod mean;
mod special;
mod strip;
mod sum;
#[cfg(test)]
mod tests;

pub(crate) use count::Count;
pub(crate) use extrema::{Max, Min};
pub(crate) use mean::Mean;

use half::{bf16, f16};
use tet_format::{DType, Shape};

use crate::array::Array;
use crate::element::{Element, dispatch};
use crate::value::{Cells, NanPolicy, Op, Values};

/// A reduction over elements of one type, with one state per cell of the result.
pub(crate) trait Kernel<T: Element>: Sized + Send {
    /// States of nothing, one per cell.
    fn new(cell_count: usize, nan: NanPolicy) -> Self;
    /// Folds a contiguous run into one cell.
    fn fold_run(&mut self, cell: usize, elements: &[T]);
    /// Folds `rows` rows of `lanes` elements, `row_stride` apart, into as many cells, lane by lane.
    fn fold_lanes(
        &mut self,
        first_cell: usize,
        lanes: usize,
        elements: &[T],
        rows: usize,
        row_stride: usize,
    );
    /// Takes in the states of what comes later in plan order.
    fn merge(&mut self, later: Self);
    /// How many NaN were met; `None` for elements that know none.
    fn nan_count(&self) -> Option<u64> {
        None
    }
    /// The cells of the result.
    fn finish(self) -> Values;
}

/// How many cells a reduction has, as far as its numerics care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellCount {
    /// One: the whole selection.
    One,
    /// Some axes are kept, even if their extents are 1.
    Many,
}

/// What wants to know the element type and the kernel of an operation.
pub(crate) trait Visitor {
    /// What the visit gives.
    type Output;
    /// Is called once, with the types.
    fn visit<T: Element, K: Kernel<T>>(self) -> Self::Output;
}

/// Picks the kernel of an operation; `None` for a dtype whose elements are not numbers here.
pub(crate) fn with_kernel<V: Visitor>(
    dtype: DType,
    op: Op,
    cells: CellCount,
    visitor: V,
) -> Option<V::Output> {
    dispatch!(dtype, T => match (op, cells) {
        (Op::Count, _) => visitor.visit::<T, Count>(),
        (Op::Min, _) => visitor.visit::<T, Min<T>>(),
        (Op::Max, _) => visitor.visit::<T, Max<T>>(),
        (Op::Sum, CellCount::One) => visitor.visit::<T, <T as Summed>::Whole>(),
        (Op::Sum, CellCount::Many) => visitor.visit::<T, <T as Summed>::Kept>(),
        (Op::Mean, CellCount::One) => visitor.visit::<T, Mean<<T as Summed>::Whole>>(),
        (Op::Mean, CellCount::Many) => visitor.visit::<T, Mean<<T as Summed>::Kept>>(),
    })
}

/// The sums of an element type.
trait Summed: Element {
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

/// How many elements every cell took, as differences between neighbors: a fold over a range of
/// cells costs two additions.
#[derive(Clone, Debug)]
struct Folded(Vec<u64>);

impl Folded {
    fn new(cell_count: usize) -> Self {
        Self(vec![0; cell_count + 1])
    }

    #[inline]
    fn add(&mut self, first_cell: usize, lanes: usize, count: usize) {
        let count = count as u64;
        let end = first_cell + lanes;
        self.0[first_cell] = self.0[first_cell].wrapping_add(count);
        self.0[end] = self.0[end].wrapping_sub(count);
    }

    fn merge(&mut self, later: &Self) {
        self.0.iter_mut().zip(&later.0).for_each(|(to, &from)| *to = to.wrapping_add(from));
    }

    fn counts(&self) -> Vec<u64> {
        let mut count = 0_u64;
        let cells = self.0.len() - 1;
        let running = self.0[..cells].iter().map(|&step| {
            count = count.wrapping_add(step);
            count
        });
        running.collect()
    }
}

fn integers(cells: Vec<i128>) -> Values {
    Values::new(Cells::Int(cells))
}

fn floats(cells: Vec<f64>) -> Values {
    Values::new(Cells::Float(cells))
}

fn elements<T: Element>(cells: Vec<Option<T>>) -> Values {
    let nulls: Vec<bool> = cells.iter().map(Option::is_none).collect();
    let cells: Vec<T> = cells.into_iter().map(|cell| cell.unwrap_or(T::zeroed())).collect();
    let shape = Shape::from(vec![cells.len() as u64]);
    let array = Array::from_elements(shape, &cells).expect("the shape counts the elements");
    Values { cells: Cells::Element(array), nulls: nulls.contains(&true).then_some(nulls) }
}

fn floats_or_null(cells: Vec<Option<f64>>) -> Values {
    let nulls: Vec<bool> = cells.iter().map(Option::is_none).collect();
    let cells = cells.into_iter().map(|cell| cell.unwrap_or(0.0)).collect();
    Values { cells: Cells::Float(cells), nulls: nulls.contains(&true).then_some(nulls) }
}
