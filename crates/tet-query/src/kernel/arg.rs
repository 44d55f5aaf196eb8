//! Where the smallest or largest element is: its position along the folded axes.
//!
//! The first of several equal ones counts, whatever the order in which parts come: of equal keys
//! the smaller position wins. Both zeros are one here. When NaN propagate, the first NaN counts.

use multiversion::multiversion;

use super::extrema::{End, NanCounts, Ordered, best_skipping, fold_strip};
use super::strip::{SPAN, Strip};
use super::{At, Kernel, Known, Lanes, Setup, Share};
use crate::error::Result;
use crate::op::NanPolicy;
use crate::value::{Cells, Values};

#[cfg(test)]
mod tests;

/// Elements looked at together.
const BLOCK: usize = 4096;
/// The position of nothing.
const NOWHERE: u64 = u64::MAX;

/// The position of one end of every cell; null where there is no element.
#[derive(Debug)]
pub(crate) struct Arg<T: Ordered, E> {
    keys: Vec<T::Key>,
    places: Vec<u64>,
    /// The first NaN of each cell; no memory until there is one that matters.
    nan_places: Vec<u64>,
    nans: NanCounts,
    nan: NanPolicy,
    end: std::marker::PhantomData<E>,
}

impl<T: Ordered, E: End> Arg<T, E> {
    /// Whether a key at a position is to be taken over what a cell has.
    #[inline]
    fn wants(&self, cell: usize, key: T::Key, place: u64) -> bool {
        let held = self.keys[cell];
        if key == held { place < self.places[cell] } else { E::pick(key, held) == key }
    }

    fn offer(&mut self, cell: usize, key: T::Key, place: u64) {
        if self.wants(cell, key, place) {
            (self.keys[cell], self.places[cell]) = (key, place);
        }
    }

    fn note_nan(&mut self, cell: usize, place: u64) {
        if self.nan == NanPolicy::Skip {
            return;
        }
        if self.nan_places.is_empty() {
            self.nan_places = vec![NOWHERE; self.keys.len()];
        }
        self.nan_places[cell] = self.nan_places[cell].min(place);
    }

    fn offer_element(&mut self, cell: usize, element: T, place: u64) {
        if is_nan(element) {
            self.nans.add(cell, self.keys.len(), 1);
            self.note_nan(cell, place);
        } else {
            self.offer(cell, key(element), place);
        }
    }

    fn place(&self, cell: usize) -> Option<u64> {
        let nan_place = self.nan_places.get(cell).copied().unwrap_or(NOWHERE);
        let place = if nan_place == NOWHERE { self.places[cell] } else { nan_place };
        (place != NOWHERE).then_some(place)
    }
}

impl<T: Ordered, E: End> Kernel<T> for Arg<T, E> {
    const INDEXED: bool = true;
    const CAN_SKIP: bool = true;

    fn new(cell_count: usize, setup: &Setup) -> Self {
        Self {
            keys: vec![E::worst::<T>(); cell_count],
            places: vec![NOWHERE; cell_count],
            nan_places: Vec::new(),
            nans: NanCounts::default(),
            nan: setup.nan,
            end: std::marker::PhantomData,
        }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        let cell = at.cell;
        let mut first = at.index;
        for block in elements.chunks(BLOCK) {
            let best = T::best::<E>(block).unwrap_or_else(|| {
                let (best, nan_count) = best_skipping::<T, E>(block);
                self.nans.add(cell, self.keys.len(), nan_count);
                if let Some(nth) = block.iter().position(|&element| is_nan(element)) {
                    self.note_nan(cell, first + nth as u64);
                }
                best
            });
            let best = even::<T>(best);
            if self.wants(cell, best, first)
                && let Some(nth) = position(block, best)
            {
                self.offer(cell, best, first + nth as u64);
            }
            first += block.len() as u64;
        }
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        for strip in Strip::cut(elements, lanes) {
            let cell = at.cell + strip.first_lane;
            let first = at.index + strip.first_row as u64 * lanes.index;
            let mut keys = [E::worst::<T>(); SPAN];
            let clean = fold_strip::<T, E>(strip, &mut keys[..strip.lanes]);
            for (lane, &best) in keys[..strip.lanes].iter().enumerate() {
                let (cell, best) = (cell + lane, even::<T>(best));
                if !clean {
                    for (row, element) in strip.column(lane).enumerate() {
                        self.offer_element(cell, element, first + row as u64 * lanes.index);
                    }
                } else if self.wants(cell, best, first)
                    && let Some(row) = strip.column(lane).position(|element| key(element) == best)
                {
                    self.offer(cell, best, first + row as u64 * lanes.index);
                }
            }
        }
    }

    fn note_bound(&mut self, cell: usize, known: &Known<T>, share: Share) {
        if let Some(bound) = known.bound::<E>(share) {
            self.keys[cell] = E::pick(self.keys[cell], even::<T>(bound));
        }
    }

    // Of equal elements the first counts, wherever its chunk is.
    fn can_skip(&self, cell: usize, known: &Known<T>) -> bool {
        let held = self.keys[cell];
        let is_outdone = |best| best != held && E::pick(best, held) == held;
        known.nan_count == 0 && known.best::<E>().map(even::<T>).is_none_or(is_outdone)
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.offer(cell, later.keys[from], later.places[from]);
        if let Some(&place) = later.nan_places.get(from) {
            self.note_nan(cell, place);
        }
        self.nans.add(cell, self.keys.len(), later.nans.count(from));
    }

    fn merge(&mut self, later: Self) {
        for cell in 0..self.keys.len() {
            self.offer(cell, later.keys[cell], later.places[cell]);
            if let Some(&place) = later.nan_places.get(cell) {
                self.note_nan(cell, place);
            }
        }
        self.nans.merge(later.nans);
    }

    fn nan_count(&self) -> Option<u64> {
        T::DTYPE.is_float().then_some(self.nans.sum)
    }

    fn finish(self) -> Result<Values> {
        let places: Vec<Option<u64>> = (0..self.keys.len()).map(|cell| self.place(cell)).collect();
        let nulls: Vec<bool> = places.iter().map(Option::is_none).collect();
        let cells = places.into_iter().map(Option::unwrap_or_default).collect();
        Ok(Values { cells: Cells::Count(cells), nulls: nulls.contains(&true).then_some(nulls) })
    }
}

#[inline(always)]
fn is_nan<T: Ordered>(element: T) -> bool {
    element.nan_mask() != T::ZERO
}

/// The key of an element, the same for both zeros.
#[inline(always)]
fn key<T: Ordered>(element: T) -> T::Key {
    if element == T::zeroed() { T::ZERO } else { element.key() }
}

/// Maps the keys of both zeros to one.
#[inline(always)]
fn even<T: Ordered>(key: T::Key) -> T::Key {
    if T::from_key(key) == T::zeroed() { T::ZERO } else { key }
}

/// Where a key first is.
#[multiversion(targets("x86_64+avx+avx2"))]
fn position<T: Ordered>(block: &[T], wanted: T::Key) -> Option<usize> {
    const N: usize = 64;
    let is = |element: T| key(element) == wanted && !is_nan(element);
    for (nth, part) in block.chunks(N).enumerate() {
        let mut found = false;
        for &element in part {
            found |= is(element);
        }
        if found {
            return part.iter().position(|&element| is(element)).map(|at| nth * N + at);
        }
    }
    None
}
