//! Many small reads with one look at the file's identity.

use super::{Catalog, Dataset};
use crate::array::Array;
use crate::budget::Execution;
use crate::error::Result;
use crate::selection::Hyperslab;

/// Many small reads that count as one request.
///
/// Answers are good once [`Session::finish`] says so.
#[derive(Debug)]
#[must_use = "answers are good once `finish` says so"]
pub struct Session<'a> {
    catalog: &'a Catalog,
}

impl<'a> Session<'a> {
    pub(super) const fn new(catalog: &'a Catalog) -> Self {
        Session { catalog }
    }

    /// Reads the selected elements into a new array.
    ///
    /// # Errors
    ///
    /// As [`Catalog::read`].
    pub fn read(&mut self, dataset: &Dataset, slab: &Hyperslab, how: &Execution) -> Result<Array> {
        crate::scatter::read(self.catalog.source_of(dataset), dataset, slab, how)
    }

    /// Compares the file's identity, once for all reads of the session.
    ///
    /// # Errors
    ///
    /// Returns an error when the file changed: all answers of the session are then void.
    pub fn finish(self) -> Result<()> {
        self.catalog.check_unchanged()
    }
}
