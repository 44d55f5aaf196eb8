//! Variances by distances from pivots: of floats, and of integers of 32 and 64 bits.

use std::marker::PhantomData;

use super::distance::{BLOCK, Distant, Measured, measure};
use super::lanes::{fold_odd_strip, fold_strip};
use super::part::Parts;
use super::{Measure, variance};
use crate::error::Result;
use crate::kernel::special::{Found, LaneFound, Specials};
use crate::kernel::strip::Strip;
use crate::kernel::{At, Kernel, Lanes, Setup, floats_or_null};
use crate::value::Values;

/// Variances, or what is made of them.
#[derive(Debug)]
pub(crate) struct ShiftedSpread<M> {
    parts: Parts,
    specials: Specials,
    has_nan: HasNan,
    ddof: u32,
    room: Vec<f32>,
    measure: PhantomData<M>,
}

/// Whether the element type knows NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HasNan {
    Yes,
    No,
}

impl<M: Measure> ShiftedSpread<M> {
    fn cell(&self, cell: usize) -> Option<f64> {
        if self.specials.spoils(cell) || self.specials.has_infinity(cell) {
            return Some(f64::NAN);
        }
        let count = self.parts.counts[cell] as u64;
        (count > 0).then(|| M::of(variance(self.parts.m2s[cell], count, self.ddof)))
    }
}

impl<T: Measured, M: Measure> Kernel<T> for ShiftedSpread<M> {
    fn new(cell_count: usize, setup: &Setup) -> Self {
        Self {
            parts: Parts::new(cell_count),
            specials: Specials::new(cell_count, setup.nan),
            has_nan: if T::DTYPE.is_float() { HasNan::Yes } else { HasNan::No },
            ddof: setup.ddof,
            room: vec![0.0; T::ROOM_LEN],
            measure: PhantomData,
        }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        for block in elements.chunks(BLOCK) {
            let block = T::wide_all(block, &mut self.room);
            let part = measure(block).unwrap_or_else(|| {
                let mut found = Found::default();
                let part = T::Wide::measure_odd(block, &mut found);
                self.specials.note(at.cell, found);
                part
            });
            self.parts.add(at.cell, &part);
        }
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        for strip in Strip::cut(elements, lanes) {
            let cell = at.cell + strip.first_lane;
            let odd = fold_strip(strip, cell, &mut self.parts);
            if odd != 0 {
                let mut found = LaneFound::new();
                fold_odd_strip(strip, cell, odd, &mut self.parts, &mut found);
                self.specials.note_lanes(cell, strip.lanes, &found);
            }
        }
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.parts.add(cell, &later.parts.of(from));
        self.specials.take(cell, &later.specials, from);
    }

    fn merge(&mut self, later: Self) {
        self.parts.merge(&later.parts);
        self.specials.merge(later.specials);
    }

    fn nan_count(&self) -> Option<u64> {
        (self.has_nan == HasNan::Yes).then(|| self.specials.nan_count())
    }

    fn finish(self) -> Result<Values> {
        let cells = 0..self.parts.counts.len();
        Ok(floats_or_null(cells.map(|cell| self.cell(cell))))
    }
}
