//! Reads and reductions of a dataset, and their cost.

use std::ops::Deref;

use tet_format::Integrity;
use tet_io::Bytes;

use crate::array::{Array, zeroed_elements};
use crate::budget::Execution;
use crate::catalog::{Catalog, Dataset, ReadRange};
use crate::coalesce::Coalesce;
use crate::cost::Cost;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::fetch::{self, Unverified};
use crate::plan::piece::dense_range;
use crate::plan::plan;
use crate::plan::touch::Touch;
use crate::reduce;
use crate::reduction::Reduction;
use crate::scatter;
use crate::selection::Hyperslab;
use crate::value::Reduced;

/// A result and its integrity: which of the bytes behind it were checked against digests.
///
/// It is used as its value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WithIntegrity<T> {
    /// The value: an array, a reduction, a comparison.
    pub value: T,
    /// Whether the bytes behind it are those that were written.
    pub integrity: Integrity,
}

impl<T> Deref for WithIntegrity<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

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
        let len = |dataset: &Dataset| dataset.selected_len(&Hyperslab::whole(dataset.shape()));
        let wanted = readable.map(len).fold(0, u64::saturating_add);
        how.check_decoded(wanted, self.file_len())
    }
}

impl Dataset {
    /// Computes a value and adds its integrity.
    fn computed<T>(
        &self,
        value: impl FnOnce(&Unverified) -> Result<T>,
    ) -> Result<WithIntegrity<T>> {
        let unverified = Unverified::default();
        let value = value(&unverified)?;
        Ok(WithIntegrity { value, integrity: unverified.integrity(self) })
    }

    /// Computes a value with its integrity, then checks that the file did not change meanwhile.
    fn answer<T>(&self, value: impl FnOnce(&Unverified) -> Result<T>) -> Result<WithIntegrity<T>> {
        self.unless_changed(self.computed(value))
    }

    /// Returns an outcome of reading after a check that the file did not change meanwhile: damage in a file that changed
    /// may be in none of its versions.
    pub(crate) fn unless_changed<T>(&self, outcome: Result<T>) -> Result<T> {
        if outcome.as_ref().err().is_none_or(|error| error.kind() == tet_io::Kind::Format) {
            self.check_unchanged()?;
        }
        outcome
    }

    /// Reads the selected elements into a new array.
    ///
    /// # Errors
    ///
    /// Returns an error when a touched chunk is damaged, the file changed, or a bound is passed.
    pub fn read(&self, slab: &Hyperslab, how: &Execution) -> Result<WithIntegrity<Array>> {
        self.answer(|unverified| scatter::read(self, slab, how, unverified))
    }

    /// Reads the selected elements, row-major, as values of their own type.
    ///
    /// # Errors
    ///
    /// As [`Dataset::read`], and [`Error::OtherType`] when the elements are no `T`.
    pub fn read_as<T: Element>(
        &self,
        slab: &Hyperslab,
        how: &Execution,
    ) -> Result<WithIntegrity<Vec<T>>> {
        if self.readable()? != T::DTYPE {
            let (dataset, dtype) = (self.name.clone(), self.dtype_name.clone());
            return Err(Error::OtherType { dataset, dtype, wanted: T::DTYPE });
        }
        let count = slab.element_count();
        let len = count.and_then(|count| count.checked_mul(size_of::<T>() as u64));
        how.check_result(len)?;
        let count = count.and_then(|count| usize::try_from(count).ok());
        let wanted = len.unwrap_or(u64::MAX);
        let mut value: Vec<T> =
            count.and_then(zeroed_elements).ok_or(Error::NoMemory { wanted })?;
        let integrity = self.read_into(slab, how, bytemuck::cast_slice_mut(&mut value))?;
        Ok(WithIntegrity { value, integrity })
    }

    /// Reads the selected elements into `out`, which has exactly their bytes.
    ///
    /// # Errors
    ///
    /// As [`Dataset::read`]; what `out` holds after an error means nothing.
    pub fn read_into(
        &self,
        slab: &Hyperslab,
        how: &Execution,
        out: &mut [u8],
    ) -> Result<Integrity> {
        let answer =
            self.answer(|unverified| scatter::read_into(self, slab, how, unverified, None, out));
        Ok(answer?.integrity)
    }

