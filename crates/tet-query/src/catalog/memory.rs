//! Elements in memory as the one chunk of a dataset.

use std::sync::Arc;

use tet_format::{DType, Grid, Span};
use tet_io::Source;

use super::{ChunkPlace, ChunkTable, Dataset, Decoder};
use crate::array::Array;
use crate::budget::Execution;
use crate::error::{Error, Result};
use crate::selection::Hyperslab;

/// Elements of at most this many bytes are copied as quickly as their chunk is located again.
const COPIED_MAX: u64 = 1 << 20;
/// Elements that were decompressed are kept where they take at most this share of the budget.
const BUDGET_SHARE: u64 = 8;

/// All bytes of a source, as one chunk.
pub(crate) struct OneChunk(Span);

impl OneChunk {
    /// The chunk, and the source that has its bytes; `None` for more than 2^63 bytes.
    pub(crate) fn new(bytes: Vec<u8>) -> Option<(Source, Arc<OneChunk>)> {
        let stored = Span::new(0, bytes.len() as u64)?;
        Some((Source::from_bytes(bytes), Arc::new(OneChunk(stored))))
    }
}

impl ChunkTable for OneChunk {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> Result<()> {
        out.extend(linear.iter().map(|_| ChunkPlace::new(self.0, self.0.len())));
        Ok(())
    }

    fn decoder(&self, _linear: u64, _place: &ChunkPlace) -> Decoder<'_> {
        Decoder::Shared(&tet_codec::Raw)
    }
}

impl Dataset {
    /// Whether several answers come sooner from a copy of all elements: they are one chunk, which is small, or is
    /// compressed and does not take too much of the budget.
    pub(crate) fn is_worth_keeping(&self, how: &Execution) -> bool {
        let is_compressed = self.chunks.compression().is_some();
        let budget = how.memory_budget.min(how.result_max) / BUDGET_SHARE;
        let len_max = if is_compressed { budget } else { budget.min(COPIED_MAX) };
        let has_size = self.dtype.and_then(DType::size).is_some();
        let len = self.selected_len(&Hyperslab::whole(self.shape()));
        has_size && self.grid.chunk_count() == 1 && len <= len_max
    }

    /// The dataset with all its elements in memory; without labels and attributes.
    ///
    /// # Errors
    ///
    /// The elements are not those of the dataset.
    pub(crate) fn with_elements(&self, elements: Array) -> Result<Dataset> {
        let misfit = || Error::misfit(self);
        let (dtype, shape) = (elements.dtype(), elements.shape().clone());
        let chunk_shape: Vec<u64> = shape.iter().map(|&extent| extent.max(1)).collect();
        let grid = Grid::new(shape, chunk_shape.into()).ok_or_else(misfit)?;
        let (source, chunks) = OneChunk::new(elements.into_bytes()).ok_or_else(misfit)?;
        let (dtype_name, file, meaning) =
            (self.dtype_name.clone(), self.file.clone(), self.meaning.clone());
        let dataset = Dataset::new(source, self.name.clone(), dtype, grid, chunks);
        Ok(Dataset { index: self.index, dtype_name, file, meaning, ..dataset })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Op;
    use crate::reduction::Reduction;
    use crate::testing::{self, Order, Stored, World, world};

    /// A world of one chunk, whose numbers are far from whole.
    fn of_one_chunk(dtype: DType, shape: &[u64], stored: Stored) -> World {
        let chunk_shape: Vec<u64> = shape.iter().map(|extent| extent + 3).collect();
        #[allow(clippy::cast_precision_loss, reason = "small numbers")]
        let element = |at: u64| testing::bytes(dtype, ((at * 7919) % 4001) as f64 / 3.0 - 600.0);
        world(dtype, shape, &chunk_shape, stored, Order::Packed, element)
    }

    #[test]
    fn answers_from_kept_elements_are_those_from_the_file() {
        let ops = [Op::Min, Op::Max, Op::Mean, Op::Std, Op::Sum, Op::Quantile];
        let how = Execution::default();
        for dtype in [DType::Float32, DType::Float64, DType::BFloat16, DType::Int16, DType::Bool] {
            for (shape, stored) in
                [(&[700, 90][..], Stored::Raw), (&[5, 40, 13], Stored::Whole), (&[], Stored::Raw)]
            {
                let world = of_one_chunk(dtype, shape, stored);
                let dataset = &world.positioned.datasets()[0];
                let slab = Hyperslab::whole(dataset.shape());
                let wanted = ops.map(|op| dataset.reduce(&slab, &Reduction::all(op), &how));
                let mut session = dataset.session();
                session.keep(&how).unwrap();
                assert!(!world.counting.take_reads().is_empty());
                for (op, wanted) in ops.into_iter().zip(wanted) {
                    let given = session.reduce(&slab, &Reduction::all(op), &how);
                    assert_eq!(format!("{given:?}"), format!("{wanted:?}"), "{dtype:?} {op:?}");
                }
                assert!(world.counting.take_reads().is_empty());
            }
        }
    }

    #[test]
    fn elements_are_not_kept_where_they_are_many_chunks_or_long() {
        let how = Execution { memory_budget: 1 << 20, ..Execution::default() };
        for (shape, chunk_shape) in [([400, 400], [400, 400]), ([40, 40], [20, 40])] {
            let element = |_| testing::bytes(DType::Float64, 1.5);
            let world =
                world(DType::Float64, &shape, &chunk_shape, Stored::Raw, Order::Packed, element);
            world.positioned.datasets()[0].session().keep(&how).unwrap();
            assert!(world.counting.take_reads().is_empty());
        }
    }
}
