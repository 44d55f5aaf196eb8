//! An array result that can be read in parts: selected values, chosen and transformed.
//!
//! ```text
//!   selection -> picks -> filter, transform -> array
//!                         element by element, with statistics taken when the lazy array is made
//! ```
//!
//! Without picks, filter and transform a lazy array reads what the catalog reads, in the same way.

mod axes;
mod blocks;
mod computed;
mod elements;
mod gather;
mod statistics;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tet_format::{DType, Integrity, Shape};

use self::axes::{LazyAxis, halves};
pub use self::blocks::Blocks;
pub use self::computed::Computed;
pub use self::elements::Elements;
use crate::array::Array;
use crate::budget::Execution;
use crate::buffer::{self, Buffer};
use crate::catalog::Dataset;
use crate::cost::Cost;
use crate::element::make_truths;
use crate::error::{Error, Result};
use crate::fetch::{self, PartRead, Unverified};
use crate::plan::starts_in_ranges;
use crate::reduction::{AxisPicks, Filter, Number};
use crate::scatter;
use crate::selection::Hyperslab;
use crate::transform::{Formula, Map, Transform};

/// Which of the selected elements an array result shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// Elements that fail are replaced.
    pub filter: Option<Filter>,
    /// Positions that are shown, axis by axis.
    pub picks: Vec<AxisPicks>,
}

/// An array result that can be read in parts.
///
/// Any part has the same bits, whatever the other parts, the threads, the budget and the source.
#[derive(Debug)]
pub struct LazyArray {
    dataset: Dataset,
    slab: Hyperslab,
    choice: Choice,
    transform: Option<Transform>,
    /// The kept axes.
    axes: Vec<LazyAxis>,
    shape: Shape,
    dtype: DType,
    /// Whether parts of chunks are read; otherwise these are decoded whole.
    is_ranged: bool,
    map: Option<Arc<Map>>,
    zero_denominators: AtomicU64,
    unverified: Unverified,
    /// Digest checks of chunks that are read in parts, from when all of the lazy array is read in parts.
    parts: OnceLock<PartRead>,
}

impl LazyArray {
    /// The selected values as they are.
    ///
    /// # Errors
    ///
    /// Returns an error when the dataset cannot be read or the selection is not of its shape.
    pub fn values(dataset: &Dataset, slab: &Hyperslab) -> Result<Self> {
        let dtype = dataset.readable()?;
        if Hyperslab::new(slab.axes().to_vec(), dataset.shape()).is_none() {
            return Err(Error::misfit(dataset));
        }
        let count = dataset.grid.chunk_count().min(slab.element_count().unwrap_or(u64::MAX));
        dataset.check_chunk_count(count)?;
        let axes: Vec<LazyAxis> = LazyAxis::kept(dataset, slab);
        Ok(LazyArray {
            dataset: dataset.clone(),
            slab: slab.clone(),
            choice: Choice::default(),
            transform: None,
            shape: axes.iter().map(LazyAxis::count).collect(),
            axes,
            dtype,
            is_ranged: true,
            map: None,
            zero_denominators: AtomicU64::new(0),
            unverified: Unverified::default(),
            parts: OnceLock::new(),
        })
    }

    /// The selected values, chosen and transformed; reads what the statistics need.
    ///
    /// # Errors
    ///
    /// As [`Dataset::reduce`], and when the transform is not defined for the dtype, or elements
    /// that fail the filter have nothing to become.
    pub fn new(
        dataset: &Dataset,
        slab: &Hyperslab,
        choice: Choice,
        transform: Option<Transform>,
        how: &Execution,
    ) -> Result<Self> {
        let mut lazy = LazyArray::chosen(dataset, slab, choice)?;
        let filter = lazy.choice.filter.clone();
        let map = match (&transform, filter) {
            (None, None) => None,
            (None, Some(filter)) => Some(lazy.replacing(filter)?),
            (Some(transform), filter) => {
                lazy.check_number(transform)?;
                let statistics = lazy.statistics(transform, how)?;
                let formula = Formula::for_method(transform.method);
                Some(Map::computing(filter, formula, statistics, lazy.dtype))
            }
        };
        if let Some(map) = map {
            lazy.dtype = map.to();
            lazy.map = Some(Arc::new(map));
        }
        lazy.transform = transform;
        Ok(lazy)
    }

    /// The selected values as another type, which has the same numbers: floats become the nearest ones of a shorter
    /// type of floats, and all other values stay what they are.
    ///
    /// Where an element is read that the type does not have, such as 300 as uint8, 0.5 as int32 or 16777217 as
    /// float32, the reading returns [`Error::Inexact`].
    ///
    /// # Errors
    ///
    /// As [`LazyArray::values`], and when the elements of one of the types are not numbers.
    pub fn converted(dataset: &Dataset, slab: &Hyperslab, dtype: DType) -> Result<Self> {
        let mut lazy = LazyArray::values(dataset, slab)?;
        if let Some(&other) = [lazy.dtype, dtype].iter().find(|it| !Map::is_number(**it)) {
            return Err(Error::Undefined { op: "a conversion of numbers", dtype: other });
        }
        if lazy.dtype != dtype {
            let map = Map::converting(dataset.name.clone(), lazy.dtype, dtype);
            (lazy.dtype, lazy.map) = (dtype, Some(Arc::new(map)));
        }
        Ok(lazy)
    }