    /// The selected elements where they lie in memory or in a map that the caller vouches for, without a
    /// copy; `None` unless they are one stretch of one raw chunk of such a source. Nothing is compared
    /// with a digest.
    ///
    /// # Errors
    ///
    /// As [`Dataset::read`], but for what only the elements can bring about.
    pub fn view(&self, slab: &Hyperslab) -> Result<Option<Bytes>> {
        let touch = Touch::new(&self.grid, slab).ok_or_else(|| Error::misfit(self))?;
        if touch.chunk_count() != 1 {
            return Ok(None);
        }
        let plan = plan(self, slab, Coalesce::DEFAULT)?;
        let read = plan.chunks().first();
        let read = read.filter(|read| plan.is_identity(read) && read.place.object == 0);
        let elements = dense_range(&plan.touch.parts_of(0));
        let span = read.zip(elements).and_then(|(read, range)| plan.stored_span(read, range));
        Ok(span.and_then(|span| self.source.bytes(span)))
    }

    /// Reduces the selected elements.
    ///
    /// # Errors
    ///
    /// As [`Dataset::read`], and when the operation is not defined for the dtype or the axes.
    pub fn reduce(
        &self,
        slab: &Hyperslab,
        reduction: &Reduction,
        how: &Execution,
    ) -> Result<WithIntegrity<Reduced>> {
        self.answer(|unverified| reduce::reduce(self, slab, reduction, how, unverified))
    }

    /// Reduces the selected elements in several ways, each as [`Dataset::reduce`] does; those that
    /// have the same cells and take one pass are folded in one pass.
    ///
    /// # Errors
    ///
    /// As [`Dataset::reduce`].
    pub fn reduce_all(
        &self,
        slab: &Hyperslab,
        reductions: &[Reduction],
        how: &Execution,
    ) -> Result<WithIntegrity<Vec<Reduced>>> {
        self.answer(|unverified| reduce::reduce_all(self, slab, reductions, how, unverified))
    }

    /// The cost of [`Dataset::reduce`]. Reads no element.
    ///
    /// # Errors
    ///
    /// As [`Dataset::reduce`], but for what only the elements can bring about.
    pub fn reduce_cost(
        &self,
        slab: &Hyperslab,
        reduction: &Reduction,
        how: &Execution,
    ) -> Result<Cost> {
        reduce::cost(self, slab, reduction, how)
    }

    /// Compares all stored bytes with the checksum of the dataset, as a read of all of it would: for
    /// those who take them by their places.
    ///
    /// # Errors
    ///
    /// Returns an error when they differ from their checksum, or cannot be read.
    pub fn check_seal(&self, how: &Execution) -> Result<()> {
        fetch::seal(self, || true, how, &Unverified::default())
    }

    /// Opens a session: many reads and reductions, one look at the file's identity at its end.
    pub fn session(&self) -> Session<'_> {
        Session { dataset: self, kept: None }
    }

    /// Calls `visit` with the runs that [`Dataset::read`] reads, in the order of its tasks; nothing is
    /// read to list them. Runs are ranges of bytes of the dataset's file, no longer than the budget of
    /// `how` allows; the number of threads does not change them.
    ///
    /// A source that is mapped or in memory is not read: there they are the bytes that are touched.
    /// Reads that only compare checksums, of bytes that are used in part or later, are not listed.
    ///
    /// # Errors
    ///
    /// As [`plan`](crate::plan).
    pub fn read_runs(
        &self,
        slab: &Hyperslab,
        how: &Execution,
        visit: &mut dyn FnMut(ReadRange),
    ) -> Result<()> {
        scatter::runs(self, slab, how, visit)
    }

    /// Calls `visit` with the runs that [`Dataset::reduce`] reads, as [`Dataset::read_runs`] does: of
    /// its first pass where it makes several, none where it makes none. A chunk that is decoded whole
    /// is listed for every task that uses it; a thread that still has it does not read it again.
    ///
    /// # Errors
    ///
    /// As [`Dataset::reduce_cost`].
    pub fn reduce_runs(
        &self,
        slab: &Hyperslab,
        reduction: &Reduction,
        how: &Execution,
        visit: &mut dyn FnMut(ReadRange),
    ) -> Result<()> {
        reduce::runs(self, slab, reduction, how, visit)
    }
}

