//! The selected part of one chunk: which elements it is, and how it is cut into strips.

use std::ops::Range;

use super::touch::{AxisBox, Cursor, Touch};

/// Stretches of a chunk's elements that hold its selected part, gaps included: `count` stretches
/// of `len` elements each, one for every choice of positions along the first `outer` axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segments {
    /// The first element.
    pub base: u64,
    pub len: u64,
    pub count: u64,
    pub outer: usize,
}

impl Segments {
    /// Merges what lies at most `gap_max` elements apart, axis by axis from the innermost.
    pub(crate) fn new(boxes: &[AxisBox], gap_max: u64) -> Segments {
        let mut segments = Segments { base: 0, len: 1, count: 1, outer: 0 };
        let mut stride = 1;
        let mut merging = true;
        for (axis, part) in boxes.iter().enumerate().rev() {
            segments.base += part.first * stride;
            if part.count > 1 {
                let distance = part.step * stride;
                if merging && distance - segments.len <= gap_max {
                    segments.len += (part.count - 1) * distance;
                } else {
                    if merging {
                        segments.outer = axis + 1;
                        merging = false;
                    }
                    segments.count *= part.count;
                }
            }
            stride *= part.extent;
        }
        segments
    }

    /// One past the last element.
    pub(crate) fn end(&self, boxes: &[AxisBox]) -> u64 {
        let mut stride = 1;
        let mut last = 0;
        for part in boxes.iter().rev() {
            last += (part.first + (part.count - 1) * part.step) * stride;
            stride *= part.extent;
        }
        last + 1
    }

    /// The first elements of all stretches, in order.
    pub(crate) fn starts(&self, boxes: &[AxisBox]) -> Starts {
        let strides = strides(boxes);
        let outer = boxes.iter().zip(strides).take(self.outer);
        // An axis with one position is never stepped along, whatever its step.
        let axes = outer.map(|(part, stride)| (part.count, part.step.min(part.extent) * stride));
        let axes: Vec<(u64, u64)> = axes.collect();
        Starts { at: vec![0; axes.len()], axes, next: self.base, left: self.count }
    }
}

/// The first elements of stretches.
#[derive(Clone, Debug)]
pub(crate) struct Starts {
    /// Positions, and the elements between neighbors.
    axes: Vec<(u64, u64)>,
    at: Vec<u64>,
    next: u64,
    left: u64,
}

impl Iterator for Starts {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let start = self.next;
        for (at, &(count, distance)) in self.at.iter_mut().zip(&self.axes).rev() {
            *at += 1;
            if *at < count {
                self.next += distance;
                break;
            }
            *at = 0;
            self.next -= (count - 1) * distance;
        }
        Some(start)
    }
}

/// Elements between neighbors along each axis of the chunk.
pub(crate) fn strides(boxes: &[AxisBox]) -> Vec<u64> {
    let mut strides = vec![1; boxes.len()];
    for axis in (1..boxes.len()).rev() {
        strides[axis - 1] = strides[axis] * boxes[axis].extent;
    }
    strides
}

/// How many elements are selected.
pub(crate) fn element_count(boxes: &[AxisBox]) -> u64 {
    boxes.iter().map(|part| part.count).product()
}

/// How many elements the chunk has, saturated.
pub(crate) fn chunk_elements(boxes: &[AxisBox]) -> u64 {
    boxes.iter().map(|part| part.extent).fold(1, u64::saturating_mul)
}

/// Where a row-major box is cut: into single positions before `axis`, `rows` positions along it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub axis: usize,
    pub rows: u64,
}

impl Cut {
    /// The cut into the fewest parts of at most `limit` positions each.
    pub(crate) fn new(
        counts: impl DoubleEndedIterator<Item = u64> + ExactSizeIterator,
        limit: u64,
    ) -> Cut {
        let mut inner = 1;
        for (axis, count) in counts.enumerate().rev() {
            let rows = (limit / inner).max(1);
            if rows < count {
                return Cut { axis, rows };
            }
            inner *= count.max(1);
        }
        Cut { axis: 0, rows: u64::MAX }
    }
}

/// A walk over strips: the selected parts of chunks, row-major, each cut into boxes of at most
/// `limit` elements. The cut depends on nothing but selection and grid.
#[derive(Clone, Debug)]
pub(crate) struct Strips<'a> {
    cursor: Cursor<'a>,
    limit: u64,
    cut: Cut,
    /// Positions before the cut's axis and parts along it that were walked, of how many.
    at: u64,
    count: u64,
    parts: u64,
    boxes: Vec<AxisBox>,
}

impl<'a> Strips<'a> {
    /// The strips of a selection.
    pub(crate) fn new(touch: &'a Touch, limit: u64) -> Strips<'a> {
        let cut = Cut { axis: 0, rows: u64::MAX };
        let cursor = touch.cursor();
        let boxes = cursor.boxes().map_or_else(Vec::new, <[AxisBox]>::to_vec);
        let mut strips = Strips { cursor, limit, cut, at: 0, count: 0, parts: 0, boxes };
        strips.enter();
        strips
    }

    /// The strip, or `None` past the last one.
    pub(crate) fn boxes(&self) -> Option<&[AxisBox]> {
        self.cursor.boxes().map(|_| self.boxes.as_slice())
    }

    /// The number of the strip's chunk among those the whole selection touches.
    pub(crate) fn ordinal(&self) -> u64 {
        self.cursor.ordinal()
    }

    /// Steps to the next strip.
    pub(crate) fn advance(&mut self) {
        self.at += 1;
        if self.at < self.count {
            self.place();
        } else {
            self.cursor.advance();
            self.enter();
        }
    }

    /// Cuts the chunk that the cursor has come to.
    fn enter(&mut self) {
        let Some(boxes) = self.cursor.boxes() else { return };
        self.boxes.copy_from_slice(boxes);
        self.cut = Cut::new(boxes.iter().map(|part| part.count), self.limit);
        self.at = 0;
        self.count = 1;
        if let Some(part) = boxes.get(self.cut.axis) {
            self.parts = part.count.div_ceil(self.cut.rows);
            self.count = self.parts * element_count(&boxes[..self.cut.axis]);
        }
        if self.count > 1 {
            self.place();
        }
    }

    /// Sets the boxes of strip number `at`.
    fn place(&mut self) {
        let Some(whole) = self.cursor.boxes() else { return };
        let Cut { axis, rows } = self.cut;
        let start = self.at % self.parts * rows;
        self.boxes[axis] = whole[axis].part(start..whole[axis].count.min(start + rows));
        let mut rest = self.at / self.parts;
        for outer in (0..axis).rev() {
            let at = rest % whole[outer].count;
            rest /= whole[outer].count;
            self.boxes[outer] = whole[outer].part(at..at + 1);
        }
    }
}

/// The elements of one strip as a range, when nothing unselected lies between them.
pub(crate) fn dense_range(boxes: &[AxisBox]) -> Option<Range<u64>> {
    let segments = Segments::new(boxes, 0);
    (segments.count == 1).then(|| segments.base..segments.base + segments.len)
}
