//! One cell of what the oracle computes.

use std::cmp::Ordering;

/// One cell of a reduction, by plain means.
#[derive(Clone, Copy, Debug)]
pub enum Cell {
    /// No value: the mean, minimum or maximum of nothing.
    Null,
    /// An integer, or a truth as 0 or 1.
    Int(i128),
    /// A float, widened without loss.
    Float(f64),
}

impl PartialEq for Cell {
    /// Equal kinds and values; any NaN equals any NaN and zeros are equal whatever their sign.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Cell::Null, Cell::Null) => true,
            (Cell::Int(a), Cell::Int(b)) => a == b,
            (Cell::Float(a), Cell::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
            _ => false,
        }
    }
}

impl PartialOrd for Cell {
    /// As numbers of one kind; nothing else has an order.
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Cell::Int(a), Cell::Int(b)) => a.partial_cmp(b),
            (Cell::Float(a), Cell::Float(b)) => a.partial_cmp(b),
            _ => None,
        }
    }
}

impl Cell {
    /// The nearest double; NaN of a null.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "the nearest double is what is asked for")]
    pub fn to_f64(self) -> f64 {
        match self {
            Cell::Null => f64::NAN,
            Cell::Int(integer) => integer as f64,
            Cell::Float(float) => float,
        }
    }

    /// The square root.
    pub(super) fn root(self) -> Cell {
        if let Cell::Float(float) = self { Cell::Float(float.sqrt()) } else { self }
    }
}
