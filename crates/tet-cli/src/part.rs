//! Parts of a selection, by positions within it.

use std::ops::Range;

use tet_query::{Axis, AxisSlice, Hyperslab};

/// The part of `slab` with the positions `ranges` of each kept axis, counted within the selection.
///
/// Ranges past the selection are clipped to it.
#[must_use]
pub(crate) fn part(slab: &Hyperslab, shape: &[u64], ranges: &[Range<u64>]) -> Option<Hyperslab> {
    let mut ranges = ranges.iter();
    let mut cut = |slice: &AxisSlice| {
        let Some(range) = (slice.axis == Axis::Kept).then(|| ranges.next()).flatten() else {
            return *slice;
        };
        let end = range.end.min(slice.count());
        let begin = range.start.min(end);
        let start = slice.start + begin * slice.step;
        let stop = match end - begin {
            0 => start,
            count => start + (count - 1) * slice.step + 1,
        };
        AxisSlice { start: start.min(slice.stop), stop: stop.min(slice.stop), ..*slice }
    };
    let axes: Vec<AxisSlice> = slab.axes().iter().map(&mut cut).collect();
    Hyperslab::new(axes, shape)
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;

    #[test]
    fn a_part_keeps_the_step() {
        let axes = vec![
            AxisSlice { start: 1, stop: 10, step: 3, axis: Axis::Kept },
            AxisSlice { start: 2, stop: 3, step: 1, axis: Axis::Dropped },
        ];
        let slab = Hyperslab::new(axes, &[10, 4]).expect("fits");
        let part = part(&slab, &[10, 4], from_ref(&(1..3))).expect("fits");
        assert_eq!(part.counts(), [2, 1]);
        assert_eq!((part.axes()[0].start, part.axes()[0].last()), (4, Some(7)));
        let none = super::part(&slab, &[10, 4], from_ref(&(5..9))).expect("fits");
        assert!(none.is_empty());
    }
}
