//! The root of a sum of squares of floats.
//!
//! The sum of a block counts if it lies in a range where nothing was lost to the smallest floats
//! and no sum of such sums overflows. The elements of other blocks are squared one by one, and
//! scaled before that if they are large or small (Blue 1978).

use std::collections::BTreeMap;

use multiversion::multiversion;

use crate::element::LANES;
use crate::element::Widened;
use crate::error::Result;
use crate::kernel::special::{Float, Found, LaneFound, Sieve, Specials};
use crate::kernel::strip::{ROWS, SPAN, Strip};
use crate::kernel::sum::{Pair, add_lanes, power_of_two};
use crate::kernel::{At, Kernel, Lanes, Setup, floats};
use crate::value::Values;

/// Elements squared between two looks at their sum.
const BLOCK: usize = 1024;
/// Lanes of a strip squared together.
const N: usize = 8;
/// Elements between these have squares that are added as they are.
const SMALL: f64 = f64::from_bits((1023 - 450) << 52);
const LARGE: f64 = f64::from_bits((1023 + 450) << 52);
/// Their squares.
const LEAST: f64 = SMALL * SMALL;
const MOST: f64 = LARGE * LARGE;
/// Elements beyond are multiplied by 2 to so much, or divided.
const SCALE: i32 = 600;

const _: () = assert!(SPAN / N <= 32, "a bit for each group of lanes");

/// Scaled squares of a cell.
#[derive(Clone, Copy, Debug, Default)]
struct Beyond {
    small: Pair,
    large: Pair,
}

/// Roots of sums of squares.
#[derive(Debug)]
pub(crate) struct FloatNorm {
    sums: Vec<f64>,
    losts: Vec<f64>,
    /// The cells with elements too small or too large for that.
    beyond: BTreeMap<usize, Beyond>,
    specials: Specials,
    room: Vec<f32>,
}

impl FloatNorm {
    fn norm(&self, cell: usize) -> f64 {
        if self.specials.spoils(cell) {
            return f64::NAN;
        }
        if self.specials.has_infinity(cell) {
            return f64::INFINITY;
        }
        let sum = self.sums[cell] + self.losts[cell];
        let Some(beyond) = self.beyond.get(&cell) else { return sum.sqrt() };
        let (large, small) = (beyond.large.total(), beyond.small.total());
        // What is scaled by 2^1200 goes in two steps.
        let (up, down) = (power_of_two(SCALE), power_of_two(-SCALE));
        if large > 0.0 {
            (large + sum * down * down).sqrt() * up
        } else if sum > 0.0 {
            (sum + small * down * down).sqrt()
        } else {
            small.sqrt() * down
        }
    }

    #[inline]
    fn add(&mut self, cell: usize, sum: f64) {
        let mut pair = Pair { sum: self.sums[cell], lost: self.losts[cell] };
        pair.add(sum);
        (self.sums[cell], self.losts[cell]) = (pair.sum, pair.lost);
    }

    /// Adds the square of a finite element of any size.
    fn add_any(&mut self, cell: usize, value: f64) {
        let magnitude = value.abs();
        if magnitude == 0.0 {
            return;
        }
        if magnitude < SMALL {
            let scaled = magnitude * power_of_two(SCALE);
            self.beyond.entry(cell).or_default().small.add(scaled * scaled);
        } else if magnitude > LARGE {
            let scaled = magnitude * power_of_two(-SCALE);
            self.beyond.entry(cell).or_default().large.add(scaled * scaled);
        } else {
            self.add(cell, magnitude * magnitude);
        }
    }

    /// Adds a block whose sum says nothing.
    #[cold]
    fn fold_odd<V: Float + Default + Into<f64>>(&mut self, cell: usize, block: &[V]) {
        let mut found = Found::default();
        let mut room = [V::default(); BLOCK];
        let finite = found.sift(block, &mut room);
        self.specials.note(cell, found);
        let sum = square(finite);
        if counts(sum) {
            self.add(cell, sum);
        } else {
            finite.iter().for_each(|&value| self.add_any(cell, value.into()));
        }
    }

    /// Adds the groups of lanes whose sums say nothing.
    #[cold]
    fn fold_odd_strip<T>(&mut self, first: usize, strip: Strip<'_, T>, odd: u32)
    where
        T: Widened<Wide: Float + Into<f64>>,
    {
        let mut found = LaneFound::new();
        for group in (0..strip.lanes.div_ceil(N)).filter(|group| odd >> group & 1 == 1) {
            let lane = group * N;
            let mut rows = [[0.0; N]; ROWS];
            let sums = square_known(&strip, lane, &mut found, &mut rows);
            for i in 0..N.min(strip.lanes - lane) {
                let cell = first + lane + i;
                let column = rows.iter().map(|row| row[i]);
                if counts(sums[i]) {
                    self.add(cell, sums[i]);
                } else {
                    column.for_each(|value| self.add_any(cell, value));
                }
            }
        }
        self.specials.note_lanes(first, strip.lanes, &found);
    }
}

impl<T: Widened<Wide: Float + Into<f64>>> Kernel<T> for FloatNorm {
    fn cell_len(_setup: &Setup) -> u64 {
        16
    }

