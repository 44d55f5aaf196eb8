//! The positions of stored elements.

use tet_format::ForeignRule;

use crate::rule;

/// The positions of stored elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Places {
    /// Row by row.
    Csr {
        /// The first element of each row, and the total count.
        indptr: Vec<u64>,
        /// The column of each element.
        indices: Vec<u64>,
    },
    /// One by one.
    Coo {
        /// The coordinates of each element, one element after the other.
        coords: Vec<u64>,
    },
}

impl Places {
    /// Checks that the positions match the shape and the number of values.
    ///
    /// # Errors
    ///
    /// Returns the rule that they break.
    pub fn check(&self, shape: &[u64], count: u64) -> Result<(), &'static ForeignRule> {
        match (self, shape) {
            (Places::Csr { indptr, indices }, [rows, columns]) => {
                let is_fit = rows.checked_add(1) == Some(indptr.len() as u64)
                    && indices.len() as u64 == count;
                let is_ordered = indptr.first() == Some(&0)
                    && indptr.is_sorted()
                    && indptr.last() == Some(&count);
                match (is_fit, is_ordered, indices.iter().all(|column| column < columns)) {
                    (false, ..) => Err(&rule::PART_FIT),
                    (_, false, _) => Err(&rule::PART_INDPTR),
                    (.., false) => Err(&rule::PART_RANGE),
                    _ => Ok(()),
                }
            }
            (Places::Csr { .. }, _) | (Places::Coo { .. }, []) => Err(&rule::PART_FIT),
            (Places::Coo { coords }, shape) => {
                let mut axes = coords.iter().zip(shape.iter().cycle());
                let is_fit = count.checked_mul(shape.len() as u64) == Some(coords.len() as u64);
                match (is_fit, axes.all(|(at, extent)| at < extent)) {
                    (false, _) => Err(&rule::PART_FIT),
                    (_, false) => Err(&rule::PART_RANGE),
                    _ => Ok(()),
                }
            }
        }
    }
}
