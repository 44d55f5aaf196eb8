//! Datasets whose elements are stored in blocks, seen as the bytes of these.

use std::sync::Arc;

use tet_format::{DType, Grid, Shape};

use super::Dataset;
use super::table::ByteBlocks;

impl Dataset {
    /// The blocks that its elements are stored in, where they are not numbers of whole bytes.
    #[must_use]
    pub fn blocks(&self) -> Option<&ByteBlocks> {
        self.chunks.blocks().filter(|_| self.text.is_none())
    }

    /// The bytes of its blocks, as a dataset of uint8: the last axis has those of a row where rows are whole blocks,
    /// else all are one axis. `None` where it has no blocks, or a chunk of them is not a whole number.
    #[must_use]
    pub fn block_bytes(&self) -> Option<Dataset> {
        let blocks = self.blocks()?;
        let grid = rescaled(&self.grid, blocks.count, blocks.len)?;
        let (dtype, chunks) = (Some(DType::UInt8), Arc::clone(&blocks.chunks));
        let (fault, fill, meaning) = (None, None, None);
        Some(Dataset { dtype, grid, chunks, fault, fill, meaning, ..self.clone() })
    }
}

/// The grid where each `from` neighbors are `to` others: along the last axis where these fill whole blocks there, else
/// as one line of one chunk, whose last block may be filled up.
#[must_use]
pub fn rescaled(grid: &Grid, from: u64, to: u64) -> Option<Grid> {
    if from == to {
        return Some(grid.clone());
    }
    let scale = |extent: u64| {
        if extent.is_multiple_of(from) { (extent / from).checked_mul(to) } else { None }
    };
    let (shape, chunk) = (grid.shape().as_slice(), grid.chunk_shape().as_slice());
    if let (Some((last, head)), Some((last_chunk, chunk_head))) =
        (shape.split_last(), chunk.split_last())
        && let in_chunk = if grid.is_padded() { last_chunk } else { last_chunk.min(last) }
        && let Some((last, last_chunk)) = scale(*last).zip(scale(*in_chunk))
    {
        let shape: Shape = head.iter().copied().chain([last]).collect();
        let chunk = chunk_head.iter().copied().chain([last_chunk.max(1)]).collect();
        return grid.reshaped(shape, chunk);
    }
    let len = grid.shape().element_count()?.div_ceil(from).checked_mul(to)?;
    let is_one = grid.chunk_count() <= 1 && !grid.is_padded();
    if is_one { Grid::new([len].into(), [len.max(1)].into()) } else { None }
}