/// Many reads and reductions that count as one request.
///
/// Answers are valid once [`Session::finish`] returns `Ok`, or [`Catalog::check_unchanged`] does after the sessions of
/// many datasets.
///
/// # Examples
///
/// ```
/// use tet_query::{Dataset, Execution, Hyperslab, Op, Reduced, Reduction, Result, WithIntegrity};
///
/// fn mean_and_max(dataset: &Dataset, how: &Execution) -> Result<[WithIntegrity<Reduced>; 2]> {
///     let slab = Hyperslab::whole(dataset.shape());
///     let session = dataset.session();
///     let mean = session.reduce(&slab, &Reduction::all(Op::Mean), how)?;
///     let max = session.reduce(&slab, &Reduction::all(Op::Max), how)?;
///     session.finish()?;
///     Ok([mean, max])
/// }
/// ```
#[derive(Clone, Debug)]
#[must_use = "answers are valid once `finish` returns `Ok`"]
pub struct Session<'d> {
    dataset: &'d Dataset,
    kept: Option<WithIntegrity<Dataset>>,
}

impl Session<'_> {
    /// Reads all elements for the answers to come, where these come sooner then: the dataset is one chunk, which is small,
    /// or is compressed and takes at most an eighth of the memory budget. Otherwise nothing is read.
    ///
    /// # Errors
    ///
    /// As [`Dataset::read`].
    pub fn keep(&mut self, how: &Execution) -> Result<()> {
        if self.kept.is_none() && self.dataset.is_worth_keeping(how) {
            let all = self.read(&Hyperslab::whole(self.dataset.shape()), &how.silent())?;
            let value = self.dataset.with_elements(all.value)?;
            self.kept = Some(WithIntegrity { value, integrity: all.integrity });
        }
        Ok(())
    }

    /// An answer from the elements that were kept, or from the file.
    fn reduced<T>(
        &self,
        value: impl FnOnce(&Dataset, &Unverified) -> Result<T>,
    ) -> Result<WithIntegrity<T>> {
        let Some(kept) = &self.kept else {
            return self.answer(|unverified| value(self.dataset, unverified));
        };
        let value = value(&kept.value, &Unverified::default())?;
        Ok(WithIntegrity { value, integrity: kept.integrity })
    }

    /// An answer whose files are compared at the end of the session; an error at once, as damage in a file that changed
    /// meanwhile may be in none of its versions.
    fn answer<T>(&self, value: impl FnOnce(&Unverified) -> Result<T>) -> Result<WithIntegrity<T>> {
        let outcome = self.dataset.computed(value);
        if outcome.is_err() { self.dataset.unless_changed(outcome) } else { outcome }
    }

    /// Reads the selected elements into a new array.
    ///
    /// # Errors
    ///
    /// As [`Dataset::read`].
    pub fn read(&self, slab: &Hyperslab, how: &Execution) -> Result<WithIntegrity<Array>> {
        self.answer(|unverified| scatter::read(self.dataset, slab, how, unverified))
    }

    /// Reduces the selected elements.
    ///
    /// # Errors
    ///
    /// As [`Dataset::reduce`].
    pub fn reduce(
        &self,
        slab: &Hyperslab,
        reduction: &Reduction,
        how: &Execution,
    ) -> Result<WithIntegrity<Reduced>> {
        self.reduced(|dataset, unverified| {
            reduce::reduce(dataset, slab, reduction, how, unverified)
        })
    }

    /// Reduces the selected elements in several ways, as [`Dataset::reduce_all`] does.
    ///
    /// # Errors
    ///
    /// As [`Dataset::reduce_all`].
    pub fn reduce_all(
        &self,
        slab: &Hyperslab,
        reductions: &[Reduction],
        how: &Execution,
    ) -> Result<WithIntegrity<Vec<Reduced>>> {
        self.reduced(|dataset, unverified| {
            reduce::reduce_all(dataset, slab, reductions, how, unverified)
        })
    }

    /// Compares the file's identity, once for all answers of the session.
    ///
    /// # Errors
    ///
    /// Returns an error when the file changed: all answers of the session are then void.
    pub fn finish(self) -> Result<()> {
        self.dataset.check_unchanged()
    }
}
