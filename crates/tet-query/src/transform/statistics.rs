//! The two numbers of every cell that its elements are computed with.

use super::compute::Params;
use crate::buffer;
use crate::error::Result;
use crate::selection::Hyperslab;

/// The most elements that are looked at together: they stay in the nearest cache.
pub(super) const BLOCK: usize = 1024;

/// Shift and scale of every cell; a cell is what shares its statistics.
#[derive(Clone, Debug)]
pub(crate) struct Statistics {
    shift: Vec<f64>,
    scale: Vec<f64>,
    has_zero: bool,
    /// Cells between neighbors along each axis of the array; 0 along folded ones.
    strides: Vec<usize>,
}

impl Statistics {
    /// The numbers of cells that lie so far apart along each axis of the array.
    pub(crate) fn new(shift: Vec<f64>, scale: Vec<f64>, strides: Vec<usize>) -> Self {
        let has_zero = scale.contains(&0.0);
        Statistics { shift, scale, has_zero, strides }
    }

    /// The shift of every cell.
    pub(crate) fn shift(&self) -> &[f64] {
        &self.shift
    }

    /// Whether a cell would be divided by zero.
    pub(super) const fn has_zero(&self) -> bool {
        self.has_zero
    }

    /// How a part of the array runs through the cells.
    pub(crate) fn loops(&self, part: &Hyperslab) -> Result<Loops> {
        let mut loops = Loops { first: 0, loops: vec![Loop { count: 1, stride: 0 }] };
        for (slice, &stride) in part.axes().iter().zip(&self.strides) {
            let count = buffer::len(slice.count())?;
            loops.first += buffer::len(slice.start)? * stride;
            let stride = if count > 1 { buffer::len(slice.step)? * stride } else { 0 };
            let last = loops.loops.last_mut().filter(|outer| {
                outer.count <= 1 || count <= 1 || outer.stride == stride.saturating_mul(count)
            });
            match last {
                // One loop serves for two that go on from each other.
                Some(outer) => {
                    outer.stride = if count > 1 { stride } else { outer.stride };
                    outer.count *= count;
                }
                None => loops.loops.push(Loop { count, stride }),
            }
        }
        Ok(loops)
    }
}

/// Elements one after the other, and the cells between neighbors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Loop {
    count: usize,
    stride: usize,
}

/// How a part of the array runs through the cells: loops in each other.
#[derive(Clone, Debug)]
pub(crate) struct Loops {
    first: usize,
    loops: Vec<Loop>,
}

/// Elements one after the other and the cells they belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellRun {
    pub cell: usize,
    pub stride: usize,
    pub len: usize,
}

impl Loops {
    /// A walk that begins with element number `at` of the part.
    pub(crate) fn walk(&self, at: usize) -> Walk<'_> {
        let mut walk = Walk {
            loops: &self.loops,
            at: vec![0; self.loops.len()],
            cell: self.first,
            room: Room::default(),
        };
        let mut rest = at;
        for (nth, level) in self.loops.iter().enumerate().rev() {
            walk.at[nth] = rest % level.count.max(1);
            walk.cell += walk.at[nth] * level.stride;
            rest /= level.count.max(1);
        }
        walk
    }
}

/// A walk through the elements of a part, with the cells they belong to.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    loops: &'a [Loop],
    at: Vec<usize>,
    cell: usize,
    room: Room,
}

/// The numbers of a block, element by element.
#[derive(Debug, Default)]
struct Room {
    shift: Vec<f64>,
    scale: Vec<f64>,
}

impl Walk<'_> {
    /// The next elements of the innermost loop, at most `most`.
    pub(crate) fn run(&mut self, most: usize) -> CellRun {
        let Some((inner, outer)) = self.loops.split_last() else {
            return CellRun { cell: self.cell, stride: 0, len: most };
        };
        let last = outer.len();
        let len = (inner.count - self.at[last]).min(most);
        let run = CellRun { cell: self.cell, stride: inner.stride, len };
        self.at[last] += len;
        self.cell += len * inner.stride;
        for level in (0..=last).rev() {
            let Loop { count, stride } = self.loops[level];
            if self.at[level] < count {
                break;
            }
            self.at[level] = 0;
            self.cell -= count * stride;
            if let Some(outer) = level.checked_sub(1) {
                self.at[outer] += 1;
                self.cell += self.loops[outer].stride;
            }
        }
        run
    }

    /// The numbers of the next `count` elements, of which there are at most [`BLOCK`].
    pub(super) fn params<'s>(&'s mut self, count: usize, from: &'s Statistics) -> Params<'s> {
        let run = self.run(count);
        if run.len == count && run.stride == 0 {
            let (shift, scale) = (from.shift[run.cell], from.scale[run.cell]);
            return Params::One { shift, scale };
        }
        if run.len == count && run.stride == 1 {
            let cells = run.cell..run.cell + count;
            return Params::Each { shift: &from.shift[cells.clone()], scale: &from.scale[cells] };
        }
        self.room.shift.resize(BLOCK, 0.0);
        self.room.scale.resize(BLOCK, 0.0);
        let (mut run, mut done) = (run, 0);
        loop {
            for nth in 0..run.len {
                let cell = run.cell + nth * run.stride;
                self.room.shift[done + nth] = from.shift[cell];
                self.room.scale[done + nth] = from.scale[cell];
            }
            done += run.len;
            if done == count {
                let (shift, scale) = (&self.room.shift[..count], &self.room.scale[..count]);
                return Params::Each { shift, scale };
            }
            run = self.run(count - done);
        }
    }
}
