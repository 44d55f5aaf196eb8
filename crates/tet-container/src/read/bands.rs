//! A sparse tensor as a dataset: bands along the first axis, made of the elements that are stored.
//!
//! The stored elements are read when the first band is asked for, and kept until those of another
//! tensor are; the budget of memory bounds them. All elements together are never in memory. So a tensor
//! that would not fit is read band by band.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use tet_codec::{Decode, Error as Refused};
use tet_format::{Grid, Shape, Span};
use tet_query::{ChunkPlace, ChunkTable, Decoder, Sealed};
use tet_sparse::{Scattered, Sparse};

use crate::chunking::AUTO_LEN_MAX;
use crate::read::slabs::{elements_of, grid_of_one};

/// Bands of a tensor, at most: each has a codec of its own, and codecs are counted in 16 bits.
const BANDS_MAX: u64 = 1 << 16;

/// Reads the sparse tensor at a position, within a budget of memory.
type ReadSparse = dyn Fn(usize) -> tet_query::Result<Sparse> + Send + Sync;

/// The sparse tensor of a file that was read last, the only one that stays in memory.
pub struct Cache {
    read: Box<ReadSparse>,
    held: Mutex<Option<(usize, Arc<Scattered>)>>,
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").finish_non_exhaustive()
    }
}

impl Cache {
    /// An empty one, for tensors that `read` reads.
    pub fn reading(
        read: impl Fn(usize) -> tet_query::Result<Sparse> + Send + Sync + 'static,
    ) -> Arc<Cache> {
        Arc::new(Cache { read: Box::new(read), held: Mutex::new(None) })
    }

    fn load(&self, position: usize) -> tet_query::Result<Arc<Scattered>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, sparse)) = held.as_ref().filter(|(at, _)| *at == position) {
            return Ok(Arc::clone(sparse));
        }
        // The one before makes room first.
        *held = None;
        let sparse = Arc::new(Scattered::new((self.read)(position)?));
        *held = Some((position, Arc::clone(&sparse)));
        Ok(sparse)
    }
}

/// The stored elements of one tensor, read when they are first asked for.
#[derive(Debug)]
pub enum Stored {
    /// Those of a tensor of a file.
    Cached(Arc<Cache>, usize),
    /// Those that are in memory.
    Held(Arc<Scattered>),
}

impl Stored {
    /// Those of the tensor at a position, which the cache reads.
    pub fn new(cache: &Arc<Cache>, position: usize) -> Arc<Stored> {
        Arc::new(Stored::Cached(Arc::clone(cache), position))
    }

    /// Reads and checks what is stored, with an error that names what is wrong.
    ///
    /// # Errors
    /// The tensor cannot be read, breaks a rule, or is longer than the budget.
    pub fn load(&self) -> tet_query::Result<Arc<Scattered>> {
        match self {
            Stored::Cached(cache, position) => cache.load(*position),
            Stored::Held(sparse) => Ok(Arc::clone(sparse)),
        }
    }

    /// Reads it again for a decoder, after [`Stored::load`] has checked it.
    ///
    /// # Errors
    /// The elements cannot be read again.
    pub fn reload(&self) -> tet_codec::Result<Arc<Scattered>> {
        let lost = |_| Refused::Corrupt { codec: NAME, reason: "it cannot be read again" };
        self.load().map_err(lost)
    }
}

/// The bands of a sparse tensor.
#[derive(Debug)]
pub struct Bands {
    grid: Grid,
    element_size: u64,
    blob: Span,
    stored: Arc<Stored>,
    sealed: Option<Sealed>,
}

impl Bands {
    /// No more than `bands_max`, if that is fewer than a tensor may have.
    pub fn new(
        shape: &[u64],
        element_size: u64,
        blob: Span,
        stored: &Arc<Stored>,
        bands_max: u64,
    ) -> Self {
        let bands_max = bands_max.clamp(1, BANDS_MAX);
        let (grid, stored) = (banded(shape, element_size, bands_max), Arc::clone(stored));
        Bands { grid, element_size, blob, stored, sealed: None }
    }

    /// With the checksum of the whole blob, if there is one.
    #[must_use]
    pub fn sealed(self, sealed: Option<Sealed>) -> Self {
        Bands { sealed, ..self }
    }

