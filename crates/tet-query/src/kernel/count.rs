//! Counts: every element, or every element that is not NaN.

use super::extrema::{NanCounts, Ordered, count_nan};
use super::{At, Folded, Kernel, Known, Lanes, Setup, Verdict};
use crate::error::Result;
use crate::op::NanPolicy;
use crate::value::{Cells, Values};

/// The number of elements of every cell; looks at them only when NaN are skipped.
#[derive(Debug)]
pub(crate) struct Count {
    cell_count: usize,
    folded: Folded,
    nans: NanCounts,
    looks: Looks,
}

/// Whether elements are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looks {
    Never,
    AtEach,
}

impl<T: Ordered> Kernel<T> for Count {
    const KNOWS: bool = true;

    fn new(cell_count: usize, setup: &Setup) -> Self {
        let skips = setup.nan == NanPolicy::Skip && T::DTYPE.is_float();
        Self {
            cell_count,
            folded: Folded::new(cell_count),
            nans: NanCounts::default(),
            looks: if skips { Looks::AtEach } else { Looks::Never },
        }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        self.folded.add(at.cell, 1, elements.len() as u64);
        if self.looks == Looks::AtEach {
            self.nans.add(at.cell, self.cell_count, count_nan(elements));
        }
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        self.folded.add(at.cell, lanes.count, lanes.rows as u64);
        if self.looks == Looks::Never {
            return;
        }
        for row in lanes.rows(elements) {
            if count_nan(row) == 0 {
                continue;
            }
            for (lane, element) in row.iter().enumerate() {
                let nan_count = u64::from(element.nan_mask() != T::ZERO);
                self.nans.add(at.cell + lane, self.cell_count, nan_count);
            }
        }
    }

    fn fold_known(&mut self, cell: usize, known: &Known<T>) -> Verdict {
        self.folded.add(cell, 1, known.count);
        if self.looks == Looks::AtEach {
            self.nans.add(cell, self.cell_count, known.nan_count);
        }
        Verdict::Folded
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.folded.take(cell, &later.folded, from);
        self.nans.add(cell, self.cell_count, later.nans.count(from));
    }

    fn merge(&mut self, later: Self) {
        self.folded.merge(&later.folded);
        self.nans.merge(later.nans);
    }

    fn nan_count(&self) -> Option<u64> {
        (self.looks == Looks::AtEach).then_some(self.nans.sum)
    }

    fn finish(self) -> Result<Values> {
        let counts = self.folded.counts().iter().enumerate();
        let counts = counts.map(|(cell, &count)| count - self.nans.count(cell));
        Ok(Values::new(Cells::Count(counts.collect())))
    }
}
