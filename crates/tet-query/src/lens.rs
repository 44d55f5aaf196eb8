//! An array result that can be read in parts: selected values, chosen and transformed.

use crate::reduction::{AxisPicks, Filter};

/// Which of the selected elements an array result shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// Elements that fail are replaced.
    pub filter: Option<Filter>,
    /// Positions that are shown, axis by axis.
    pub picks: Vec<AxisPicks>,
}
