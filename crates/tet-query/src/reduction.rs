//! Parameters of a reduction: the operation, its axes, its elements, its cells.

use std::fmt;
use std::sync::Arc;

use crate::interpolation::Between;
use crate::op::{NanPolicy, Op};

/// Which axes of the dataset a reduction folds away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Axes {
    /// All of them: the result is one cell.
    #[default]
    All,
    /// These axes of the dataset, in any order.
    Some(Vec<usize>),
}

/// A number of a document or an attribute: whole numbers stay exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number.
    Int(i128),
    /// Any other, NaN and infinities too.
    Float(f64),
}

impl Number {
    /// The nearest double.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "the nearest double is what is asked for")]
    pub fn to_f64(self) -> f64 {
        match self {
            Number::Int(integer) => integer as f64,
            Number::Float(float) => float,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Int(integer) => write!(f, "{integer}"),
            Number::Float(float) => write!(f, "{float:?}"),
        }
    }
}

/// How an element is compared with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

impl Compare {
    /// Its name in documents, such as `le`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Compare::Eq => "eq",
            Compare::Ne => "ne",
            Compare::Lt => "lt",
            Compare::Le => "le",
            Compare::Gt => "gt",
            Compare::Ge => "ge",
        }
    }
}

/// Which elements count; all tests must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Comparisons with numbers.
    pub tests: Vec<(Compare, Number)>,
    /// Only elements that are null: NaN or the fill value.
    pub is_null: bool,
    /// Only elements that are not null.
    pub is_not_null: bool,
    /// The fill value, where there is one.
    pub fill: Option<Number>,
}

/// The numbers that some operations take.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params {
    /// For `var`, `std`, `covariance`: what is taken off the count.
    pub ddof: u32,
    /// For `null_count`: the fill value.
    pub fill: Option<Number>,
    /// For `quantile`: from 0 to 1.
    pub q: Vec<f64>,
    /// For `quantile`: whether one quantile was requested and not a list; the result then has no axis for it.
    pub one_q: bool,
    /// For `quantile`: how it is computed from its neighbors.
    pub between: Between,
    /// For `histogram`: how many bins.
    pub bins: u32,
    /// For `histogram`: the first and the last edge; the range of all selected elements when it is
    /// not given, for all cells together.
    pub range: Option<(f64, f64)>,
}

impl Params {
    /// The default number of bins of a histogram.
    pub const BINS: u32 = 10;

    /// The most bins of a histogram.
    pub const BINS_MAX: u32 = 1 << 16;

    /// The most quantiles at once.
    pub const Q_MAX: usize = 64;

    /// The defaults of `op`. A quantile has none.
    #[must_use]
    pub fn for_op(op: Op) -> Params {
        let bins = if op == Op::Histogram { Params::BINS } else { 0 };
        Params { bins, ..Params::default() }
    }
}

/// Cells along an axis that are not its positions: groups of equal labels, or picked positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisGroups {
    /// The axis of the dataset.
    pub axis: usize,
    /// For each selected position its group, or [`AxisGroups::NONE`].
    pub group_of: Arc<[u32]>,
    /// The names of the groups, in order of their first position.
    pub labels: Arc<[String]>,
    /// The dataset whose values they are, where they are no labels of the axis.
    pub by: Option<Arc<str>>,
}

impl AxisGroups {
    /// The group of positions that do not count.
    pub const NONE: u32 = u32::MAX;
}

/// Positions along an axis that count, of those that are selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisPicks {
    /// The axis of the dataset.
    pub axis: usize,
    /// Which of the selected positions, in order.
    pub positions: Arc<[u64]>,
}

/// Windows along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// The axis of the dataset.
    pub axis: usize,
    /// Positions of a window.
    pub size: u64,
    /// Positions between the starts of two windows; `size` for bins.
    pub step: u64,
    /// Whether windows tile the axis or roll over it.
    pub mode: WindowMode,
    /// How elements past the ends of a window are filled in.
    pub pad: Option<Number>,
    /// Which end is whole.
    pub align: WindowAlign,
    /// Elements a window needs; with fewer it is null.
    pub min_count: Option<u64>,
}

/// How windows are laid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowMode {
    /// Side by side.
    Bins,
    /// Over each other.
    Rolling,
}

/// On which side windows may be short or reach past the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WindowAlign {
    /// Bins begin at the start and the last may be short; padded rolling windows reach past the
    /// start, so that the window of a position ends there.
    #[default]
    Start,
    /// Bins end at the end and the first may be short; padded rolling windows reach past the end.
    End,
}

/// A reduction of a selection.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction {
    /// The operation.
    pub op: Op,
    /// Over which axes of the dataset.
    pub axes: Axes,
    /// Treatment of NaN.
    pub nan: NanPolicy,
    /// The numbers of the operation.
    pub params: Params,
    /// Which elements count.
    pub filter: Option<Filter>,
    /// Positions that count, axis by axis.
    pub picks: Vec<AxisPicks>,
    /// Axes whose cells are groups of positions.
    pub groups: Vec<AxisGroups>,
    /// An axis whose cells are windows.
    pub window: Option<Window>,
}

impl Reduction {
    /// `op` over all axes, with NaN propagating.
    #[must_use]
    pub fn all(op: Op) -> Self {
        Reduction {
            op,
            axes: Axes::All,
            nan: NanPolicy::Propagate,
            params: Params::default(),
            filter: None,
            picks: Vec::new(),
            groups: Vec::new(),
            window: None,
        }
    }

    /// `op` along these axes of the dataset.
    #[must_use]
    pub fn along(op: Op, axes: impl Into<Vec<usize>>) -> Self {
        Reduction { axes: Axes::Some(axes.into()), ..Reduction::all(op) }
    }

    /// Sets the treatment of NaN.
    #[must_use]
    pub fn with_nan(self, nan: NanPolicy) -> Self {
        Reduction { nan, ..self }
    }

    /// Whether places are sought where pads, which have none, stand among the elements.
    pub(crate) fn seeks_pads(&self) -> bool {
        let seeks = matches!(self.op, Op::ArgMin | Op::ArgMax);
        seeks && self.window.as_ref().is_some_and(|window| window.pad.is_some())
    }

    /// Whether there are windows, and the operation needs all elements of a cell at once.
    pub(crate) fn refuses_windows(&self) -> bool {
        self.window.is_some() && matches!(self.op, Op::Median | Op::Quantile | Op::Histogram)
    }

    /// Whether both have the same cells, of the same positions.
    pub(crate) fn has_cells_of(&self, other: &Reduction) -> bool {
        self.axes == other.axes
            && self.picks == other.picks
            && self.groups == other.groups
            && self.window == other.window
    }

    /// The treatment of NaN, by policy or by the operation's name.
    #[must_use]
    pub fn nan_policy(&self) -> NanPolicy {
        if self.op.skips_nan() { NanPolicy::Skip } else { self.nan }
    }
}
