//! Elements that are stored in blocks of bytes, compared block by block.
//!
//! ```text
//!   selection of elements -> blocks, each a row of bytes along one more axis -> rows that differ
//! ```
//!
//! These are quantized numbers, and types that nothing computes with. Floats of eight and four bits are compared as
//! numbers: of them a block is one byte.

use tet_format::{DType, Shape};

use super::element_diff::{DiffBlock, DiffValue, DifferingElement, ElementDiff};
use super::pair::Pairs;
use super::{compare_arrays, tolerance::Tolerance};
use crate::answer::WithIntegrity;
use crate::budget::Execution;
use crate::catalog::Dataset;
use crate::error::{Error, Result};
use crate::lazy::LazyArray;
use crate::selection::{AXES_MAX, Axis, AxisSlice, Hyperslab};

/// Selected blocks of two datasets of one type.
pub(super) struct BlockPair {
    views: [Dataset; 2],
    slabs: [Hyperslab; 2],
    block: DiffBlock,
}

impl BlockPair {
    /// The blocks of the selected elements; `None` where the datasets are not of one type of blocks, or the elements are
    /// not whole blocks.
    pub(super) fn new(datasets: [(&Dataset, &Hyperslab); 2]) -> Option<BlockPair> {
        let [(left, _), (right, _)] = datasets;
        let block = block_of(left).filter(|_| are_alike([left, right]))?;
        let views = [view(left, block)?, view(right, block)?];
        let [left, right] = datasets.map(|(_, slab)| slab);
        let slabs =
            [of_blocks(left, block, views[0].shape())?, of_blocks(right, block, views[1].shape())?];
        Some(BlockPair { views, slabs, block })
    }

    /// Compares the blocks.
    pub(super) fn diff(
        &self,
        slab: &Hyperslab,
        how: &Execution,
    ) -> Result<WithIntegrity<ElementDiff>> {
        let array = |at: usize| LazyArray::values(&self.views[at], &self.slabs[at]);
        let arrays = [array(0)?, array(1)?];
        let pairs = Pairs::of_blocks(self.block.len);
        let mut answer = compare_arrays([&arrays[0], &arrays[1]], pairs, &self.slabs[0], how)?;
        let found = &mut answer.value;
        let first = found.first.take().map(|first| self.element(&first, how)).transpose()?;
        let count = slab.element_count().unwrap_or(u64::MAX);
        let skipped = found.skipped / self.block.len.max(1) * self.block.count;
        let (block, differing) = (Some(self.block), found.differing);
        answer.value =
            ElementDiff { count, differing, skipped, first, block, ..ElementDiff::default() };
        Ok(answer)
    }

    /// The first element of a block, by the place of a byte of it, and the bytes of both blocks.
    fn element(&self, byte: &DifferingElement, how: &Execution) -> Result<DifferingElement> {
        let mut position = byte.position.clone();
        position.pop();
        let values = [self.bytes(0, &position, how)?, self.bytes(1, &self.other(&position), how)?];
        if let Some(last) = position.last_mut() {
            *last = last.saturating_mul(self.block.count);
        }
        Ok(DifferingElement { position, values: values.map(DiffValue::Bytes) })
    }

    /// The position in the second dataset of a block of the first one.
    fn other(&self, position: &[u64]) -> Vec<u64> {
        let [left, right] = &self.slabs;
        let kept = |slab: &Hyperslab| -> Vec<usize> {
            (0..slab.axes().len()).filter(|&axis| slab.axes()[axis].is_kept()).collect()
        };
        let mut other: Vec<u64> = right.axes().iter().map(|axis| axis.start).collect();
        for (from, to) in kept(left).into_iter().zip(kept(right)) {
            if let (Some(at), Some(slice)) = (position.get(from), left.axes().get(from)) {
                let nth = at.saturating_sub(slice.start) / slice.step.max(1);
                other[to] = other[to].saturating_add(nth.saturating_mul(right.axes()[to].step));
            }
        }
        other.pop();
        other
    }

