//! A sparse tensor as a dataset: bands along the first axis, made of the elements that are stored.
//!
//! The stored elements are read once, when the first band is asked for, and kept; all elements
//! together are never in memory. So a tensor that would not fit is read band by band.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use tet_codec::{ChunkLayout, Decode, StoredSpans};
use tet_format::{Grid, Shape, Span};
use tet_query::{ChunkPlace, ChunkTable, Sealed};
use tet_ztensor::{Check, Places, Sparse, ZTensorFile};

use super::catalog::of_error;
use crate::chunking::AUTO_LEN_MAX;
use crate::open::slabs::grid_of_one;

/// Bands of a tensor, at most: each has a codec of its own.
const BANDS_MAX: u64 = 1024;

/// The stored elements of one tensor, read when they are first asked for.
pub(super) struct Stored {
    file: Arc<ZTensorFile>,
    position: usize,
    loaded: OnceLock<Loaded>,
}

/// What was read.
struct Loaded {
    sparse: Sparse,
    /// The places of values that come one by one, in ascending order, each with the value's number.
    order: Vec<(u64, u64)>,
}

impl Stored {
    pub(super) fn new(file: &Arc<ZTensorFile>, position: usize) -> Arc<Stored> {
        Arc::new(Stored { file: Arc::clone(file), position, loaded: OnceLock::new() })
    }

    /// Reads and checks what is stored, where what is wrong can be said.
    pub(super) fn load(&self) -> tet_query::Result<()> {
        if self.loaded.get().is_none()
            && let Some(tensor) = self.file.tensor(self.position)
        {
            let sparse = self.file.read_sparse(tensor, Check::Never);
            let sparse = sparse.map_err(|error| of_error(&tensor.label(), error))?;
            let order = match &sparse.places {
                Places::Coo { .. } => sparse.ordered_places(),
                Places::Csr { .. } => Vec::new(),
            };
            let _ = self.loaded.set(Loaded { sparse, order });
        }
        Ok(())
    }

    /// What is stored.
    pub(super) fn sparse(&self) -> tet_codec::Result<&Sparse> {
        self.loaded().map(|loaded| &loaded.sparse)
    }

    fn loaded(&self) -> tet_codec::Result<&Loaded> {
        let lost = tet_codec::Error::Corrupt { codec: NAME, reason: "it was not located" };
        self.loaded.get().ok_or(lost)
    }

    /// Fills `out` with some elements, counted in row-major order.
    fn scatter(&self, elements: Range<u64>, out: &mut [u8]) -> tet_codec::Result<()> {
        let Loaded { sparse, order } = self.loaded()?;
        if order.is_empty() {
            sparse.scatter(elements, out);
            return Ok(());
        }
        out.fill(0);
        let size = usize::try_from(sparse.element_size).unwrap_or(1);
        let first = order.partition_point(|(place, _)| *place < elements.start);
        let band = order.iter().skip(first).take_while(|(place, _)| *place < elements.end);
        // Of values with one place the last one counts.
        for (place, at) in band {
            let part = |at: u64| {
                let start = usize::try_from(at).ok()?.checked_mul(size)?;
                Some(start..start.checked_add(size)?)
            };
            let to = part(place - elements.start).and_then(|part| out.get_mut(part));
            let from = part(*at).and_then(|part| sparse.values.get(part));
            if let Some((to, from)) = to.zip(from) {
                to.copy_from_slice(from);
            }
        }
        Ok(())
    }
}

/// The bands of a sparse tensor.
pub(super) struct Bands {
    grid: Grid,
    element_size: u64,
    blob: Span,
    stored: Arc<Stored>,
    codecs: OnceLock<Vec<Arc<dyn Decode>>>,
    sealed: Option<Sealed>,
}

impl Bands {
    /// No more than `bands_max`, if that is fewer than a tensor may have.
    pub(super) fn new(
        (shape, element_size): (&[u64], u64),
        blob: Span,
        stored: &Arc<Stored>,
        bands_max: u64,
        sealed: Option<Sealed>,
    ) -> Self {
        let bands_max = bands_max.clamp(1, BANDS_MAX);
        let (grid, stored) = (banded(shape, element_size, bands_max), Arc::clone(stored));
        Bands { grid, element_size, blob, stored, codecs: OnceLock::new(), sealed }
    }

    pub(super) const fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Where a band lies. Its elements are all over the blob: each has a part of that, so that they
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
        Some(ChunkPlace { stored, decoded_len, codec: u16::try_from(linear).ok()?, row: 0 })
    }
}

impl ChunkTable for Bands {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        self.stored.load()?;
        crate::open::slabs::locate(linear, self.blob, out, |linear| self.place(linear))
    }

    fn seal(&self) -> Option<&Sealed> {
        self.sealed.as_ref()
    }

    fn codecs(&self) -> &[Arc<dyn Decode>] {
        self.codecs.get_or_init(|| {
            let rows = self.grid.chunk_shape().first().copied().unwrap_or(1);
            let inner = self.grid.shape().iter().skip(1).copied().fold(1, u64::saturating_mul);
            let band = |at: u64| {
                let start = rows.saturating_mul(inner).saturating_mul(at);
                let elements = start..start.saturating_add(rows.saturating_mul(inner));
                Arc::new(Band { stored: Arc::clone(&self.stored), elements }) as Arc<dyn Decode>
            };
            (0..self.grid.chunk_count().max(1)).map(band).collect()
        })
    }
}

/// The grid of a tensor in bands.
fn banded(shape: &[u64], element_size: u64, bands_max: u64) -> Grid {
    let whole = || grid_of_one(shape);
    let Some((&rows, inner)) = shape.split_first().filter(|_| !shape.contains(&0)) else {
        return whole();
    };
    let row_len = inner.iter().copied().fold(element_size, u64::saturating_mul);
    let band = (AUTO_LEN_MAX / row_len.max(1)).max(rows.div_ceil(bands_max)).clamp(1, rows);
    let chunk_shape = std::iter::once(band).chain(inner.iter().copied());
    Grid::new(Shape::from(shape), chunk_shape.collect()).unwrap_or_else(whole)
}

/// Puts the stored elements of one band into their places.
struct Band {
    stored: Arc<Stored>,
    elements: Range<u64>,
}

const NAME: &str = "sparse";

impl fmt::Debug for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Band").field(&self.elements).finish()
    }
}

impl Decode for Band {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode(&self, _stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
        self.stored.scatter(self.elements.clone(), out)
    }

    fn stored_spans(&self, _layout: ChunkLayout, _elements: Range<u64>) -> StoredSpans {
        StoredSpans::Whole
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
            (&[1 << 20, 1 << 10], 1 << 10),
            (&[1 << 22, 1 << 20], 1 << 12),
            (&[5, 1 << 40], 1),
            (&[1 << 20], 1 << 19),
        ] {
            let grid = banded(shape, 8, BANDS_MAX);
            assert_eq!(grid.chunk_shape().first(), Some(&band), "{shape:?}");
            assert!(grid.chunk_count() <= BANDS_MAX, "{shape:?}");
        }
        assert_eq!(banded(&[0, 7], 8, BANDS_MAX).chunk_count(), 0);
        assert_eq!(banded(&[1 << 20, 1 << 10], 8, 1).chunk_count(), 1);
    }
}
