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
//!
//! A kernel knows one way each to fold a run into a cell, lanes into neighboring cells, and one
//! cell into another. Axes, groups, windows and filters are made of these by the walk over a strip.

mod arg;
mod collect;
mod count;
mod count_where;
mod digits;
mod extrema;
mod histogram;
mod known;
mod mean;
mod moments;
mod norm;
mod product;
mod ranges;
mod rank;
mod record;
mod special;
mod state;
mod strip;
mod sum;
mod table;
mod test;
#[cfg(test)]
mod tests;

pub(crate) use count_where::Tally;
pub(crate) use digits::{Pass, Span};
pub(crate) use known::{Known, KnownChunk, Share, Verdict};
pub(crate) use rank::{Numeric, Ranked};
pub(crate) use state::{KernelState, Maker};
pub(crate) use sum::{FixedF64, two_sum};
pub(crate) use table::{RankStep, maker, rank_maker};
pub(crate) use test::{Test, Tester};

use std::cell::OnceCell;

use tet_format::Shape;

use crate::array::Array;
use crate::element::Element;
use crate::error::Result;
use crate::interpolation::Between;
use crate::op::NanPolicy;
use crate::reduction::AxisGroups;
use crate::value::{Cells, Values};

/// A reduction over elements of one type, with one state per cell of the result.
pub(crate) trait Kernel<T: Element>: Sized + Send + 'static {
    /// Whether [`At::index`] matters to it.
    const INDEXED: bool = false;
    /// Whether a state keeps all elements: it takes their bytes besides [`Kernel::cell_len`].
    const KEEPS: bool = false;
    /// Whether statistics may tell what elements do to it: then it has [`Kernel::fold_known`].
    const KNOWS: bool = false;
    /// Whether it tells by statistics which chunks are [outdone](Kernel::can_skip) by others.
    const CAN_SKIP: bool = false;

    /// Values to a cell.
    fn width(_setup: &Setup) -> usize {
        1
    }

    /// Bytes of the state of one cell, about.
    fn cell_len(_setup: &Setup) -> u64 {
        32
    }

    /// States of nothing, one per cell.
    fn new(cell_count: usize, setup: &Setup) -> Self;

    /// Folds a contiguous run into one cell.
    fn fold_run(&mut self, at: At, elements: &[T]);

    /// Folds rows of lanes into as many cells, lane by lane.
    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]);

    /// Folds runs that lie at even distances into cells that do too.
    fn fold_runs(&mut self, at: At, runs: Runs, elements: &[T]) {
        for nth in 0..runs.count {
            self.fold_run(runs.at(at, nth), &elements[nth * runs.distance..][..runs.len]);
        }
    }

    /// Folds elements into the cells of a table.
    fn fold_scattered(&mut self, at: At, scatter: Scatter<'_>, elements: &[T]) {
        for (at, element) in scatter.targets(at) {
            self.fold_run(at, &elements[element..=element]);
        }
    }

    /// Folds the pads that replace missing elements into one cell.
    fn fold_pads(&mut self, cell: usize, pads: &[T]) {
        self.fold_run(At { cell, index: 0 }, pads);
    }

    /// Folds all elements of a chunk into one cell, where that follows from what is known of them, to the same state as
    /// the elements themselves; otherwise it changes nothing.
    fn fold_known(&mut self, cell: usize, known: &Known<T>) -> Verdict {
        let _ = (cell, known);
        Verdict::Read
    }

    /// Notes the bound of a chunk that is read, of which the cell has a share: for a state that only tells which chunks
    /// are [outdone](Kernel::can_skip).
    fn note_bound(&mut self, cell: usize, known: &Known<T>, share: Share) {
        let _ = (cell, known, share);
    }

    /// Whether no element of a chunk can change the cell, by the least and the greatest element of the chunk, the chunks
    /// folded into the cell, and those whose bounds were noted.
    fn can_skip(&self, cell: usize, known: &Known<T>) -> bool {
        let _ = (cell, known);
        false
    }

    /// Takes into `cell` what cell `from` of a later state holds.
    fn take(&mut self, cell: usize, later: &Self, from: usize);

    /// Takes into `count` cells what as many cells of a later state hold.
    fn take_lanes(&mut self, cell: usize, later: &Self, from: usize, count: usize) {
        for nth in 0..count {
            self.take(cell + nth, later, from + nth);
        }
    }

    /// Takes in the states of what comes later in plan order, cell by cell.
    fn merge(&mut self, later: Self);

    /// How many NaN were met; `None` for elements that know none.
    fn nan_count(&self) -> Option<u64> {
        None
    }

    /// The values of all cells, as many to each as the operation gives.
    ///
    /// # Errors
    ///
    /// Returns an error when an exact result does not fit its type.
    fn finish(self) -> Result<Values>;
}

/// Where elements fold to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct At {
    /// The first cell.
    pub cell: usize,
    /// The first element's position along the folded axes, row-major in the selection; the
    /// elements of a run count on from it.
    pub index: u64,
}

/// Rows of lanes that fold into neighboring cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lanes {
    /// Elements of a row, each of which belongs to a cell.
    pub count: usize,
    pub rows: usize,
    /// Elements between the starts of two rows.
    pub distance: usize,
    /// Step of [`At::index`] from one row to the next; all lanes of a row have one index.
    pub index: u64,
}

