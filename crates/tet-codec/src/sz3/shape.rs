//! The extents of an array of 1 to 4 axes, and walks over it.

use std::ops::Range;

use super::bytes::Bytes;
use super::fault::corrupt;
use crate::error::Result;

/// The most axes.
pub(super) const RANK_MAX: usize = 4;

/// A coordinate along each axis, slowest first. Axes that an array does not have come first and have the extent 1.
pub(super) type Coord = [usize; RANK_MAX];

/// The extents of an array, and its strides in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    rank: usize,
    extents: Coord,
    strides: Coord,
    count: u64,
}

impl Shape {
    /// The shape with these extents, slowest first; none is 0.
    pub(super) fn new(extents: &[u64]) -> Result<Shape> {
        let rank = extents.len();
        if !(1..=RANK_MAX).contains(&rank) {
            return Err(corrupt("an array has 1 to 4 axes"));
        }
        let mut shape = Shape { rank, extents: [1; RANK_MAX], strides: [0; RANK_MAX], count: 1 };
        for (axis, extent) in (RANK_MAX - rank..).zip(extents) {
            shape.extents[axis] = usize::try_from(*extent).unwrap_or(0);
        }
        for axis in (0..RANK_MAX).rev() {
            let too_large = corrupt("the extents of the array are 0 or too large");
            shape.strides[axis] = usize::try_from(shape.count).map_err(|_| too_large.clone())?;
            let count = shape.count.checked_mul(shape.extents[axis] as u64);
            shape.count = count.filter(|count| *count != 0).ok_or(too_large)?;
        }
        Ok(shape)
    }

    /// Reads the extents again, which must be the same.
    pub(super) fn check(&self, bytes: &mut Bytes<'_>) -> Result<()> {
        for axis in self.axes() {
            if bytes.u64()? != self.extents[axis] as u64 {
                return Err(corrupt("the extents of the array differ from its configuration"));
            }
        }
        Ok(())
    }

    pub(super) const fn rank(&self) -> usize {
        self.rank
    }

    /// The axes that the array has.
    pub(super) const fn axes(&self) -> Range<usize> {
        RANK_MAX - self.rank..RANK_MAX
    }

    pub(super) const fn extents(&self) -> &Coord {
        &self.extents
    }

    pub(super) const fn strides(&self) -> &Coord {
        &self.strides
    }

    /// The number of elements.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// The number of the element at a place.
    pub(super) fn at(&self, place: &Coord) -> usize {
        let steps = place.iter().zip(&self.strides);
        steps.fold(0, |at, (coordinate, stride)| at + coordinate * stride)
    }

    /// Calls `work` with the first place of each block of `len` elements along each axis, and with its extents.
    pub(super) fn blocks(
        &self,
        len: usize,
        mut work: impl FnMut(&Coord, &Coord) -> Result<()>,
    ) -> Result<()> {
        each(&[0; RANK_MAX], &self.extents, &[len.max(1); RANK_MAX], |origin| {
            let mut extents = [0; RANK_MAX];
            for axis in 0..RANK_MAX {
                extents[axis] = len.max(1).min(self.extents[axis] - origin[axis]);
            }
            work(origin, &extents)
        })
    }
}

/// Calls `work` with every place from `first` to before `end` in steps, the last axis fastest.
pub(super) fn each(
    first: &Coord,
    end: &Coord,
    steps: &Coord,
    mut work: impl FnMut(&Coord) -> Result<()>,
) -> Result<()> {
    if first.iter().zip(end).any(|(first, end)| end <= first) {
        return Ok(());
    }
    let mut place = *first;
    loop {
        work(&place)?;
        let mut axis = RANK_MAX;
        loop {
            let Some(before) = axis.checked_sub(1) else { return Ok(()) };
            axis = before;
            place[axis] = place[axis].saturating_add(steps[axis].max(1));
            if place[axis] < end[axis] {
                break;
            }
            place[axis] = first[axis];
        }
    }
}
