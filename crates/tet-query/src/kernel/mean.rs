//! Means: a sum, divided by how many elements went into it.

use super::sum::SumKernel;
use super::{At, Folded, Kernel, Lanes, Setup, floats_or_null};
use crate::element::Element;
use crate::error::Result;
use crate::op::NanPolicy;
use crate::value::Values;

/// The mean of every cell; null where nothing was folded.
#[derive(Debug)]
pub(crate) struct Mean<S> {
    sum: S,
    folded: Folded,
    nan: NanPolicy,
}

impl<T: Element, S: SumKernel<T>> Kernel<T> for Mean<S> {
    fn new(cell_count: usize, setup: &Setup) -> Self {
        let sum = S::new(cell_count, setup);
        Self { sum, folded: Folded::new(cell_count), nan: setup.nan }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        self.folded.add(at.cell, 1, elements.len() as u64);
        self.sum.fold_run(at, elements);
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        self.folded.add(at.cell, lanes.count, lanes.rows as u64);
        self.sum.fold_lanes(at, lanes, elements);
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.sum.take(cell, &later.sum, from);
        self.folded.take(cell, &later.folded, from);
    }

    fn merge(&mut self, later: Self) {
        self.sum.merge(later.sum);
        self.folded.merge(&later.folded);
    }

    fn nan_count(&self) -> Option<u64> {
        self.sum.nan_count()
    }

    fn finish(mut self) -> Result<Values> {
        self.sum.settle();
        let counts = self.folded.counts();
        let mean = |(cell, &count): (usize, &u64)| {
            let skipped = match self.nan {
                NanPolicy::Propagate => 0,
                NanPolicy::Skip => self.sum.nan_count_of(cell),
            };
            let count = count - skipped;
            (count > 0).then(|| self.sum.mean(cell, count))
        };
        Ok(floats_or_null(counts.iter().enumerate().map(mean).collect()))
    }
}
