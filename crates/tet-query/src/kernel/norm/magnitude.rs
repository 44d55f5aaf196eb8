//! Sums of magnitudes: the sums there are, fed with elements without their signs.

use half::{bf16, f16};
use multiversion::multiversion;

use crate::element::Element;
use crate::error::Result;
use crate::kernel::strip::{ROWS, SPAN};
use crate::kernel::sum::Summed;
use crate::kernel::{At, Kernel, Lanes, Setup, floats};
use crate::value::{Cells, Values};

/// Magnitudes that are computed together.
const BLOCK: usize = ROWS * SPAN;

/// An element and what it is without its sign.
pub(in crate::kernel) trait Magnitude: Element {
    type Magnitude: Summed;
    fn magnitude(self) -> Self::Magnitude;
}

macro_rules! magnitudes {
    ($($type:ty => $magnitude:ty, $of:expr;)+) => {$(
        impl Magnitude for $type {
            type Magnitude = $magnitude;
            #[inline(always)]
            fn magnitude(self) -> $magnitude {
                let of: fn($type) -> $magnitude = $of;
                of(self)
            }
        }
    )+};
}

magnitudes! {
    f16 => f16, |element| f16::from_bits(element.to_bits() & 0x7fff);
    bf16 => bf16, |element| bf16::from_bits(element.to_bits() & 0x7fff);
    f32 => f32, f32::abs;
    f64 => f64, f64::abs;
    i8 => u8, i8::unsigned_abs;
    i16 => u16, i16::unsigned_abs;
    i32 => u32, i32::unsigned_abs;
    i64 => u64, i64::unsigned_abs;
    u8 => u8, |element| element;
    u16 => u16, |element| element;
    u32 => u32, |element| element;
    u64 => u64, |element| element;
}

/// Sums of magnitudes, as floats.
#[derive(Debug)]
pub(crate) struct MagnitudeSum<T: Magnitude, S> {
    sum: S,
    room: Vec<T::Magnitude>,
}

impl<T: Magnitude, S: Kernel<T::Magnitude>> Kernel<T> for MagnitudeSum<T, S> {
    fn new(cell_count: usize, setup: &Setup) -> Self {
        Self { sum: S::new(cell_count, setup), room: vec![bytemuck::Zeroable::zeroed(); BLOCK] }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        for block in elements.chunks(BLOCK) {
            let room = &mut self.room[..block.len()];
            make(block, room);
            self.sum.fold_run(at, room);
        }
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        for row in (0..lanes.rows).step_by(ROWS) {
            let rows = ROWS.min(lanes.rows - row);
            for lane in (0..lanes.count).step_by(SPAN) {
                let count = SPAN.min(lanes.count - lane);
                for (nth, room) in self.room.chunks_mut(count).take(rows).enumerate() {
                    make(&elements[(row + nth) * lanes.distance + lane..][..count], room);
                }
                let at = At { cell: at.cell + lane, ..at };
                let these = Lanes { count, rows, distance: count, ..lanes };
                self.sum.fold_lanes(at, these, &self.room[..rows * count]);
            }
        }
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.sum.take(cell, &later.sum, from);
    }

    fn merge(&mut self, later: Self) {
        self.sum.merge(later.sum);
    }

    fn nan_count(&self) -> Option<u64> {
        self.sum.nan_count()
    }

    #[allow(clippy::cast_precision_loss, reason = "a norm is rounded")]
    fn finish(self) -> Result<Values> {
        let Values { cells, nulls } = self.sum.finish()?;
        Ok(match cells {
            Cells::Int(sums) => floats(sums.into_iter().map(|sum| sum as f64).collect()),
            cells => Values { cells, nulls },
        })
    }
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn make<T: Magnitude>(elements: &[T], room: &mut [T::Magnitude]) {
    for (to, &element) in room.iter_mut().zip(elements) {
        *to = element.magnitude();
    }
}