    /// The bands as chunks.
    pub const fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Where a band is. Its elements are all over the blob: each has a part of that, so that they
    /// come to its length.
    fn place(&self, linear: u64) -> Option<ChunkPlace> {
        let count = self.grid.chunk_count();
        let part = |at: u64| {
            let at = u128::from(self.blob.len()) * u128::from(at) / u128::from(count.max(1));
            self.blob.start().checked_add(u64::try_from(at).ok()?)
        };
        let stored = Span::from_range(part(linear)?..part(linear.checked_add(1)?)?)?;
        let elements = self.grid.chunk_elements(&self.grid.coord_of(linear))?;
        let decoded_len = elements.checked_mul(self.element_size)?;
        Some(ChunkPlace::new(stored, decoded_len))
    }
}

impl ChunkTable for Bands {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        self.stored.load()?;
        crate::read::slabs::locate(linear, self.blob, out, |linear| self.place(linear))
    }

    fn seals(&self) -> Vec<&Sealed> {
        self.sealed.iter().collect()
    }

    fn decoder(&self, linear: u64, _place: &ChunkPlace) -> Decoder<'_> {
        let elements = elements_of(&self.grid, linear);
        Decoder::Own(Box::new(Band { stored: &self.stored, elements }))
    }
}

/// The grid of a tensor in bands, each as long as chunks are elsewhere, or longer where there would be
/// too many.
fn banded(shape: &[u64], element_size: u64, bands_max: u64) -> Grid {
    let mut best = None;
    let mut outer = 1_u64;
    for (axis, &extent) in shape.iter().enumerate() {
        if shape.contains(&0) || bands_max < outer {
            break;
        }
        let inner = shape.iter().skip(axis.saturating_add(1)).copied();
        let row_len = inner.fold(element_size, u64::saturating_mul);
        let fewest = extent.div_ceil((bands_max / outer).max(1));
        let band = (AUTO_LEN_MAX / row_len.max(1)).max(fewest).clamp(1, extent);
        best = Some((axis, band));
        if row_len.saturating_mul(band) <= AUTO_LEN_MAX {
            break;
        }
        outer = outer.saturating_mul(extent);
    }
    let chunk = best.map(|(axis, band)| {
        let head = shape.iter().take(axis).map(|_| 1);
        head.chain([band]).chain(shape.iter().skip(axis.saturating_add(1)).copied()).collect()
    });
    let grid = chunk.and_then(|chunk| Grid::new(Shape::from(shape), chunk));
    grid.unwrap_or_else(|| grid_of_one(shape))
}

/// Puts the stored elements of one band into their places.
struct Band<'a> {
    stored: &'a Stored,
    elements: Range<u64>,
}

const NAME: &str = "sparse";

impl fmt::Debug for Band<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Band").field(&self.elements).finish()
    }
}

impl Decode for Band<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode(&self, _stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
        self.stored.reload()?.scatter(self.elements.clone(), out);
        Ok(())
    }

    fn check_len(&self, _stored_len: u64, _decoded_len: u64) -> tet_codec::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_cover_the_tensor_and_are_few() {
        for (shape, band) in [
            (&[3_u64, 4][..], 3),
            (&[1 << 20, 1 << 10], 1 << 9),
            (&[1 << 22, 1 << 20], 1 << 6),
            (&[5, 1 << 40], 1),
            (&[1 << 40], 1 << 24),
            (&[1, 1 << 40, 2], 1),
            (&[1 << 20], 1 << 19),
        ] {
            let grid = banded(shape, 8, BANDS_MAX);
            assert_eq!(grid.chunk_shape().first(), Some(&band), "{shape:?}");
            assert!(grid.chunk_count() <= BANDS_MAX, "{shape:?}");
        }
        // Where rows are long they are cut too, and bands follow one another.
        let grid = banded(&[3, 1 << 30], 8, BANDS_MAX);
        assert_eq!(grid.chunk_shape().as_slice(), [1, 1 << 19]);
        let mut at = 0;
        for band in 0..grid.chunk_count() {
            let elements = elements_of(&grid, band);
            assert_eq!(elements.start, at);
            at = elements.end;
        }
        assert_eq!(at, 3 << 30);
        assert_eq!(banded(&[0, 7], 8, BANDS_MAX).chunk_count(), 0);
        assert_eq!(banded(&[1 << 20, 1 << 10], 8, 1).chunk_count(), 1);
    }
}
