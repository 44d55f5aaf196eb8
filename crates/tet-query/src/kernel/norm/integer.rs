//! Exact sums of squares of integers, and their roots.

use super::square::{BLOCK, HALF, PLANES_MAX, Square, fold_strip};
use crate::error::Result;
use crate::kernel::strip::Strip;
use crate::kernel::sum::power_of_two;
use crate::kernel::{At, Kernel, Lanes, Setup, floats};
use crate::value::Values;

/// So many elements may be pending in a cell.
const PENDING_MAX: u64 = 1 << 29;
/// Exact sums of squares.
#[derive(Debug)]
pub(in crate::kernel) struct SquareSum {
    planes: [Vec<u64>; PLANES_MAX],
    /// What no longer fits beside them; no memory until then.
    settled: Vec<[u128; PLANES_MAX]>,
    /// No cell has more elements pending.
    pending: u64,
}

impl SquareSum {
    #[inline]
    fn reserve(&mut self, count: usize) {
        let count = count as u64;
        if self.pending + count > PENDING_MAX {
            self.settle();
        }
        self.pending += count;
    }

    #[cold]
    fn settle(&mut self) {
        self.settled = (0..self.planes[0].len()).map(|cell| self.sums(cell)).collect();
        self.planes.iter_mut().for_each(|plane| plane.fill(0));
        self.pending = 0;
    }

    fn sums(&self, cell: usize) -> [u128; PLANES_MAX] {
        let settled = self.settled.get(cell).copied().unwrap_or_default();
        std::array::from_fn(|k| {
            settled[k] + u128::from(self.planes[k].get(cell).copied().unwrap_or(0))
        })
    }

    fn add(&mut self, cell: usize, sums: [u128; PLANES_MAX]) {
        for (to, from) in self.settled[cell].iter_mut().zip(sums) {
            *to += from;
        }
    }

    /// The sum of a cell; `None` past 128 bits.
    pub(in crate::kernel) fn total(&self, cell: usize) -> Option<u128> {
        let (high, low) = self.words(cell);
        (high >> 64 == 0).then_some(high << 64 | u128::from(low))
    }

    /// The sum of a cell: what is above 64 bits, and the rest.
    fn words(&self, cell: usize) -> (u128, u64) {
        let sums = self.sums(cell);
        let second = (sums[0] >> 32) + sums[1];
        let low = (sums[0] & u128::from(HALF)) | ((second & u128::from(HALF)) << 32);
        ((second >> 32) + sums[2] + (sums[3] << 32), low as u64)
    }

    /// The sum of a cell, rounded once.
    #[allow(clippy::cast_precision_loss, reason = "a norm is rounded")]
    fn round(&self, cell: usize) -> f64 {
        match (self.total(cell), self.words(cell)) {
            (Some(total), _) => total as f64,
            // More than 64 bits are above: of those below, only whether there are any can matter.
            (None, (high, low)) => (high | u128::from(low != 0)) as f64 * power_of_two(64),
        }
    }
}

impl<T: Square> Kernel<T> for SquareSum {
    fn new(cell_count: usize, _setup: &Setup) -> Self {
        let cells = |plane: usize| if plane < T::PLANES { cell_count } else { 0 };
        let planes = std::array::from_fn(|plane| vec![0; cells(plane)]);
        Self { planes, settled: Vec::new(), pending: 0 }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        for block in elements.chunks(BLOCK) {
            self.reserve(block.len());
            let total = T::total(block);
            for (cells, total) in self.planes.iter_mut().zip(total).take(T::PLANES) {
                cells[at.cell] += total;
            }
        }
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        for strip in Strip::cut(elements, lanes) {
            self.reserve(strip.rows);
            fold_strip(strip, at.cell + strip.first_lane, &mut self.planes);
        }
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        if self.settled.is_empty() {
            self.settled = vec![[0; PLANES_MAX]; self.planes[0].len()];
        }
        self.add(cell, later.sums(from));
    }

    fn merge(&mut self, later: Self) {
        if self.pending + later.pending > PENDING_MAX || !later.settled.is_empty() {
            self.settle();
            (0..self.settled.len()).for_each(|cell| self.add(cell, later.sums(cell)));
            return;
        }
        self.pending += later.pending;
        for (cells, later) in self.planes.iter_mut().zip(&later.planes) {
            cells.iter_mut().zip(later).for_each(|(to, from)| *to += from);
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "a sum of squares is rounded")]
    fn finish(self) -> Result<Values> {
        let cells = 0..self.planes[0].len();
        Ok(floats(cells.map(|cell| self.round(cell)).collect()))
    }
}

/// Roots of exact sums of squares.
#[derive(Debug)]
pub(crate) struct IntegerNorm(SquareSum);

impl<T: Square> Kernel<T> for IntegerNorm {
    fn cell_len(_setup: &Setup) -> u64 {
        8 * T::PLANES as u64
    }

    fn new(cell_count: usize, setup: &Setup) -> Self {
        Self(Kernel::<T>::new(cell_count, setup))
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        self.0.fold_run(at, elements);
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        self.0.fold_lanes(at, lanes, elements);
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        Kernel::<T>::take(&mut self.0, cell, &later.0, from);
    }

    fn merge(&mut self, later: Self) {
        Kernel::<T>::merge(&mut self.0, later.0);
    }

    fn finish(self) -> Result<Values> {
        let cells = 0..self.0.planes[0].len();
        Ok(floats(cells.map(|cell| self.0.round(cell).sqrt()).collect()))
    }
}
