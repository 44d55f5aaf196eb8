//! Count, mean and squared distances of a strip, lane by lane: two passes over a few rows that are
//! still in registers.

use multiversion::multiversion;

use super::distance::{Distant, Measured};
use super::part::{Part, Parts};
use crate::kernel::special::LaneFound;
use crate::kernel::strip::{ROWS, SPAN, Strip};

/// Lanes measured together.
const N: usize = 8;

const _: () = assert!(SPAN / N <= 32, "a bit for each group of lanes");

/// Rows of a group, and how far each is from the first.
type Rows<V> = [[V; N]; ROWS];

/// Adds a strip to the cells from `first` on; gives a bit for each group of lanes that it left out
/// because something in it is not finite.
#[multiversion(targets("x86_64+avx+avx2"))]
pub(super) fn fold_strip<T: Measured>(strip: Strip<'_, T>, first: usize, parts: &mut Parts) -> u32 {
    let mut odd = 0;
    for group in 0..strip.lanes.div_ceil(N) {
        let lane = group * N;
        // The number of rows is mostly this one; said so, loops over it unroll.
        let (part, known) = if strip.rows == ROWS {
            measure::<T>(&strip, ROWS, lane)
        } else {
            measure::<T>(&strip, strip.rows, lane)
        };
        if known {
            let both = parts.of::<N>(first + lane).plus(&part);
            parts.put(first + lane, strip.lanes - lane, &both);
        } else {
            odd |= 1 << group;
        }
    }
    odd
}

/// The same for the groups that were left out; what is not finite is noted.
#[multiversion(targets("x86_64+avx+avx2"))]
pub(super) fn fold_odd_strip<T: Measured>(
    strip: Strip<'_, T>,
    first: usize,
    odd: u32,
    parts: &mut Parts,
    found: &mut LaneFound,
) {
    for group in 0..strip.lanes.div_ceil(N) {
        if odd >> group & 1 == 1 {
            let lane = group * N;
            let part = measure_known::<T>(&strip, lane, found);
            let both = parts.of::<N>(first + lane).plus(&part);
            parts.put(first + lane, strip.lanes - lane, &both);
        }
    }
}

#[inline(always)]
fn wide_row<T: Measured>(strip: &Strip<'_, T>, row: usize, lane: usize) -> [T::Wide; N] {
    strip.row::<N>(row, lane, T::zeroed()).map(T::wide)
}

/// Measures a group of lanes, and says whether all is finite.
#[inline(always)]
fn measure<T: Measured>(strip: &Strip<'_, T>, rows: usize, lane: usize) -> (Part<N>, bool) {
    let pivots = wide_row(strip, 0, lane).map(T::Wide::pivot);
    let mut distances = [[0.0; N]; ROWS];
    let mut sums = [0.0; N];
    for (row, distance) in distances.iter_mut().enumerate().take(rows) {
        let values = wide_row(strip, row, lane);
        for i in 0..N {
            distance[i] = values[i].minus(pivots[i]);
            sums[i] += distance[i];
        }
    }
    let count = rows as f64;
    let mut part = Part { counts: [count; N], ..Part::EMPTY };
    let offsets = sums.map(|sum| sum / count);
    for distance in &distances[..rows] {
        for i in 0..N {
            let rest = distance[i] - offsets[i];
            part.m2s[i] += rest * rest;
        }
    }
    let mut known = true;
    for i in 0..N {
        (part.highs[i], part.lows[i]) = T::Wide::mean(pivots[i], offsets[i]);
        known &= part.m2s[i].is_finite();
    }
    (part, known)
}

/// Measures what is finite in a group of lanes.
#[inline(always)]
fn measure_known<T: Measured>(strip: &Strip<'_, T>, lane: usize, found: &mut LaneFound) -> Part<N> {
    let mut rows: Rows<T::Wide> = [[T::Wide::default(); N]; ROWS];
    let mut pivots = rows[0];
    for row in (0..strip.rows).rev() {
        rows[row] = wide_row(strip, row, lane);
        T::Wide::note(found, lane, rows[row]);
        for i in 0..N {
            pivots[i] = if rows[row][i].is_known() { rows[row][i] } else { pivots[i] };
        }
    }
    let pivots = pivots.map(T::Wide::pivot);
    let mut part = Part::EMPTY;
    let mut sums = [0.0; N];
    for row in &rows[..strip.rows] {
        for i in 0..N {
            let known = row[i].is_known();
            part.counts[i] += f64::from(u8::from(known));
            sums[i] += if known { row[i].minus(pivots[i]) } else { 0.0 };
        }
    }
    let mut offsets = [0.0; N];
    for i in 0..N {
        offsets[i] = sums[i] / part.counts[i].max(1.0);
        (part.highs[i], part.lows[i]) = T::Wide::mean(pivots[i], offsets[i]);
    }
    for row in &rows[..strip.rows] {
        for i in 0..N {
            let rest = row[i].minus(pivots[i]) - offsets[i];
            part.m2s[i] += if row[i].is_known() { rest * rest } else { 0.0 };
        }
    }
    for m2 in &mut part.m2s {
        // Past the largest float, and no NaN.
        *m2 = if *m2 < f64::INFINITY { *m2 } else { f64::INFINITY };
    }
    part
}
