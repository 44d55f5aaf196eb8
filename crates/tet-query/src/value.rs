//! What a reduction is asked for and what it answers.

use half::{bf16, f16};

use crate::array::Array;

/// A reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// How many elements; without NaN when they are skipped.
    Count,
    /// The sum: exact for integers, `f64` for floats.
    Sum,
    /// The arithmetic mean, `f64`.
    Mean,
    /// The smallest element, in the dataset's own type.
    Min,
    /// The largest element, in the dataset's own type.
    Max,
}

impl Op {
    /// All operations.
    pub const ALL: &[Op] = &[Op::Count, Op::Sum, Op::Mean, Op::Min, Op::Max];

    /// The name in documents and flags.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Op::Count => "count",
            Op::Sum => "sum",
            Op::Mean => "mean",
            Op::Min => "min",
            Op::Max => "max",
        }
    }
}

/// What happens with NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NanPolicy {
    /// A NaN makes the result NaN.
    #[default]
    Propagate,
    /// A NaN counts as not there.
    Skip,
}

/// Which axes of the dataset a reduction folds away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Axes {
    /// All of them: the result is one cell.
    #[default]
    All,
    /// These axes of the dataset, in any order; none means all.
    Some(Vec<usize>),
}

/// A reduction over some axes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reduction {
    /// What is computed.
    pub op: Op,
    /// Over which axes of the dataset.
    pub axes: Axes,
    /// What happens with NaN.
    pub nan: NanPolicy,
}

impl Reduction {
    /// `op` over all axes, with NaN propagating.
    #[must_use]
    pub const fn all(op: Op) -> Self {
        Reduction { op, axes: Axes::All, nan: NanPolicy::Propagate }
    }
}

/// The answer of a reduction.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// What was computed.
    pub op: Op,
    /// The axes of the dataset that were folded away, in order.
    pub axes: Vec<usize>,
    /// The extents of the kept axes, in order; empty for one value.
    pub shape: Vec<u64>,
    /// The cells, row-major.
    pub values: Values,
    /// How many elements were selected.
    pub count: u64,
    /// How many of them were NaN, when the kernel knows it.
    pub nan_count: Option<u64>,
}

/// The cells of a result and which of them are null.
#[derive(Clone, Debug)]
pub struct Values {
    /// The cells; a null cell holds any value.
    pub cells: Cells,
    /// Which cells are null; `None` when no cell is.
    pub nulls: Option<Vec<bool>>,
}

/// The cells of a result, row-major.
#[derive(Clone, Debug)]
pub enum Cells {
    /// Counts.
    Count(Vec<u64>),
    /// Exact integers.
    Int(Vec<i128>),
    /// Floats.
    Float(Vec<f64>),
    /// Elements of the dataset's own type.
    Element(Array),
}

impl Values {
    /// Cells of which none is null.
    #[must_use]
    pub const fn new(cells: Cells) -> Self {
        Values { cells, nulls: None }
    }

    /// How many cells there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.cells {
            Cells::Count(counts) => counts.len(),
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

    /// The cell at `at` in row-major order; `None` past the end.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<Scalar> {
        let value = match &self.cells {
            Cells::Count(counts) => Scalar::Int(i128::from(*counts.get(at)?)),
            Cells::Int(integers) => Scalar::Int(*integers.get(at)?),
            Cells::Float(floats) => Scalar::Float64(*floats.get(at)?),
            Cells::Element(array) => array.get(at)?,
        };
        let null = self.nulls.as_ref().is_some_and(|nulls| nulls.get(at) == Some(&true));
        Some(if null { Scalar::Null } else { value })
    }
}

/// One value out of a result or an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// No value: the mean, minimum or maximum of nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer of any width.
    Int(i128),
    /// An IEEE half.
    Float16(f16),
    /// A brain float.
    BFloat16(bf16),
    /// A single.
    Float32(f32),
    /// A double.
    Float64(f64),
    /// Two singles.
    Complex64(f32, f32),
    /// Two doubles.
    Complex128(f64, f64),
}

impl Scalar {
    /// The value as a double, where it is a real number.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "the nearest double is what is asked for")]
    pub fn to_f64(self) -> Option<f64> {
        match self {
            Scalar::Null | Scalar::Complex64(..) | Scalar::Complex128(..) => None,
            Scalar::Bool(truth) => Some(f64::from(u8::from(truth))),
            Scalar::Int(integer) => Some(integer as f64),
            Scalar::Float16(float) => Some(float.to_f64()),
            Scalar::BFloat16(float) => Some(float.to_f64()),
            Scalar::Float32(float) => Some(f64::from(float)),
            Scalar::Float64(float) => Some(float),
        }
    }
}
