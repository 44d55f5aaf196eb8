//! Sums of float64: two-sum element by element, so the error stays below one unit in the last
//! place and `n^2 * 2^-104` of the sum of magnitudes.
//!
//! A partial sum may pass the largest float64 although the sum does not. The elements of such a
//! block, and what was summed before it, go into a fixed-point number of that cell.

use std::collections::BTreeMap;

use multiversion::multiversion;

use super::SumKernel;
use super::exact::{add_lanes, padded};
use super::fixed::FixedF64;
use crate::error::Result;
use crate::kernel::special::{LaneNonFinite, NonFinite, Open, Sieve, Specials};
use crate::kernel::strip::{SPAN, Strip};
use crate::kernel::{At, Kernel, Lanes, Scatter, Setup, floats};
use crate::value::Values;

/// Chains with their lost parts fill half the registers of the smallest supported machine.
const LANES: usize = 8;
/// Elements folded between two looks at whether the sum is still finite.
const BLOCK: usize = 2048;

/// Compensated sums.
#[derive(Debug)]
pub(crate) struct PairSum {
    sums: Vec<f64>,
    losts: Vec<f64>,
    /// The cells that did not fit, exactly.
    beyond: BTreeMap<usize, FixedF64>,
    specials: Specials,
}

impl PairSum {
    fn total(&self, cell: usize) -> f64 {
        let (sum, lost) = (self.sums[cell], self.losts[cell]);
        let finite = match self.beyond.get(&cell) {
            None => sum + lost,
            Some(beyond) => {
                let mut beyond = beyond.clone();
                beyond.add(sum);
                beyond.add(lost);
                beyond.round()
            }
        };
        self.specials.resolve(cell, finite)
    }

    /// Adds a sum to that of a cell.
    fn add(&mut self, cell: usize, later: Pair) {
        let before = Pair { sum: self.sums[cell], lost: self.losts[cell] };
        let mut both = before.plus(later);
        if !both.is_finite() {
            let parts = [before.sum, before.lost, later.sum, later.lost];
            let beyond = self.beyond.entry(cell).or_insert_with(FixedF64::new);
            parts.into_iter().for_each(|part| beyond.add(part));
            both = Pair::default();
        }
        (self.sums[cell], self.losts[cell]) = (both.sum, both.lost);
    }

    /// Adds a block with a NaN, an infinity, or a partial sum past the largest float64.
    #[cold]
    fn fold_odd(&mut self, cell: usize, block: &[f64]) {
        let mut found = NonFinite::default();
        let mut room = [0.0; BLOCK];
        let finite = found.sift(block, &mut room);
        self.specials.note(cell, found);
        let mut pair = Pair { sum: self.sums[cell], lost: self.losts[cell] };
        if !fold_blocks(finite, &mut pair).is_empty() {
            let beyond = self.beyond.entry(cell).or_insert_with(FixedF64::new);
            [pair.sum, pair.lost].iter().chain(finite).for_each(|&value| beyond.add(value));
            pair = Pair::default();
        }
        (self.sums[cell], self.losts[cell]) = (pair.sum, pair.lost);
    }

    /// Adds a strip with a NaN, an infinity, or a partial sum past the largest float64.
    #[cold]
    fn fold_odd_strip(&mut self, first_cell: usize, strip: Strip<'_, f64>) {
        let mut found = LaneNonFinite::new();
        let cells = first_cell..first_cell + strip.lanes;
        let (sums, losts) = (&mut self.sums[cells.clone()], &mut self.losts[cells]);
        let done = fold_clean_strip(strip, sums, losts, &mut found);
        if done {
            self.specials.note_lanes(first_cell, strip.lanes, &found);
            return;
        }
        for lane in 0..strip.lanes {
            let mut column = [0.0; LANES];
            for (to, from) in column.iter_mut().zip(strip.column(lane)) {
                *to = from;
            }
            self.fold_odd(first_cell + lane, &column[..strip.rows]);
        }
    }
}

impl Kernel<f64> for PairSum {
    fn new(cell_count: usize, setup: &Setup) -> Self {
        Self {
            sums: vec![0.0; cell_count],
            losts: vec![0.0; cell_count],
            beyond: BTreeMap::new(),
            specials: Specials::new(cell_count, setup.nan),
        }
    }

