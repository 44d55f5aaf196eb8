//! The chunks of a declaration in the order they are written.

use crate::dtype::DType;
use crate::grid::Grid;

/// A dataset of a layout.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) dtype: DType,
    pub(super) grid: Grid,
    pub(super) element_size: u64,
}

/// A chunk to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkAt {
    /// The dataset's position in the declaration.
    pub dataset: usize,
    /// The number of axes; further slots of `coord` are 0.
    pub rank: usize,
    /// The chunk's coordinate in the dataset's grid.
    pub coord: [u64; 8],
    /// The chunk's number in its dataset.
    pub linear: u64,
    /// The bytes of the chunk's elements.
    pub raw_len: u64,
}

impl ChunkAt {
    /// The chunk's coordinate in the grid, one number per axis.
    #[must_use]
    pub fn coord(&self) -> &[u64] {
        self.coord.get(..self.rank).unwrap_or(&self.coord)
    }
}

/// The chunks of a declaration: dataset by dataset, each in row-major order.
#[derive(Clone, Debug)]
pub struct Chunks<'a> {
    datasets: &'a [Planned],
    position: Position,
}

/// The position of an iteration over chunks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Position {
    dataset: usize,
    coord: [u64; 8],
    linear: u64,
}

impl Position {
    /// The next chunk to write.
    pub(super) fn chunk(&mut self, datasets: &[Planned]) -> Option<ChunkAt> {
        loop {
            let planned = datasets.get(self.dataset)?;
            if self.linear < planned.grid.chunk_count() {
                return Some(self.chunk_of(planned));
            }
            *self = Position { dataset: self.dataset.saturating_add(1), ..Position::default() };
        }
    }

    fn chunk_of(&self, planned: &Planned) -> ChunkAt {
        let &Position { dataset, coord, linear } = self;
        let rank = planned.grid.rank();
        let elements = coord.get(..rank).and_then(|coord| planned.grid.chunk_elements(coord));
        // A layout exists only if the bytes of all chunks together fit in 64 bits.
        let raw_len = elements.unwrap_or(0).saturating_mul(planned.element_size);
        ChunkAt { dataset, rank, coord, linear, raw_len }
    }

    /// Steps to the next chunk of the dataset.
    pub(super) fn advance(&mut self, datasets: &[Planned]) {
        let Some(planned) = datasets.get(self.dataset) else { return };
        if let Some(coord) = self.coord.get_mut(..planned.grid.rank()) {
            planned.grid.advance(coord);
        }
        self.linear = self.linear.saturating_add(1);
    }
}

impl<'a> Chunks<'a> {
    pub(super) fn new(datasets: &'a [Planned]) -> Chunks<'a> {
        Chunks { datasets, position: Position::default() }
    }
}

impl Iterator for Chunks<'_> {
    type Item = ChunkAt;

    fn next(&mut self) -> Option<ChunkAt> {
        let chunk = self.position.chunk(self.datasets)?;
        self.position.advance(self.datasets);
        Some(chunk)
    }
}
