//! A resolved selection: start, stop and step per axis, in range and in order.

use std::ops::Range;

use tet_format::{Grid, Shape};

/// Whether an axis appears in the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Axis {
    /// The axis appears, even with one position or none.
    #[default]
    Kept,
    /// One position was taken and the axis does not appear.
    Dropped,
}

/// The selected positions of one axis: `start <= position < stop`, every `step`-th.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AxisSlice {
    /// The first position; at most the extent.
    pub start: u64,
    /// One past the last position that may be selected; at least `start`, at most the extent.
    pub stop: u64,
    /// The distance between selected positions, at least 1.
    pub step: u64,
    /// Whether the axis appears in the result.
    pub axis: Axis,
}

impl AxisSlice {
    /// All positions of an axis of this extent.
    #[must_use]
    pub const fn whole(extent: u64) -> Self {
        AxisSlice { start: 0, stop: extent, step: 1, axis: Axis::Kept }
    }

    /// How many positions are selected.
    #[must_use]
    pub const fn count(&self) -> u64 {
        let step = if self.step == 0 { 1 } else { self.step };
        self.stop.saturating_sub(self.start).div_ceil(step)
    }

    /// The last selected position, if there is one.
    #[must_use]
    pub const fn last(&self) -> Option<u64> {
        match self.count() {
            0 => None,
            count => Some(self.start + (count - 1) * self.step),
        }
    }

    /// Those of the selected positions that `range` counts through.
    pub(crate) fn part(self, range: Range<u64>) -> AxisSlice {
        let start = (self.start + range.start * self.step).min(self.stop);
        let last = |end| self.start + (end - 1) * self.step;
        let stop = if range.is_empty() { start } else { last(range.end) + 1 };
        AxisSlice { start, stop, ..self }
    }

    /// Whether the axis appears in the result.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.axis == Axis::Kept
    }
}

/// A resolved selection, one slice per axis of the dataset.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hyperslab {
    pub(super) axes: Vec<AxisSlice>,
}

impl Hyperslab {
    /// All of an array of this shape.
    #[must_use]
    pub fn whole(shape: &[u64]) -> Self {
        Hyperslab { axes: shape.iter().map(|&extent| AxisSlice::whole(extent)).collect() }
    }

    /// The elements of chunk number `linear`; `None` when there is no such chunk.
    #[must_use]
    pub fn of_chunk(grid: &Grid, linear: u64) -> Option<Self> {
        if grid.chunk_count() <= linear {
            return None;
        }
        let coord = grid.coord_of(linear);
        let slices = grid.origin_of(&coord).into_iter().zip(grid.extents_of(&coord));
        let slices = slices.map(|(start, extent)| {
            let stop = start.saturating_add(extent);
            AxisSlice { start, stop, step: 1, axis: Axis::Kept }
        });
        Hyperslab::new(slices.collect(), grid.shape())
    }

    /// These slices, if each holds to what [`AxisSlice`] promises for its extent of `shape`.
    #[must_use]
    pub fn new(axes: Vec<AxisSlice>, shape: &[u64]) -> Option<Self> {
        let holds = |(slice, &extent): (&AxisSlice, &u64)| {
            let ordered = slice.start <= slice.stop && slice.stop <= extent && 1 <= slice.step;
            ordered && (slice.is_kept() || slice.count() == 1)
        };
        let fits = axes.len() == shape.len() && axes.iter().zip(shape).all(holds);
        fits.then_some(Hyperslab { axes })
    }

    /// Those of the selected positions that `ranges` count through, one range for each kept axis; ranges past the
    /// selection are cut to it.
    ///
    /// # Examples
    ///
    /// ```
    /// use tet_query::{AxisSlice, Hyperslab};
    ///
    /// let third = AxisSlice { step: 3, ..AxisSlice::whole(10) };
    /// let slab = Hyperslab::new(vec![third], &[10]).expect("it fits");
    /// let part = slab.part(&[1..3]);
    /// assert_eq!((part.axes()[0].start, part.axes()[0].last()), (3, Some(6)));
    /// ```
    #[must_use]
    pub fn part(&self, ranges: &[Range<u64>]) -> Hyperslab {
        let mut ranges = ranges.iter();
        let mut cut = |slice: &AxisSlice| {
            let Some(range) = slice.is_kept().then(|| ranges.next()).flatten() else {
                return *slice;
            };
            let end = range.end.min(slice.count());
            slice.part(range.start.min(end)..end)
        };
        Hyperslab { axes: self.axes.iter().map(&mut cut).collect() }
    }

    /// The slices, one per axis of the dataset.
    #[must_use]
    pub fn axes(&self) -> &[AxisSlice] {
        &self.axes
    }

    /// How many positions each axis selects, dropped axes (one position) included.
    #[must_use]
    pub fn counts(&self) -> Vec<u64> {
        self.axes.iter().map(AxisSlice::count).collect()
    }

    /// The shape of the result: the counts of the kept axes.
    #[must_use]
    pub fn kept_shape(&self) -> Shape {
        let kept: Vec<u64> =
            self.axes.iter().filter(|slice| slice.is_kept()).map(AxisSlice::count).collect();
        Shape::from(kept)
    }

    /// The axes that do not appear in the result.
    #[must_use]
    pub fn dropped_axes(&self) -> Vec<usize> {
        (0..self.axes.len()).filter(|&axis| !self.axes[axis].is_kept()).collect()
    }

    /// Whether no element is selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.axes.iter().any(|slice| slice.count() == 0)
    }

    /// The positions of the element that comes at this place of the selection, in row-major order.
    pub(crate) fn place(&self, nth: u64) -> Vec<u64> {
        let mut rest = nth;
        let mut at: Vec<u64> = Vec::with_capacity(self.axes.len());
        for slice in self.axes.iter().rev() {
            let count = slice.count().max(1);
            at.push(slice.start + rest % count * slice.step);
            rest /= count;
        }
        at.reverse();
        at
    }

    /// How many elements are selected; `None` past what 64 bits hold.
    #[must_use]
    pub fn element_count(&self) -> Option<u64> {
        if self.is_empty() {
            return Some(0);
        }
        self.axes.iter().try_fold(1u64, |product, slice| product.checked_mul(slice.count()))
    }
}
