//! A lazy array in blocks that fit in memory, in row-major order.
//!
//! A block is single positions of the leading axes, a range of the axis it is cut along, and all
//! of the axes after. Cuts fall between chunks where they can, so that a chunk is decoded once.

use super::LazyArray;
use super::axes::LazyAxis;
use crate::selection::{AxisSlice, Hyperslab};

/// How a lazy array is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    axis: usize,
    /// Positions along the axis that are wished for.
    wanted: u64,
    /// Positions along the axis that memory holds.
    most: u64,
}

/// The blocks of a lazy array: selections of its shape, in row-major order.
#[derive(Clone, Debug)]
pub struct Blocks<'l> {
    axes: &'l [LazyAxis],
    shape: &'l [u64],
    cut: Cut,
    /// The first positions of the next block; `None` past the last.
    next: Option<Vec<u64>>,
}

impl LazyArray {
    /// Cuts the lazy array into blocks of about `len_wanted` bytes and at most `len_max`; `None` when not
    /// even one element fits.
    #[must_use]
    pub fn blocks(&self, len_wanted: u64, len_max: u64) -> Option<Blocks<'_>> {
        let (axes, shape) = (&self.axes[..], self.shape.as_slice());
        let cut = cut(axes, shape, self.size(), len_wanted.min(len_max), len_max)?;
        let next = (!shape.contains(&0)).then(|| vec![0; shape.len()]);
        Some(Blocks { axes, shape, cut, next })
    }
}

impl Iterator for Blocks<'_> {
    type Item = Hyperslab;

    fn next(&mut self) -> Option<Hyperslab> {
        let mut at = self.next.take()?;
        let mut slices: Vec<AxisSlice> =
            self.shape.iter().map(|&extent| AxisSlice::whole(extent)).collect();
        let mut end = 0;
        if let Some(axis) = self.axes.get(self.cut.axis) {
            end = next_cut(axis, at[self.cut.axis], self.cut);
        }
        for (axis, slice) in slices.iter_mut().enumerate().take(self.cut.axis + 1) {
            let end = if axis == self.cut.axis { end } else { at[axis] + 1 };
            *slice = slice.part(at[axis]..end);
        }
        // On to the next positions, the cut axis first.
        for axis in (0..self.shape.len().min(self.cut.axis + 1)).rev() {
            at[axis] = if axis == self.cut.axis { end } else { at[axis] + 1 };
            if at[axis] < self.shape[axis] {
                self.next = Some(at);
                break;
            }
            at[axis] = 0;
        }
        Hyperslab::new(slices, self.shape)
    }
}

/// The first axis whose single positions fit; `None` if not even one element does.
fn cut(axes: &[LazyAxis], shape: &[u64], size: u64, len_wanted: u64, len_max: u64) -> Option<Cut> {
    for (at, axis) in axes.iter().enumerate() {
        let inner = shape[at + 1..].iter().copied().fold(size, u64::saturating_mul);
        let most = len_max / inner.max(1);
        // A chunk's worth of positions should fit, or its chunks are decoded for each block.
        let worth = axis.chunk_count().min(shape[at]);
        let is_last_chance = at + 1 == axes.len() || shape[..=at].iter().any(|&count| count > 1);
        if most >= worth || (most > 0 && is_last_chance) {
            return Some(Cut { axis: at, wanted: (len_wanted / inner.max(1)).max(1), most });
        }
    }
    axes.is_empty().then_some(Cut { axis: 0, wanted: 1, most: 1 })
}

/// Where the block that starts at position `first` ends.
fn next_cut(axis: &LazyAxis, first: u64, cut: Cut) -> u64 {
    let count = axis.count();
    let farthest = first.saturating_add(cut.most.max(1)).min(count);
    let wished = first.saturating_add(cut.wanted).min(farthest);
    if wished == count {
        return count;
    }
    let before = axis.chunk_start(wished);
    if before > first {
        return before;
    }
    let after = axis.chunk_end(wished);
    if after <= farthest { after } else { farthest }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An axis of 20 positions, cut every `chunk`.
    fn axis(start: u64, step: u64, chunk: u64, picks: Option<&[u64]>) -> LazyAxis {
        LazyAxis::made(AxisSlice { start, stop: 20, step, axis: Default::default() }, chunk, picks)
    }

    #[test]
    fn cuts_fall_between_chunks_where_they_can() {
        for chunk in 1..8 {
            for start in 0..4 {
                for step in 1..4 {
                    for wanted in 1..9 {
                        for most in wanted..12 {
                            let cut = Cut { axis: 0, wanted, most };
                            check(&axis(start, step, chunk, None), chunk, cut);
                            let picks = [0, 1, 3, 4, 5];
                            check(&axis(start, step, chunk, Some(&picks)), chunk, cut);
                        }
                    }
                }
            }
        }
    }

    fn check(axis: &LazyAxis, chunk: u64, cut: Cut) {
        let what = format!("{axis:?} by {chunk}, {cut:?}");
        let mut first = 0;
        while first < axis.count() {
            let end = next_cut(axis, first, cut);
            assert!(first < end && end <= axis.count() && end - first <= cut.most, "{what}");
            // A cut inside a chunk happens only where the block could not reach its end.
            let chunk_of = |at: u64| axis.position(at) / chunk;
            if end < axis.count() && chunk_of(end) == chunk_of(end - 1) {
                assert_eq!(chunk_of(first), chunk_of(end), "no boundary was passed: {what}");
                let reach = (first + cut.most).min(axis.count() - 1);
                let full = end - first == cut.most;
                assert!(full && chunk_of(reach) == chunk_of(first), "{what}");
            }
            first = end;
        }
    }

    #[test]
    fn the_cut_is_the_first_axis_whose_chunks_fit() {
        let whole = |extent| LazyAxis::made(AxisSlice::whole(extent), 10, None);
        let axes = [whole(100), whole(50), whole(10)];
        let at = |len_max| {
            cut(&axes, &[100, 50, 10], 4, len_max, len_max).map(|cut| (cut.axis, cut.most))
        };
        assert_eq!(at(1 << 20), Some((0, 524)));
        assert_eq!(at(20_000), Some((0, 10)));
        assert_eq!(at(4_000), Some((0, 2)));
        assert_eq!(at(400), Some((1, 10)));
        assert_eq!(at(40), Some((1, 1)));
        assert_eq!(at(8), Some((2, 2)));
        assert_eq!(at(3), None);
    }
}
