//! An axis shared out among the cells of a picture: the rule of down-sampling.
//!
//! Of `n` positions and `m` cells, cell `c` holds the positions from `c * n / m` to `(c + 1) * n / m`, rounded
//! down: each position belongs to one cell, and numbers of positions differ by at most one.

use std::ops::Range;

/// The cells of an axis: as many as it has positions, at most a given number.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    /// Where each cell starts, and where the last one ends.
    starts: Vec<u64>,
}

impl Cells {
    /// The cells of an axis of this extent.
    pub(crate) fn new(extent: u64, cells_max: usize) -> Cells {
        let count = extent.min(u64::try_from(cells_max.max(1)).unwrap_or(u64::MAX));
        let start = |cell: u64| {
            let at = u128::from(cell) * u128::from(extent) / u128::from(count.max(1));
            u64::try_from(at).unwrap_or(extent)
        };
        Cells { starts: (0..=count).map(start).collect() }
    }

    /// How many cells there are.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many positions there are.
    pub(crate) fn extent(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The cell of a position.
    pub(crate) fn cell(&self, position: u64) -> usize {
        self.starts.partition_point(|&start| start <= position).saturating_sub(1)
    }

    /// The positions of a cell; none past the last.
    pub(crate) fn positions(&self, cell: usize) -> Range<u64> {
        match self.starts.get(cell..cell.saturating_add(2)) {
            Some(&[start, end]) => start..end,
            _ => self.extent()..self.extent(),
        }
    }

    /// Cuts a run of values that starts at `position` where cells end: `visit` receives each cell and its
    /// values.
    pub(crate) fn cut<'v>(
        &self,
        mut position: u64,
        mut values: &'v [f64],
        mut visit: impl FnMut(usize, &'v [f64]),
    ) {
        let mut cell = self.cell(position);
        while !values.is_empty() && cell < self.len() {
            let left = self.positions(cell).end.saturating_sub(position);
            let count = usize::try_from(left).unwrap_or(usize::MAX).min(values.len());
            let (run, rest) = values.split_at(count);
            visit(cell, run);
            (values, position, cell) = (rest, self.positions(cell).end, cell + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_is_in_one_cell_and_cells_are_even() {
        for extent in 0..40 {
            for cells_max in 1..45 {
                let cells = Cells::new(extent, cells_max);
                assert_eq!(cells.len() as u64, extent.min(cells_max as u64));
                let sizes: Vec<u64> = (0..cells.len())
                    .map(|cell| cells.positions(cell).end - cells.positions(cell).start)
                    .collect();
                assert_eq!(sizes.iter().sum::<u64>(), extent);
                let (least, most) = (sizes.iter().min(), sizes.iter().max());
                assert!(
                    least >= Some(&1) && most.zip(least).is_some_and(|(a, b)| a - b <= 1)
                        || extent == 0
                );
                for position in 0..extent {
                    assert!(cells.positions(cells.cell(position)).contains(&position));
                }
            }
        }
    }

    #[test]
    fn the_largest_axis_overflows_nothing() {
        let cells = Cells::new(u64::MAX, 4096);
        assert_eq!((cells.len(), cells.extent()), (4096, u64::MAX));
        assert_eq!(cells.cell(u64::MAX - 1), 4095);
    }
}