impl Lanes {
    /// The rows, one after the other.
    pub(crate) fn rows<T>(self, elements: &[T]) -> impl Iterator<Item = &[T]> {
        (0..self.rows).map(move |row| &elements[row * self.distance..][..self.count])
    }
}

/// Runs at even distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Runs {
    pub count: usize,
    /// Elements of a run.
    pub len: usize,
    /// Elements between the starts of two runs.
    pub distance: usize,
    /// Cells between two runs; 0 where all fold into one.
    pub cells: usize,
    /// Step of [`At::index`] from one run to the next.
    pub index: u64,
}

impl Runs {
    /// Where run number `nth` folds to.
    pub(crate) const fn at(self, at: At, nth: usize) -> At {
        At { cell: at.cell + nth * self.cells, index: at.index + nth as u64 * self.index }
    }
}

/// Elements at even distances, with a table of their cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scatter<'a> {
    /// The cell of each element, or [`AxisGroups::NONE`].
    pub cells: &'a [u32],
    /// Cells between neighbors of the table.
    pub stride: usize,
    /// Elements between two of them.
    pub distance: usize,
    /// Step of [`At::index`] from one element to the next.
    pub index: u64,
}

impl Scatter<'_> {
    /// Where each element that has a cell folds to, and which it is.
    pub(crate) fn targets(self, at: At) -> impl Iterator<Item = (At, usize)> {
        let has_cell = |&(_, &cell): &(usize, &u32)| cell != AxisGroups::NONE;
        self.cells.iter().enumerate().filter(has_cell).map(move |(nth, &cell)| {
            let cell = at.cell + cell as usize * self.stride;
            let index = at.index + nth as u64 * self.index;
            (At { cell, index }, nth * self.distance)
        })
    }
}

/// The parameters of a kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Setup {
    /// Treatment of NaN.
    pub nan: NanPolicy,
    /// Taken off the count of a variance.
    pub ddof: u32,
    /// Test of the operations that count.
    pub test: Option<Test>,
    /// Second condition for an element to be counted; pads need not meet it.
    pub within: Option<Test>,
    /// Result that is made of a count.
    pub tally: Tally,
    /// Quantiles, in the requested order.
    pub q: Vec<f64>,
    /// How to interpolate between two neighbors in order.
    pub between: Between,
    /// The edges of a histogram.
    pub edges: Vec<f64>,
    /// State of the search for the wanted keys, for the passes of a selection by rank.
    pub digits: Pass,
}

/// How many cells a reduction has, as far as its numerics care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellCount {
    /// One: the whole selection.
    One,
    /// Some axes are kept, even if their extents are 1.
    Many,
}

/// How many elements every cell took, as differences between neighbors: a fold over a range of
/// cells costs two additions.
#[derive(Clone, Debug)]
struct Folded {
    steps: Vec<u64>,
    /// The counts, computed on demand and dropped by the next fold.
    counts: OnceCell<Vec<u64>>,
}

impl Folded {
    fn new(cell_count: usize) -> Self {
        Self { steps: vec![0; cell_count + 1], counts: OnceCell::new() }
    }

    #[inline]
    fn add(&mut self, first_cell: usize, lanes: usize, count: u64) {
        self.counts.take();
        let end = first_cell + lanes;
        self.steps[first_cell] = self.steps[first_cell].wrapping_add(count);
        self.steps[end] = self.steps[end].wrapping_sub(count);
    }

    fn take_lanes(&mut self, cell: usize, later: &Self, from: usize, count: usize) {
        self.counts.take();
        let mut before = 0;
        let counts = &later.counts()[from..from + count];
        for (step, &count) in self.steps[cell..].iter_mut().zip(counts) {
            *step = step.wrapping_add(count.wrapping_sub(before));
            before = count;
        }
        self.steps[cell + count] = self.steps[cell + count].wrapping_sub(before);
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.take_lanes(cell, later, from, 1);
    }

    /// Adds runs that lie at even distances in the cells.
    fn add_runs(&mut self, first_cell: usize, runs: Runs) {
        match runs.cells {
            0 => self.add(first_cell, 1, (runs.count * runs.len) as u64),
            1 => self.add(first_cell, runs.count, runs.len as u64),
            _ => {
                let cells = (0..runs.count).map(|nth| first_cell + nth * runs.cells);
                cells.for_each(|cell| self.add(cell, 1, runs.len as u64));
            }
        }
    }

    fn merge(&mut self, later: &Self) {
        self.counts.take();
        self.steps.iter_mut().zip(&later.steps).for_each(|(to, &from)| *to = to.wrapping_add(from));
    }

    fn counts(&self) -> &[u64] {
        self.counts.get_or_init(|| self.clone().into_counts())
    }

    fn into_counts(mut self) -> Vec<u64> {
        self.steps.pop();
        let mut count = 0_u64;
        for step in &mut self.steps {
            count = count.wrapping_add(*step);
            *step = count;
        }
        self.steps
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

fn floats_or_null(cells: impl Iterator<Item = Option<f64>>) -> Values {
    let mut floats = Vec::with_capacity(cells.size_hint().0);
    let mut nulls = None;
    for cell in cells {
        if cell.is_none() && nulls.is_none() {
            nulls = Some(vec![false; floats.len()]);
        }
        nulls.iter_mut().for_each(|nulls| nulls.push(cell.is_none()));
        floats.push(cell.unwrap_or(0.0));
    }
    Values { cells: Cells::Float(floats), nulls }
}
