//! A strip: a few rows of a few lanes, small enough to be looked at twice.

use super::Lanes;
use crate::element::{ROOM_LEN, Single};

/// Lanes of a strip.
pub(super) const SPAN: usize = 256;
/// Rows of a strip.
pub(super) const ROWS: usize = 8;

/// At most `ROWS` rows of at most `SPAN` lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strip<'a, T> {
    elements: &'a [T],
    /// The position of the strip's first lane among the requested ones.
    pub(super) first_lane: usize,
    /// Where its first row is.
    pub(super) first_row: usize,
    pub(super) lanes: usize,
    pub(super) rows: usize,
    row_stride: usize,
}

impl<'a, T: Copy> Strip<'a, T> {
    /// Cuts rows of lanes into strips, in the order of memory.
    pub(super) fn cut(elements: &'a [T], lanes: Lanes) -> impl Iterator<Item = Self> {
        (0..lanes.rows).step_by(ROWS).flat_map(move |row| {
            (0..lanes.count).step_by(SPAN).map(move |first_lane| Strip {
                elements: &elements[row * lanes.distance + first_lane..],
                first_lane,
                first_row: row,
                lanes: SPAN.min(lanes.count - first_lane),
                rows: ROWS.min(lanes.rows - row),
                row_stride: lanes.distance,
            })
        })
    }

    /// The elements of one lane, first row first.
    pub(super) fn column(self, lane: usize) -> impl Iterator<Item = T> + 'a {
        (0..self.rows).map(move |row| self.elements[row * self.row_stride + lane])
    }

    /// `N` elements of a row from `lane` on; past the last lane comes `fill`.
    #[inline(always)]
    pub(super) fn row<const N: usize>(&self, row: usize, lane: usize, fill: T) -> [T; N] {
        let from = &self.elements[row * self.row_stride + lane..];
        if lane + N <= self.lanes
            && let Some(full) = from.first_chunk::<N>()
        {
            return *full;
        }
        let mut part = [fill; N];
        let width = N.min(self.lanes - lane);
        part[..width].copy_from_slice(&from[..width]);
        part
    }
}

impl<T: Single> Strip<'_, T> {
    /// The rows as float32, in `room` if they are not; rows of zeros follow the last.
    #[inline(always)]
    pub(super) fn widen<'a>(&'a self, room: &'a mut [f32]) -> [&'a [f32]; ROWS] {
        const ZEROS: [f32; SPAN] = [0.0; SPAN];
        let row = |row: usize| &self.elements[row * self.row_stride..][..self.lanes];
        let mut rows = [&ZEROS[..self.lanes]; ROWS];
        let mut rest = room;
        for (i, wide) in rows.iter_mut().enumerate().take(self.rows) {
            let (first, after) = rest.split_at_mut(rest.len().min(SPAN));
            *wide = T::widen_all(row(i), first);
            rest = after;
        }
        rows
    }
}

const _: () = assert!(SPAN * ROWS <= ROOM_LEN, "there is room for a strip");
