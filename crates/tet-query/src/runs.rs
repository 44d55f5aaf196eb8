//! The runs of a read or a reduction, listed before they are read.

use tet_format::Span;

use crate::budget::Execution;
use crate::catalog::{Catalog, Dataset};
use crate::error::Result;
use crate::reduction::Reduction;
use crate::selection::Hyperslab;

impl Catalog {
    /// Calls `visit` with the runs that [`Catalog::read`] reads, in the order of its tasks; nothing is
    /// read to list them. Runs are ranges of bytes of the dataset's file, no longer than the budget of
    /// `how` allows; the number of threads does not change them.
    ///
    /// A source that is mapped or in memory is not read: there they are the bytes that are touched.
    /// What is read to compare checksums of bytes that are used in part, or used later, is not listed.
    ///
    /// # Errors
    ///
    /// As [`plan`](crate::plan).
    pub fn read_runs(
        &self,
        dataset: &Dataset,
        slab: &Hyperslab,
        how: &Execution,
        visit: &mut dyn FnMut(Span),
    ) -> Result<()> {
        crate::scatter::runs(dataset, slab, how, visit)
    }

    /// Calls `visit` with the runs that [`Catalog::reduce`] reads, as [`Catalog::read_runs`] does: of
    /// its first pass where it makes several, none where it makes none. A chunk that is decoded whole
    /// is listed for every task that uses it; a thread that still has it does not read it again.
    ///
    /// # Errors
    ///
    /// As [`Catalog::reduce_cost`].
    pub fn reduce_runs(
        &self,
        dataset: &Dataset,
        slab: &Hyperslab,
        reduction: &Reduction,
        how: &Execution,
        visit: &mut dyn FnMut(Span),
    ) -> Result<()> {
        let source = self.source_of(dataset);
        crate::reduce::runs(source, dataset, slab, reduction, (how, visit))
    }
}
