//! Elements that are read as one array: those of a lazy array, or of several one behind the other along an axis.
//!
//! ```text
//!   | old file | first input | second input |   along the axis
//! ```

use std::ops::Range;
use std::sync::Arc;

use tet_format::{DType, Integrity, Shape};
use tet_io::Writers;

use super::LazyArray;
use crate::budget::Execution;
use crate::error::{Error, Result};
use crate::selection::{AxisSlice, Hyperslab};

/// The elements of lazy arrays of one type, whose extents differ along one axis at most.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use tet_query::{Dataset, Elements, Hyperslab, LazyArray};
///
/// /// All of `second` behind all of `first`, along their first axis.
/// fn joined(first: &Dataset, second: &Dataset) -> tet_query::Result<Option<Elements>> {
///     let all = |dataset: &Dataset| {
///         LazyArray::values(dataset, &Hyperslab::whole(dataset.shape())).map(Arc::new)
///     };
///     Ok(Elements::along(0, all(first)?, vec![all(second)?]))
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Elements {
    first: Arc<LazyArray>,
    others: Vec<Arc<LazyArray>>,
    axis: usize,
    shape: Shape,
}

impl Elements {
    /// The elements of one lazy array.
    #[must_use]
    pub fn new(lazy: Arc<LazyArray>) -> Elements {
        let shape = lazy.shape().clone();
        Elements { first: lazy, others: Vec::new(), axis: 0, shape }
    }

    /// The elements of several lazy arrays, one behind the other along an axis; `None` where their types or their other
    /// extents differ, or the shape is too long.
    #[must_use]
    pub fn along(
        axis: usize,
        first: Arc<LazyArray>,
        others: Vec<Arc<LazyArray>>,
    ) -> Option<Elements> {
        let mut extents = first.shape().to_vec();
        for other in &others {
            let fits = |(at, (one, two)): (usize, (&u64, &u64))| at == axis || one == two;
            let mut pairs = first.shape().iter().zip(other.shape().iter()).enumerate();
            let is_same = first.dtype() == other.dtype()
                && first.shape().len() == other.shape().len()
                && pairs.all(fits);
            let extent = extents.get_mut(axis).filter(|_| is_same)?;
            *extent = extent.checked_add(*other.shape().get(axis)?)?;
        }
        let shape = Shape::from(extents);
        shape.element_count()?.checked_mul(first.dtype().size()?)?;
        Some(Elements { first, others, axis, shape })
    }

    /// The first of the lazy arrays.
    #[must_use]
    pub fn first(&self) -> &LazyArray {
        &self.first
    }

    /// The shape of all.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The type of the elements.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.first.dtype()
    }

    fn parts(&self) -> impl Iterator<Item = &Arc<LazyArray>> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// The lazy arrays, where all elements of one come before those of the next; `None` for a single one.
    #[must_use]
    pub fn in_order(&self) -> Option<impl Iterator<Item = &LazyArray>> {
        let is_outer = self.shape.iter().take(self.axis).all(|&extent| extent == 1);
        (is_outer && !self.others.is_empty()).then(|| self.parts().map(|it| &**it))
    }

    /// Compares all with their checksums, as [`LazyArray::check_seal`] does.
    ///
    /// # Errors
    /// The stored bytes differ from their checksum, or cannot be read.
    pub fn check_seal(&self, how: &Execution) -> Result<()> {
        self.parts().try_for_each(|part| part.check_seal(how))
    }

    /// How far the bytes of all that was read were compared.
    #[must_use]
    pub fn integrity(&self) -> Integrity {
        let others = self.others.iter().map(|it| it.integrity());
        others.fold(self.first.integrity(), Integrity::and)
    }

    /// Who may have written to the files since they were opened.
    #[must_use]
    pub fn writers(&self) -> Writers {
        let each = self.parts().map(|part| part.dataset().writers());
        each.max().unwrap_or(Writers::Absent)
    }

    /// Checks that the files are those that were opened.
    ///
    /// # Errors
    /// One of them changed.
    pub fn check_unchanged(&self) -> Result<()> {
        self.parts().try_for_each(|part| part.dataset().check_unchanged())
    }

    /// Reads a part, which is a selection of the shape without steps, into `out`, which has exactly its bytes.
    ///
    /// # Errors
    /// As [`LazyArray::read_into`]; memory for a part of it is missing.
    pub fn read_into(&self, slab: &Hyperslab, how: &Execution, out: &mut [u8]) -> Result<()> {
        if self.others.is_empty() {
            return self.first.read_into(slab, how, out);
        }
        let misfit = || Error::Unsupported { why: "a selection with steps of files".to_owned() };
        let slices = slab.axes();
        let wanted = slices.get(self.axis).filter(|it| it.step == 1).ok_or_else(misfit)?;
        let mut begin = 0_u64;
        for part in self.parts() {
            let extent = part.shape().get(self.axis).copied().unwrap_or(0);
            let end = begin.saturating_add(extent);
            let common = wanted.start.max(begin)..wanted.stop.min(end);
            if !common.is_empty() {
                let (start, stop) = (common.start - begin, common.end - begin);
                let mut within = slices.to_vec();
                if let Some(slice) = within.get_mut(self.axis) {
                    *slice = AxisSlice { start, stop, ..*slice };
                }
                let within = Hyperslab::new(within, part.shape()).ok_or_else(misfit)?;
                let placed = common.start - wanted.start..common.end - wanted.start;
                self.place(part, &within, placed, slices, how, out)?;
            }
            begin = end;
        }
        Ok(())
    }

    /// Reads what a lazy array has of a selection to its positions along the axis.
    fn place(
        &self,
        part: &LazyArray,
        within: &Hyperslab,
        placed: Range<u64>,
        slices: &[AxisSlice],
        how: &Execution,
        out: &mut [u8],
    ) -> Result<()> {
        let size = self.dtype().size().unwrap_or(1);
        let product = |slices: &[AxisSlice]| slices.iter().map(AxisSlice::count).product::<u64>();
        // The bytes of `out` bound all products.
        let inner = usize::try_from(product(&slices[self.axis + 1..]) * size).unwrap_or(usize::MAX);
        let bytes =
            |positions: u64| usize::try_from(positions).unwrap_or(usize::MAX).saturating_mul(inner);
        let (from, to) = (bytes(placed.start), bytes(placed.end));
        if product(&slices[..self.axis]) == 1 {
            let found = out.len() as u64;
            let all = out.get_mut(from..to).ok_or(Error::Buffer { found, wanted: to as u64 })?;
            return part.read_into(within, how, all);
        }
        let len = within.element_count().and_then(|count| count.checked_mul(size));
        let len = len.and_then(|len| usize::try_from(len).ok()).unwrap_or(usize::MAX);
        let mut held = Vec::new();
        let memory_budget = how.memory_budget;
        let too_long =
            |_| Error::Limit { what: "bytes of a part", wanted: len as u64, limit: memory_budget };
        held.try_reserve_exact(len).map_err(too_long)?;
        held.resize(len, 0);
        let memory_budget = memory_budget.saturating_sub(len as u64);
        part.read_into(within, &Execution { memory_budget, ..how.clone() }, &mut held)?;
        let row = bytes(slices[self.axis].count()).max(1);
        for (out, held) in out.chunks_exact_mut(row).zip(held.chunks_exact((to - from).max(1))) {
            if let Some(place) = out.get_mut(from..to) {
                place.copy_from_slice(held);
            }
        }
        Ok(())
    }
}
