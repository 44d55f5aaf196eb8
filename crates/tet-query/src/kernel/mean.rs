//! Means: a sum, divided by how many elements went into it.

use super::sum::SumKernel;
use super::{Folded, Kernel, floats_or_null};
use crate::element::Element;
use crate::value::{NanPolicy, Values};

/// The mean of every cell; null where nothing was folded.
#[derive(Debug)]
pub(crate) struct Mean<S> {
    sum: S,
    folded: Folded,
    nan: NanPolicy,
}

impl<T: Element, S: SumKernel<T>> Kernel<T> for Mean<S> {
    fn new(cell_count: usize, nan: NanPolicy) -> Self {
        Self { sum: S::new(cell_count, nan), folded: Folded::new(cell_count), nan }
    }

    fn fold_run(&mut self, cell: usize, elements: &[T]) {
        self.folded.add(cell, 1, elements.len());
        self.sum.fold_run(cell, elements);
    }

    fn fold_lanes(
        &mut self,
        first_cell: usize,
        lanes: usize,
        elements: &[T],
        rows: usize,
        row_stride: usize,
    ) {
        self.folded.add(first_cell, lanes, rows);
        self.sum.fold_lanes(first_cell, lanes, elements, rows, row_stride);
    }

    fn merge(&mut self, later: Self) {
        self.sum.merge(later.sum);
        self.folded.merge(&later.folded);
    }

    fn nan_count(&self) -> Option<u64> {
        self.sum.nan_count()
    }

    fn finish(mut self) -> Values {
        let counts = self.folded.counts();
        self.sum.settle();
        let mean = |(cell, &count): (usize, &u64)| {
            let skipped = match self.nan {
                NanPolicy::Propagate => 0,
                NanPolicy::Skip => self.sum.nan_count_of(cell),
            };
            let count = count - skipped;
            (count > 0).then(|| self.sum.mean(cell, count))
        };
        floats_or_null(counts.iter().enumerate().map(mean).collect())
    }
}
