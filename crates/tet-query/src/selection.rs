//! A selection as requested: ranges, positions, names and labels, one entry per axis.
//!
//! A [`Selection`] comes from text ([`Selection::parse`]), from a query document or from the builders here. It knows
//! nothing of any file. [`Selection::resolve`] turns it into a [`Hyperslab`] for one dataset: start, stop and step per
//! axis, every name and label looked up. [`Selection::select`] does so where positions are taken one by one, too.
//!
//! Without the name of an axis text means positions, as in `NumPy`; with one it means labels, as in xarray's `sel`; `#`
//! after a name means positions.
//!
//! ```text
//!   0:10:3, :, -1         positions, without the stop; an integer takes one position and drops the axis
//!   ..., 0                `...` selects as many whole axes as are missing
//!   lat=40:60             labels, both ends included, on a rising and on a falling axis
//!   time=2001-06:2001-08  dates, both ends included: all of August
//!   time=2001             a year; station=Oslo, station="St. John's"
//!   lat~50, lat~50 within 0.5   the nearest label, at most so far away
//!   plev=[85000,50000], lat~[48.1,52.5], x#[0,7]   labels, nearest labels and positions one by one, in this order
//!   time.month=6,7,8; time.season=JJA; time.year=1979:2020; time.hour=0,12   times of which a part is one of these; they add
//!                         to each other, and to a range of the same axis
//!   lat#0:10, time#-1     positions along an axis by name; of an axis without labels `x=0:10` are positions, too
//! ```
//!
//! Ranges of positions inside the extent mean what they mean in Python; past the extent they are an error, for
//! a range that silently shrinks hides a mistake.

mod axes;
mod error;
mod hyperslab;
mod note;
mod positions;
mod resolve;
mod selected;
mod text;
mod written;

pub use self::axes::find_axis;
pub use self::error::{SelectionError, SelectionFault};
pub use self::hyperslab::{Axis, AxisSlice, Hyperslab};
pub use self::note::SelectionNote;
pub use self::positions::AxisPositions;
pub use self::resolve::unknown_label;
pub(crate) use self::selected::shared as shared_axis;
pub use self::selected::{Selected, TakenAxes};
pub use self::text::AXES_MAX;

use std::ops::RangeInclusive;

use crate::axis::AxisRef;
use crate::labels::DatePart;

/// One place along an axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Position {
    /// A 0-based index; negative ones count from the end. Wide enough for every extent, negated.
    Index(i128),
    /// A whole number after the name of an axis: its label, or its position where the axis has no labels.
    Number(i128),
    /// The only position whose coordinate label equals; of a date that is less precise than times, all positions
    /// within it, which keep the axis.
    Label(String),
    /// The position whose coordinate label, a number or a time, is nearest; of two that are as near the greater.
    Nearest {
        /// The label.
        label: String,
        /// How far the nearest label may be, a decimal number in the units of the axis.
        within: Option<String>,
    },
}

impl Position {
    /// The position whose label is nearest, however far it is.
    pub fn nearest(label: impl Into<String>) -> Self {
        Position::Nearest { label: label.into(), within: None }
    }

    /// The label that a position is found by, of an axis that has labels; `None` for an index and for the nearest.
    pub(crate) fn label(&self) -> Option<String> {
        match self {
            Position::Number(number) => Some(number.to_string()),
            Position::Label(label) => Some(label.clone()),
            Position::Index(_) | Position::Nearest { .. } => None,
        }
    }
}

impl From<i32> for Position {
    fn from(index: i32) -> Self {
        Position::Index(i128::from(index))
    }
}

impl From<i64> for Position {
    fn from(index: i64) -> Self {
        Position::Index(i128::from(index))
    }
}

impl From<u64> for Position {
    fn from(index: u64) -> Self {
        Position::Index(i128::from(index))
    }
}

impl From<&str> for Position {
    fn from(label: &str) -> Self {
        Position::Label(label.to_owned())
    }
}

impl From<String> for Position {
    fn from(label: String) -> Self {
        Position::Label(label)
    }
}

