//! How far an element is from a pivot, as a float64 that is rounded once; count, mean and squared
//! distances of a block of one cell.
//!
//! A 64-bit integer becomes two floats, one for either half, by writing the half where the digits
//! of a large float lie. Halves subtract exactly, so nothing overflows and close ones stay apart.

use std::fmt::Debug;

use multiversion::multiversion;

use super::part::Part;
use crate::element::{LANES, Widened};
use crate::kernel::special::{Float, Found, LaneFound, Sieve};
use crate::kernel::sum::{add_lanes, two_sum};

/// Elements whose wide values have a distance from a pivot.
pub(super) trait Measured: Widened<Wide: Distant> {}

impl<T: Widened<Wide: Distant>> Measured for T {}

/// A value that has a distance from a pivot.
pub(in crate::kernel) trait Distant:
    Copy + Default + Debug + Send + 'static
{
    type Pivot: Copy;
    /// The pivot at this value.
    fn pivot(self) -> Self::Pivot;
    /// A pivot halfway to another value.
    fn between(self, other: Self) -> Self::Pivot;
    /// A pivot that lies so far from another, about.
    fn moved(pivot: Self::Pivot, by: f64) -> Self::Pivot;
    /// The distance, rounded once.
    fn minus(self, pivot: Self::Pivot) -> f64;
    /// The sum of pivot and offset, as two floats.
    fn mean(pivot: Self::Pivot, offset: f64) -> (f64, f64);

    /// Whether it is neither NaN nor infinite.
    #[inline(always)]
    fn is_known(self) -> bool {
        true
    }

    /// Writes down what is not finite in a row whose first value belongs to `lane`.
    #[inline(always)]
    fn note<const N: usize>(_found: &mut LaneFound, _lane: usize, _row: [Self; N]) {}

    /// The finite values of a block; the others are noted. Integers never need it.
    fn measure_odd(block: &[Self], _found: &mut Found) -> Part<1> {
        measure(block).unwrap_or(Part::EMPTY)
    }
}

