//! A selection that is read in several passes, each of a part: a chunk that one pass reads in part
//! may be read whole by all of them. It is compared once, before its first part is used.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use tet_format::Grid;

use crate::catalog::Dataset;
use crate::plan::ChunkRead;
use crate::selection::Hyperslab;

/// Tracks which chunks of a selection that is read in parts were compared.
#[derive(Debug)]
pub(crate) struct PartRead {
    grid: Grid,
    /// The positions that are read along each axis; none where some are left out.
    whole: Option<Vec<Range<u64>>>,
    compared: Mutex<BTreeSet<u64>>,
}

impl PartRead {
    /// No chunk of `slab`, which is read in parts, is checked yet.
    pub(crate) fn new(dataset: &Dataset, slab: &Hyperslab) -> Self {
        let axes = slab.axes().iter();
        let whole = axes.map(|slice| {
            let is_dense = slice.step == 1 || slice.count() <= 1;
            is_dense.then(|| slice.start..slice.start.saturating_add(slice.count()))
        });
        PartRead { grid: dataset.grid.clone(), whole: whole.collect(), compared: Mutex::default() }
    }

    /// Whether all passes together read every element of a chunk.
    pub(super) fn covers(&self, read: &ChunkRead) -> bool {
        let Some(whole) = &self.whole else { return false };
        let coord = self.grid.coord_of(read.linear);
        let chunk = self.grid.chunk_shape().iter().zip(self.grid.shape().iter());
        coord.iter().zip(chunk).zip(whole).all(|((&at, (&len, &extent)), read)| {
            let start = at.saturating_mul(len);
            let end = start.saturating_add(len).min(extent);
            read.start <= start && end <= read.end
        })
    }

    /// Whether a chunk was compared by a pass before.
    pub(super) fn is_compared(&self, read: &ChunkRead) -> bool {
        self.compared.lock().unwrap_or_else(PoisonError::into_inner).contains(&read.linear)
    }

    /// Takes note that a chunk has the bytes that its digest is of.
    pub(super) fn add(&self, read: &ChunkRead) {
        self.compared.lock().unwrap_or_else(PoisonError::into_inner).insert(read.linear);
    }
}
