//! Exact sums of float32 (and float16, bfloat16) at the speed of memory.
//!
//! A block of 1024 elements is added in plain float64 lanes while the smallest and largest exponent
//! are watched. If every element is a multiple of `2^low` and no partial sum can pass
//! `2^(low + 53)`, no addition rounded, and the block's sum is exact: it goes into the fixed-point
//! number. A block with a wider range is split into a high and a low part, each of which adds
//! exactly; a block wider still is added element by element.

use bytemuck::Zeroable;
use multiversion::multiversion;

use super::fixed::{FixedF32, power_of_two};
use crate::element::{LANES, Single};
use crate::kernel::special::NonFinite;

/// Elements whose exponents are judged together.
const BLOCK: usize = 1024;
/// Twice the bits of infinity: a larger doubled pattern is a NaN.
pub(super) const INFINITE: u32 = 0xff00_0000;
/// The largest difference of exponents at which float64 adds 1024 values exactly: 53 bits hold 10
/// for their number and the digits of the smallest.
const fn spread_max(digits: u32) -> u32 {
    53 - 10 - digits
}
/// Bound for a block that is first split in two.
const SPLIT_SPREAD_MAX: u32 = 60;

/// The exponents of a block, as a first pass sees them.
struct Probe {
    /// Largest doubled bit pattern.
    high: u32,
    /// Smallest doubled bit pattern, less one, of the elements that are not zero.
    low: u32,
}

/// Adds `elements` to `sum`; NaN and infinities are left out and noted in `found`.
///
/// There is `room` for `T::ROOM_LEN` elements.
pub(super) fn fold_exact<T: Single>(
    elements: &[T],
    room: &mut [f32],
    sum: &mut FixedF32,
    found: &mut NonFinite,
) {
    for block in elements.chunks(BLOCK) {
        let mut lanes = Lanes::ZERO;
        let block = add_and_look(block, room, &mut lanes);
        let probe = lanes.probe();
        if probe.high < INFINITE {
            add_block(block, &probe, lanes.total, T::DIGITS, sum);
        } else {
            add_special_block(block, T::DIGITS, sum, found);
        }
    }
}

/// Lane sums of one pass over a block.
struct Lanes {
    total: [f64; LANES],
    high: [u32; LANES],
    low: [u32; LANES],
}

impl Lanes {
    const ZERO: Self = Self { total: [0.0; LANES], high: [0; LANES], low: [u32::MAX; LANES] };

    fn probe(&self) -> Probe {
        let high = self.high.into_iter().fold(0, u32::max);
        let low = self.low.into_iter().fold(u32::MAX, u32::min);
        Probe { high, low }
    }

    #[inline(always)]
    #[expect(clippy::needless_range_loop, reason = "lane by lane over several arrays")]
    fn add(&mut self, row: &[f32; LANES], same_row: &[f32; LANES]) {
        for i in 0..LANES {
            let doubled = same_row[i].to_bits() << 1;
            self.high[i] = self.high[i].max(doubled);
            // Zero wraps to the largest, and is never the smallest.
            self.low[i] = self.low[i].min(doubled.wrapping_sub(1));
        }
        add_row(&mut self.total, row);
    }
}

// The lanes live with the caller: with their last steps in sight, the compiler takes them apart.
#[multiversion(targets("x86_64+avx+avx2"))]
fn add_and_look<'a, T: Single>(
    block: &'a [T],
    room: &'a mut [f32],
    lanes: &mut Lanes,
) -> &'a [f32] {
    let block = T::widen_all(block, room);
    // Exponents and values want registers of different widths; seen as one, they share the worse.
    let same_block = std::hint::black_box(block);
    let (rows, tail) = block.as_chunks::<LANES>();
    let (same_rows, _) = same_block.as_chunks::<LANES>();
    let mut held = Lanes { ..*lanes };
    for (row, same_row) in rows.iter().zip(same_rows) {
        held.add(row, same_row);
    }
    if !tail.is_empty() {
        let row = padded(tail);
        held.add(&row, &row);
    }
    *lanes = held;
    block
}

fn add_block(block: &[f32], probe: &Probe, total: [f64; LANES], digits: u32, sum: &mut FixedF32) {
    if probe.low == u32::MAX {
        return;
    }
    let exponent_max = (probe.high >> 24).max(1);
    let exponent_min = ((probe.low + 1) >> 24).max(1);
    let spread = exponent_max - exponent_min;
    if spread <= spread_max(digits) {
        sum.add(add_lanes(total));
    } else if spread <= SPLIT_SPREAD_MAX {
        add_split(block, exponent_max, sum);
    } else {
        block.iter().for_each(|&element| sum.add_single(element));
    }
}

