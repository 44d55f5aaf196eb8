//! The distances of elements from a pivot among them; sums of these give the mean and
//! their squared distances from it.
//!
//! The pivot of `n` elements is the mean of the first `s` of them, so its squared distance from the mean
//! of all is at most `n / s` times the variance, [`SHARE`] times: no more than that cancels.

use multiversion::multiversion;

use super::part::CellMoments;
use crate::element::LANES;
use crate::kernel::rank::Ranked;
use crate::kernel::strip::{ROWS, Strip};
use crate::kernel::sum::{add_lanes, two_sum};

/// Elements measured from one pivot, for each that makes it.
const SHARE: usize = 64;
/// Elements measured from one pivot; what follows each block takes as long as some hundred of them.
pub(super) const BLOCK: usize = 4 * SHARE * LANES;

const _: () = assert!(ROWS <= SHARE, "one element makes the pivot of a lane");

/// A number as the sum of two floats.
type Halves = [f64; 2];

/// An element that has a distance from a pivot.
pub(in crate::kernel) trait Distant: Ranked {
    /// The halves of 0.
    const ORIGIN: Halves;
    /// The exact element, relative to [`Distant::ORIGIN`].
    fn halves(self) -> Halves;
    /// The pivot at about this distance from another.
    fn moved(pivot: Halves, by: f64) -> Halves;
    /// The distance; exact where the two are close.
    fn minus(self, pivot: Halves) -> f64;
}

macro_rules! near {
    ($($type:ty),+) => {$(
        impl Distant for $type {
            const ORIGIN: Halves = [0.0; 2];
            #[inline(always)]
            fn halves(self) -> Halves {
                [self.wide(), 0.0]
            }
            #[inline(always)]
            fn moved([pivot, _]: Halves, by: f64) -> Halves {
                [pivot + by, 0.0]
            }
            #[inline(always)]
            fn minus(self, [pivot, _]: Halves) -> f64 {
                self.wide() - pivot
            }
        }
    )+};
}

near!(half::f16, half::bf16, f32, f64, i32, u32);

/// 2^84, whose last digit counts 2^32, and 2^52, whose last digit counts ones.
const HIGH: u64 = 0x4530 << 48;
const LOW: u64 = 0x4330 << 48;

/// Bits written where the digits of large floats lie: their differences are exact.
#[inline(always)]
const fn halves(bits: u64) -> Halves {
    [f64::from_bits(bits >> 32 | HIGH), f64::from_bits(bits & 0xffff_ffff | LOW)]
}

macro_rules! far {
    ($($type:ty, $flipped:expr;)+) => {$(
        impl Distant for $type {
            const ORIGIN: Halves = halves($flipped);
            #[inline(always)]
            fn halves(self) -> Halves {
                halves(self as u64 ^ $flipped)
            }
            #[inline(always)]
            fn moved([high, low]: Halves, by: f64) -> Halves {
                [high, low + by]
            }
            #[inline(always)]
            fn minus(self, pivot: Halves) -> f64 {
                let [high, low] = self.halves();
                (high - pivot[0]) + (low - pivot[1])
            }
        }
    )+};
}

// The flipped bit makes unsigned numbers of signed ones, in the same order.
far! { i64, 1 << 63; u64, 0; }

/// Sums of distances from `N` pivots.
#[derive(Clone, Copy, Debug)]
struct Sums<const N: usize> {
    pivots: [Halves; N],
    distances: [f64; N],
    squares: [f64; N],
}

impl<const N: usize> Sums<N> {
    #[inline(always)]
    fn new(pivots: [Halves; N]) -> Self {
        Self { pivots, distances: [0.0; N], squares: [0.0; N] }
    }

    #[inline(always)]
    fn add<T: Distant>(&mut self, row: &[T]) {
        for (i, element) in row.iter().enumerate().take(N) {
            let distance = element.minus(self.pivots[i]);
            self.distances[i] += distance;
            self.squares[i] += distance * distance;
        }
    }

    /// The moments of `count` elements by their distances to a pivot.
    #[inline(always)]
    fn part<T: Distant>(&self, count: f64) -> CellMoments<N> {
        let mut part = CellMoments { counts: [count; N], ..CellMoments::EMPTY };
        for i in 0..N {
            let offset = self.distances[i] / count;
            let m2 = self.squares[i] - self.distances[i] * offset;
            part.m2s[i] = if m2 < 0.0 { 0.0 } else { m2 };
            let [high, low] = self.pivots[i];
            let (sum, lost) = two_sum(high - T::ORIGIN[0], low - T::ORIGIN[1]);
            (part.highs[i], part.lows[i]) = two_sum(sum, lost + offset);
        }
        part
    }
}

/// Measures at most [`BLOCK`] elements of one cell.
pub(super) fn measure<T: Distant>(block: &[T]) -> CellMoments<1> {
    let Some(first) = block.first() else { return CellMoments::EMPTY };
    let some = block.len().div_ceil(SHARE).next_multiple_of(LANES).min(block.len());
    let offset =
        add_lanes(Lanes::from_block(&block[..some], first.halves()).distances) / some as f64;
    let pivot = T::moved(first.halves(), offset);
    let lanes = Lanes::from_block(block, pivot);
    let (distances, squares) = ([add_lanes(lanes.distances)], [add_lanes(lanes.squares)]);
    Sums { pivots: [pivot], distances, squares }.part::<T>(block.len() as f64)
}

/// Sums of distances from one pivot, by the position of elements in a row.
#[derive(Clone, Copy, Default)]
struct Lanes {
    distances: [f64; LANES],
    squares: [f64; LANES],
}

impl Lanes {
    #[inline(always)]
    fn from_block<T: Distant>(block: &[T], pivot: Halves) -> Self {
        let (rows, tail) = block.as_chunks();
        let mut lanes = Self::default();
        add_rows(&mut lanes, rows, pivot);
        lanes.add(tail, pivot);
        lanes
    }

    #[inline(always)]
    fn add<T: Distant>(&mut self, row: &[T], pivot: Halves) {
        for (i, element) in row.iter().enumerate().take(LANES) {
            let distance = element.minus(pivot);
            self.distances[i] += distance;
            self.squares[i] += distance * distance;
        }
    }
}

// The lanes live with the caller: with their last steps in sight, the compiler takes them apart.
#[multiversion(targets("x86_64+avx+avx2"))]
fn add_rows<T: Distant>(lanes: &mut Lanes, rows: &[[T; LANES]], pivot: Halves) {
    let mut sums = *lanes;
    rows.iter().for_each(|row| sums.add(row, pivot));
    *lanes = sums;
}

/// Measures `N` lanes of a strip.
#[inline(always)]
pub(super) fn measure_lanes<T: Distant, const N: usize>(
    strip: &Strip<'_, T>,
    lane: usize,
) -> CellMoments<N> {
    let mut sums = Sums::new(strip.row::<N>(0, lane, T::zeroed()).map(T::halves));
    for row in 0..strip.rows {
        sums.add(&strip.row::<N>(row, lane, T::zeroed()));
    }
    sums.part::<T>(strip.rows as f64)
}