    /// The bytes of a block.
    fn bytes(&self, side: usize, position: &[u64], how: &Execution) -> Result<Vec<u8>> {
        let view = &self.views[side];
        let one = position.iter().map(|&at| AxisSlice {
            start: at,
            stop: at.saturating_add(1),
            step: 1,
            axis: Axis::Kept,
        });
        let axes = one.chain([AxisSlice::whole(self.block.len)]).collect();
        let slab = Hyperslab::new(axes, view.shape()).ok_or_else(|| Error::misfit(view))?;
        let mut bytes = vec![0; usize::try_from(self.block.len).unwrap_or(0)];
        let array = LazyArray::values(view, &slab)?;
        array.read_into(&Hyperslab::whole(array.shape()), &how.silent(), &mut bytes)?;
        Ok(bytes)
    }
}

/// Whether two datasets are of one type of blocks.
pub(super) fn are_alike([left, right]: [&Dataset; 2]) -> bool {
    let block = block_of(left);
    left.dtype_name == right.dtype_name && block.is_some() && block == block_of(right)
}

/// The blocks of a dataset that are compared as bytes.
fn block_of(dataset: &Dataset) -> Option<DiffBlock> {
    let is_known = dataset.why().is_none_or(Error::is_unsupported);
    let blocks = dataset.blocks().filter(|blocks| is_known && blocks.count != 0)?;
    // A byte is a number, or two of them, if it is one that is computed with.
    let is_bytes = 1 < blocks.len || dataset.dtype.is_none();
    is_bytes.then_some(DiffBlock { count: blocks.count, len: blocks.len })
}

/// The blocks of a dataset along its axes, each a row of bytes along one more.
fn view(dataset: &Dataset, block: DiffBlock) -> Option<Dataset> {
    let bytes = dataset.block_bytes()?;
    if AXES_MAX <= dataset.shape().len() {
        return None;
    }
    let in_rows = |extents: &Shape| -> Option<Shape> {
        let Some((last, head)) = extents.split_last() else { return Some([block.len].into()) };
        let blocks = last.is_multiple_of(block.count).then_some(last / block.count)?;
        Some(head.iter().copied().chain([blocks, block.len]).collect())
    };
    let grid = &dataset.grid;
    let chunk_shape = if grid.is_padded() {
        grid.chunk_shape().clone()
    } else {
        let extents = grid.chunk_shape().iter().zip(grid.shape().iter());
        extents.map(|(&chunk, &extent)| chunk.min(extent.max(1))).collect()
    };
    let shape = in_rows(grid.shape())?;
    let chunk_shape = in_rows(&chunk_shape).or_else(|| shape.contains(&0).then(|| one(&shape)))?;
    let grid = grid.reshaped(shape, chunk_shape)?;
    let (coords, dims) = (Default::default(), Vec::new());
    Some(Dataset { grid, dtype: Some(DType::UInt8), coords, dims, ..bytes })
}

/// One chunk of no elements.
fn one(shape: &Shape) -> Shape {
    shape.iter().map(|&extent| extent.max(1)).collect()
}

/// The selected blocks, of a view of this shape; `None` where the elements are not whole blocks.
fn of_blocks(slab: &Hyperslab, block: DiffBlock, shape: &[u64]) -> Option<Hyperslab> {
    let mut axes = slab.axes().to_vec();
    if let Some(last) = axes.last_mut().filter(|_| block.count != 1) {
        let is_whole = last.start.is_multiple_of(block.count)
            && last.stop.is_multiple_of(block.count)
            && last.step == 1
            && last.is_kept();
        let (start, stop) = (last.start / block.count, last.stop / block.count);
        *last = is_whole.then_some(AxisSlice { start, stop, ..*last })?;
    }
    axes.push(AxisSlice::whole(block.len));
    Hyperslab::new(axes, shape)
}

/// Whether blocks of the same bytes are all that there is to be known of their elements.
pub(super) fn are_enough(tolerance: &Tolerance) -> bool {
    tolerance.nan_equal
}