/// The sum of a block in float64 lanes; `room` is for elements that are not float32.
#[inline]
pub(super) fn total<T: Single>(block: &[T], room: &mut [f32]) -> f64 {
    let mut quarter = [0_f64; LANES / 4];
    add_rows(&mut quarter, block, room);
    add_quarter(quarter)
}

/// The last lanes, pairwise.
#[inline(always)]
pub(super) fn add_quarter(quarter: [f64; LANES / 4]) -> f64 {
    (quarter[0] + quarter[2]) + (quarter[1] + quarter[3])
}

// The last lanes live with the caller: with their sum in sight, the compiler takes them apart.
#[multiversion(targets("x86_64+avx+avx2"))]
fn add_rows<T: Single>(quarter: &mut [f64; LANES / 4], block: &[T], room: &mut [f32]) {
    add_run(quarter, block, room);
}

/// Adds a block down to its last lanes.
#[inline(always)]
pub(super) fn add_run<T: Single>(quarter: &mut [f64; LANES / 4], block: &[T], room: &mut [f32]) {
    let (rows, tail) = T::widen_all(block, room).as_chunks::<LANES>();
    let mut sums = [0_f64; LANES];
    for row in rows {
        add_row(&mut sums, row);
    }
    if !tail.is_empty() {
        add_row(&mut sums, &padded(tail));
    }
    for i in 0..LANES / 2 {
        sums[i] += sums[i + LANES / 2];
    }
    for i in 0..LANES / 4 {
        quarter[i] = sums[i] + sums[i + LANES / 4];
    }
}

/// Adds a row lane by lane.
#[inline(always)]
pub(super) fn add_row(lanes: &mut [f64; LANES], row: &[f32; LANES]) {
    for i in 0..LANES {
        lanes[i] += f64::from(row[i]);
    }
}

/// Adds lanes pairwise, always in the same tree.
pub(in crate::kernel) fn add_lanes<const N: usize>(mut lanes: [f64; N]) -> f64 {
    let mut half = N / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] += lanes[i + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// The elements followed by zeros.
#[inline(always)]
pub(super) fn padded<T: Zeroable + Copy, const N: usize>(tail: &[T]) -> [T; N] {
    let mut row = [T::zeroed(); N];
    row[..tail.len()].copy_from_slice(tail);
    row
}

/// Cuts every element at one bit of the fixed-point line; both sides then add exactly.
///
/// With `2^h` above every element, the high parts are multiples of `2^(h - 42)` and 1024 of them
/// stay below `2^(h + 10)`; 1024 low parts stay below `2^(h - 32)` and reach down to `2^(h - 84)`.
fn add_split(block: &[f32], exponent_max: u32, sum: &mut FixedF32) {
    let above = exponent_max as i32 - 126;
    let cutter = 1.5 * power_of_two(above - 42 + 52);
    let mut highs = [0_f64; LANES];
    let mut lows = [0_f64; LANES];
    let (rows, tail) = block.as_chunks::<LANES>();
    add_cut_rows(&mut highs, &mut lows, rows, cutter);
    if !tail.is_empty() {
        add_cut_rows(&mut highs, &mut lows, &[padded(tail)], cutter);
    }
    sum.add(add_lanes(highs));
    sum.add(add_lanes(lows));
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn add_cut_rows(
    highs: &mut [f64; LANES],
    lows: &mut [f64; LANES],
    rows: &[[f32; LANES]],
    cutter: f64,
) {
    let (mut high_sums, mut low_sums) = (*highs, *lows);
    for row in rows {
        for i in 0..LANES {
            let value = f64::from(row[i]);
            let high = (value + cutter) - cutter;
            high_sums[i] += high;
            low_sums[i] += value - high;
        }
    }
    (*highs, *lows) = (high_sums, low_sums);
}

/// A block with NaN or infinities: they are noted, and zeros stand in for them.
#[cold]
fn add_special_block(block: &[f32], digits: u32, sum: &mut FixedF32, found: &mut NonFinite) {
    let mut room = [0_f32; BLOCK];
    let finite = found.sift(block, &mut room);
    let mut lanes = Lanes::ZERO;
    add_and_look(finite, &mut [], &mut lanes);
    add_block(finite, &lanes.probe(), lanes.total, digits, sum);
}
