//! Exact sums of integers.
//!
//! Up to 32 bits, elements add in narrow lanes for as long as those cannot overflow, then into 64
//! bits. 64-bit elements give two sums: of all bits, modulo 2^64, and of the high halves; together
//! they hold the exact sum of up to 2^32 elements. Then both move into 128 bits.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::Add;

use multiversion::multiversion;

use super::SumKernel;
use super::fixed::power_of_two;
use crate::element::Element;
use crate::error::Result;
use crate::kernel::strip::Strip;
use crate::kernel::{At, Kernel, Known, Lanes, Scatter, Setup, Verdict, integers};
use crate::value::Values;

/// Lanes of integer loops; exact, so the number is free.
const LANES: usize = 32;
const WIDE_LANES: usize = 16;
/// The most elements that may be pending in a cell.
const PENDING_MAX: u64 = 1 << 31;
/// Integers below it are floats too, and their quotient rounds once.
const FLOAT_EXACT: u64 = 1 << 53;

/// An integer element and how it adds.
pub(crate) trait Integer: Element {
    /// Whether a high half is kept.
    const WIDE: bool;
    /// The sum of at most 2^31 elements.
    fn total(run: &[Self]) -> Total;
    /// Adds a strip lane by lane; `high` is empty unless `WIDE`.
    fn fold_strip(strip: Strip<'_, Self>, low: &mut [i64], high: &mut [i64]);
}

/// Terms that elements add to a sum.
pub(crate) trait Terms<T>: Debug + Send + 'static {
    /// As [`Integer::WIDE`]; terms that are not wide have less than 32 bits, and a sign.
    const WIDE: bool;
    /// Whether elements add themselves.
    const PLAIN: bool = false;
    /// The sum of the terms of at most 2^31 elements.
    fn total(run: &[T]) -> Total;
    /// As [`Integer::fold_strip`].
    fn fold_strip(strip: Strip<'_, T>, low: &mut [i64], high: &mut [i64]);
}

/// Elements add themselves.
#[derive(Debug)]
pub(crate) struct Themselves;

impl<T: Integer> Terms<T> for Themselves {
    const WIDE: bool = T::WIDE;
    const PLAIN: bool = true;

    fn total(run: &[T]) -> Total {
        T::total(run)
    }

    fn fold_strip(strip: Strip<'_, T>, low: &mut [i64], high: &mut [i64]) {
        T::fold_strip(strip, low, high);
    }
}

/// The sum of some elements: itself, or for wide ones modulo 2^64 with the sum of high halves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Total {
    low: i64,
    high: i64,
}

impl Total {
    /// The sum of terms that are not wide.
    pub(in crate::kernel) fn narrow(low: i64) -> Self {
        Total { low, high: 0 }
    }

    fn value(self, wide: bool) -> i128 {
        if !wide {
            return i128::from(self.low);
        }
        // The low halves add up to less than 2^64, and so to this, modulo 2^64.
        let low_halves = (self.low as u64).wrapping_sub((self.high as u64) << 32);
        (i128::from(self.high) << 32) + i128::from(low_halves)
    }
}

/// Integers that add in lanes wider than themselves.
trait Narrow: Element + Into<Self::Lane> {
    type Lane: Copy + Default + Add<Output = Self::Lane> + Into<i64>;
    /// Elements a lane takes without overflow.
    const ROWS_MAX: usize;
}

/// 64-bit integers.
trait Wide: Element {
    fn bits(self) -> i64;
    fn high(self) -> i64;
}

macro_rules! narrow {
    ($($type:ty => $lane:ty, $rows_max:expr;)+) => {$(
        impl Narrow for $type {
            type Lane = $lane;
            const ROWS_MAX: usize = $rows_max;
        }
        impl Integer for $type {
            const WIDE: bool = false;
            fn total(run: &[Self]) -> Total {
                Total::narrow(total_narrow(run))
            }
            fn fold_strip(strip: Strip<'_, Self>, low: &mut [i64], _high: &mut [i64]) {
                fold_narrow_strip(strip, low);
            }
        }
    )+};
}

narrow! {
    i8 => i16, 255;
    u8 => u16, 255;
    i16 => i32, 1 << 15;
    u16 => u32, 1 << 15;
    i32 => i64, 1 << 30;
    u32 => i64, 1 << 30;
}

