//! Exact sums of squares of integers, in planes: plane `k` counts multiples of `2^(32 k)`.
//!
//! ```text
//!   8, 16 bits   square < 2^32    1 plane
//!   32 bits      square < 2^64    2 planes
//!   64 bits      square < 2^128   4 planes, from products of 32-bit halves
//! ```

use multiversion::multiversion;

use crate::element::Element;
use crate::error::Result;
use crate::kernel::strip::Strip;
use crate::kernel::sum::power_of_two;
use crate::kernel::{At, Kernel, Lanes, Setup, floats};
use crate::value::Values;

/// Planes of the widest elements.
const PLANES_MAX: usize = 4;
/// Elements of a run added in lanes: less than `2^34` each in 64 bits, less than `2^16` in 32.
const BLOCK: usize = 1 << 16;
/// So many elements may be pending in a cell.
const PENDING_MAX: u64 = 1 << 29;
/// Lanes of elements whose squares have one plane, and of others.
const NARROW_LANES: usize = 32;
const WIDE_LANES: usize = 8;

/// What an element adds to each plane, or what some elements add.
type Planes = [u64; PLANES_MAX];

/// An integer whose square adds to planes.
pub(in crate::kernel) trait Square: Element {
    /// How many planes its square reaches.
    const PLANES: usize;
    /// What its square adds to them.
    fn square(self) -> Planes;
    /// What at most [`BLOCK`] elements add.
    fn total(block: &[Self]) -> Planes;
}

macro_rules! narrow {
    ($($type:ty, $of:expr;)+) => {$(
        impl Square for $type {
            const PLANES: usize = 1;
            #[inline(always)]
            fn square(self) -> Planes {
                let of: fn($type) -> u16 = $of;
                let magnitude = u32::from(of(self));
                [u64::from(magnitude * magnitude), 0, 0, 0]
            }
            fn total(block: &[Self]) -> Planes {
                [total_narrow(block), 0, 0, 0]
            }
        }
    )+};
}

macro_rules! wide {
    ($($type:ty, $planes:literal, $square:ident, $of:expr;)+) => {$(
        impl Square for $type {
            const PLANES: usize = $planes;
            #[inline(always)]
            fn square(self) -> Planes {
                let of: fn($type) -> u64 = $of;
                $square(of(self))
            }
            fn total(block: &[Self]) -> Planes {
                total_wide(block)
            }
        }
    )+};
}

narrow! {
    i8, |element| element.unsigned_abs().into();
    u8, Into::into;
    i16, i16::unsigned_abs;
    u16, |element| element;
}
wide! {
    i32, 2, square_of_half, |element| element.unsigned_abs().into();
    u32, 2, square_of_half, Into::into;
    i64, 4, square_of_whole, i64::unsigned_abs;
    u64, 4, square_of_whole, |element| element;
}

const HALF: u64 = 0xffff_ffff;

/// The square of what fits 32 bits.
#[inline(always)]
fn square_of_half(magnitude: u64) -> Planes {
    let square = (magnitude & HALF) * (magnitude & HALF);
    [square & HALF, square >> 32, 0, 0]
}

#[inline(always)]
fn square_of_whole(magnitude: u64) -> Planes {
    let (low, high) = (magnitude & HALF, magnitude >> 32);
    let (lows, mixed, highs) = (low * low, low * high, high * high);
    [
        lows & HALF,
        (lows >> 32) + 2 * (mixed & HALF),
        2 * (mixed >> 32) + (highs & HALF),
        highs >> 32,
    ]
}

