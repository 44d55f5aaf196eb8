//! Counts: every element, or every element that is not NaN.

use super::extrema::{NanCounts, Ordered, count_nan};
use super::{Folded, Kernel};
use crate::value::{Cells, NanPolicy, Values};

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
    fn new(cell_count: usize, nan: NanPolicy) -> Self {
        let skips = nan == NanPolicy::Skip && T::DTYPE.is_float();
        Self {
            cell_count,
            folded: Folded::new(cell_count),
            nans: NanCounts::default(),
            looks: if skips { Looks::AtEach } else { Looks::Never },
        }
    }

    fn fold_run(&mut self, cell: usize, elements: &[T]) {
        self.folded.add(cell, 1, elements.len());
        if self.looks == Looks::AtEach {
            self.nans.add(cell, self.cell_count, count_nan(elements));
        }
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
        if self.looks == Looks::Never {
            return;
        }
        for row in (0..rows).map(|row| &elements[row * row_stride..][..lanes]) {
            if count_nan(row) == 0 {
                continue;
            }
            for (lane, element) in row.iter().enumerate() {
                let nan_count = u64::from(element.nan_mask() != T::ZERO);
                self.nans.add(first_cell + lane, self.cell_count, nan_count);
            }
        }
    }

    fn merge(&mut self, later: Self) {
        self.folded.merge(&later.folded);
        self.nans.merge(later.nans);
    }

    fn nan_count(&self) -> Option<u64> {
        (self.looks == Looks::AtEach).then_some(self.nans.sum)
    }

    fn finish(self) -> Values {
        let counts = self.folded.counts().into_iter().enumerate();
        let counts = counts.map(|(cell, count)| count - self.nans.of(cell));
        Values::new(Cells::Count(counts.collect()))
    }
}