    /// The cost of making a lazy array and reading all of it once. Reads no element.
    ///
    /// # Errors
    ///
    /// As [`LazyArray::new`], but for what only the elements can bring about.
    pub fn cost(
        dataset: &Dataset,
        slab: &Hyperslab,
        choice: &Choice,
        transform: Option<&Transform>,
        how: &Execution,
    ) -> Result<Cost> {
        let lazy = LazyArray::chosen(dataset, slab, choice.clone())?;
        let statistics = match transform {
            Some(transform) => {
                lazy.check_number(transform)?;
                lazy.statistics_cost(transform, how)?
            }
            None => Cost::default(),
        };
        Ok(statistics.then(scatter::cost(dataset, slab, how)?))
    }

    /// The chosen values, not transformed yet.
    fn chosen(dataset: &Dataset, slab: &Hyperslab, choice: Choice) -> Result<Self> {
        let mut lazy = LazyArray::values(dataset, slab)?;
        if !choice.picks.is_empty() {
            lazy.pick(&choice.picks)?;
            lazy.is_ranged = starts_in_ranges(dataset, &lazy.slab);
        }
        lazy.choice = choice;
        Ok(lazy)
    }

    /// Has all of the lazy array compared that is about to be read, for those who go on to read it in parts,
    /// none of which is the whole: the dataset with its seal when all of it is shown, now; chunks that
    /// the parts cut through when the first of their parts is read.
    ///
    /// # Errors
    ///
    /// Returns an error when the stored bytes differ from their checksum, or cannot be read.
    pub fn check_seal(&self, how: &Execution) -> Result<()> {
        if !self.is_picked() {
            self.parts.get_or_init(|| PartRead::new(&self.dataset, &self.slab));
        }
        let is_whole = || !self.is_picked() && self.slab == Hyperslab::whole(self.dataset.shape());
        fetch::seal(&self.dataset, is_whole, how, &Unverified::default())
    }

    /// The dataset whose values are shown.
    #[must_use]
    pub const fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// How far the bytes of all that was read until now were compared with what the file has of them.
    #[must_use]
    pub fn integrity(&self) -> Integrity {
        self.unverified.integrity(&self.dataset)
    }

    /// The selection of the dataset, before picks.
    #[must_use]
    pub const fn slab(&self) -> &Hyperslab {
        &self.slab
    }

    /// Which of the selected elements are shown.
    #[must_use]
    pub const fn choice(&self) -> &Choice {
        &self.choice
    }

    /// The transform of the elements.
    #[must_use]
    pub const fn transform(&self) -> Option<&Transform> {
        self.transform.as_ref()
    }

    /// The type of the elements that are read.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// The extents: one for each kept axis, picks applied.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Which axes of the dataset the axes of the shape are.
    #[must_use]
    pub fn axes(&self) -> Vec<usize> {
        self.axes.iter().map(|axis| axis.axis).collect()
    }

    /// The position along the dataset's axis of a position along an axis of the shape; `None` past
    /// the end of either.
    #[must_use]
    pub fn position(&self, axis: usize, at: u64) -> Option<u64> {
        self.axes.get(axis).filter(|axis| at < axis.count()).map(|axis| axis.position(at))
    }

    /// Positions along each axis that one chunk of the dataset holds, about: a hint for cutting.
    #[must_use]
    pub fn chunk_shape(&self) -> Shape {
        self.axes.iter().map(LazyAxis::chunk_count).collect()
    }

    /// How many elements were read that are NaN because they would be divided by zero.
    ///
    /// Elements that are read twice are counted twice.
    #[must_use]
    pub fn zero_denominators(&self) -> u64 {
        self.zero_denominators.load(Ordering::Relaxed)
    }

    /// Reads a part, which is a selection of [`LazyArray::shape`], into a new array.
    ///
    /// # Errors
    ///
    /// As [`Dataset::read`].
    pub fn read(&self, part: &Hyperslab, how: &Execution) -> Result<Array> {
        if self.map.is_none() && !self.is_picked() && self.parts.get().is_none() {
            let array = scatter::read(&self.dataset, &self.composed(part)?, how, &self.unverified);
            return self.dataset.unless_changed(array);
        }
        how.check_result(part.element_count().and_then(|count| count.checked_mul(self.size())))?;
        let mut array = Array::zeroed(self.dtype, part.kept_shape())?;
        self.read_into(part, how, array.bytes_mut())?;
        Ok(array)
    }

