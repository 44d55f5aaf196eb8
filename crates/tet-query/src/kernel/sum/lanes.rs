//! Sums of float32 (and float16, bfloat16) into many cells: plain float64 adds in chains of at most
//! 64, compensated between them, so the error stays below `2^-46` of the sum of magnitudes.
//!
//! ```text
//!   8 rows x 256 lanes  -->  totals  -->  block (per cell)  --every 24-->  sum + lost (per cell)
//! ```

use multiversion::multiversion;

use super::SumKernel;
use super::exact::{INFINITE, add_quarter, add_row, add_run, padded, total};
use super::pair::two_sum;
use crate::element::{LANES, ROOM_LEN, Single};
use crate::error::Result;
use crate::kernel::special::{LaneNonFinite, NonFinite, Open, Sieve, Specials};
use crate::kernel::strip::{ROWS, SPAN, Strip};
use crate::kernel::{At, Kernel, Lanes, Runs, Scatter, Setup, floats};
use crate::value::Values;

/// Elements of a run added in plain float64 lanes.
const RUN: usize = 512;
/// Runs whose totals are looked at together.
const RUNS: usize = 32;
/// Elements of a row that is folded alone: as many as there is room for.
const ROW: usize = ROOM_LEN;
/// Cells that are compensated together.
const GROUP: usize = 256;
/// Totals a cell takes before it is compensated: a chain of 36 adds in a total and 24 here.
const PENDING_MAX: u8 = 24;

/// Sums in chains.
#[derive(Debug)]
pub(crate) struct LaneSum {
    block: Vec<f64>,
    /// Totals that a group's blocks may hold.
    pending: Vec<u8>,
    sums: Vec<f64>,
    losts: Vec<f64>,
    specials: Specials,
    room: Vec<f32>,
}

impl LaneSum {
    /// Makes room for one more total in each of these cells.
    #[inline]
    fn reserve(&mut self, first_cell: usize, lanes: usize) {
        for group in first_cell / GROUP..(first_cell + lanes).div_ceil(GROUP) {
            if self.pending[group] >= PENDING_MAX {
                self.compensate(group);
            }
            self.pending[group] += 1;
        }
    }

    fn compensate(&mut self, group: usize) {
        let cells = group * GROUP..((group + 1) * GROUP).min(self.sums.len());
        let block = &mut self.block[cells.clone()];
        add_pairs(&mut self.sums[cells.clone()], &mut self.losts[cells], block, &[]);
        block.fill(0.0);
        self.pending[group] = 0;
    }

    fn settle_all(&mut self) {
        for group in 0..self.pending.len() {
            if self.pending[group] > 0 {
                self.compensate(group);
            }
        }
    }

    /// The sums of all cells.
    fn totals(mut self) -> Vec<f64> {
        self.settle_all();
        let LaneSum { mut sums, losts, specials, .. } = self;
        add(&mut sums, &losts);
        if !specials.is_empty() {
            let resolve = |(cell, sum): (usize, &mut f64)| *sum = specials.resolve(cell, *sum);
            sums.iter_mut().enumerate().for_each(resolve);
        }
        sums
    }

    /// Folds one row, which is its own totals.
    fn fold_row<T: Single>(&mut self, cell: usize, row: &[T]) {
        if is_finite(row, &mut self.room) {
            self.reserve(cell, row.len());
            add_single_row(row, &mut self.room, &mut self.block[cell..]);
        } else {
            let lanes = Lanes { count: row.len(), rows: 1, distance: row.len(), index: 0 };
            self.fold_strips(cell, lanes, row);
        }
    }

    /// Folds rows of lanes, some of both at a time.
    fn fold_strips<T: Single>(&mut self, first_cell: usize, lanes: Lanes, elements: &[T]) {
        for strip in Strip::cut(elements, lanes) {
            let cell = first_cell + strip.first_lane;
            self.reserve(cell, strip.lanes);
            let block = &mut self.block[cell..cell + strip.lanes];
            if !fold_strip(strip, &mut self.room, block) {
                let mut found = LaneNonFinite::new();
                fold_clean_strip(strip, &mut self.room, block, &mut found);
                self.specials.note_lanes(cell, strip.lanes, &found);
            }
        }
    }
}

