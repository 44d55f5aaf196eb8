//! Windows that overlap, out of the states of positions, without folding an element twice.
//!
//! Positions are cut into blocks of a window's size. A window is the end of one block and the start
//! of the next, so the states of all ends and all starts of blocks are enough:
//!
//! ```text
//!   positions    0 1 2 3 | 4 5 6 7 | 8 ...       size 4
//!   window 2-5       ^^^   ^^^                   the end from 2 and the start up to 5
//! ```
//!
//! Blocks are counted from the axis' first position, so they do not depend on the cut into tasks.

use std::ops::Range;

use super::layout::{Layout, Slide};
use crate::buffer;
use crate::error::Result;
use crate::kernel::{KernelState, Maker};

/// One line of positions: the cells of a task that differ along the axis.
struct Line<'a> {
    maker: &'a Maker,
    states: &'a dyn KernelState,
    slide: &'a Slide,
    /// The cell of the first position.
    first: usize,
    /// Cells of a position.
    width: usize,
    /// How many positions there are.
    len: usize,
}

/// The states of a task's windows out of those of its positions.
pub(super) fn slide(
    maker: &Maker,
    states: &dyn KernelState,
    layout: &Layout,
    slide: &Slide,
) -> Result<Box<dyn KernelState>> {
    let len = buffer::len(slide.positions.end - slide.positions.start)?;
    let window_count = buffer::len(slide.range.end - slide.range.start)?;
    let width = slide.stride;
    let lines = layout.cell_count / (len * width).max(1);
    let mut windows = maker.make(lines * window_count * width);
    for line in 0..lines {
        let first = line * len * width;
        let line_of = Line { maker, states, slide, first, width, len };
        line_of.windows(windows.as_mut(), line * window_count * width)?;
    }
    Ok(windows)
}

impl Line<'_> {
    /// Takes the line's windows into `out`, from cell `first` on.
    fn windows(&self, out: &mut dyn KernelState, first: usize) -> Result<()> {
        let ends = self.ends()?;
        let mut start = self.maker.make(self.width);
        let mut started = 0..0;
        for (number, window) in self.slide.range.clone().enumerate() {
            let covered = self.slide.windows.positions(window);
            let (head, tail) = self.halves(&covered);
            let cell = first + number * self.width;
            if !head.is_empty() {
                let from = self.at(head.start)? * self.width;
                out.take(cell, ends.as_ref(), from, self.width);
            }
            if tail.is_empty() {
                continue;
            }
            if started.start != tail.start || started.is_empty() {
                start = self.maker.make(self.width);
                started = tail.start..tail.start;
            }
            for position in started.end..tail.end {
                let from = self.first + self.at(position)? * self.width;
                start.take(0, self.states, from, self.width);
            }
            started.end = started.end.max(tail.end);
            out.take(cell, start.as_ref(), 0, self.width);
        }
        Ok(())
    }

    /// The end of a block and the start of one that make up a window.
    fn halves(&self, covered: &Range<u64>) -> (Range<u64>, Range<u64>) {
        let Range { start, end } = *covered;
        let size = self.slide.windows.size;
        let bound = (start / size + 1).saturating_mul(size);
        let nothing = end..end;
        if bound <= end {
            (start..bound, bound..end)
        } else if start.is_multiple_of(size) {
            // Clipped: the start of a block alone.
            (nothing, start..end)
        } else {
            (start..end, nothing)
        }
    }

    /// For each position the state from it to the end of its block.
    fn ends(&self) -> Result<Box<dyn KernelState>> {
        let size = self.slide.windows.size;
        let mut ends = self.maker.make(self.len * self.width);
        let mut end = self.maker.make(self.width);
        for position in self.slide.positions.clone().rev() {
            if (position + 1).is_multiple_of(size) {
                end = self.maker.make(self.width);
            }
            let at = self.at(position)? * self.width;
            end.take(0, self.states, self.first + at, self.width);
            ends.take(at, end.as_ref(), 0, self.width);
        }
        Ok(ends)
    }

    /// The number of a position among those of the task.
    fn at(&self, position: u64) -> Result<usize> {
        buffer::len(position - self.slide.positions.start)
    }
}
