//! A dataset whose elements are those of lazy arrays: a selection or an answer, or what grew along an axis, written as
//! any dataset is.
//!
//! ```text
//!   stream::read          -> the lazy arrays themselves, with all threads and the whole budget
//!   views of other types  -> the decoder, which computes one chunk
//! ```

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tet_codec::{Decode, Error as Refused};
use tet_format::{Grid, Integrity};
use tet_io::Writers;

use super::LazyArray;
use super::elements::Elements;
use crate::budget::Execution;
use crate::catalog::{ChunkPlace, ChunkTable, Dataset, Decoder, StoredCompression};
use crate::error::{Error, Result};
use crate::selection::Hyperslab;

/// Chunks of the file that a chunk which is made longer is as long as, and bytes that it has at least. Reading one takes a
/// quarter of the memory budget for a chunk of the file, so one that is four times as long fits whenever it can be read.
const LONGER_COUNT: u64 = 4;
const LONGER_LEN: u64 = 1 << 20;

/// The chunks of elements that are read as one array.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use tet_query::{Computed, Dataset, Elements, Execution, Hyperslab, LazyArray};
///
/// /// Every second row, as a dataset of its own.
/// fn thinned(dataset: &Dataset) -> tet_query::Result<Option<Dataset>> {
///     let mut axes = Hyperslab::whole(dataset.shape()).axes().to_vec();
///     let Some(rows) = axes.first_mut() else { return Ok(None) };
///     rows.step = 2;
///     let Some(slab) = Hyperslab::new(axes, dataset.shape()) else { return Ok(None) };
///     let rows = Elements::new(Arc::new(LazyArray::values(dataset, &slab)?));
///     Ok(Some(Computed::new(rows, &Execution::default()).dataset("rows".to_owned())))
/// }
/// ```
#[derive(Debug)]
pub struct Computed {
    elements: Elements,
    grid: Grid,
    how: Execution,
    /// Why a chunk could not be computed: a decoder has no words for that.
    fault: Mutex<Option<Error>>,
}

impl Computed {
    /// The chunks of elements, which are about those of the dataset of the first of them.
    #[must_use]
    pub fn new(elements: Elements, how: &Execution) -> Arc<Computed> {
        Computed::longer_along(elements, &[], how)
    }

    /// As [`Computed::new`], with longer chunks along axes of which positions are taken one by one: each chunk of the file
    /// that two of them touch is decoded twice. They do not depend on the budget, as results do not.
    pub(crate) fn longer_along(
        elements: Elements,
        axes: &[usize],
        how: &Execution,
    ) -> Arc<Computed> {
        let (chunk, shape) = (elements.first().chunk_shape(), elements.shape());
        let chunk = chunk.iter().zip(shape.iter());
        let mut chunk: Vec<u64> = chunk.map(|(&chunk, &extent)| chunk.min(extent).max(1)).collect();
        let size = elements.dtype().size().unwrap_or(1);
        let len_of = |chunk: &[u64]| chunk.iter().copied().fold(size, u64::saturating_mul).max(1);
        let len_max = len_of(&chunk).saturating_mul(LONGER_COUNT).max(LONGER_LEN);
        for &axis in axes {
            let longer = chunk[axis].saturating_mul((len_max / len_of(&chunk)).max(1));
            chunk[axis] = longer.min(shape[axis]).max(1);
        }
        let whole = || shape.iter().map(|&extent| extent.max(1)).collect();
        let grid =
            Grid::new(shape.clone(), chunk.into()).or_else(|| Grid::new(shape.clone(), whole()));
        let grid = grid.unwrap_or_else(Grid::of_scalar);
        // Chunks are decoded on several threads at once.
        let memory_budget = how.memory_budget / 4;
        let how = Execution { threads: 1, memory_budget, ..how.silent() };
        Arc::new(Computed { elements, grid, how, fault: Mutex::default() })
    }

    /// A dataset of this name whose elements they are, without axes, labels and attributes.
    #[must_use]
    pub fn dataset(self: &Arc<Self>, name: String) -> Dataset {
        let source = self.elements.first().dataset().source.clone();
        let (grid, chunks) = (self.grid.clone(), Arc::clone(self));
        Dataset::new(source, name, self.elements.dtype(), grid, chunks)
    }

    /// The first of the lazy arrays; the only one of a selection or an answer.
    #[must_use]
    pub fn lazy(&self) -> &LazyArray {
        self.elements.first()
    }

    /// The elements that are those of `whole`, which are all elements of a dataset.
    #[must_use]
    pub fn behind(whole: &LazyArray) -> Option<&Elements> {
        let table: &dyn Any = &*whole.dataset().chunks;
        let elements = &table.downcast_ref::<Computed>()?.elements;
        let is_same =
            whole.shape() == elements.shape() && whole.dtype().size() == elements.dtype().size();
        let is_plain = whole.transform().is_none() && *whole.choice() == Default::default();
        let is_whole = *whole.slab() == Hyperslab::whole(whole.dataset().shape());
        (is_same && is_plain && is_whole).then_some(elements)
    }
}

impl ChunkTable for Computed {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> Result<()> {
        let size = self.elements.dtype().size().unwrap_or(1);
        for &linear in linear {
            let count = self.grid.chunk_elements(&self.grid.coord_of(linear));
            let len = count.and_then(|count| count.checked_mul(size));
            let what = "bytes of a chunk";
            let too_long = Error::Limit { what, wanted: u64::MAX, limit: self.how.memory_budget };
            out.push(ChunkPlace::absent(len.ok_or(too_long)?));
        }
        Ok(())
    }

    fn is_chunked(&self) -> bool {
        self.lazy().dataset().chunks.is_chunked()
    }

    fn compression(&self) -> Option<StoredCompression> {
        self.lazy().dataset().chunks.compression()
    }

    fn integrity(&self) -> Integrity {
        self.elements.integrity()
    }

    fn writers(&self) -> Writers {
        self.elements.writers()
    }

    fn check_unchanged(&self) -> Result<()> {
        self.elements.check_unchanged()
    }

    fn take_fault(&self) -> Option<Error> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn decoder(&self, linear: u64, _place: &ChunkPlace) -> Decoder<'_> {
        Decoder::Own(Box::new(Chunk { table: self, linear }))
    }
}

/// The name of the decoder, which is in no file.
const NAME: &str = "computed";

/// Computes one chunk.
struct Chunk<'t> {
    table: &'t Computed,
    linear: u64,
}

impl fmt::Debug for Chunk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Chunk").field(&self.linear).finish()
    }
}

impl Decode for Chunk<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode(&self, _stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
        let Computed { elements, grid, how, fault } = self.table;
        let reason = "it cannot be computed";
        let refused = Refused::Corrupt { codec: NAME, reason };
        let part = Hyperslab::of_chunk(grid, self.linear).ok_or(refused.clone())?;
        elements.read_into(&part, how, out).map_err(|error| {
            fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            refused
        })
    }

    fn check_len(&self, _stored_len: u64, _decoded_len: u64) -> tet_codec::Result<()> {
        Ok(())
    }
}