    fn new(cell_count: usize, setup: &Setup) -> Self {
        Self {
            sums: vec![0.0; cell_count],
            losts: vec![0.0; cell_count],
            beyond: BTreeMap::new(),
            specials: Specials::new(cell_count, setup.nan),
            room: vec![0.0; T::ROOM_LEN],
        }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        let mut room = std::mem::take(&mut self.room);
        for block in elements.chunks(BLOCK) {
            let block = T::wide_all(block, &mut room);
            let sum = square(block);
            if counts(sum) {
                self.add(at.cell, sum);
            } else if sum != 0.0 || has_small(block) {
                self.fold_odd(at.cell, block);
            }
        }
        self.room = room;
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        for strip in Strip::cut(elements, lanes) {
            let first = at.cell + strip.first_lane;
            let cells = first..first + strip.lanes;
            let (sums, losts) = (&mut self.sums[cells.clone()], &mut self.losts[cells]);
            let odd = fold_strip(strip, sums, losts);
            if odd != 0 {
                self.fold_odd_strip(first, strip, odd);
            }
        }
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.add(cell, later.sums[from]);
        self.losts[cell] += later.losts[from];
        if let Some(beyond) = later.beyond.get(&from) {
            let to = self.beyond.entry(cell).or_default();
            for (to, from) in [(&mut to.small, beyond.small), (&mut to.large, beyond.large)] {
                to.add(from.sum);
                to.lost += from.lost;
            }
        }
        self.specials.take(cell, &later.specials, from);
    }

    fn merge(&mut self, later: Self) {
        (0..self.sums.len()).for_each(|cell| Kernel::<T>::take(self, cell, &later, cell));
    }

    fn nan_count(&self) -> Option<u64> {
        Some(self.specials.nan_count())
    }

    fn finish(self) -> Result<Values> {
        Ok(floats((0..self.sums.len()).map(|cell| self.norm(cell)).collect()))
    }
}

/// Whether a sum of squares is of a size to be added to others.
#[inline(always)]
fn counts(sum: f64) -> bool {
    (LEAST..=MOST).contains(&sum)
}

/// Whether there is an element so small that its square is lost.
#[multiversion(targets("x86_64+avx+avx2"))]
fn has_small<V: Float + Into<f64>>(block: &[V]) -> bool {
    let mut small = false;
    for &value in block {
        small |= is_small(value.into());
    }
    small
}

#[inline(always)]
fn is_small(value: f64) -> bool {
    value.abs() < SMALL && value != 0.0
}

/// The sum of the squares of a block.
#[inline]
fn square<V: Copy + Into<f64>>(block: &[V]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (rows, tail) = block.as_chunks::<LANES>();
    if !rows.is_empty() {
        square_rows(&mut lanes, rows);
    }
    for (lane, &value) in lanes.iter_mut().zip(tail) {
        *lane += value.into() * value.into();
    }
    add_lanes(lanes)
}

// The lanes live with the caller: with their last steps in sight, the compiler takes them apart.
#[multiversion(targets("x86_64+avx+avx2"))]
fn square_rows<V: Copy + Into<f64>>(lanes: &mut [f64; LANES], rows: &[[V; LANES]]) {
    let mut sums = *lanes;
    for row in rows {
        for i in 0..LANES {
            let value: f64 = row[i].into();
            sums[i] += value * value;
        }
    }
    *lanes = sums;
}

/// Adds a strip to the cells; gives a bit for each group of lanes that it left out because a sum of
/// it says nothing.
#[multiversion(targets("x86_64+avx+avx2"))]
fn fold_strip<T>(strip: Strip<'_, T>, sums: &mut [f64], losts: &mut [f64]) -> u32
where
    T: Widened<Wide: Float + Into<f64>>,
{
    let mut odd = 0;
    let groups = sums.chunks_mut(N).zip(losts.chunks_mut(N));
    for (group, (sums, losts)) in groups.enumerate() {
        let mut squares = [0.0; N];
        for row in 0..strip.rows {
            let row = strip.row::<N>(row, group * N, T::zeroed());
            for i in 0..N {
                let value: f64 = row[i].wide().into();
                squares[i] += value * value;
            }
        }
        let known = squares[..sums.len()].iter().all(|&sum| counts(sum));
        if known || are_zeros(&strip, group * N, &squares) {
            for ((to, lost), sum) in sums.iter_mut().zip(losts).zip(squares) {
                let mut pair = Pair { sum: *to, lost: *lost };
                pair.add(sum);
                (*to, *lost) = (pair.sum, pair.lost);
            }
        } else {
            odd |= 1 << group;
        }
    }
    odd
}

/// Whether the sums of a group of lanes are known but for those of zeros alone.
#[multiversion(targets("x86_64+avx+avx2"))]
fn are_zeros<T>(strip: &Strip<'_, T>, lane: usize, squares: &[f64; N]) -> bool
where
    T: Widened<Wide: Float + Into<f64>>,
{
    if !squares.iter().all(|&sum| counts(sum) || sum == 0.0) {
        return false;
    }
    let mut small = [false; N];
    for row in 0..strip.rows {
        let row = strip.row::<N>(row, lane, T::zeroed());
        for i in 0..N {
            small[i] |= is_small(row[i].wide().into());
        }
    }
    small == [false; N]
}

/// Fills `rows` with the finite values of a group of lanes, and zeros; gives the sums of squares.
#[multiversion(targets("x86_64+avx+avx2"))]
fn square_known<T>(
    strip: &Strip<'_, T>,
    lane: usize,
    found: &mut LaneFound,
    rows: &mut [[f64; N]; ROWS],
) -> [f64; N]
where
    T: Widened<Wide: Float + Into<f64>>,
{
    let mut squares = [0.0; N];
    for (row, to) in rows.iter_mut().enumerate().take(strip.rows) {
        let row = strip.row::<N>(row, lane, T::zeroed()).map(T::wide);
        *to = found.pass(lane, row).map(Into::into);
        for i in 0..N {
            squares[i] += to[i] * to[i];
        }
    }
    squares
}
