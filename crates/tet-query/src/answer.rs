//! What a catalog answers: selected elements, reductions and what they cost.

use tet_format::DType;

use crate::array::Array;
use crate::budget::Execution;
use crate::catalog::{Catalog, Dataset};
use crate::cost::Cost;
use crate::error::Result;
use crate::fetch;
use crate::reduce;
use crate::reduction::Reduction;
use crate::scatter;
use crate::selection::Hyperslab;
use crate::value::Reduced;

impl Catalog {
    /// Checks what all of these datasets decode to together, before any of them is read.
    ///
    /// # Errors
    ///
    /// Returns [`Expansion`](crate::Error::Expansion) when it is more than [`Execution::decoded_max`].
    pub fn check_decoded<'d>(
        &self,
        datasets: impl IntoIterator<Item = &'d Dataset>,
        how: &Execution,
    ) -> Result<()> {
        let readable = datasets.into_iter().filter(|dataset| dataset.fault.is_none());
        let len = |dataset: &Dataset| {
            let size = dataset.dtype.and_then(DType::size).unwrap_or(0);
            let shape = dataset.shape().iter();
            if dataset.shape().contains(&0) {
                0
            } else {
                shape.fold(size, |len, &extent| len.saturating_mul(extent))
            }
        };
        let wanted = readable.map(len).fold(0, u64::saturating_add);
        how.check_decoded(wanted, self.file_len())
    }

    /// Reads the selected elements into a new array.
    ///
    /// # Errors
    ///
    /// Returns an error when a touched chunk is damaged, the file changed, or a bound is passed.
    pub fn read(&self, dataset: &Dataset, slab: &Hyperslab, how: &Execution) -> Result<Array> {
        let array = scatter::read(self.source_of(dataset), dataset, slab, how)?;
        self.check_read(dataset)?;
        Ok(array)
    }

    /// Reads the selected elements into `out`, which has exactly their bytes.
    ///
    /// # Errors
    ///
    /// As [`Catalog::read`]; what `out` holds after an error means nothing.
    pub fn read_into(
        &self,
        dataset: &Dataset,
        slab: &Hyperslab,
        how: &Execution,
        out: &mut [u8],
    ) -> Result<()> {
        scatter::read_into((self.source_of(dataset), dataset), slab, how, None, out)?;
        self.check_read(dataset)
    }

    /// Reduces the selected elements.
    ///
    /// # Errors
    ///
    /// As [`Catalog::read`], and when the operation is not defined for the dtype or the axes.
    pub fn reduce(
        &self,
        dataset: &Dataset,
        slab: &Hyperslab,
        reduction: &Reduction,
        how: &Execution,
    ) -> Result<Reduced> {
        let reduced = reduce::reduce(self.source_of(dataset), dataset, slab, reduction, how)?;
        self.check_read(dataset)?;
        Ok(reduced)
    }

    /// Reduces the selected elements in several ways, each as [`Catalog::reduce`] does; those that
    /// have the same cells and take one pass are folded in one pass.
    ///
    /// # Errors
    ///
    /// As [`Catalog::reduce`].
    pub fn reduce_all(
        &self,
        dataset: &Dataset,
        slab: &Hyperslab,
        reductions: &[Reduction],
        how: &Execution,
    ) -> Result<Vec<Reduced>> {
        let reduced = reduce::reduce_all(self.source_of(dataset), dataset, slab, reductions, how)?;
        self.check_read(dataset)?;
        Ok(reduced)
    }

    /// What [`Catalog::reduce`] would cost; no element is read to tell.
    ///
    /// # Errors
    ///
    /// As [`Catalog::reduce`], but for what only the elements and the budget can bring about.
    pub fn reduce_cost(
        &self,
        dataset: &Dataset,
        slab: &Hyperslab,
        reduction: &Reduction,
        how: &Execution,
    ) -> Result<Cost> {
        reduce::cost(self.source_of(dataset), dataset, slab, reduction, how)
    }

    /// Compares all stored bytes of a dataset with its seal, as a read of all of it would: for those
    /// who take them by their places.
    ///
    /// # Errors
    ///
    /// Returns an error when they differ from their checksum, or cannot be read.
    pub fn check_seal(&self, dataset: &Dataset, how: &Execution) -> Result<()> {
        fetch::seal(self.source_of(dataset), dataset, || true, how).map(drop)
    }

    /// Opens a session: many small reads, one look at the file's identity at its end.
    pub fn session(&self) -> Session<'_> {
        Session { catalog: self }
    }
}

/// Many small reads that count as one request.
///
/// Answers are good once [`Session::finish`] says so.
#[derive(Debug)]
#[must_use = "answers are good once `finish` says so"]
pub struct Session<'a> {
    catalog: &'a Catalog,
}

impl Session<'_> {
    /// Reads the selected elements into a new array.
    ///
    /// # Errors
    ///
    /// As [`Catalog::read`].
    pub fn read(&mut self, dataset: &Dataset, slab: &Hyperslab, how: &Execution) -> Result<Array> {
        scatter::read(self.catalog.source_of(dataset), dataset, slab, how)
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
