//! Histograms: how many elements lie between neighboring edges.
//!
//! ```text
//!   slot    0    |  1  |  2  |  3  |   4        the last bin is closed
//!   edge         0     1     2     3
//! ```
//!
//! Where the edges are even, rounding `(x - first) * scale` names the nearest edge, and comparing
//! with that edge gives the exact slot.

use multiversion::multiversion;

use super::extrema::{NanCounts, count_nan};
use super::rank::Numeric;
use super::{At, Kernel, Lanes, Setup};
use crate::error::Result;
use crate::value::{Cells, Values};

/// Elements whose slots are guessed together.
const BLOCK: usize = 256;
/// Added to a small number, leaves its nearest integer in the lowest bits.
const ROUND: f64 = (1_u64 << 52) as f64;
/// Tables that take turns, so that no counter waits for its last increment.
const TABLES: usize = 4;
/// Elements that are counted in tables before these are added up, at most.
const RUN: usize = 1 << 20;
/// For each slot, as many elements a run has at least that is counted in tables.
const RUN_MIN: usize = 16;
/// Slots of such a table, at most.
const TABLE_LEN_MAX: usize = 1 << 12;

/// Counts per bin of [`Setup::edges`], below the first and above the last: for every cell what is
/// below, the bins, what is above.
#[derive(Debug)]
pub(crate) struct Histogram {
    slots: Slots,
    counts: Vec<u64>,
    tables: Vec<u32>,
    nans: NanCounts,
    is_float: bool,
}

/// Finds slots.
#[derive(Debug)]
struct Slots {
    /// Lower bound of each slot but the first.
    bounds: Vec<f64>,
    first: f64,
    last: f64,
    scale: f64,
    /// Whether the nearest edge is guessed right.
    even: bool,
}

impl Slots {
    /// For edges in order, of which there are two at least.
    fn new(edges: &[f64]) -> Self {
        let (first, last) = (edges.first().copied(), edges.last().copied());
        let (first, last) = (first.unwrap_or(0.0), last.unwrap_or(0.0));
        let mut bounds = edges.to_vec();
        if let Some(bound) = bounds.last_mut() {
            *bound = last.next_up();
        }
        let scale = (edges.len().saturating_sub(1)) as f64 / (last - first);
        let mut slots = Slots { bounds, first, last, scale, even: false };
        // A guess never falls where an element grows: if every edge is guessed right, then what
        // lies between two edges is guessed to be near one of them.
        let is_right = |(nth, &edge): (usize, &f64)| slots.guess(edge) as usize == nth;
        let fits = u32::try_from(edges.len()).is_ok() && scale.is_finite();
        slots.even = fits && edges.iter().enumerate().all(is_right);
        slots
    }

    /// The nearest edge, for values outside the outermost one; any for NaN.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the lowest bits")]
    fn guess(&self, value: f64) -> u32 {
        let value = if value > self.first { value } else { self.first };
        let value = if value < self.last { value } else { self.last };
        ((value - self.first) * self.scale + ROUND).to_bits() as u32
    }

    /// The slot of a value whose nearest edge is known.
    #[inline(always)]
    fn near(&self, edge: u32, value: f64) -> usize {
        let edge = edge as usize;
        edge + usize::from(value >= self.bounds[edge])
    }

    /// The slot of a value; 0 for NaN.
    fn slot(&self, value: f64) -> usize {
        if self.even {
            return self.near(self.guess(value), value);
        }
        self.bounds.partition_point(|&bound| value >= bound)
    }
}

impl Histogram {
    fn width(&self) -> usize {
        self.slots.bounds.len() + 1
    }

    /// Takes NaN out of the slot they were counted in.
    fn note_nan(&mut self, cell: usize, nan_count: u64) {
        let below = cell * self.width();
        self.counts[below] -= nan_count;
        let cell_count = self.counts.len() / self.width();
        self.nans.add(cell, cell_count, nan_count);
    }

    /// Counts a run in the cell itself.
    fn count<T: Numeric>(&mut self, cell: usize, run: &[T]) {
        let width = self.width();
        let counts = &mut self.counts[cell * width..][..width];
        if !self.slots.even {
            return run.iter().for_each(|element| counts[self.slots.slot(element.wide())] += 1);
        }
        let mut guesses = [0; BLOCK];
        for block in run.chunks(BLOCK) {
            guess_all(&self.slots, block, &mut guesses);
            for (element, guess) in block.iter().zip(guesses) {
                counts[self.slots.near(guess, element.wide())] += 1;
            }
        }
    }

