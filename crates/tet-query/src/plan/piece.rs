//! The selected part of one chunk: which elements it is, and how it is cut into strips.

use std::ops::Range;

use super::touch::{AxisBox, Cursor, Touch};

/// The stretches of a chunk's elements that hold a box of them, row-major, gaps included.
///
/// Each has `rows` positions along one axis, fewer the last of a line, and along all axes after it
/// what the box has.
#[derive(Clone, Debug)]
pub(crate) struct Stretches {
    /// The first element of the box, and one past the last.
    pub base: u64,
    pub end: u64,
    /// The first of the axes that every row has whole.
    pub inner: usize,
    /// Elements of one row from the first to the last, and how many of them are selected.
    row_len: u64,
    row_count: u64,
    /// Rows of a line, rows of a stretch, and elements between neighboring rows.
    line: u64,
    rows: u64,
    pub step: u64,
    /// Positions along the axes before those of the rows, and elements between neighbors.
    outer: Vec<(u64, u64)>,
    at: Vec<u64>,
    start: u64,
    row: u64,
    lines_left: u64,
}

/// One stretch: its elements, and how many rows it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub elements: Range<u64>,
    pub rows: u64,
}

impl Stretches {
    /// Merges runs at most `gap_max` elements apart, from the innermost axis on. Stretches with
    /// gaps have at most `len_max` elements.
    pub(crate) fn new(boxes: &[AxisBox], gap_max: u64, len_max: u64) -> Stretches {
        let (mut base, mut last, mut inner) = (0, 0, 0);
        let (mut row_len, mut row_count) = (1, 1);
        let (mut line, mut rows, mut row_step) = (1, 1, 1);
        let mut outer = Vec::new();
        let mut stride = 1;
        for (axis, part) in boxes.iter().enumerate().rev() {
            base += part.first * stride;
            if part.count > 1 {
                let step = part.step * stride;
                last += (part.count - 1) * step;
                let merged = if gap_max < step - row_len {
                    1
                } else if row_count == step {
                    part.count
                } else {
                    part.count.min(len_max.saturating_sub(row_len) / step + 1)
                };
                if inner != 0 {
                    outer.push((part.count, step));
                } else if merged == part.count {
                    row_len += (part.count - 1) * step;
                    row_count *= part.count;
                } else {
                    (inner, line, rows, row_step) = (axis + 1, part.count, merged, step);
                }
            }
            stride *= part.extent;
        }
        outer.reverse();
        Stretches {
            base,
            end: base + last + 1,
            inner,
            row_len,
            row_count,
            line,
            rows,
            step: row_step,
            at: vec![0; outer.len()],
            start: base,
            row: 0,
            lines_left: outer.iter().map(|&(count, _)| count).product(),
            outer,
        }
    }

    /// How many are left.
    pub(crate) fn total(&self) -> u64 {
        self.lines_left * self.line.div_ceil(self.rows) - self.row / self.rows
    }

    /// How many elements of a stretch are selected.
    pub(crate) fn selected(&self, stretch: &Stretch) -> u64 {
        stretch.rows * self.row_count
    }
}

impl Iterator for Stretches {
    type Item = Stretch;

    fn next(&mut self) -> Option<Stretch> {
        if self.lines_left == 0 {
            return None;
        }
        let rows = self.rows.min(self.line - self.row);
        let start = self.start + self.row * self.step;
        let elements = start..start + (rows - 1) * self.step + self.row_len;
        self.row += rows;
        if self.row == self.line {
            self.row = 0;
            self.lines_left -= 1;
            for (at, &(count, distance)) in self.at.iter_mut().zip(&self.outer).rev() {
                *at += 1;
                if *at < count {
                    self.start += distance;
                    break;
                }
                *at = 0;
                self.start -= (count - 1) * distance;
            }
        }
        Some(Stretch { elements, rows })
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

/// Whether a rectangle may end inside a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inside {
    /// Chunks serve ranges of elements, so large ones may be shared between rectangles.
    Cut,
    /// Chunks are decoded whole, so each belongs to one rectangle.
    Whole,
}

/// A part of a walk over strips: those that begin at some positions of an axis, or whose chunk does where no chunk is
/// cut. Of the axes before it the walk has one position, so the stages have the strips of a chunk in their order, and where no chunk is
/// cut all strips.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stage {
    pub axis: usize,
    pub positions: Range<u64>,
    pub inside: Inside,
}