    fn fold_run(&mut self, at: At, elements: &[f64]) {
        let cell = at.cell;
        let mut rest = elements;
        loop {
            let mut pair = Pair { sum: self.sums[cell], lost: self.losts[cell] };
            rest = fold_blocks(rest, &mut pair);
            (self.sums[cell], self.losts[cell]) = (pair.sum, pair.lost);
            if rest.is_empty() {
                return;
            }
            let (block, after) = rest.split_at(rest.len().min(BLOCK));
            self.fold_odd(cell, block);
            rest = after;
        }
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[f64]) {
        for strip in Strip::cut(elements, lanes) {
            let cell = at.cell + strip.first_lane;
            let cells = cell..cell + strip.lanes;
            let (sums, losts) = (&mut self.sums[cells.clone()], &mut self.losts[cells]);
            if !fold_strip(strip, sums, losts) {
                self.fold_odd_strip(cell, strip);
            }
        }
    }

    fn fold_scattered(&mut self, at: At, scatter: Scatter<'_>, elements: &[f64]) {
        for (at, element) in scatter.targets(at) {
            let (sum, more) = two_sum(self.sums[at.cell], elements[element]);
            if sum.is_finite() {
                self.sums[at.cell] = sum;
                self.losts[at.cell] += more;
            } else {
                self.fold_run(at, &elements[element..=element]);
            }
        }
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.add(cell, Pair { sum: later.sums[from], lost: later.losts[from] });
        if let Some(from) = later.beyond.get(&from) {
            self.beyond.entry(cell).or_insert_with(FixedF64::new).merge(from);
        }
        self.specials.take(cell, &later.specials, from);
    }

    fn merge(&mut self, later: Self) {
        for (cell, (&sum, &lost)) in later.sums.iter().zip(&later.losts).enumerate() {
            self.add(cell, Pair { sum, lost });
        }
        for (cell, from) in &later.beyond {
            self.beyond.entry(*cell).or_insert_with(FixedF64::new).merge(from);
        }
        self.specials.merge(later.specials);
    }

    fn nan_count(&self) -> Option<u64> {
        Some(self.specials.nan_count())
    }

    fn finish(self) -> Result<Values> {
        Ok(floats((0..self.sums.len()).map(|cell| self.total(cell)).collect()))
    }
}

impl SumKernel<f64> for PairSum {
    fn means(self, counts: &[u64]) -> Vec<f64> {
        let mean = |(cell, &count): (usize, &u64)| self.total(cell) / count as f64;
        counts.iter().enumerate().map(mean).collect()
    }

    fn nan_count_of(&self, cell: usize) -> u64 {
        self.specials.nan_count_of(cell)
    }
}

/// `a + b` and exactly what its rounding lost.
#[inline(always)]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_seen = sum - a;
    let lost = (a - (sum - b_seen)) + (b - b_seen);
    (sum, lost)
}

/// A running sum with its lost part.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::kernel) struct Pair {
    pub(in crate::kernel) sum: f64,
    pub(in crate::kernel) lost: f64,
}

impl Pair {
    /// Adds one number.
    #[inline(always)]
    pub(in crate::kernel) fn add(&mut self, more: f64) {
        let (sum, lost) = two_sum(self.sum, more);
        *self = Pair { sum, lost: self.lost + lost };
    }

    /// Adds another sum.
    #[inline(always)]
    pub(in crate::kernel) fn take(&mut self, other: Self) {
        *self = self.plus(other);
    }

    /// Both parts in one.
    pub(in crate::kernel) fn total(self) -> f64 {
        self.sum + self.lost
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        let (sum, lost) = two_sum(self.sum, other.sum);
        Self { sum, lost: lost + (self.lost + other.lost) }
    }

    #[inline(always)]
    fn is_finite(self) -> bool {
        self.sum.is_finite() && self.lost.is_finite()
    }
}

/// Adds whole blocks as long as all stays finite; gives the elements not yet added.
fn fold_blocks<'a>(elements: &'a [f64], pair: &mut Pair) -> &'a [f64] {
    let mut lanes = Chains::default();
    let mut rest = elements;
    while !rest.is_empty() {
        let (block, after) = rest.split_at(rest.len().min(BLOCK));
        let mut next = lanes;
        if !next.add_block(block) {
            break;
        }
        (lanes, rest) = (next, after);
    }
    let sum = pair.plus(lanes.sum());
    if !sum.is_finite() {
        // Too much only now: the odd way sorts it out, block by block.
        return elements;
    }
    *pair = sum;
    rest
}

/// Chains of a running sum.
#[derive(Clone, Copy, Default)]
struct Chains {
    sums: [f64; LANES],
    losts: [f64; LANES],
}

