//! A half-open range of bytes of a file.

use core::fmt;
use core::ops::Range;

/// A half-open range of bytes of a file: `start <= byte < end`.
///
/// All constructors check that the end does not overflow and is not before the start, so `len` is
/// always valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    start: u64,
    end: u64,
}

impl Span {
    /// No bytes, at 0.
    pub const EMPTY: Span = Span { start: 0, end: 0 };

    /// The span of `len` bytes from `offset` on; `None` if its end overflows.
    #[must_use]
    pub const fn new(offset: u64, len: u64) -> Option<Span> {
        match offset.checked_add(len) {
            Some(end) => Some(Span { start: offset, end }),
            None => None,
        }
    }

    /// The span of a range; `None` when the range ends before it starts.
    #[must_use]
    pub const fn from_range(range: Range<u64>) -> Option<Span> {
        if range.start <= range.end {
            Some(Span { start: range.start, end: range.end })
        } else {
            None
        }
    }

    /// The first byte.
    #[must_use]
    pub const fn start(self) -> u64 {
        self.start
    }

    /// One past the last byte.
    #[must_use]
    pub const fn end(self) -> u64 {
        self.end
    }

    /// The number of bytes.
    #[must_use]
    pub const fn len(self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Whether the span holds no byte.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The span as a range.
    #[must_use]
    pub const fn range(self) -> Range<u64> {
        self.start..self.end
    }

    /// Whether every byte of `other` is in this span. An empty span is contained if its position is
    /// in this span or at its end.
    #[must_use]
    pub const fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Whether the span holds the byte at `offset`.
    #[must_use]
    pub const fn contains_byte(self, offset: u64) -> bool {
        self.start <= offset && offset < self.end
    }

    /// Whether the two share a byte. An empty span shares none.
    #[must_use]
    pub const fn overlaps(self, other: Span) -> bool {
        !self.is_empty() && !other.is_empty() && self.start < other.end && other.start < self.end
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {})", self.start, self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn ends_that_do_not_fit_are_refused() {
        assert_eq!(Span::new(u64::MAX, 0).unwrap().len(), 0);
        assert_eq!(Span::new(1, u64::MAX - 1).unwrap().end(), u64::MAX);
        assert_eq!(Span::new(1, u64::MAX), None);
        #[allow(clippy::reversed_empty_ranges, reason = "that is the point")]
        let backwards = Span::from_range(2..1);
        assert_eq!(backwards, None);
        assert_eq!(Span::from_range(2..2).unwrap().range(), 2..2);
    }

    /// Against sets of bytes, for every pair of spans in a five-byte file.
    #[test]
    fn overlap_and_containment_are_those_of_sets() {
        let spans: Vec<Span> = (0..5)
            .flat_map(|at| (0..=5 - at).map(move |len| Span::new(at, len).unwrap()))
            .collect();
        for &a in &spans {
            for &b in &spans {
                let shared = (0..5).any(|at| a.contains_byte(at) && b.contains_byte(at));
                assert_eq!(a.overlaps(b), shared, "{a} {b}");
                if !b.is_empty() {
                    assert_eq!(a.contains(b), b.range().all(|at| a.contains_byte(at)), "{a} {b}");
                }
            }
        }
    }
}