/// Where a range ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Stop {
    /// At the end of the axis.
    #[default]
    End,
    /// Before this position.
    Before(Position),
    /// After the last position that has this label, or before a [`Position::Number`] where the axis has no labels.
    Through(Position),
}

/// Selection along one axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AxisSelection {
    /// Every `step`-th position from `start` to `stop`.
    Range {
        /// The first position; `None` is the axis' first.
        start: Option<Position>,
        /// Where the range ends.
        stop: Stop,
        /// The distance between positions; 0 is refused when it is resolved.
        step: u64,
    },
    /// One position; the axis does not appear in the result.
    Point(Position),
    /// Positions one by one, in this order; of a date those within it, of a label all that have it.
    List(Vec<Position>),
    /// The times of which a part, such as the month, is in one of the ranges.
    Among {
        /// The part.
        part: DatePart,
        /// The ranges, both ends included.
        ranges: Vec<RangeInclusive<i64>>,
    },
}

impl AxisSelection {
    /// The whole axis.
    #[must_use]
    pub const fn all() -> Self {
        AxisSelection::Range { start: None, stop: Stop::End, step: 1 }
    }

    /// The positions from `start` up to `stop`, without it.
    pub fn range(start: impl Into<Position>, stop: impl Into<Position>) -> Self {
        let (start, stop) = (Some(start.into()), Stop::Before(stop.into()));
        AxisSelection::Range { start, stop, step: 1 }
    }

    /// The positions from `start` to the end.
    pub fn from(start: impl Into<Position>) -> Self {
        AxisSelection::Range { start: Some(start.into()), stop: Stop::End, step: 1 }
    }

    /// The positions from the label `start` through the label `stop`, which is included.
    pub fn through(start: impl Into<String>, stop: impl Into<String>) -> Self {
        let [start, stop] = [start.into(), stop.into()].map(Position::Label);
        let (start, stop) = (Some(start), Stop::Through(stop));
        AxisSelection::Range { start, stop, step: 1 }
    }

    /// One position, dropping the axis.
    pub fn point(position: impl Into<Position>) -> Self {
        AxisSelection::Point(position.into())
    }

    /// Keeps every `step`-th position of a range. Points and lists stay what they are.
    #[must_use]
    pub fn step_by(self, step: u64) -> Self {
        match self {
            AxisSelection::Range { start, stop, .. } => AxisSelection::Range { start, stop, step },
            other => other,
        }
    }
}

/// How the entries of a selection find their axes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SelectionForm {
    /// One entry for every axis, no more and no fewer.
    Each(Vec<AxisSelection>),
    /// `head` from the first axis on and `tail` up to the last; axes between are whole.
    Around {
        /// Those of the first axes.
        head: Vec<AxisSelection>,
        /// Those of the last axes.
        tail: Vec<AxisSelection>,
    },
    /// Entries by name or number; axes not named are whole.
    Named(Vec<(AxisRef, AxisSelection)>),
}

/// A selection as requested, independent of any file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selection {
    /// How its entries find their axes.
    pub form: SelectionForm,
}

impl Default for Selection {
    fn default() -> Self {
        Selection::all()
    }
}

impl Selection {
    /// Everything, whatever the number of axes.
    #[must_use]
    pub const fn all() -> Self {
        Selection { form: SelectionForm::Named(Vec::new()) }
    }

    /// One entry for every axis: the dataset must have exactly as many.
    pub fn each(entries: impl IntoIterator<Item = AxisSelection>) -> Self {
        Selection { form: SelectionForm::Each(entries.into_iter().collect()) }
    }

    /// Entries by axis name or number; the other axes are whole.
    pub fn named<A: Into<AxisRef>>(entries: impl IntoIterator<Item = (A, AxisSelection)>) -> Self {
        let entries = entries.into_iter().map(|(axis, entry)| (axis.into(), entry)).collect();
        Selection { form: SelectionForm::Named(entries) }
    }

    /// Whether there are no entries: everything is selected.
    #[must_use]
    pub fn is_all(&self) -> bool {
        matches!(&self.form, SelectionForm::Named(entries) if entries.is_empty())
    }
}
