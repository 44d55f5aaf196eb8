//! Variances by distances from pivots: of floats, and of integers of 32 and 64 bits.

use std::marker::PhantomData;

use multiversion::multiversion;

use super::distance::{BLOCK, Distant, measure, measure_lanes};
use super::part::Parts;
use super::{Measure, variance};
use crate::error::Result;
use crate::kernel::special::{Float, NonFinite, Specials};
use crate::kernel::strip::{ROWS, SPAN, Strip};
use crate::kernel::{At, Kernel, Lanes, Setup, floats_or_null};
use crate::value::Values;

/// Lanes measured together.
const N: usize = 8;

const _: () = assert!(SPAN / N <= 32, "a bit for each group of lanes");

/// Variances, or what is made of them.
#[derive(Debug)]
pub(crate) struct ShiftedSpread<M> {
    parts: Parts,
    specials: Specials,
    ddof: u32,
    measure: PhantomData<M>,
}

impl<M: Measure> ShiftedSpread<M> {
    fn cell(&self, cell: usize) -> Option<f64> {
        if self.specials.spoils(cell) || self.specials.has_infinity(cell) {
            return Some(f64::NAN);
        }
        let count = self.parts.counts[cell] as u64;
        (count > 0).then(|| M::from_variance(variance(self.parts.m2s[cell], count, self.ddof)))
    }

    /// Measures at most `N` elements, of which some are not finite, or their squares.
    #[cold]
    fn fold_odd<T: Distant, const N: usize>(
        &mut self,
        cell: usize,
        elements: impl Iterator<Item = T>,
    ) {
        let mut found = NonFinite::default();
        let (mut finite, mut count) = ([T::zeroed(); N], 0);
        for element in elements {
            let (nan, infinite) = element.wide().look();
            found.add(u64::from(nan), infinite);
            finite[count] = element;
            count += usize::from(!nan && infinite == 0);
        }
        self.specials.note(cell, found);
        self.parts.add(cell, &measure(&finite[..count]));
    }
}

impl<T: Distant, M: Measure> Kernel<T> for ShiftedSpread<M> {
    fn new(cell_count: usize, setup: &Setup) -> Self {
        Self {
            parts: Parts::new(cell_count),
            specials: Specials::new(cell_count, setup.nan),
            ddof: setup.ddof,
            measure: PhantomData,
        }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        for block in elements.chunks(BLOCK) {
            let part = measure(block);
            if part.is_finite() {
                self.parts.add(at.cell, &part);
            } else {
                self.fold_odd::<T, BLOCK>(at.cell, block.iter().copied());
            }
        }
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        for strip in Strip::cut(elements, lanes) {
            let first = at.cell + strip.first_lane;
            let odd = fold_strip(strip, first, &mut self.parts);
            for lane in (0..strip.lanes).filter(|lane| odd >> (lane / N) & 1 == 1) {
                self.fold_odd::<T, ROWS>(first + lane, strip.column(lane));
            }
        }
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.parts.add(cell, &later.parts.load(from));
        self.specials.take(cell, &later.specials, from);
    }

    fn merge(&mut self, later: Self) {
        (0..self.parts.counts.len()).for_each(|cell| self.parts.add(cell, &later.parts.load(cell)));
        self.specials.merge(later.specials);
    }

    fn nan_count(&self) -> Option<u64> {
        T::DTYPE.is_float().then(|| self.specials.nan_count())
    }

    fn finish(self) -> Result<Values> {
        let cells = 0..self.parts.counts.len();
        Ok(floats_or_null(cells.map(|cell| self.cell(cell))))
    }
}

/// Adds a strip to the cells from `first` on; gives a bit for each group of lanes that it left out
/// because something in it is not finite.
#[multiversion(targets("x86_64+avx+avx2"))]
fn fold_strip<T: Distant>(strip: Strip<'_, T>, first: usize, parts: &mut Parts) -> u32 {
    let mut odd = 0;
    for (group, lane) in (0..strip.lanes).step_by(N).enumerate() {
        let part = measure_lanes::<T, N>(&strip, lane);
        if part.is_finite() {
            let both = parts.load::<N>(first + lane).plus(&part);
            parts.store(first + lane, strip.lanes - lane, &both);
        } else {
            odd |= 1 << group;
        }
    }
    odd
}
