//! Count, mean and squared distances of some elements, and how two of them become one.

use std::array::from_fn;

use crate::kernel::sum::two_sum;

/// Those of `N` neighboring cells.
#[derive(Clone, Copy, Debug)]
pub(in crate::kernel) struct CellMoments<const N: usize> {
    /// As floats, which registers of floats want.
    pub(super) counts: [f64; N],
    /// The means are the sums of these two.
    pub(super) highs: [f64; N],
    pub(super) lows: [f64; N],
    /// Sums of squared distances from the mean.
    pub(super) m2s: [f64; N],
}

impl<const N: usize> CellMoments<N> {
    /// Of no elements.
    pub(super) const EMPTY: Self =
        Self { counts: [0.0; N], highs: [0.0; N], lows: [0.0; N], m2s: [0.0; N] };

    /// Whether all squares are: then all elements are finite too.
    #[inline(always)]
    pub(super) fn is_finite(&self) -> bool {
        self.m2s.iter().fold(true, |finite, m2| finite & m2.is_finite())
    }

    /// Of the elements of both (Chan, Golub, LeVeque 1979).
    #[inline(always)]
    pub(super) fn plus(&self, later: &Self) -> Self {
        let mut both = Self::EMPTY;
        for i in 0..N {
            let count = self.counts[i] + later.counts[i];
            let share = later.counts[i] / count;
            let delta = (later.highs[i] - self.highs[i]) + (later.lows[i] - self.lows[i]);
            let (high, low) = two_sum(self.highs[i], self.lows[i] + delta * share);
            let m2 = self.m2s[i] + later.m2s[i] + delta * delta * (self.counts[i] * share);
            let (first, last) = (later.counts[i] == 0.0, self.counts[i] == 0.0);
            let pick = |both: f64, a: f64, b: f64| {
                let picked = if last { b } else { both };
                if first { a } else { picked }
            };
            both.counts[i] = count;
            both.highs[i] = pick(high, self.highs[i], later.highs[i]);
            both.lows[i] = pick(low, self.lows[i], later.lows[i]);
            let m2 = pick(m2, self.m2s[i], later.m2s[i]);
            // Finite elements made it: past the largest float, and no NaN.
            both.m2s[i] = if m2 < f64::INFINITY { m2 } else { f64::INFINITY };
        }
        both
    }
}

/// Those of all cells.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) counts: Vec<f64>,
    highs: Vec<f64>,
    lows: Vec<f64>,
    pub(super) m2s: Vec<f64>,
}

impl Parts {
    pub(super) fn new(cell_count: usize) -> Self {
        let zeros = || vec![0.0; cell_count];
        Self { counts: zeros(), highs: zeros(), lows: zeros(), m2s: zeros() }
    }

    /// The cells from `first` on; past the last it is empty.
    #[inline(always)]
    pub(super) fn load<const N: usize>(&self, first: usize) -> CellMoments<N> {
        CellMoments {
            counts: some(&self.counts[first..]),
            highs: some(&self.highs[first..]),
            lows: some(&self.lows[first..]),
            m2s: some(&self.m2s[first..]),
        }
    }

    /// Puts `lanes` cells from `first` on.
    #[inline(always)]
    pub(super) fn store<const N: usize>(
        &mut self,
        first: usize,
        lanes: usize,
        part: &CellMoments<N>,
    ) {
        let cells = first..first + lanes.min(N);
        put_some(&mut self.counts[cells.clone()], &part.counts);
        put_some(&mut self.highs[cells.clone()], &part.highs);
        put_some(&mut self.lows[cells.clone()], &part.lows);
        put_some(&mut self.m2s[cells], &part.m2s);
    }

    /// Adds later elements to those of a cell.
    #[inline]
    pub(super) fn add(&mut self, cell: usize, later: &CellMoments<1>) {
        let both = self.load::<1>(cell).plus(later);
        self.store(cell, 1, &both);
    }
}

#[inline(always)]
fn some<const N: usize>(values: &[f64]) -> [f64; N] {
    match values.first_chunk::<N>() {
        Some(full) => *full,
        None => from_fn(|i| values.get(i).copied().unwrap_or(0.0)),
    }
}

#[inline(always)]
fn put_some<const N: usize>(to: &mut [f64], values: &[f64; N]) {
    match to.first_chunk_mut::<N>() {
        Some(full) => *full = *values,
        None => to.copy_from_slice(&values[..to.len()]),
    }
}