impl<T: Single> Kernel<T> for LaneSum {
    fn new(cell_count: usize, setup: &Setup) -> Self {
        Self {
            block: vec![0.0; cell_count],
            pending: vec![0; cell_count.div_ceil(GROUP)],
            sums: vec![0.0; cell_count],
            losts: vec![0.0; cell_count],
            specials: Specials::new(cell_count, setup.nan),
            room: vec![0.0; T::ROOM_LEN],
        }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        let cell = at.cell;
        for run in elements.chunks(RUN) {
            let mut sum = total(run, &mut self.room);
            if !sum.is_finite() {
                let mut found = NonFinite::default();
                let mut finite = [0.0; RUN];
                sum = total(found.sift(T::widen_all(run, &mut self.room), &mut finite), &mut []);
                self.specials.note(cell, found);
            }
            self.reserve(cell, 1);
            self.block[cell] += sum;
        }
    }

    fn fold_runs(&mut self, at: At, runs: Runs, elements: &[T]) {
        if runs.cells != 1 || runs.len > RUN {
            let run = |nth| &elements[nth * runs.distance..][..runs.len];
            return (0..runs.count).for_each(|nth| self.fold_run(runs.at(at, nth), run(nth)));
        }
        for first in (0..runs.count).step_by(RUNS) {
            let some = Runs { count: RUNS.min(runs.count - first), ..runs };
            let at = runs.at(at, first);
            let elements = &elements[first * runs.distance..];
            let mut totals = [0.0; RUNS];
            let totals = &mut totals[..some.count];
            if total_runs(some, elements, &mut self.room, totals) {
                self.reserve(at.cell, some.count);
                add(&mut self.block[at.cell..][..some.count], totals);
            } else {
                let run = |nth| &elements[nth * runs.distance..][..runs.len];
                (0..some.count).for_each(|nth| self.fold_run(some.at(at, nth), run(nth)));
            }
        }
    }

    fn fold_scattered(&mut self, at: At, scatter: Scatter<'_>, elements: &[T]) {
        for (at, element) in scatter.targets(at) {
            let value = elements[element].widen();
            if value.is_finite() {
                let (sum, more) = two_sum(self.sums[at.cell], f64::from(value));
                self.sums[at.cell] = sum;
                self.losts[at.cell] += more;
            } else {
                self.fold_run(at, &elements[element..=element]);
            }
        }
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        if lanes.rows != 1 {
            return self.fold_strips(at.cell, lanes, elements);
        }
        for (row, cell) in elements[..lanes.count].chunks(ROW).zip((at.cell..).step_by(ROW)) {
            self.fold_row(cell, row);
        }
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        Kernel::<T>::take_lanes(self, cell, later, from, 1);
    }

    fn take_lanes(&mut self, cell: usize, later: &Self, from: usize, count: usize) {
        let (cells, later_cells) = (cell..cell + count, from..from + count);
        let (sums, losts) = (&mut self.sums[cells.clone()], &mut self.losts[cells]);
        let later_losts = &later.losts[later_cells.clone()];
        add_pairs(sums, losts, &later.sums[later_cells.clone()], later_losts);
        add_pairs(sums, losts, &later.block[later_cells], &[]);
        self.specials.take_lanes(cell, &later.specials, from, count);
    }

    fn merge(&mut self, mut later: Self) {
        self.settle_all();
        later.settle_all();
        add_pairs(&mut self.sums, &mut self.losts, &later.sums, &later.losts);
        self.specials.merge(later.specials);
    }

    fn nan_count(&self) -> Option<u64> {
        Some(self.specials.nan_count())
    }

    fn finish(self) -> Result<Values> {
        Ok(floats(self.totals()))
    }
}

impl<T: Single> SumKernel<T> for LaneSum {
    fn means(self, counts: &[u64]) -> Vec<f64> {
        let mut means = self.totals();
        divide(&mut means, counts);
        means
    }

    fn nan_count_of(&self, cell: usize) -> u64 {
        self.specials.nan_count_of(cell)
    }
}

/// The total of every run, as [`total`] adds it; whether all are finite.
#[multiversion(targets("x86_64+avx+avx2"))]
fn total_runs<T: Single>(runs: Runs, elements: &[T], room: &mut [f32], totals: &mut [f64]) -> bool {
    let mut finite = true;
    for (nth, to) in totals.iter_mut().enumerate() {
        let mut quarter = [0.0; LANES / 4];
        add_run(&mut quarter, &elements[nth * runs.distance..][..runs.len], room);
        *to = add_quarter(quarter);
        finite &= to.is_finite();
    }
    finite
}