/// Squares in 32-bit lanes, one for each half of them.
#[multiversion(targets("x86_64+avx+avx2"))]
fn total_narrow<T: Square>(block: &[T]) -> u64 {
    let mut lows = [0_u32; NARROW_LANES];
    let mut highs = [0_u32; NARROW_LANES];
    let (rows, tail) = block.as_chunks::<NARROW_LANES>();
    for row in rows {
        for i in 0..NARROW_LANES {
            let square = row[i].square()[0] as u32;
            lows[i] += square & 0xffff;
            highs[i] += square >> 16;
        }
    }
    let mut total = tail.iter().map(|element| element.square()[0]).sum::<u64>();
    for i in 0..NARROW_LANES {
        total += u64::from(lows[i]) + (u64::from(highs[i]) << 16);
    }
    total
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn total_wide<T: Square>(block: &[T]) -> Planes {
    let mut lanes = [[0_u64; WIDE_LANES]; PLANES_MAX];
    let (rows, tail) = block.as_chunks::<WIDE_LANES>();
    for row in rows {
        for i in 0..WIDE_LANES {
            let square = row[i].square();
            for plane in 0..T::PLANES {
                lanes[plane][i] += square[plane];
            }
        }
    }
    let mut planes = lanes.map(|lanes| lanes.iter().sum());
    for element in tail {
        let square = element.square();
        for plane in 0..T::PLANES {
            planes[plane] += square[plane];
        }
    }
    planes
}

/// Adds a strip to the cells of each plane.
#[multiversion(targets("x86_64+avx+avx2"))]
fn fold_strip<T: Square>(strip: Strip<'_, T>, first: usize, planes: &mut [Vec<u64>; PLANES_MAX]) {
    for lane in (0..strip.lanes).step_by(WIDE_LANES) {
        let mut lanes = [[0_u64; WIDE_LANES]; PLANES_MAX];
        for row in 0..strip.rows {
            let row = strip.row::<WIDE_LANES>(row, lane, T::zeroed());
            for i in 0..WIDE_LANES {
                let square = row[i].square();
                for plane in 0..T::PLANES {
                    lanes[plane][i] += square[plane];
                }
            }
        }
        let width = WIDE_LANES.min(strip.lanes - lane);
        for (cells, lanes) in planes.iter_mut().zip(&lanes).take(T::PLANES) {
            let cells = &mut cells[first + lane..][..width];
            cells.iter_mut().zip(lanes).for_each(|(to, from)| *to += from);
        }
    }
}

/// Exact sums of squares.
#[derive(Debug)]
pub(in crate::kernel) struct SquareSum {
    planes: [Vec<u64>; PLANES_MAX],
    /// What no longer fits beside them; no memory until then.
    settled: Vec<[u128; PLANES_MAX]>,
    /// No cell has more elements pending.
    pending: u64,
}

impl SquareSum {
    #[inline]
    fn reserve(&mut self, count: usize) {
        let count = count as u64;
        if self.pending + count > PENDING_MAX {
            self.settle();
        }
        self.pending += count;
    }

    #[cold]
    fn settle(&mut self) {
        self.settled = (0..self.planes[0].len()).map(|cell| self.sums(cell)).collect();
        self.planes.iter_mut().for_each(|plane| plane.fill(0));
        self.pending = 0;
    }

    fn sums(&self, cell: usize) -> [u128; PLANES_MAX] {
        let settled = self.settled.get(cell).copied().unwrap_or_default();
        std::array::from_fn(|k| {
            settled[k] + u128::from(self.planes[k].get(cell).copied().unwrap_or(0))
        })
    }

    fn add(&mut self, cell: usize, sums: [u128; PLANES_MAX]) {
        for (to, from) in self.settled[cell].iter_mut().zip(sums) {
            *to += from;
        }
    }

    /// The sum of a cell; `None` past 128 bits.
    pub(in crate::kernel) fn total(&self, cell: usize) -> Option<u128> {
        let (high, low) = self.words(cell);
        (high >> 64 == 0).then_some(high << 64 | u128::from(low))
    }

    /// The sum of a cell: what is above 64 bits, and the rest.
    fn words(&self, cell: usize) -> (u128, u64) {
        let sums = self.sums(cell);
        let second = (sums[0] >> 32) + sums[1];
        let low = (sums[0] & u128::from(HALF)) | ((second & u128::from(HALF)) << 32);
        ((second >> 32) + sums[2] + (sums[3] << 32), low as u64)
    }

    /// The sum of a cell, rounded once.
    #[allow(clippy::cast_precision_loss, reason = "a norm is rounded")]
    fn round(&self, cell: usize) -> f64 {
        match (self.total(cell), self.words(cell)) {
            (Some(total), _) => total as f64,
            // More than 64 bits are above: of those below, only whether there are any can matter.
            (None, (high, low)) => (high | u128::from(low != 0)) as f64 * power_of_two(64),
        }
    }
}

impl<T: Square> Kernel<T> for SquareSum {
    fn new(cell_count: usize, _setup: &Setup) -> Self {
        let cells = |plane: usize| if plane < T::PLANES { cell_count } else { 0 };
        let planes = std::array::from_fn(|plane| vec![0; cells(plane)]);
        Self { planes, settled: Vec::new(), pending: 0 }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        for block in elements.chunks(BLOCK) {
            self.reserve(block.len());
            let total = T::total(block);
            for (cells, total) in self.planes.iter_mut().zip(total).take(T::PLANES) {
                cells[at.cell] += total;
            }
        }
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        for strip in Strip::cut(elements, lanes) {
            self.reserve(strip.rows);
            fold_strip(strip, at.cell + strip.first_lane, &mut self.planes);
        }
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        if self.settled.is_empty() {
            self.settled = vec![[0; PLANES_MAX]; self.planes[0].len()];
        }
        self.add(cell, later.sums(from));
    }

    fn merge(&mut self, later: Self) {
        if self.pending + later.pending > PENDING_MAX || !later.settled.is_empty() {
            self.settle();
            (0..self.settled.len()).for_each(|cell| self.add(cell, later.sums(cell)));
            return;
        }
        self.pending += later.pending;
        for (cells, later) in self.planes.iter_mut().zip(&later.planes) {
            cells.iter_mut().zip(later).for_each(|(to, from)| *to += from);
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "a sum of squares is rounded")]
    fn finish(self) -> Result<Values> {
        let cells = 0..self.planes[0].len();
        Ok(floats(cells.map(|cell| self.round(cell)).collect()))
    }
}

/// Roots of exact sums of squares.
#[derive(Debug)]
pub(crate) struct IntegerNorm(SquareSum);

impl<T: Square> Kernel<T> for IntegerNorm {
    fn cell_len(_setup: &Setup) -> u64 {
        8 * T::PLANES as u64
    }

    fn new(cell_count: usize, setup: &Setup) -> Self {
        Self(Kernel::<T>::new(cell_count, setup))
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        self.0.fold_run(at, elements);
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        self.0.fold_lanes(at, lanes, elements);
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        Kernel::<T>::take(&mut self.0, cell, &later.0, from);
    }

    fn merge(&mut self, later: Self) {
        Kernel::<T>::merge(&mut self.0, later.0);
    }

    fn finish(self) -> Result<Values> {
        let cells = 0..self.0.planes[0].len();
        Ok(floats(cells.map(|cell| self.0.round(cell).sqrt()).collect()))
    }
}
