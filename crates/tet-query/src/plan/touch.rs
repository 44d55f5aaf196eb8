//! Which chunks a selection touches and which part of each: arithmetic, no lists.

use std::ops::Range;

use tet_format::Grid;

use crate::selection::{AxisSlice, Hyperslab};

/// The selected positions of one axis and the chunks they lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AxisTouch {
    /// The first selected position.
    start: u64,
    step: u64,
    /// How many positions are selected.
    pub count: u64,
    /// The dataset's extent, and its chunks'.
    extent: u64,
    chunk: u64,
    /// Whether chunks at the far edge are stored whole.
    is_padded: bool,
    /// How many of the selection's positions lie before the first one.
    pub at: u64,
    /// The coordinate of the first touched chunk.
    first: u64,
    /// How many chunks are touched.
    pub touched: u64,
    /// How many chunks the whole selection touches before the first one, and in all.
    before: u64,
    whole: u64,
    /// How many chunks the grid has.
    grid_count: u64,
}

/// The part of one chunk that is selected, along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AxisBox {
    /// The chunk's coordinate, and its extent as it is stored.
    pub coord: u64,
    pub extent: u64,
    /// The first selected position, counted from the chunk's first.
    pub first: u64,
    pub step: u64,
    /// How many positions are selected.
    pub count: u64,
    /// How many of the selection's positions lie before the first one.
    pub at: u64,
}

impl AxisBox {
    /// Those of the selected positions that `range` counts through.
    pub(crate) fn part(self, range: Range<u64>) -> AxisBox {
        let count = range.end - range.start;
        let first = self.first + range.start * self.step;
        AxisBox { first, count, at: self.at + range.start, ..self }
    }
}

impl AxisTouch {
    /// The positions of `slice` on an axis of the grid.
    fn new(slice: AxisSlice, grid: &Grid, axis: usize) -> AxisTouch {
        let touch = AxisTouch {
            start: slice.start,
            step: slice.step,
            count: slice.count(),
            extent: grid.shape()[axis],
            chunk: grid.chunk_shape()[axis],
            is_padded: grid.is_padded(),
            at: 0,
            first: 0,
            touched: 0,
            before: 0,
            whole: 0,
            grid_count: grid.counts()[axis],
        };
        let touch = touch.counted();
        AxisTouch { whole: touch.touched, ..touch }
    }

    /// Fills in what follows from start, step and count.
    fn counted(mut self) -> AxisTouch {
        if self.count == 0 {
            self.touched = 0;
            return self;
        }
        let last = self.start + (self.count - 1) * self.step;
        self.first = self.start / self.chunk;
        self.touched =
            if self.is_scattered() { self.count } else { last / self.chunk - self.first + 1 };
        self
    }

    /// Whether no chunk holds two of the positions, so that chunks between may be left out.
    fn is_scattered(&self) -> bool {
        self.chunk <= self.step
    }

    /// The positions of the whole selection that `range` counts through.
    fn narrowed(self, range: &Range<u64>) -> AxisTouch {
        let start = self.start + range.start * self.step;
        let narrowed =
            AxisTouch { start, count: range.end - range.start, at: range.start, ..self }.counted();
        let before = if self.is_scattered() { range.start } else { narrowed.first - self.first };
        AxisTouch { before, ..narrowed }
    }

    /// The selected box of touched chunk number `index`.
    pub(crate) fn part_of(&self, index: u64) -> AxisBox {
        let coord = if self.is_scattered() {
            (self.start + index * self.step) / self.chunk
        } else {
            self.first + index
        };
        let origin = coord * self.chunk;
        let clipped = self.chunk.min(self.extent - origin);
        let skipped = origin.saturating_sub(self.start).div_ceil(self.step);
        let position = self.start + skipped * self.step;
        let room = (origin + (clipped - 1) - position) / self.step + 1;
        AxisBox {
            coord,
            extent: if self.is_padded { self.chunk } else { clipped },
            first: position - origin,
            step: self.step,
            count: room.min(self.count - skipped),
            at: self.at + skipped,
        }
    }

    /// The number of the touched chunk that has a position; past the last one where none has.
    fn chunk_of(&self, position: u64) -> u64 {
        let nth = position.saturating_sub(self.at);
        match nth < self.count {
            true if self.is_scattered() => nth,
            true => (self.start + nth * self.step) / self.chunk - self.first,
            false => self.touched,
        }
    }