/// Divides sums by counts.
#[multiversion(targets("x86_64+avx+avx2"))]
fn divide(sums: &mut [f64], counts: &[u64]) {
    sums.iter_mut().zip(counts).for_each(|(sum, &count)| *sum /= count as f64);
}

/// Adds totals to blocks.
#[multiversion(targets("x86_64+avx+avx2"))]
fn add(block: &mut [f64], totals: &[f64]) {
    block.iter_mut().zip(totals).for_each(|(to, from)| *to += from);
}

/// Adds pairs to pairs, two-sum; `later_losts` may be empty.
#[multiversion(targets("x86_64+avx+avx2"))]
fn add_pairs(sums: &mut [f64], losts: &mut [f64], later_sums: &[f64], later_losts: &[f64]) {
    for ((sum, lost), &later) in sums.iter_mut().zip(losts.iter_mut()).zip(later_sums) {
        let (next, more) = two_sum(*sum, later);
        *sum = next;
        *lost += more;
    }
    for (lost, later) in losts.iter_mut().zip(later_losts) {
        *lost += later;
    }
}

/// Whether all elements of a row are.
#[multiversion(targets("x86_64+avx+avx2"))]
fn is_finite<T: Single>(row: &[T], room: &mut [f32]) -> bool {
    let doubled = |value: &f32| value.to_bits() << 1;
    T::widen_all(row, room).iter().map(doubled).fold(0, u32::max) < INFINITE
}

/// Adds a row to the blocks.
#[multiversion(targets("x86_64+avx+avx2"))]
fn add_single_row<T: Single>(row: &[T], room: &mut [f32], block: &mut [f64]) {
    let row = T::widen_all(row, room);
    block.iter_mut().zip(row).for_each(|(to, &from)| *to += f64::from(from));
}

/// Adds a strip to the blocks, or nothing of it when something is not finite.
#[multiversion(targets("x86_64+avx+avx2"))]
fn fold_strip<T: Single>(strip: Strip<'_, T>, room: &mut [f32], block: &mut [f64]) -> bool {
    add_strip(strip, room, block, &mut Open)
}

/// Folds a strip with zeros for non-finite elements, which are counted.
#[multiversion(targets("x86_64+avx+avx2"))]
fn fold_clean_strip<T: Single>(
    strip: Strip<'_, T>,
    room: &mut [f32],
    block: &mut [f64],
    found: &mut LaneNonFinite,
) {
    add_strip(strip, room, block, found);
}

#[inline(always)]
fn add_strip<T: Single>(
    strip: Strip<'_, T>,
    room: &mut [f32],
    block: &mut [f64],
    sieve: &mut impl Sieve,
) -> bool {
    let rows = strip.widen(room);
    let split = rows.map(<[f32]>::as_chunks::<LANES>);
    let mut totals = [[0_f64; LANES]; SPAN / LANES];
    // All rows of a strip are one loop without an end to test.
    match split.get(..strip.rows) {
        Some(few) if few.len() < ROWS => add_groups(few, strip.lanes, &mut totals, sieve),
        _ => add_groups(&split, strip.lanes, &mut totals, sieve),
    }
    let totals = &totals.as_flattened()[..strip.lanes];
    let mut finite = true;
    for total in totals {
        finite &= total.is_finite();
    }
    if finite {
        for (to, from) in block.iter_mut().zip(totals) {
            *to += from;
        }
    }
    finite
}

/// The totals of lanes of some rows.
#[inline(always)]
fn add_groups(
    split: &[(&[[f32; LANES]], &[f32])],
    lanes: usize,
    totals: &mut [[f64; LANES]; SPAN / LANES],
    sieve: &mut impl Sieve,
) {
    let group_count = lanes / LANES;
    for (group, total) in totals.iter_mut().enumerate().take(group_count) {
        let lane = group * LANES;
        let mut sum = [0_f64; LANES];
        for (groups, _) in split {
            add_row(&mut sum, &sieve.pass(lane, groups[group]));
        }
        *total = sum;
    }
    if group_count * LANES < lanes {
        for (_, tail) in split {
            let row = sieve.pass(group_count * LANES, padded(tail));
            add_row(&mut totals[group_count], &row);
        }
    }
}