macro_rules! wide {
    ($($type:ty),+) => {$(
        impl Wide for $type {
            #[inline(always)]
            fn bits(self) -> i64 {
                self as i64
            }
            #[inline(always)]
            fn high(self) -> i64 {
                (self >> 32) as i64
            }
        }
        impl Integer for $type {
            const WIDE: bool = true;
            fn total(run: &[Self]) -> Total {
                total_wide(run)
            }
            fn fold_strip(strip: Strip<'_, Self>, low: &mut [i64], high: &mut [i64]) {
                fold_wide_strip(strip, low, high);
            }
        }
    )+};
}

wide!(i64, u64);

#[multiversion(targets("x86_64+avx+avx2"))]
fn total_narrow<T: Narrow>(run: &[T]) -> i64 {
    let mut total = 0;
    for block in run.chunks(LANES * T::ROWS_MAX) {
        let mut lanes = [T::Lane::default(); LANES];
        let (rows, tail) = block.as_chunks::<LANES>();
        for row in rows {
            add_narrow(&mut lanes, row);
        }
        for lane in lanes {
            total += lane.into();
        }
        for &element in tail {
            total += element.into().into();
        }
    }
    total
}

#[inline(always)]
fn add_narrow<T: Narrow>(lanes: &mut [T::Lane; LANES], row: &[T; LANES]) {
    for i in 0..LANES {
        lanes[i] = lanes[i] + row[i].into();
    }
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn fold_narrow_strip<T: Narrow>(strip: Strip<'_, T>, low: &mut [i64]) {
    for (group, low) in low.chunks_mut(LANES).enumerate() {
        let mut lanes = [T::Lane::default(); LANES];
        for row in 0..strip.rows {
            add_narrow(&mut lanes, &strip.row(row, group * LANES, T::zeroed()));
        }
        for (low, lane) in low.iter_mut().zip(lanes) {
            *low += lane.into();
        }
    }
}

/// Lanes of wide elements.
#[derive(Clone, Copy)]
struct WideLanes {
    lows: [i64; WIDE_LANES],
    highs: [i64; WIDE_LANES],
}

impl WideLanes {
    const ZERO: Self = Self { lows: [0; WIDE_LANES], highs: [0; WIDE_LANES] };

    #[inline(always)]
    #[expect(clippy::needless_range_loop, reason = "lane by lane over several arrays")]
    fn add<T: Wide>(&mut self, row: &[T; WIDE_LANES]) {
        for i in 0..WIDE_LANES {
            self.lows[i] = self.lows[i].wrapping_add(row[i].bits());
            self.highs[i] += row[i].high();
        }
    }
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn total_wide<T: Wide>(run: &[T]) -> Total {
    let mut low = 0_i64;
    let mut high = 0_i64;
    for element in run {
        low = low.wrapping_add(element.bits());
        high = high.wrapping_add(element.high());
    }
    Total { low, high }
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn fold_wide_strip<T: Wide>(strip: Strip<'_, T>, low: &mut [i64], high: &mut [i64]) {
    let groups = low.chunks_mut(WIDE_LANES).zip(high.chunks_mut(WIDE_LANES));
    for (group, (low, high)) in groups.enumerate() {
        let mut lanes = WideLanes::ZERO;
        for row in 0..strip.rows {
            lanes.add(&strip.row(row, group * WIDE_LANES, T::zeroed()));
        }
        for (i, (low, high)) in low.iter_mut().zip(high).enumerate() {
            *low = low.wrapping_add(lanes.lows[i]);
            *high += lanes.highs[i];
        }
    }
}

/// Exact sums.
#[derive(Debug)]
pub(crate) struct IntegerSum<A = Themselves> {
    low: Vec<i64>,
    /// Sums of high halves; empty for narrow elements.
    high: Vec<i64>,
    /// The part that no longer fits into them; no memory until then.
    settled: Vec<i128>,
    /// No cell has more elements pending.
    pending: u64,
    terms: PhantomData<A>,
}

impl<A> IntegerSum<A> {
    #[inline]
    fn reserve(&mut self, count: usize) {
        let count = count as u64;
        if self.pending + count > PENDING_MAX {
            self.settle_all();
        }
        self.pending += count;
    }

    pub(in crate::kernel) fn cell_count(&self) -> usize {
        self.low.len()
    }

    fn wide(&self) -> bool {
        !self.high.is_empty()
    }

    pub(in crate::kernel) fn total(&self, cell: usize) -> i128 {
        let high = self.high.get(cell).copied().unwrap_or(0);
        let pending = Total { low: self.low[cell], high }.value(self.wide());
        pending + self.settled.get(cell).copied().unwrap_or(0)
    }

    #[cold]
    fn settle_all(&mut self) {
        self.settled = (0..self.low.len()).map(|cell| self.total(cell)).collect();
        self.low.fill(0);
        self.high.fill(0);
        self.pending = 0;
    }
}

impl<T: Element, A: Terms<T>> Kernel<T> for IntegerSum<A> {
    const KNOWS: bool = A::PLAIN;

    fn new(cell_count: usize, _setup: &Setup) -> Self {
        let high_count = if A::WIDE { cell_count } else { 0 };
        Self {
            low: vec![0; cell_count],
            high: vec![0; high_count],
            settled: Vec::new(),
            pending: 0,
            terms: PhantomData,
        }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        let cell = at.cell;
        for run in elements.chunks(1 << 30) {
            self.reserve(run.len());
            let total = A::total(run);
            self.low[cell] = self.low[cell].wrapping_add(total.low);
            if A::WIDE {
                self.high[cell] += total.high;
            }
        }
    }

    fn fold_known(&mut self, cell: usize, known: &Known<T>) -> Verdict {
        if !A::PLAIN {
            return Verdict::Read;
        }
        if self.settled.is_empty() {
            self.settle_all();
        }
        self.settled[cell] = self.settled[cell].wrapping_add(known.sum);
        Verdict::Folded
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        for strip in Strip::cut(elements, lanes) {
            let cell = at.cell + strip.first_lane;
            let cells = cell..cell + strip.lanes;
            self.reserve(strip.rows);
            let high = if A::WIDE { &mut self.high[cells.clone()] } else { &mut [] };
            A::fold_strip(strip, &mut self.low[cells], high);
        }
    }

    fn fold_scattered(&mut self, at: At, scatter: Scatter<'_>, elements: &[T]) {
        self.reserve(scatter.cells.len());
        for (At { cell, .. }, element) in scatter.targets(at) {
            let total = A::total(&elements[element..=element]);
            self.low[cell] = self.low[cell].wrapping_add(total.low);
            if A::WIDE {
                self.high[cell] += total.high;
            }
        }
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        if self.settled.is_empty() {
            self.settled = vec![0; self.low.len()];
        }
        self.settled[cell] += later.total(from);
    }

    fn merge(&mut self, mut later: Self) {
        if self.pending + later.pending > PENDING_MAX {
            self.settle_all();
            later.settle_all();
        }
        self.pending += later.pending;
        self.low.iter_mut().zip(later.low).for_each(|(to, from)| *to = to.wrapping_add(from));
        self.high.iter_mut().zip(later.high).for_each(|(to, from)| *to += from);
        if self.settled.is_empty() {
            self.settled = later.settled;
        } else {
            self.settled.iter_mut().zip(later.settled).for_each(|(to, from)| *to += from);
        }
    }

    fn finish(self) -> Result<Values> {
        Ok(integers((0..self.low.len()).map(|cell| self.total(cell)).collect()))
    }
}

impl<T: Integer> SumKernel<T> for IntegerSum {
    fn means(self, counts: &[u64]) -> Vec<f64> {
        let mean = |(cell, &count): (usize, &u64)| match count {
            0 => 0.0,
            count => quotient(self.total(cell), count),
        };
        counts.iter().enumerate().map(mean).collect()
    }

    fn nan_count_of(&self, _cell: usize) -> u64 {
        0
    }
}

/// `sum / count`, correctly rounded; `count` is not 0.
#[allow(clippy::cast_precision_loss, reason = "below 2^53 nothing is lost")]
fn quotient(sum: i128, count: u64) -> f64 {
    if let Ok(sum) = i64::try_from(sum)
        && sum.unsigned_abs().max(count) < FLOAT_EXACT
    {
        return sum as f64 / count as f64;
    }
    if sum == 0 {
        return 0.0;
    }
    let magnitude = sum.unsigned_abs();
    let count = u128::from(count);
    let mut bits = magnitude / count;
    let mut rest = magnitude % count;
    let mut shift = 0;
    // Longer than a float's 53 bits by one; the next bit is the sticky bit.
    while bits >> 53 == 0 {
        rest <<= 1;
        bits = (bits << 1) | u128::from(rest >= count);
        rest = if rest >= count { rest - count } else { rest };
        shift += 1;
    }
    let bits = (bits << 1) | u128::from(rest != 0);
    // An integer rounds once when it becomes a float; a power of two then changes nothing.
    let value = bits as f64 * power_of_two(-1 - shift);
    if sum < 0 { -value } else { value }
}