impl Chains {
    /// Adds a block; returns whether all sums are still finite.
    fn add_block(&mut self, block: &[f64]) -> bool {
        let (rows, tail) = block.as_chunks::<LANES>();
        add_rows(&mut self.sums, &mut self.losts, rows);
        if !tail.is_empty() {
            add_row(&mut self.sums, &mut self.losts, &padded(tail));
        }
        self.sums.iter().chain(&self.losts).all(|part| part.is_finite())
    }

    /// All lanes, pairwise, always in the same tree.
    fn sum(mut self) -> Pair {
        let mut lost = add_lanes(self.losts);
        let mut half = LANES / 2;
        while half > 0 {
            for i in 0..half {
                let (sum, more) = two_sum(self.sums[i], self.sums[i + half]);
                self.sums[i] = sum;
                lost += more;
            }
            half /= 2;
        }
        Pair { sum: self.sums[0], lost }
    }
}

// The lanes live with the caller: with their last steps in sight, the compiler takes them apart.
#[multiversion(targets("x86_64+avx+avx2"))]
fn add_rows(sums: &mut [f64; LANES], losts: &mut [f64; LANES], rows: &[[f64; LANES]]) {
    let (mut lane_sums, mut lane_losts) = (*sums, *losts);
    // Seen as the same, the loads of a row would be split in halves.
    let same_rows = std::hint::black_box(rows);
    for (row, same_row) in rows.iter().zip(same_rows) {
        add_same_row(&mut lane_sums, &mut lane_losts, row, same_row);
    }
    (*sums, *losts) = (lane_sums, lane_losts);
}

#[inline(always)]
fn add_row(sums: &mut [f64; LANES], losts: &mut [f64; LANES], row: &[f64; LANES]) {
    add_same_row(sums, losts, row, row);
}

#[inline(always)]
fn add_same_row(
    sums: &mut [f64; LANES],
    losts: &mut [f64; LANES],
    row: &[f64; LANES],
    same_row: &[f64; LANES],
) {
    let before = *sums;
    let after = each(before, *row, |a, b| a + b);
    let seen = each(after, before, |a, b| a - b);
    let kept = each(after, seen, |a, b| a - b);
    let lost_before = each(before, kept, |a, b| a - b);
    let lost_row = each(*same_row, seen, |a, b| a - b);
    let lost = each(lost_before, lost_row, |a, b| a + b);
    *losts = each(*losts, lost, |a, b| a + b);
    *sums = after;
}

/// Two rows lane by lane, as the registers do it.
#[inline(always)]
fn each(a: [f64; LANES], b: [f64; LANES], f: impl Fn(f64, f64) -> f64) -> [f64; LANES] {
    let mut made = [0.0; LANES];
    for i in 0..LANES {
        made[i] = f(a[i], b[i]);
    }
    made
}

/// Adds a strip, or nothing of it when something is not finite.
#[multiversion(targets("x86_64+avx+avx2"))]
fn fold_strip(strip: Strip<'_, f64>, sums: &mut [f64], losts: &mut [f64]) -> bool {
    add_strip(strip, sums, losts, &mut Open)
}

/// Folds a strip with zeros for non-finite elements, which are counted.
#[multiversion(targets("x86_64+avx+avx2"))]
fn fold_clean_strip(
    strip: Strip<'_, f64>,
    sums: &mut [f64],
    losts: &mut [f64],
    found: &mut LaneNonFinite,
) -> bool {
    add_strip(strip, sums, losts, found)
}

#[inline(always)]
fn add_strip(
    strip: Strip<'_, f64>,
    sums: &mut [f64],
    losts: &mut [f64],
    sieve: &mut impl Sieve,
) -> bool {
    let mut next_sums = [0_f64; SPAN];
    let mut next_losts = [0_f64; SPAN];
    next_sums[..strip.lanes].copy_from_slice(sums);
    next_losts[..strip.lanes].copy_from_slice(losts);
    let groups = next_sums.as_chunks_mut::<LANES>().0.iter_mut();
    let groups = groups.zip(next_losts.as_chunks_mut::<LANES>().0);
    let mut finite = true;
    for (group, (sums, losts)) in groups.enumerate().take(strip.lanes.div_ceil(LANES)) {
        let lane = group * LANES;
        let (mut sum, mut lost) = (*sums, *losts);
        for row in 0..strip.rows {
            add_row(&mut sum, &mut lost, &sieve.pass(lane, strip.row(row, lane, 0.0)));
        }
        for i in 0..LANES {
            finite &= sum[i].is_finite() & lost[i].is_finite();
        }
        (*sums, *losts) = (sum, lost);
    }
    if finite {
        sums.copy_from_slice(&next_sums[..strip.lanes]);
        losts.copy_from_slice(&next_losts[..strip.lanes]);
    }
    finite
}
