//! The root of a sum of squares in float64.
//!
//! The sum of a block counts if it lies in a range where nothing was lost to the smallest floats
//! and no sum of such sums overflows. The elements of other blocks are squared one by one, and
//! scaled before that if they are large or small (Blue 1978).

use std::collections::BTreeMap;

use multiversion::multiversion;

use crate::element::LANES;
use crate::error::Result;
use crate::kernel::rank::Ranked;
use crate::kernel::special::{NonFinite, Specials};
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
/// Elements beyond are scaled by 2 to this power.
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
pub(in crate::kernel) struct FloatNorm {
    sums: Vec<Pair>,
    /// The cells with elements too small or too large for that.
    beyond: BTreeMap<usize, Beyond>,
    specials: Specials,
}

impl FloatNorm {
    fn norm(&self, cell: usize) -> f64 {
        if self.specials.spoils(cell) {
            return f64::NAN;
        }
        if self.specials.has_infinity(cell) {
            return f64::INFINITY;
        }
        let sum = self.sums[cell].total();
        let Some(beyond) = self.beyond.get(&cell) else { return sum.sqrt() };
        let (large, small) = (beyond.large.total(), beyond.small.total());
        // A scale of 2^1200 takes two steps.
        let (up, down) = (power_of_two(SCALE), power_of_two(-SCALE));
        if large > 0.0 {
            (large + sum * down * down).sqrt() * up
        } else if sum > 0.0 {
            (sum + small * down * down).sqrt()
        } else {
            small.sqrt() * down
        }
    }

    /// Adds at most `N` elements whose plain sum of squares over- or underflows.
    #[cold]
    fn fold_odd<const N: usize>(&mut self, cell: usize, values: impl Iterator<Item = f64>) {
        let mut found = NonFinite::default();
        let (mut block, mut room) = ([0.0; N], [0.0; N]);
        block.iter_mut().zip(values).for_each(|(to, value)| *to = value);
        let finite = found.sift(&block, &mut room);
        self.specials.note(cell, found);
        let sum = square(finite);
        if counts(sum) {
            self.sums[cell].add(sum);
        } else {
            let scaled = finite.iter().filter(|&&value| value != 0.0);
            scaled.for_each(|value| self.add_scaled(cell, value.abs()));
        }
    }

    /// Adds the square of an element of any size.
    fn add_scaled(&mut self, cell: usize, magnitude: f64) {
        let (sum, scale) = if magnitude < SMALL {
            (&mut self.beyond.entry(cell).or_default().small, SCALE)
        } else if magnitude > LARGE {
            (&mut self.beyond.entry(cell).or_default().large, -SCALE)
        } else {
            (&mut self.sums[cell], 0)
        };
        let scaled = magnitude * power_of_two(scale);
        sum.add(scaled * scaled);
    }
}

impl<T: Ranked> Kernel<T> for FloatNorm {
    fn cell_len(_setup: &Setup) -> u64 {
        16
    }

    fn new(cell_count: usize, setup: &Setup) -> Self {
        Self {
            sums: vec![Pair::default(); cell_count],
            beyond: BTreeMap::new(),
            specials: Specials::new(cell_count, setup.nan),
        }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        for block in elements.chunks(BLOCK) {
            let sum = square(block);
            if counts(sum) {
                self.sums[at.cell].add(sum);
            } else if sum != 0.0 || !are_zeros(block) {
                self.fold_odd::<BLOCK>(at.cell, block.iter().map(|element| element.wide()));
            }
        }
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        for strip in Strip::cut(elements, lanes) {
            let first = at.cell + strip.first_lane;
            let odd = fold_strip(strip, &mut self.sums[first..first + strip.lanes]);
            for lane in (0..strip.lanes).filter(|lane| odd >> (lane / N) & 1 == 1) {
                self.fold_odd::<ROWS>(first + lane, strip.column(lane).map(T::wide));
            }
        }
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.sums[cell].take(later.sums[from]);
        if let Some(beyond) = later.beyond.get(&from) {
            let to = self.beyond.entry(cell).or_default();
            to.small.take(beyond.small);
            to.large.take(beyond.large);
        }
        self.specials.take(cell, &later.specials, from);
    }

    fn merge(&mut self, later: Self) {
        (0..self.sums.len()).for_each(|cell| Kernel::<T>::take(self, cell, &later, cell));
    }

    fn nan_count(&self) -> Option<u64> {
        T::DTYPE.is_float().then(|| self.specials.nan_count())
    }

    fn finish(self) -> Result<Values> {
        Ok(floats((0..self.sums.len()).map(|cell| self.norm(cell)).collect()))
    }
}

/// Whether a sum of squares is of a size to be added to others.
#[inline(always)]
fn counts(sum: f64) -> bool {
    (SMALL * SMALL..=LARGE * LARGE).contains(&sum)
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn are_zeros<T: Ranked>(block: &[T]) -> bool {
    block.iter().fold(true, |zeros, element| zeros & (element.wide() == 0.0))
}

/// The sum of the squares of a block.
#[inline]
fn square<T: Ranked>(block: &[T]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (rows, tail) = block.as_chunks::<LANES>();
    if !rows.is_empty() {
        square_rows(&mut lanes, rows);
    }
    for (lane, element) in lanes.iter_mut().zip(tail) {
        *lane += element.wide() * element.wide();
    }
    add_lanes(lanes)
}

// The lanes live with the caller: with their last steps in sight, the compiler takes them apart.
#[multiversion(targets("x86_64+avx+avx2"))]
fn square_rows<T: Ranked>(lanes: &mut [f64; LANES], rows: &[[T; LANES]]) {
    let mut sums = *lanes;
    for row in rows {
        for i in 0..LANES {
            let value = row[i].wide();
            sums[i] += value * value;
        }
    }
    *lanes = sums;
}

/// Adds a strip to the cells; gives a bit for each group of lanes that it left out because a sum of
/// it is not usable.
#[multiversion(targets("x86_64+avx+avx2"))]
fn fold_strip<T: Ranked>(strip: Strip<'_, T>, sums: &mut [Pair]) -> u32 {
    let mut odd = 0;
    for (group, sums) in sums.chunks_mut(N).enumerate() {
        let mut squares = [0.0; N];
        for row in 0..strip.rows {
            let row = strip.row::<N>(row, group * N, T::zeroed());
            for i in 0..N {
                let value = row[i].wide();
                squares[i] += value * value;
            }
        }
        let known = |(&sum, zero): (&f64, bool)| counts(sum) | zero;
        if squares.iter().zip([false; N]).all(known)
            || squares.iter().zip(are_zero_lanes(&strip, group * N)).all(known)
        {
            sums.iter_mut().zip(squares).for_each(|(pair, sum)| pair.add(sum));
        } else {
            odd |= 1 << group;
        }
    }
    odd
}

/// Whether all elements of each lane of a group are zero.
#[inline(always)]
fn are_zero_lanes<T: Ranked>(strip: &Strip<'_, T>, lane: usize) -> [bool; N] {
    let mut zeros = [true; N];
    for row in 0..strip.rows {
        let row = strip.row::<N>(row, lane, T::zeroed());
        for i in 0..N {
            zeros[i] &= row[i].wide() == 0.0;
        }
    }
    zeros
}
