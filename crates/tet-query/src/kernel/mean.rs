//! Means: a sum, divided by how many elements went into it.

use super::sum::SumKernel;
use super::{At, Folded, Kernel, Known, Lanes, Runs, Scatter, Setup, Verdict};
use crate::element::Element;
use crate::error::Result;
use crate::op::NanPolicy;
use crate::value::{Cells, Values};

/// The mean of every cell; null where nothing was folded.
#[derive(Debug)]
pub(crate) struct Mean<S> {
    sum: S,
    folded: Folded,
    nan: NanPolicy,
}

impl<T: Element, S: SumKernel<T>> Kernel<T> for Mean<S> {
    const KNOWS: bool = S::KNOWS;

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

    fn fold_runs(&mut self, at: At, runs: Runs, elements: &[T]) {
        self.folded.add_runs(at.cell, runs);
        self.sum.fold_runs(at, runs, elements);
    }

    fn fold_scattered(&mut self, at: At, scatter: Scatter<'_>, elements: &[T]) {
        scatter.targets(at).for_each(|(at, _)| self.folded.add(at.cell, 1, 1));
        self.sum.fold_scattered(at, scatter, elements);
    }

    fn fold_known(&mut self, cell: usize, known: &Known<T>) -> Verdict {
        let verdict = self.sum.fold_known(cell, known);
        if verdict == Verdict::Folded {
            self.folded.add(cell, 1, known.count);
        }
        verdict
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.sum.take(cell, &later.sum, from);
        self.folded.take(cell, &later.folded, from);
    }

    fn take_lanes(&mut self, cell: usize, later: &Self, from: usize, count: usize) {
        self.sum.take_lanes(cell, &later.sum, from, count);
        self.folded.take_lanes(cell, &later.folded, from, count);
    }

    fn merge(&mut self, later: Self) {
        self.sum.merge(later.sum);
        self.folded.merge(&later.folded);
    }

    fn nan_count(&self) -> Option<u64> {
        self.sum.nan_count()
    }

    fn finish(self) -> Result<Values> {
        let mut counts = self.folded.into_counts();
        if self.nan == NanPolicy::Skip {
            let skip = |(cell, count): (usize, &mut u64)| *count -= self.sum.nan_count_of(cell);
            counts.iter_mut().enumerate().for_each(skip);
        }
        let mut means = self.sum.means(&counts);
        let nulls = counts.contains(&0).then(|| {
            let empty = means.iter_mut().zip(&counts).filter(|(_, count)| **count == 0);
            empty.for_each(|(mean, _)| *mean = 0.0);
            counts.iter().map(|&count| count == 0).collect()
        });
        Ok(Values { cells: Cells::Float(means), nulls })
    }
}