    /// Reads a part into `out`, which has exactly its bytes.
    ///
    /// # Errors
    ///
    /// As [`Dataset::read_into`]; what `out` holds after an error means nothing.
    pub fn read_into(&self, part: &Hyperslab, how: &Execution, out: &mut [u8]) -> Result<()> {
        self.check(part)?;
        let count = part.element_count().ok_or_else(|| Error::misfit(&self.dataset))?;
        let wanted = count.saturating_mul(self.size());
        if wanted != out.len() as u64 {
            return Err(Error::Buffer { found: out.len() as u64, wanted });
        }
        let Some(map) = &self.map else { return self.gather(part, how, out) };
        let align = buffer::len(self.size())?;
        if out.as_ptr().addr().is_multiple_of(align) {
            return self.read_mapped(map, part, how, out);
        }
        let mut array = Array::zeroed(self.dtype, part.kept_shape())?;
        self.read_mapped(map, part, how, array.bytes_mut())?;
        out.copy_from_slice(array.bytes());
        Ok(())
    }

    /// Reads a part and maps it, in place where elements keep their size.
    fn read_mapped(
        &self,
        map: &Map,
        part: &Hyperslab,
        how: &Execution,
        out: &mut [u8],
    ) -> Result<()> {
        let from_size = self.dataset_size();
        if from_size == self.size() {
            self.gather_numbers(part, how, out)?;
            return self.count(map.run(part, None, out, how)?);
        }
        let room_len = out.len() as u64 / self.size() * from_size;
        if how.memory_budget / 4 < room_len
            && let Some(halves) = halves(part)
        {
            let (first, second) = out.split_at_mut(self.len(&halves[0])?);
            self.read_mapped(map, &halves[0], how, first)?;
            return self.read_mapped(map, &halves[1], how, second);
        }
        let mut room = Buffer::default();
        let room = room.room(buffer::len(room_len)?)?;
        self.gather_numbers(part, how, room)?;
        self.count(map.run(part, Some(room), out, how)?)
    }

    /// Gathers elements to compute with.
    fn gather_numbers(&self, part: &Hyperslab, how: &Execution, out: &mut [u8]) -> Result<()> {
        self.gather(part, how, out)?;
        if self.dataset.dtype == Some(DType::Bool) {
            make_truths(out);
        }
        Ok(())
    }

    /// Counts elements that would be divided by zero.
    fn count(&self, zero_denominators: u64) -> Result<()> {
        self.zero_denominators.fetch_add(zero_denominators, Ordering::Relaxed);
        Ok(())
    }

    /// Applies another map to the elements.
    fn mapped(&self, map: Map) -> LazyArray {
        LazyArray { transform: None, dtype: map.to(), map: Some(Arc::new(map)), ..self.apart() }
    }

    /// A copy with its own counters: reads of it change neither [`LazyArray::integrity`] nor
    /// [`LazyArray::zero_denominators`] of this one.
    #[must_use]
    pub fn apart(&self) -> LazyArray {
        LazyArray {
            dataset: self.dataset.clone(),
            slab: self.slab.clone(),
            choice: self.choice.clone(),
            transform: self.transform.clone(),
            axes: self.axes.clone(),
            shape: self.shape.clone(),
            dtype: self.dtype,
            is_ranged: self.is_ranged,
            map: self.map.clone(),
            zero_denominators: AtomicU64::new(0),
            unverified: self.unverified.copied(),
            parts: OnceLock::new(),
        }
    }

    /// A map that replaces what fails a filter.
    fn replacing(&self, filter: Filter) -> Result<Map> {
        let dtype = self.dtype;
        if !Map::is_number(dtype) {
            return Err(Error::Undefined { op: "filter", dtype });
        }
        let nothing = if dtype.is_float() { Some(Number::Float(f64::NAN)) } else { filter.fill };
        let nothing = nothing.filter(|&number| number.fits(dtype));
        let no_fill = || Error::NoFill { dataset: self.dataset.name.clone(), dtype };
        Ok(Map::replacing(filter, nothing.ok_or_else(no_fill)?, dtype))
    }

    /// Whether the elements are numbers, which transforms are made of.
    fn check_number(&self, transform: &Transform) -> Result<()> {
        let (op, dtype) = (transform.method.name(), self.dtype);
        if Map::is_number(dtype) { Ok(()) } else { Err(Error::Undefined { op, dtype }) }
    }

    /// Whether a part is a selection of the shape.
    fn check(&self, part: &Hyperslab) -> Result<()> {
        if Hyperslab::new(part.axes().to_vec(), &self.shape).is_none() {
            let (dataset, shape) = (self.dataset.name.clone(), self.shape.clone());
            return Err(Error::Misfit { dataset, shape });
        }
        Ok(())
    }

    /// Bytes of a part.
    fn len(&self, part: &Hyperslab) -> Result<usize> {
        buffer::len(part.element_count().unwrap_or(u64::MAX).saturating_mul(self.size()))
    }

    /// Bytes of an element that is read.
    fn size(&self) -> u64 {
        self.dtype.size().unwrap_or(1)
    }

    /// Bytes of an element of the dataset.
    fn dataset_size(&self) -> u64 {
        self.dataset.dtype.and_then(DType::size).unwrap_or(1)
    }
}
