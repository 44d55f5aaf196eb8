//! Many values in their own dtype; each becomes a [`Number`] when it is printed.

use std::fmt;
use std::ops::Range;

use serde::{Serialize, Serializer};
use tet_query::Values;

use super::number::Number;

/// The values of a result, row-major.
#[derive(Debug)]
pub(crate) enum Numbers {
    /// The cells of a reduction.
    Cells(Values),
    /// The first values of an array.
    Listed(Vec<Number>),
}

impl Numbers {
    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        match self {
            Numbers::Cells(values) => values.len(),
            Numbers::Listed(numbers) => numbers.len(),
        }
    }

    /// Value number `at`.
    pub(crate) fn get(&self, at: usize) -> Option<Number> {
        match self {
            Numbers::Cells(values) => values.get(at).map(Number::from),
            Numbers::Listed(numbers) => numbers.get(at).copied(),
        }
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Number> + '_ {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// Whether each value is null.
    pub(crate) fn nulls(&self) -> Vec<bool> {
        self.iter().map(|number| number == Number::Null).collect()
    }

    /// Some of them.
    pub(crate) fn part(&self, range: Range<usize>) -> Vec<Number> {
        range.filter_map(|at| self.get(at)).collect()
    }
}

impl Serialize for Numbers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// All values on one line, with full precision.
impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, number) in self.iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            write!(f, "{space}{}", number.exact())?;
        }
        Ok(())
    }
}