    /// The positions that lie in the touched chunks of `range`, which is not empty.
    pub(crate) fn positions(&self, range: Range<u64>) -> Range<u64> {
        let last = self.part_of(range.end - 1);
        self.part_of(range.start).at..last.at + last.count
    }

    /// The most positions that lie in one chunk.
    pub(crate) fn nominal(&self) -> u64 {
        self.chunk.div_ceil(self.step).min(self.count)
    }
}

/// The chunks a selection touches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Touch {
    pub axes: Vec<AxisTouch>,
}

impl Touch {
    /// Lays a selection over a grid; `None` when the two do not fit.
    pub(crate) fn new(grid: &Grid, slab: &Hyperslab) -> Option<Touch> {
        if slab.axes().len() != grid.rank() {
            return None;
        }
        let axis = |axis: usize| {
            let (slice, extent) = (slab.axes()[axis], grid.shape()[axis]);
            let fits = slice.start <= slice.stop && slice.stop <= extent && 1 <= slice.step;
            fits.then(|| AxisTouch::new(slice, grid, axis))
        };
        Some(Touch { axes: (0..grid.rank()).map(axis).collect::<Option<_>>()? })
    }

    /// How many chunks are touched.
    pub(crate) fn chunk_count(&self) -> u64 {
        if self.axes.iter().any(|axis| axis.touched == 0) {
            return 0;
        }
        // Not more than the grid has, which fits.
        self.axes.iter().map(|axis| axis.touched).product()
    }

    /// The part of the selection that `ranges` count through, one range of positions per axis.
    pub(crate) fn narrowed(&self, ranges: &[Range<u64>]) -> Touch {
        Touch { axes: self.axes.iter().zip(ranges).map(|(axis, r)| axis.narrowed(r)).collect() }
    }

    /// A cursor on the first touched chunk.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        let live = self.chunk_count() != 0;
        let boxes =
            if live { self.axes.iter().map(|axis| axis.part_of(0)).collect() } else { Vec::new() };
        Cursor { touch: self, at: vec![0; self.axes.len()], boxes, live }
    }

    /// The parts of touched chunk number `ordinal`, row-major.
    pub(crate) fn parts_of(&self, ordinal: u64) -> Vec<AxisBox> {
        let mut rest = ordinal;
        let mut boxes: Vec<AxisBox> = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            boxes.push(axis.part_of(rest % axis.touched));
            rest /= axis.touched;
        }
        boxes.reverse();
        boxes
    }
}

/// A walk over the touched chunks, row-major.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    touch: &'a Touch,
    at: Vec<u64>,
    boxes: Vec<AxisBox>,
    live: bool,
}

impl Cursor<'_> {
    /// The selected box of the chunk, axis by axis; `None` past the last chunk.
    pub(crate) fn boxes(&self) -> Option<&[AxisBox]> {
        self.live.then_some(&self.boxes)
    }

    /// Steps to the next chunk.
    pub(crate) fn advance(&mut self) {
        for (axis, touch) in self.touch.axes.iter().enumerate().rev() {
            self.at[axis] += 1;
            let wraps = self.at[axis] == touch.touched;
            if wraps {
                self.at[axis] = 0;
            }
            if touch.touched != 1 {
                self.boxes[axis] = touch.part_of(self.at[axis]);
            }
            if !wraps {
                return;
            }
        }
        self.live = false;
    }

    /// Goes to the end.
    pub(crate) fn stop(&mut self) {
        self.live = false;
    }

    /// Goes on to the first chunk that has a position of an axis, or to the end where none has. The axes before it are those of
    /// one chunk.
    pub(crate) fn seek(&mut self, axis: usize, position: u64) {
        let touch = &self.touch.axes[axis];
        let nth = touch.chunk_of(position);
        self.live &= nth < touch.touched;
        if self.live && self.at[axis] < nth {
            self.at[axis] = nth;
            self.boxes[axis] = touch.part_of(nth);
        }
    }

    /// The chunk's number among those the whole selection touches.
    pub(crate) fn ordinal(&self) -> u64 {
        let axes = self.touch.axes.iter().zip(&self.at);
        axes.fold(0, |ordinal, (axis, at)| ordinal * axis.whole + axis.before + at)
    }

    /// The chunk's linear index in the grid.
    pub(crate) fn linear(&self) -> u64 {
        let axes = self.touch.axes.iter().zip(&self.boxes);
        axes.fold(0, |linear, (axis, part)| linear * axis.grid_count + part.coord)
    }
}
