//! An array in one piece whose elements are made of stored ones of another length: members of structures, texts.
//!
//! It is read in slabs of stored elements.

use std::sync::Arc;

use tet_codec::{ElementLayout, Pipeline, Stage};
use tet_format::{Grid, Shape, Span};
use tet_query::{ChunkPlace, ChunkTable, Decoder, Sealed};

use super::slabs::{elements_of, locate};
use crate::chunking;

/// The stored elements of an array: their place, size and type.
#[derive(Debug)]
pub struct StoredElements<'a> {
    /// The extents of the array.
    pub shape: &'a [u64],
    /// The extents of an array in each element, which become the last axes.
    pub axes: &'a [u64],
    /// Where they are.
    pub stored: Span,
    /// Bytes of each.
    pub size: u64,
    /// The stages between elements and stored bytes, in the order in which a writer would apply them.
    pub stages: Vec<Arc<dyn Stage>>,
    /// The type and the order of the bytes of elements.
    pub layout: ElementLayout,
    /// The checksum of all of them.
    pub sealed: Option<Arc<Sealed>>,
}

/// The chunks of such an array.
#[derive(Debug)]
pub struct Pieces {
    grid: Grid,
    stored: Span,
    /// Bytes of a stored element, and of what is made of it.
    stored_size: u64,
    decoded_size: u64,
    /// Elements of the grid that are made of a stored one.
    each: u64,
    pipeline: Pipeline,
    sealed: Option<Arc<Sealed>>,
}

impl Pieces {
    /// The chunks of elements of `size` bytes; `None` where they cannot be counted.
    pub fn new(elements: StoredElements<'_>, size: u64) -> Option<Pieces> {
        let StoredElements { shape, axes, stored, size: stored_size, stages, layout, sealed } =
            elements;
        let each = axes.iter().try_fold(1_u64, |each, &extent| each.checked_mul(extent))?;
        let outer = chunking::in_place(shape, stored_size);
        let chunk: Shape = outer.into_iter().chain(axes.iter().map(|it| (*it).max(1))).collect();
        let grid = Grid::new(shape.iter().chain(axes).copied().collect(), chunk)?;
        let decoded_size = each.checked_mul(size)?;
        let pipeline = Pipeline::new(stages, layout);
        Some(Pieces { grid, stored, stored_size, decoded_size, each, pipeline, sealed })
    }

    /// The pieces as chunks.
    pub const fn grid(&self) -> &Grid {
        &self.grid
    }

    fn place(&self, linear: u64) -> Option<ChunkPlace> {
        let elements = elements_of(&self.grid, linear);
        let each = self.each.max(1);
        let (start, count) = (elements.start / each, (elements.end - elements.start) / each);
        let offset = self.stored.start().checked_add(start.checked_mul(self.stored_size)?)?;
        let stored = Span::new(offset, count.checked_mul(self.stored_size)?)?;
        let decoded_len = count.checked_mul(self.decoded_size)?;
        self.stored.contains(stored).then(|| ChunkPlace::new(stored, decoded_len))
    }
}

impl ChunkTable for Pieces {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        locate(linear, self.stored, out, |linear| self.place(linear))
    }

    fn seals(&self) -> Vec<&Sealed> {
        self.sealed.iter().map(AsRef::as_ref).collect()
    }

    fn decoder(&self, _linear: u64, _place: &ChunkPlace) -> Decoder<'_> {
        Decoder::Shared(&self.pipeline)
    }
}