    /// Counts a long run in the tables first.
    fn count_in_tables<T: Numeric>(&mut self, cell: usize, run: &[T]) {
        let width = self.width();
        self.tables.resize(TABLES * width, 0);
        let (first, rest) = self.tables.split_at_mut(width);
        let (second, rest) = rest.split_at_mut(width);
        let (third, fourth) = rest.split_at_mut(width);
        let mut guesses = [0; BLOCK];
        for block in run.chunks(BLOCK) {
            guess_all(&self.slots, block, &mut guesses);
            let (quads, tail) = block.as_chunks::<TABLES>();
            let (guess_quads, _) = guesses.as_chunks::<TABLES>();
            for (quad, guess) in quads.iter().zip(guess_quads) {
                let slot = |nth: usize| self.slots.near(guess[nth], quad[nth].wide());
                first[slot(0)] += 1;
                second[slot(1)] += 1;
                third[slot(2)] += 1;
                fourth[slot(3)] += 1;
            }
            for element in tail {
                first[self.slots.slot(element.wide())] += 1;
            }
        }
        self.settle(cell);
    }

    /// Adds the tables to the counts of a cell.
    fn settle(&mut self, cell: usize) {
        let width = self.width();
        let counts = &mut self.counts[cell * width..][..width];
        for table in self.tables.chunks_exact_mut(width) {
            for (count, recent) in counts.iter_mut().zip(table) {
                *count += u64::from(std::mem::take(recent));
            }
        }
    }
}

impl<T: Numeric> Kernel<T> for Histogram {
    fn width(setup: &Setup) -> usize {
        setup.edges.len() + 1
    }

    fn cell_len(setup: &Setup) -> u64 {
        (setup.edges.len() as u64 + 1).saturating_mul(size_of::<u64>() as u64)
    }

    fn new(cell_count: usize, setup: &Setup) -> Self {
        Self {
            slots: Slots::new(&setup.edges),
            counts: vec![0; cell_count * (setup.edges.len() + 1)],
            tables: Vec::new(),
            nans: NanCounts::default(),
            is_float: T::DTYPE.is_float(),
        }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        let width = self.width();
        for run in elements.chunks(RUN) {
            if self.slots.even && width <= TABLE_LEN_MAX && RUN_MIN * width <= run.len() {
                self.count_in_tables(at.cell, run);
            } else {
                self.count(at.cell, run);
            }
        }
        if self.is_float {
            self.note_nan(at.cell, count_nan(elements));
        }
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        let width = self.width();
        for row in lanes.rows(elements) {
            for (lane, element) in row.iter().enumerate() {
                let slot = self.slots.slot(element.wide());
                self.counts[(at.cell + lane) * width + slot] += 1;
            }
            if self.is_float && count_nan(row) > 0 {
                for (lane, element) in row.iter().enumerate() {
                    self.note_nan(at.cell + lane, u64::from(element.nan_mask() != T::ZERO));
                }
            }
        }
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        let width = self.width();
        let later_counts = &later.counts[from * width..][..width];
        let counts = &mut self.counts[cell * width..][..width];
        counts.iter_mut().zip(later_counts).for_each(|(to, from)| *to += from);
        self.nans.add(cell, self.counts.len() / width, later.nans.count(from));
    }

    fn merge(&mut self, later: Self) {
        self.counts.iter_mut().zip(later.counts).for_each(|(to, from)| *to += from);
        self.nans.merge(later.nans);
    }

    fn nan_count(&self) -> Option<u64> {
        self.is_float.then_some(self.nans.sum)
    }

    fn finish(self) -> Result<Values> {
        Ok(Values::new(Cells::Count(self.counts)))
    }
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn guess_all<T: Numeric>(slots: &Slots, block: &[T], guesses: &mut [u32]) {
    for (guess, element) in guesses.iter_mut().zip(block) {
        *guess = slots.guess(element.wide());
    }
}

#[cfg(test)]
mod tests;
