//! Labels: which position of an axis a label means.
//!
//! Labels come from the dataset's own coordinates, else from a one-dimensional dataset named after
//! the dimension (the coordinate-variable convention), read through the catalog. Numbers with `units` of the
//! CF conventions, such as `days since 1970-01-01`, are times.

mod calendar;
mod coordinates;
mod dates;
mod lookup;
mod moments;
mod parts;
mod range;
mod role;
mod stamp;
mod steps;
mod summary;
mod table;
mod times;
mod values;

pub use self::calendar::Calendar;
pub(crate) use self::coordinates::COORDINATES_MAX;
pub use self::coordinates::CatalogLabels;
pub(crate) use self::lookup::Lookup;
pub use self::moments::Moments;
pub use self::parts::{DatePart, months_of_season};
pub(crate) use self::range::{RangeFault, Side, TURN, Turned};
pub use self::role::CoordinateRole;
pub use self::steps::TimeSteps;
pub use self::summary::{AxisList, AxisSummary};
pub use self::table::{FloatWidth, Labels};
pub use self::times::{Times, have_same_units};

use crate::error::Result;

/// Where the labels of one dataset's axes come from.
pub trait LabelLookup {
    /// The labels of an axis, in order of position; `None` if it has none.
    ///
    /// # Errors
    ///
    /// They cannot be read.
    fn labels(&self, axis: usize) -> Result<Option<Labels<'_>>>;

    /// The unsupported part of the units and the calendar of an axis whose labels count since a date.
    fn unknown_units(&self, axis: usize) -> Option<String> {
        let _ = axis;
        None
    }

    /// Whether the labels of an axis are longitudes in degrees, which repeat after 360.
    fn is_longitude(&self, axis: usize) -> bool {
        let _ = axis;
        false
    }

    /// Whether the labels of an axis are latitudes, by their units: cells at other latitudes have other areas. A name alone
    /// does not say so.
    fn is_latitude(&self, axis: usize) -> bool {
        let _ = axis;
        false
    }

    /// The dimensions of the dataset of this name, where there is one.
    fn dims_of(&self, name: &str) -> Option<Vec<String>> {
        let _ = name;
        None
    }
}

/// No labels at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLabels;

impl LabelLookup for NoLabels {
    fn labels(&self, _axis: usize) -> Result<Option<Labels<'_>>> {
        Ok(None)
    }
}