impl Stage {
    /// Which strips of a chunk are of the stage, of `count` that `cut` makes; `part` is what is selected along the axis.
    fn strips_of(&self, part: &AxisBox, cut: Cut, count: u64) -> Range<u64> {
        if self.inside == Inside::Whole {
            let is_here = self.positions.contains(&part.at);
            return 0..if is_here { count } else { 0 };
        }
        let begin = self.positions.start.saturating_sub(part.at).min(part.count);
        let end = self.positions.end.saturating_sub(part.at).min(part.count);
        if self.axis < cut.axis {
            let each = count / part.count.max(1);
            return begin * each..end * each;
        }
        begin.div_ceil(cut.rows)..end.div_ceil(cut.rows)
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
    stage: Option<Stage>,
}

impl<'a> Strips<'a> {
    /// The strips of a selection.
    pub(crate) fn new(touch: &'a Touch, limit: u64) -> Strips<'a> {
        Strips::of_stage(touch, limit, None)
    }

    /// Those of a stage, where it is one.
    pub(crate) fn of_stage(touch: &'a Touch, limit: u64, stage: Option<Stage>) -> Strips<'a> {
        let cut = Cut { axis: 0, rows: u64::MAX };
        let mut cursor = touch.cursor();
        let boxes = cursor.boxes().map_or_else(Vec::new, <[AxisBox]>::to_vec);
        if let Some(stage) = &stage {
            cursor.seek(stage.axis, stage.positions.start);
        }
        let mut strips = Strips { cursor, limit, cut, at: 0, count: 0, parts: 0, boxes, stage };
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

    /// The part of the strip's chunk that is walked over.
    pub(crate) fn chunk_boxes(&self) -> Option<&[AxisBox]> {
        self.cursor.boxes()
    }

    /// Whether the strip is the first of its chunk.
    pub(crate) fn is_first(&self) -> bool {
        self.at == 0
    }

    /// Steps to the first strip of the next chunk.
    pub(crate) fn skip_chunk(&mut self) {
        self.cursor.advance();
        self.enter();
    }

    /// Steps to the next strip.
    pub(crate) fn advance(&mut self) {
        self.at += 1;
        if self.at < self.count {
            self.place();
        } else {
            self.skip_chunk();
        }
    }

    /// Cuts the chunk that the cursor has come to, or the next one of which there are strips.
    fn enter(&mut self) {
        while let Some(boxes) = self.cursor.boxes() {
            self.boxes.copy_from_slice(boxes);
            self.cut = Cut::new(boxes.iter().map(|part| part.count), self.limit);
            let mut count = 1;
            if let Some(part) = boxes.get(self.cut.axis) {
                self.parts = part.count.div_ceil(self.cut.rows);
                count = self.parts * element_count(&boxes[..self.cut.axis]);
            }
            let strips = match &self.stage {
                Some(stage) if stage.positions.end <= boxes[stage.axis].at => {
                    return self.cursor.stop();
                }
                Some(stage) => stage.strips_of(&boxes[stage.axis], self.cut, count),
                None => 0..count,
            };
            (self.at, self.count) = (strips.start, strips.end);
            if count > 1 && !strips.is_empty() {
                self.place();
            }
            if !strips.is_empty() {
                return;
            }
            self.cursor.advance();
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

/// The elements of one strip as a range, when all elements between them are selected.
pub(crate) fn dense_range(boxes: &[AxisBox]) -> Option<Range<u64>> {
    let stretches = Stretches::new(boxes, 0, 0);
    (stretches.total() == 1).then_some(stretches.base..stretches.end)
}
