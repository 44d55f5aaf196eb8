//! Squares of integers of 8 and 16 bits: below `2^32`, so that sums of integers are exact.

use multiversion::multiversion;

use crate::element::Element;
use crate::error::Result;
use crate::kernel::strip::Strip;
use crate::kernel::sum::{IntegerSum, Terms, Total};
use crate::kernel::{At, Kernel, Lanes, Setup, floats};
use crate::value::Values;

/// Elements added in lanes: their halves add less than `2^17` a pair, `2^28` a lane.
const BLOCK: usize = 1 << 16;
/// Lanes: few enough that the compiler keeps them in registers.
const LANES: usize = 32;
/// Lanes of a strip.
const WIDE_LANES: usize = 8;

/// An integer of 8 or 16 bits.
pub(in crate::kernel) trait Square: Element {
    fn square(self) -> u32;
    /// Terms that two squares add to the low and to the high 16 bits.
    fn pair(self, other: Self) -> [u32; 2];
}

macro_rules! square {
    ($($type:ty => $pair:expr;)+) => {$(
        impl Square for $type {
            #[inline(always)]
            fn square(self) -> u32 {
                let magnitude = u32::from(self.abs_diff(0));
                magnitude * magnitude
            }
            #[inline(always)]
            fn pair(self, other: Self) -> [u32; 2] {
                let pair: fn($type, $type) -> [u32; 2] = $pair;
                pair(self, other)
            }
        }
    )+};
}

// Registers multiply and add pairs of signed ones in one step; the sum has at most 32 bits.
square! {
    i8 => |a, b| signed_pair(a.into(), b.into());
    u8 => |a, b| signed_pair(a.into(), b.into());
    i16 => signed_pair;
    u16 => |a, b| {
        let (a, b) = (a.square(), b.square());
        [(a & 0xffff) + (b & 0xffff), (a >> 16) + (b >> 16)]
    };
}

#[inline(always)]
fn signed_pair(a: i16, b: i16) -> [u32; 2] {
    let (a, b) = (i32::from(a), i32::from(b));
    let sum = (a * a).wrapping_add(b * b) as u32;
    [sum & 0xffff, sum >> 16]
}

/// The squares of elements, as what is added.
#[derive(Debug)]
pub(in crate::kernel) struct Squares;

impl<T: Square> Terms<T> for Squares {
    const WIDE: bool = false;

    fn total(run: &[T]) -> Total {
        let mut total = 0;
        for block in run.chunks(BLOCK) {
            let (rows, tail) = block.as_chunks();
            let mut lanes = [[0; LANES]; 2];
            add_rows(&mut lanes, rows);
            let [low, high] = lanes.map(|lanes| lanes.into_iter().map(i64::from).sum::<i64>());
            let rest = tail.iter().map(|element| i64::from(element.square())).sum::<i64>();
            total += low + (high << 16) + rest;
        }
        Total::narrow(total)
    }

    fn fold_strip(strip: Strip<'_, T>, low: &mut [i64], _high: &mut [i64]) {
        fold_strip(strip, low);
    }
}

// The lanes live with the caller: with their last steps in sight, the compiler takes them apart.
#[multiversion(targets("x86_64+avx+avx2"))]
fn add_rows<T: Square>(lanes: &mut [[u32; LANES]; 2], rows: &[[T; 2 * LANES]]) {
    let [mut lows, mut highs] = *lanes;
    for row in rows {
        for i in 0..LANES {
            let [low, high] = row[2 * i].pair(row[2 * i + 1]);
            lows[i] += low;
            highs[i] += high;
        }
    }
    *lanes = [lows, highs];
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn fold_strip<T: Square>(strip: Strip<'_, T>, sums: &mut [i64]) {
    for (group, sums) in sums.chunks_mut(WIDE_LANES).enumerate() {
        let mut lanes = [0; WIDE_LANES];
        for row in 0..strip.rows {
            let row = strip.row::<WIDE_LANES>(row, group * WIDE_LANES, T::zeroed());
            for i in 0..WIDE_LANES {
                lanes[i] += i64::from(row[i].square());
            }
        }
        sums.iter_mut().zip(lanes).for_each(|(sum, lane)| *sum += lane);
    }
}

/// Roots of exact sums of squares.
#[derive(Debug)]
pub(in crate::kernel) struct Root(IntegerSum<Squares>);

impl<T: Square> Kernel<T> for Root {
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

    #[allow(clippy::cast_precision_loss, reason = "a norm is rounded")]
    fn finish(self) -> Result<Values> {
        let root = |cell| (self.0.total(cell) as f64).sqrt();
        Ok(floats((0..self.0.cell_count()).map(root).collect()))
    }
}
