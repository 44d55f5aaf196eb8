//! Sets of ranks: ranges in order that do not touch.

use std::ops::Range;

/// How much of a range is in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    All,
    Some,
    None,
}

/// Half-open ranges in order, with ranks between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges(Vec<Range<i128>>);

impl Ranges {
    /// The ranks that lie in one of these ranges, which are in order and do not overlap.
    pub(super) fn new(ranges: impl IntoIterator<Item = Range<i128>>) -> Self {
        let mut set = Ranges::default();
        ranges.into_iter().for_each(|range| set.push(range));
        set
    }

    /// The ranks of one range.
    pub(super) fn one(range: Range<i128>) -> Self {
        Ranges::new(std::iter::once(range))
    }

    /// Takes in a range that starts where the last one ends, or later.
    fn push(&mut self, range: Range<i128>) {
        match self.0.last_mut() {
            _ if range.is_empty() => {}
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.0.push(range),
        }
    }

    /// The intersection.
    pub(super) fn and(&self, other: &Self) -> Self {
        let pairs = self.0.iter().flat_map(|a| other.0.iter().map(move |b| (a, b)));
        Ranges::new(pairs.map(|(a, b)| a.start.max(b.start)..a.end.min(b.end)))
    }

    /// The complement within 0 to `end`.
    pub(super) fn not(&self, end: i128) -> Self {
        let starts = std::iter::once(0).chain(self.0.iter().map(|range| range.end));
        let ends = self.0.iter().map(|range| range.start).chain([end]);
        Ranges::new(starts.zip(ends).map(|(start, end)| start..end))
    }

    /// How much of a range, which is not empty, is in the set.
    pub(super) fn share(&self, range: &Range<i128>) -> Share {
        let meets = |part: &&Range<i128>| part.start < range.end && range.start < part.end;
        match self.0.iter().find(meets) {
            None => Share::None,
            Some(part) if part.start <= range.start && range.end <= part.end => Share::All,
            Some(_) => Share::Some,
        }
    }

    /// The ranges.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Range<i128>> {
        self.0.iter()
    }
}
