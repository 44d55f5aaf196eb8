//! Parts of a query about positions and cells: groups, picks, windows, and a second dataset.

use tet_query::{AxisRef, WindowAlign, WindowMode};

/// Along which axes a reduction keeps cells of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// One result per position along these axes.
    Axes(Vec<AxisRef>),
    /// One result per distinct label along these axes.
    Labels(Vec<AxisRef>),
}

impl GroupBy {
    /// The axes, whatever is made of them.
    #[must_use]
    pub fn axes(&self) -> &[AxisRef] {
        match self {
            GroupBy::Axes(axes) | GroupBy::Labels(axes) => axes,
        }
    }
}

/// Only positions with this label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelFilter {
    /// The axis.
    pub axis: AxisRef,
    /// The label that positions must have.
    pub eq: String,
}

/// Windows along an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryWindow {
    /// The axis.
    pub axis: AxisRef,
    /// Positions of a window.
    pub size: u64,
    /// Whether windows tile the axis or roll over it.
    pub mode: WindowMode,
    /// Positions between the starts of two rolling windows; 1 by default.
    pub step: Option<u64>,
    /// Values in place of the elements that a window would have past the ends.
    pub pad: Pad,
    /// Which end is whole.
    pub align: WindowAlign,
    /// Elements a window needs; with fewer it is null.
    pub min_count: Option<u64>,
}

impl QueryWindow {
    /// The largest size and step.
    pub const SIZE_MAX: u64 = i64::MAX.unsigned_abs();
}

/// Values in place of the elements that a window would have past the ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pad {
    /// Nothing: windows are short, or do not reach past the ends.
    #[default]
    None,
    /// Zero.
    Zero,
    /// NaN.
    Nan,
    /// The dataset's fill value.
    Fill,
}

impl Pad {
    /// All of them.
    pub const ALL: &[Pad] = &[Pad::None, Pad::Zero, Pad::Nan, Pad::Fill];

    /// The word in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Pad::None => "none",
            Pad::Zero => "0",
            Pad::Nan => "nan",
            Pad::Fill => "fill",
        }
    }
}

/// A second dataset to compare axes with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryAlign {
    /// The other dataset's name.
    pub with: String,
    /// The axes that are compared, found in both datasets.
    pub axes: Vec<AxisRef>,
}
