//! Result of a reduction.

use crate::array::Array;
use crate::op::Op;
use crate::plan::StatisticsUse;
use crate::reduction::{AxisGroups, AxisPicks};
use crate::scalar::Scalar;

/// The answer of a reduction.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The operation.
    pub op: Op,
    /// The axes of the dataset that were folded away, in order; for a position those along which
    /// it counts, which are the grouped and the windowed ones too.
    pub axes: Vec<usize>,
    /// The extents of the result; empty for one value.
    pub shape: Vec<u64>,
    /// The meaning of each axis of `shape`.
    pub along: Vec<Along>,
    /// The cells, row-major.
    pub values: Values,
    /// How many elements were selected.
    pub count: u64,
    /// How many of them were NaN, when the kernel knows it.
    pub nan_count: Option<u64>,
    /// The use of chunk statistics instead of elements.
    pub statistics: StatisticsUse,
    /// Further results.
    pub details: Details,
}

/// The meaning of an axis of a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Along {
    /// An axis of the dataset, position by position.
    Axis(usize),
    /// Positions of an axis of the dataset, picked out of the selected ones.
    Picks(AxisPicks),
    /// Groups of positions of an axis of the dataset.
    Groups(AxisGroups),
    /// Windows over an axis of the dataset.
    Windows {
        /// The axis.
        axis: usize,
        /// Where the first window starts, in selected positions; before 0 when it is padded.
        first: i64,
        /// Positions between two starts.
        step: u64,
        /// Positions of a window.
        size: u64,
    },
    /// Quantiles.
    Quantiles(Vec<f64>),
    /// Bins of a histogram.
    Bins,
    /// Variables of a covariance, which are the positions of an axis of the dataset.
    Variables(usize),
}

/// Further results of some operations.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Details {
    /// Nothing else.
    #[default]
    None,
    /// A histogram's edges and what lay outside, cell by cell.
    Histogram {
        /// One more than there are bins.
        edges: Vec<f64>,
        /// Elements below the first edge.
        below: Vec<u64>,
        /// Elements above the last edge.
        above: Vec<u64>,
    },
    /// Where an extremum is: for each cell one selected position for each of the answer's `axes`;
    /// none for a null cell.
    Places(Vec<Vec<u64>>),
}

/// The cells of a result and which of them are null.
#[derive(Clone, Debug)]
pub struct Values {
    /// The cells; a null cell holds any value.
    pub cells: Cells,
    /// Which values are null; `None` when none is.
    pub nulls: Option<Vec<bool>>,
}

/// The cells of a result, row-major.
#[derive(Clone, Debug)]
pub enum Cells {
    /// Counts and positions.
    Count(Vec<u64>),
    /// Truth values.
    Truth(Vec<bool>),
    /// Exact integers.
    Int(Vec<i128>),
    /// Floats.
    Float(Vec<f64>),
    /// Elements of the dataset's own type.
    Element(Array),
}

impl Default for Values {
    /// No values.
    fn default() -> Self {
        Values::new(Cells::Count(Vec::new()))
    }
}

impl Values {
    /// Cells of which none is null.
    #[must_use]
    pub const fn new(cells: Cells) -> Self {
        Values { cells, nulls: None }
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.cells {
            Cells::Count(counts) => counts.len(),
            Cells::Truth(truths) => truths.len(),
            Cells::Int(integers) => integers.len(),
            Cells::Float(floats) => floats.len(),
            Cells::Element(array) => array.len(),
        }
    }

    /// Whether there is no cell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at `at` in row-major order; `None` past the end.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<Scalar> {
        let value = match &self.cells {
            Cells::Count(counts) => Scalar::Int(i128::from(*counts.get(at)?)),
            Cells::Truth(truths) => Scalar::Bool(*truths.get(at)?),
            Cells::Int(integers) => Scalar::Int(*integers.get(at)?),
            Cells::Float(floats) => Scalar::Float64(*floats.get(at)?),
            Cells::Element(array) => array.get(at)?,
        };
        let null = self.nulls.as_ref().is_some_and(|nulls| nulls.get(at) == Some(&true));
        Some(if null { Scalar::Null } else { value })
    }
}
