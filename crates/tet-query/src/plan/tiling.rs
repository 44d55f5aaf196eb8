//! Cutting a selection into the rectangles that tasks own.
//!
//! The cut depends on selection, grid, codecs and the limit only: never on threads or coalescing, nor
//! on the budget but for kept elements, whose limit it sets. So whatever is folded inside one
//! rectangle is folded the same way on every machine.

use std::ops::Range;

use super::piece::{Cut, Inside};
use super::touch::{AxisTouch, Touch};

/// The most chunks of one rectangle, however small they are.
const CHUNKS_MAX: u64 = 4096;

/// How one axis is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AxisParts {
    axis: usize,
    touch: AxisTouch,
    /// Touched chunks to a part; more than one only when chunks are not cut.
    group: u64,
    /// Positions to a part inside a chunk, and parts to a chunk.
    rows: u64,
    parts_per_chunk: u64,
}

impl AxisParts {
    fn count(&self) -> u64 {
        self.touch.touched.div_ceil(self.group) * self.parts_per_chunk
    }

    /// The most positions of a part.
    fn extent_max(&self) -> u64 {
        let chunks = self.touch.nominal().saturating_mul(self.group);
        let rows = if self.parts_per_chunk == 1 { chunks } else { self.rows };
        rows.min(self.touch.count)
    }

    /// The positions of a part; empty for parts that a clipped chunk does not reach.
    fn positions(&self, part: u64) -> Range<u64> {
        if self.parts_per_chunk == 1 {
            let start = part * self.group;
            return self.touch.positions(start..self.touch.touched.min(start + self.group));
        }
        let held = self.touch.part_of(part / self.parts_per_chunk);
        let start = held.count.min(part % self.parts_per_chunk * self.rows);
        let end = held.count.min(start + self.rows);
        held.at + start..held.at + end
    }
}

/// Some axes of a selection, cut into rectangles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tiling {
    axes: Vec<AxisParts>,
}

impl Tiling {
    /// Cuts `axes` of the selection into rectangles of about `limit` positions: as many whole
    /// chunks as fit, or parts of one chunk when it alone is larger and may be cut.
    pub(crate) fn new(touch: &Touch, axes: &[usize], limit: u64, inside: Inside) -> Tiling {
        let touched = |&axis: &usize| touch.axes[axis].touched;
        let nominal = |&axis: &usize| touch.axes[axis].nominal();
        let held = axes.iter().map(nominal).fold(1_u64, u64::saturating_mul);
        let chunks_max = (limit / held.max(1)).clamp(1, CHUNKS_MAX);
        let chunks = Cut::new(axes.iter().map(touched), chunks_max);
        let split = inside == Inside::Cut && limit < held;
        let rows = if split {
            Cut::new(axes.iter().map(nominal), limit.max(1))
        } else {
            Cut { axis: 0, rows: u64::MAX }
        };
        let parts = |(at, &axis): (usize, &usize)| {
            let touch = touch.axes[axis];
            let rows = if split { along(rows, at, touch.nominal()) } else { touch.nominal() };
            let parts_per_chunk = touch.nominal().div_ceil(rows.max(1)).max(1);
            let group = along(chunks, at, touch.touched).max(1);
            AxisParts { axis, touch, group, rows, parts_per_chunk }
        };
        Tiling { axes: axes.iter().enumerate().map(parts).collect() }
    }

    /// How many rectangles there are; some may be empty.
    pub(crate) fn count(&self) -> u64 {
        self.axes.iter().map(AxisParts::count).fold(1, u64::saturating_mul)
    }

    /// The most positions of one rectangle.
    pub(crate) fn positions_max(&self) -> u64 {
        self.axes.iter().map(AxisParts::extent_max).fold(1, u64::saturating_mul)
    }

    /// The most positions of one rectangle along an axis of the dataset; `None` where that is not cut.
    pub(crate) fn extent_max(&self, axis: usize) -> Option<u64> {
        self.axes.iter().find(|parts| parts.axis == axis).map(AxisParts::extent_max)
    }

    /// How many parts axis number `at` is cut into.
    pub(crate) fn part_count(&self, at: usize) -> u64 {
        self.axes[at].count()
    }

    /// The positions of one part of axis number `at`; empty where a clipped chunk does not reach.
    pub(crate) fn positions(&self, at: usize, part: u64) -> Range<u64> {
        self.axes[at].positions(part)
    }

    /// The number of the rectangle that is `nth` when those of one chunk follow each other.
    ///
    /// Rectangles that share the bytes of a chunk are then near each other.
    pub(crate) fn by_chunk(&self, nth: u64) -> u64 {
        let in_chunk = self.axes.iter().map(|parts| parts.parts_per_chunk);
        let in_chunk = in_chunk.fold(1, u64::saturating_mul);
        let (mut chunk, mut part) = (nth / in_chunk, nth % in_chunk);
        let (mut number, mut stride) = (0_u64, 1_u64);
        for parts in self.axes.iter().rev() {
            let (count, each) = (parts.count().max(1), parts.parts_per_chunk);
            let chunks = (count / each).max(1);
            let at = chunk % chunks * each + part % each;
            number = number.saturating_add(at.saturating_mul(stride));
            (chunk, part, stride) = (chunk / chunks, part / each, stride.saturating_mul(count));
        }
        number
    }

    /// Sets the ranges of rectangle number `index` in `rect`, which has one range per axis of the
    /// dataset. Rectangles are numbered row-major.
    pub(crate) fn place(&self, index: u64, rect: &mut [Range<u64>]) {
        let mut rest = index;
        for parts in self.axes.iter().rev() {
            let count = parts.count().max(1);
            rect[parts.axis] = parts.positions(rest % count);
            rest /= count;
        }
    }
}

/// The share of one part of a cut, of `count` positions along axis number `at`.
fn along(cut: Cut, at: usize, count: u64) -> u64 {
    match at.cmp(&cut.axis) {
        std::cmp::Ordering::Less => 1,
        std::cmp::Ordering::Equal => cut.rows.min(count),
        std::cmp::Ordering::Greater => count,
    }
}
