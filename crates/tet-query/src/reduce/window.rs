//! Where the windows over an axis lie.

use std::ops::Range;

use crate::reduction::{Window, WindowAlign, WindowMode};

/// Windows over the selected positions of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Windows {
    /// How many there are.
    pub count: u64,
    /// Where the first starts; before 0 when it reaches past the start.
    pub first: i64,
    /// Positions between two starts.
    pub step: u64,
    /// Positions of a window.
    pub size: u64,
    /// Positions of the axis.
    extent: u64,
}

impl Windows {
    /// The windows over `extent` positions.
    pub(super) fn new(window: &Window, extent: u64) -> Windows {
        let size = window.size.clamp(1, i64::MAX.unsigned_abs());
        let padded = window.pad.is_some();
        let starts =
            |positions: u64, step: u64| positions.checked_sub(1).map_or(0, |last| last / step + 1);
        let step = if window.mode == WindowMode::Bins { size } else { window.step.max(1) };
        let (count, first) = match (window.mode, window.align) {
            (WindowMode::Bins, WindowAlign::Start) => (extent.div_ceil(size), 0),
            (WindowMode::Bins, WindowAlign::End) => {
                let count = extent.div_ceil(size);
                (count, signed(extent) - signed(count.saturating_mul(size)))
            }
            (WindowMode::Rolling, WindowAlign::Start) if padded => {
                (starts(extent, step), 1 - signed(size))
            }
            (WindowMode::Rolling, WindowAlign::End) if padded => (starts(extent, step), 0),
            (WindowMode::Rolling, _) => (starts((extent + 1).saturating_sub(size), step), 0),
        };
        Windows { count, first, step, size, extent }
    }

    /// Whether a position lies in more than one window.
    pub(super) fn overlap(&self) -> bool {
        self.step < self.size && self.count > 1
    }

    /// The positions of a window that are on the axis.
    pub(super) fn positions(&self, window: u64) -> Range<u64> {
        let start = i128::from(self.first) + i128::from(window) * i128::from(self.step);
        let clip = |at: i128| u64::try_from(at).unwrap_or(0).min(self.extent);
        clip(start)..clip(start + i128::from(self.size))
    }

    /// The positions of some neighboring windows.
    pub(super) fn span(&self, windows: &Range<u64>) -> Range<u64> {
        if windows.is_empty() {
            return 0..0;
        }
        self.positions(windows.start).start..self.positions(windows.end - 1).end
    }

    /// The window a position lies in and how far from its start, when windows do not overlap; the
    /// position may lie in the gap behind it.
    pub(super) fn window_of(&self, position: u64) -> (u64, u64) {
        // Positions lie at or behind the first start, or before it in no window.
        let from_first = i128::from(position) - i128::from(self.first);
        let from_first = u64::try_from(from_first).unwrap_or(0);
        (from_first / self.pitch(), from_first % self.pitch())
    }

    /// Whether some positions lie in one window, and in no other.
    pub(super) fn is_in_one(&self, positions: Range<u64>) -> bool {
        let (window, _) = self.window_of(positions.start);
        let held = self.positions(window);
        let is_inside = held.start <= positions.start && positions.end <= held.end;
        !self.overlap() && window < self.count && is_inside
    }

    /// Positions from one window to the next, when windows do not overlap.
    pub(super) fn pitch(&self) -> u64 {
        self.step.max(self.size)
    }
}

fn signed(position: u64) -> i64 {
    i64::try_from(position).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduction::Number;

    fn windows(
        extent: u64,
        size: u64,
        step: u64,
        mode: WindowMode,
        pad: bool,
        align: WindowAlign,
    ) -> Vec<Range<u64>> {
        let pad = pad.then_some(Number::Int(0));
        let window = Window { axis: 0, size, step, mode, pad, align, min_count: None };
        let windows = Windows::new(&window, extent);
        (0..windows.count).map(|window| windows.positions(window)).collect()
    }

    #[test]
    #[allow(clippy::single_range_in_vec_init, reason = "one window is one range")]
    fn windows_are_aligned_as_requested() {
        use WindowAlign::{End, Start};
        use WindowMode::{Bins, Rolling};
        assert_eq!(windows(5, 2, 2, Bins, false, Start), [0..2, 2..4, 4..5]);
        assert_eq!(windows(5, 2, 2, Bins, false, End), [0..1, 1..3, 3..5]);
        assert_eq!(windows(5, 9, 9, Bins, false, Start), [0..5]);
        assert_eq!(windows(0, 2, 2, Bins, true, Start), []);
        assert_eq!(windows(5, 2, 1, Rolling, false, Start), [0..2, 1..3, 2..4, 3..5]);
        assert_eq!(windows(5, 2, 3, Rolling, false, Start), [0..2, 3..5]);
        assert_eq!(windows(2, 3, 1, Rolling, false, Start), []);
        assert_eq!(windows(3, 3, 1, Rolling, true, Start), [0..1, 0..2, 0..3]);
        assert_eq!(windows(3, 2, 1, Rolling, true, End), [0..2, 1..3, 2..3]);
        assert_eq!(windows(3, 2, 2, Rolling, true, End), [0..2, 2..3]);
        assert_eq!(windows(0, 2, 1, Rolling, true, End), []);
    }
}