macro_rules! near {
    ($($type:ty { $($more:item)* })+) => {$(
        impl Distant for $type {
            type Pivot = f64;
            #[inline(always)]
            fn pivot(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn between(self, other: Self) -> f64 {
                f64::from(self) * 0.5 + f64::from(other) * 0.5
            }
            #[inline(always)]
            fn moved(pivot: f64, by: f64) -> f64 {
                pivot + by
            }
            #[inline(always)]
            fn minus(self, pivot: f64) -> f64 {
                f64::from(self) - pivot
            }
            #[inline(always)]
            fn mean(pivot: f64, offset: f64) -> (f64, f64) {
                two_sum(pivot, offset)
            }
            $($more)*
        }
    )+};
    (floats $($type:ty),+) => {
        near! {$(
            $type {
                #[inline(always)]
                fn is_known(self) -> bool {
                    self.is_finite()
                }
                #[inline(always)]
                fn note<const N: usize>(found: &mut LaneFound, lane: usize, row: [Self; N]) {
                    found.pass(lane, row);
                }
                fn measure_odd(block: &[Self], found: &mut Found) -> Part<1> {
                    measure_known(block, found)
                }
            }
        )+}
    };
}

near!(floats f32, f64);
near!(i32 {} u32 {});

/// 2^52, whose last digit counts ones.
const LOW: u64 = 0x4330 << 48;
/// 2^84, whose last digit counts 2^32.
const HIGH: u64 = 0x4530 << 48;

macro_rules! far {
    ($($type:ty, $add:ident, $flipped:literal;)+) => {$(
        impl Distant for $type {
            type Pivot = $type;
            #[inline(always)]
            fn pivot(self) -> $type {
                self
            }
            #[inline(always)]
            fn between(self, other: Self) -> $type {
                self.midpoint(other)
            }
            #[inline(always)]
            fn moved(pivot: $type, by: f64) -> $type {
                // `as` goes to the nearest integer there is.
                pivot.$add(by.round() as i64)
            }
            #[inline(always)]
            fn minus(self, pivot: $type) -> f64 {
                let (high, low) = halves(self as u64 ^ $flipped);
                let (pivot_high, pivot_low) = halves(pivot as u64 ^ $flipped);
                (high - pivot_high) + (low - pivot_low)
            }
            #[inline(always)]
            fn mean(pivot: $type, offset: f64) -> (f64, f64) {
                let (high, low) = halves(pivot as u64 ^ $flipped);
                let (zero_high, zero_low) = halves($flipped);
                let (sum, lost) = two_sum(high - zero_high, low - zero_low);
                two_sum(sum, lost + offset)
            }
        }
    )+};
}

// The flipped bit makes unsigned numbers of signed ones, in the same order.
far! {
    i64, saturating_add, 0x8000_0000_0000_0000;
    u64, saturating_add_signed, 0;
}

/// The halves of 64 bits above 2^84 and 2^52.
#[inline(always)]
fn halves(bits: u64) -> (f64, f64) {
    (f64::from_bits(bits >> 32 | HIGH), f64::from_bits(bits & 0xffff_ffff | LOW))
}

/// Elements measured from one pivot.
pub(super) const BLOCK: usize = 1024;
/// A block whose squares are mostly those of the pivot's distance from the mean is measured again.
const CANCELED_MAX: f64 = 15.0 / 16.0;

/// Measures a block; `None` when something in it is not finite, or its squares are not.
pub(super) fn measure<V: Distant>(block: &[V]) -> Option<Part<1>> {
    let (&first, &last) = (block.first()?, block.last()?);
    let count = block.len() as f64;
    let mut pivot = first.between(last);
    let mut sums = Sums::of(block, pivot);
    if sums.cancel(count) {
        pivot = V::moved(pivot, sums.distance / count);
        sums = Sums::of(block, pivot);
    }
    let (high, low) = V::mean(pivot, sums.distance / count);
    sums.square.is_finite().then(|| sums.part(count, high, low))
}

/// Measures what is finite in a block and notes what is not.
#[cold]
pub(super) fn measure_known<V>(block: &[V], found: &mut Found) -> Part<1>
where
    V: Float + Distant<Pivot = f64> + Into<f64>,
{
    let mut room = [0.0; BLOCK];
    let room = &mut room[..block.len()];
    let odd_count = stand_in(block, 0.0, room, found);
    let count = (block.len() - odd_count) as f64;
    let mut known = block.iter().filter(|value| value.is_known());
    let Some(&first) = known.next() else { return Part::EMPTY };
    let last = known.next_back().copied().unwrap_or(first);
    // The pivot stands in for what is not finite: no distance from itself.
    let mut pivot = first.between(last);
    stand_in(block, pivot, room, &mut Found::default());
    let mut sums = Sums::of(room, pivot);
    if sums.cancel(count) {
        pivot += sums.distance / count;
        stand_in(block, pivot, room, &mut Found::default());
        sums = Sums::of(room, pivot);
    }
    let (high, low) = V::mean(pivot, sums.distance / count);
    sums.part(count, high, low)
}

/// Copies a block with `value` for what is not finite, which is noted; gives how many those are.
#[multiversion(targets("x86_64+avx+avx2"))]
fn stand_in<V: Float + Into<f64>>(
    block: &[V],
    value: f64,
    room: &mut [f64],
    found: &mut Found,
) -> usize {
    let (mut nan_count, mut odd_count, mut infinite) = (0_u32, 0_u32, 0);
    for (to, &from) in room.iter_mut().zip(block) {
        let (nan, infinity) = from.look();
        let odd = nan || infinity != 0;
        nan_count += u32::from(nan);
        odd_count += u32::from(odd);
        infinite |= infinity;
        *to = if odd { value } else { from.into() };
    }
    found.add(u64::from(nan_count), infinite);
    odd_count as usize
}

/// Sums over a block of distances from a pivot.
#[derive(Clone, Copy, Debug)]
struct Sums {
    distance: f64,
    square: f64,
}

impl Sums {
    #[inline]
    fn of<V: Distant>(block: &[V], pivot: V::Pivot) -> Self {
        let mut distances = [0.0; LANES];
        let mut squares = [0.0; LANES];
        let (rows, tail) = block.as_chunks::<LANES>();
        if !rows.is_empty() {
            add_rows(&mut distances, &mut squares, rows, pivot);
        }
        for (i, value) in tail.iter().enumerate() {
            let distance = value.minus(pivot);
            distances[i] += distance;
            squares[i] += distance * distance;
        }
        Self { distance: add_lanes(distances), square: add_lanes(squares) }
    }

    /// What of the squares belongs to the distance between pivot and mean.
    fn excess(self, count: f64) -> f64 {
        self.distance * (self.distance / count)
    }

    fn cancel(self, count: f64) -> bool {
        self.square.is_finite() && self.excess(count) > self.square * CANCELED_MAX
    }

    fn part(self, count: f64, high: f64, low: f64) -> Part<1> {
        let m2 = self.square - self.excess(count);
        // Past the largest float, and no NaN.
        let m2 = if self.square < f64::INFINITY { m2.max(0.0) } else { f64::INFINITY };
        Part { counts: [count], highs: [high], lows: [low], m2s: [m2] }
    }
}

// The lanes live with the caller: with their last steps in sight, the compiler takes them apart.
#[multiversion(targets("x86_64+avx+avx2"))]
fn add_rows<V: Distant>(
    distances: &mut [f64; LANES],
    squares: &mut [f64; LANES],
    rows: &[[V; LANES]],
    pivot: V::Pivot,
) {
    let (mut distance_lanes, mut square_lanes) = (*distances, *squares);
    for row in rows {
        for i in 0..LANES {
            let distance = row[i].minus(pivot);
            distance_lanes[i] += distance;
            square_lanes[i] += distance * distance;
        }
    }
    (*distances, *squares) = (distance_lanes, square_lanes);
}
