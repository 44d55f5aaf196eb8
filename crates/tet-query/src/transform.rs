//! Transforms: every element by itself, with statistics of the axis it lies on.

mod compute;
mod map;
mod number;
mod statistics;

pub(crate) use self::map::{Formula, Map};
pub(crate) use self::statistics::{CellRun, Statistics};

use crate::op::NanPolicy;
use crate::reduction::Axes;

/// Operation of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// `(x - mean) / std`.
    ZScore,
    /// `(x - min) / (max - min)`.
    MinMax,
    /// `x / sum |x|`.
    L1,
    /// `x / sqrt(sum x^2)`.
    L2,
    /// `x - mean`.
    Center,
    /// `x / std`.
    Scale,
    /// `ln(1 + x)`.
    Log1p,
    /// The square root.
    Sqrt,
    /// `exp(x - max) / sum exp(x - max)`.
    Softmax,
}

impl Method {
    /// All methods.
    pub const ALL: &[Method] = &[
        Method::ZScore,
        Method::MinMax,
        Method::L1,
        Method::L2,
        Method::Center,
        Method::Scale,
        Method::Log1p,
        Method::Sqrt,
        Method::Softmax,
    ];

    /// The name in documents and flags.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Method::ZScore => "zscore",
            Method::MinMax => "minmax",
            Method::L1 => "l1",
            Method::L2 => "l2",
            Method::Center => "center",
            Method::Scale => "scale",
            Method::Log1p => "log1p",
            Method::Sqrt => "sqrt",
            Method::Softmax => "softmax",
        }
    }
}

/// A transform of the selected elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Transform {
    /// The operation.
    pub method: Method,
    /// The axes whose elements share their statistics.
    pub axes: Axes,
    /// Treatment of NaN in the statistics.
    pub nan: NanPolicy,
}
