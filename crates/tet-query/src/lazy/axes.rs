//! The axes of a lazy array, and the runs of positions that a part of it takes along them.

use std::ops::Range;
use std::sync::Arc;

use super::LazyArray;
use crate::catalog::Dataset;
use crate::error::{Error, Result};
use crate::reduction::AxisPicks;
use crate::selection::{AxisSlice, Hyperslab};

/// A kept axis of the dataset: its slice, and which of the slice's positions are shown.
#[derive(Clone, Debug)]
pub(crate) struct LazyAxis {
    /// The axis of the dataset.
    pub axis: usize,
    slice: AxisSlice,
    picks: Option<Arc<[u64]>>,
    /// The extent of a chunk.
    chunk: u64,
}

impl LazyAxis {
    /// The kept axes of a selection.
    pub(super) fn kept(dataset: &Dataset, slab: &Hyperslab) -> Vec<LazyAxis> {
        let axes = slab.axes().iter().zip(dataset.grid.chunk_shape().iter()).enumerate();
        let kept = axes.filter(|(_, (slice, _))| slice.is_kept());
        kept.map(|(axis, (&slice, &chunk))| LazyAxis {
            axis,
            slice,
            picks: None,
            chunk: chunk.max(1),
        })
        .collect()
    }

    /// An axis by itself.
    #[cfg(test)]
    pub(super) fn made(slice: AxisSlice, chunk: u64, picks: Option<&[u64]>) -> LazyAxis {
        LazyAxis { axis: 0, slice, picks: picks.map(Arc::from), chunk }
    }

    /// How many positions are shown.
    pub(super) fn count(&self) -> u64 {
        self.picks.as_ref().map_or(self.slice.count(), |picks| picks.len() as u64)
    }

    /// The dataset's position of a shown one, which there is.
    pub(super) fn position(&self, at: u64) -> u64 {
        let nth = match &self.picks {
            None => at,
            Some(picks) => {
                usize::try_from(at).ok().and_then(|at| picks.get(at)).copied().unwrap_or(0)
            }
        };
        self.slice.start + nth * self.slice.step
    }

    /// Shown positions that a chunk holds, about.
    pub(super) fn chunk_count(&self) -> u64 {
        let count = self.chunk.div_ceil(self.slice.step.max(1));
        count.min(self.count()).max(1)
    }

    /// The first shown position of those before `at` that lie in its chunk.
    pub(super) fn chunk_start(&self, at: u64) -> u64 {
        self.first_from(self.position(at) / self.chunk * self.chunk).min(at)
    }

    /// The first shown position after `at` in another chunk.
    pub(super) fn chunk_end(&self, at: u64) -> u64 {
        let end = (self.position(at) / self.chunk + 1).saturating_mul(self.chunk);
        self.first_from(end).max(at + 1)
    }

    /// How many positions of a slice of the shown ones lie in the chunks before one near the middle; `None` where all lie in
    /// one chunk.
    fn chunk_cut(&self, part: &AxisSlice) -> Option<u64> {
        let (step, count) = (part.step.max(1), part.count());
        let middle = part.start.saturating_add(count / 2 * step);
        let ends = [self.chunk_start(middle), self.chunk_end(middle)];
        let cuts = ends.map(|end| end.saturating_sub(part.start).div_ceil(step));
        cuts.into_iter().find(|cut| (1..count).contains(cut))
    }

    /// The first shown position that is not before a position of the dataset.
    fn first_from(&self, position: u64) -> u64 {
        match &self.picks {
            None => position.saturating_sub(self.slice.start).div_ceil(self.slice.step),
            Some(picks) => {
                let before = |&nth: &u64| self.slice.start + nth * self.slice.step < position;
                picks.partition_point(before) as u64
            }
        }
    }

    /// A slice of the shown positions as one of the dataset's; there are no picks.
    fn composed(&self, part: &AxisSlice) -> AxisSlice {
        let AxisSlice { start, step, .. } = self.slice;
        let first = start + part.start * step;
        match part.last() {
            None => AxisSlice { start, stop: start, step: 1, axis: part.axis },
            Some(last) => AxisSlice {
                start: first,
                stop: start + last * step + 1,
                // One position has no neighbor, however far that would be.
                step: if part.count() == 1 { 1 } else { part.step * step },
                axis: part.axis,
            },
        }
    }

    /// The runs of the dataset's positions that make up a slice of the shown ones.
    pub(super) fn runs(&self, part: &AxisSlice, near: Near) -> Vec<PickRun> {
        if self.picks.is_none() {
            let count = usize::try_from(part.count()).unwrap_or(usize::MAX);
            return vec![PickRun { to: 0, count, slice: self.composed(part), offsets: None }];
        }
        let shown = (0..part.count()).map(|nth| self.position(part.start + nth * part.step));
        runs(&shown.collect::<Vec<_>>(), near)
    }

    /// The rule by which positions are neighbors, with `inner_len` bytes between two of them.
    pub(super) fn near(&self, inner_len: u64, decodes_whole: bool) -> Near {
        let gap = GAP_LEN / inner_len.max(1);
        Near { gap, chunk: decodes_whole.then_some(self.chunk) }
    }
}

/// Bytes between two picks that are read through.
const GAP_LEN: u64 = 1 << 12;

/// Which positions are read together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    /// At most so far from each other.
    pub gap: u64,
    /// Or in the same chunk of this extent.
    pub chunk: Option<u64>,
}

impl Near {
    fn joins(self, a: u64, b: u64) -> bool {
        let in_one = self.chunk.is_some_and(|chunk| a / chunk == b / chunk);
        a < b && (b - a <= self.gap || in_one)
    }
}

/// Picked positions that are read together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PickRun {
    /// The first of them in the part.
    pub to: usize,
    pub count: usize,
    /// The dataset's positions that are read.
    pub slice: AxisSlice,
    /// Which of the read positions are picked; all of them when it is `None`.
    pub offsets: Option<Vec<usize>>,
}

/// Cuts positions into even steps, and joins these where reading through them is cheaper.
fn runs(positions: &[u64], near: Near) -> Vec<PickRun> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut joined: Vec<bool> = Vec::new();
    // Neighbors leave nothing out, also where a chunk ends between the first two.
    let is_dense = |run: &Range<usize>| {
        let (first, second) = (positions[run.start], positions.get(run.start + 1));
        run.len() == 1 || second.is_some_and(|&it| it == first + 1 || near.joins(first, it))
    };
    let mut at = 0;
    while at < positions.len() {
        let run = at..even(positions, at);
        at = run.end;
        match (runs.last_mut(), joined.last_mut()) {
            (Some(before), Some(is_joined))
                if near.joins(positions[before.end - 1], positions[run.start])
                    && is_dense(&run)
                    && (*is_joined || is_dense(before)) =>
            {
                before.end = run.end;
                *is_joined = true;
            }
            _ => {
                runs.push(run);
                joined.push(false);
            }
        }
    }
    let run = |(range, is_joined): (Range<usize>, bool)| {
        let (first, last) = (positions[range.start], positions[range.end - 1]);
        let step =
            if is_joined || range.len() == 1 { 1 } else { positions[range.start + 1] - first };
        let slice = AxisSlice { start: first, stop: last + 1, step, axis: Default::default() };
        let offset = |&position: &u64| usize::try_from(position - first).unwrap_or(usize::MAX);
        let offsets = is_joined.then(|| positions[range.clone()].iter().map(offset).collect());
        PickRun { to: range.start, count: range.len(), slice, offsets }
    };
    runs.into_iter().zip(joined).map(run).collect()
}

/// Where the even steps upward end that begin at `at`.
fn even(positions: &[u64], at: usize) -> usize {
    let step = match positions.get(at + 1) {
        Some(&next) if positions[at] < next => next - positions[at],
        _ => return at + 1,
    };
    let mut pairs = positions[at..].windows(2);
    let uneven = pairs.position(|pair| pair[1] <= pair[0] || pair[1] - pair[0] != step);
    uneven.map_or(positions.len(), |nth| at + nth + 1)
}

/// Two halves of a selection, row-major one after the other; `None` for one element or none.
pub(super) fn halves(whole: &Hyperslab) -> Option<[Hyperslab; 2]> {
    let axis = whole.axes().iter().position(|slice| slice.count() > 1)?;
    cut_along(whole, axis, whole.axes()[axis].count() / 2)
}

/// A selection cut behind so many positions of its first axis with several.
fn cut_along(whole: &Hyperslab, axis: usize, middle: u64) -> Option<[Hyperslab; 2]> {
    let axes = whole.axes();
    let (slice, count) = (axes[axis], axes[axis].count());
    let cut = |first, end| {
        let mut axes = axes.to_vec();
        axes[axis] = slice.part(first..end);
        // As far as the slices reach: they hold to what is promised for those extents.
        let extents: Vec<u64> = axes.iter().map(|slice| slice.stop).collect();
        Hyperslab::new(axes, &extents)
    };
    Some([cut(0, middle)?, cut(middle, count)?])
}

impl LazyArray {
    /// Two parts of a selection, row-major one after the other, that have no chunk in common along the axis of the cut;
    /// `None` where there is no such cut.
    pub(super) fn chunk_halves(&self, part: &Hyperslab) -> Option<[Hyperslab; 2]> {
        let axis = part.axes().iter().position(|slice| slice.count() > 1)?;
        cut_along(part, axis, self.axes.get(axis)?.chunk_cut(&part.axes()[axis])?)
    }

    /// Whether positions are picked.
    pub(super) fn is_picked(&self) -> bool {
        self.axes.iter().any(|axis| axis.picks.is_some())
    }

    /// Shows only these positions.
    pub(super) fn pick(&mut self, picks: &[AxisPicks]) -> Result<()> {
        let rank = self.slab.axes().len();
        let mut picked = vec![false; rank];
        for picks in picks {
            match picked.get_mut(picks.axis) {
                Some(picked) if !*picked => *picked = true,
                _ => return Err(Error::Axis { axis: picks.axis, rank }),
            }
            let count = self.slab.axes()[picks.axis].count();
            let axis = self.axes.iter_mut().find(|axis| axis.axis == picks.axis);
            let is_there = picks.positions.iter().all(|&at| at < count);
            match axis {
                Some(axis) if is_there => axis.picks = Some(Arc::clone(&picks.positions)),
                // A dropped axis has one position, which is picked or is not.
                None if *picks.positions == [0] => {}
                _ => return Err(Error::misfit(&self.dataset)),
            }
        }
        self.shape = self.axes.iter().map(LazyAxis::count).collect();
        Ok(())
    }

    /// A part as a selection of the dataset; there are no picks.
    pub(super) fn composed(&self, part: &Hyperslab) -> Result<Hyperslab> {
        self.check(part)?;
        let slices = self.axes.iter().zip(part.axes()).map(|(axis, part)| axis.composed(part));
        self.with_dropped(slices)
    }

    /// Slices of the kept axes, and those of the dropped ones.
    pub(super) fn with_dropped(
        &self,
        mut kept: impl Iterator<Item = AxisSlice>,
    ) -> Result<Hyperslab> {
        let axes = self.slab.axes().iter();
        let axes = axes.map(|slice| if slice.is_kept() { kept.next() } else { Some(*slice) });
        axes.collect::<Option<Vec<_>>>()
            .and_then(|axes| Hyperslab::new(axes, self.dataset.shape()))
            .ok_or_else(|| Error::misfit(&self.dataset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every choice of a few positions comes back in order, whatever is near to what.
    #[test]
    fn runs_are_the_positions_again() {
        for choice in 0_u32..1 << 10 {
            let mut positions: Vec<u64> = (0..10).filter(|at| choice >> at & 1 == 1).collect();
            if choice % 3 == 0 {
                positions.reverse();
            }
            for gap in [0, 1, 2, 4] {
                for chunk in [None, Some(1), Some(4)] {
                    let near = Near { gap, chunk };
                    let mut found = Vec::new();
                    for run in runs(&positions, near) {
                        assert_eq!(run.to, found.len());
                        let read: Vec<u64> = (run.slice.start..run.slice.stop)
                            .step_by(usize::try_from(run.slice.step).unwrap())
                            .collect();
                        match &run.offsets {
                            None => found.extend(read),
                            Some(offsets) => found.extend(offsets.iter().map(|&at| read[at])),
                        }
                        assert_eq!(run.to + run.count, found.len());
                    }
                    assert_eq!(found, positions, "{near:?}");
                }
            }
        }
    }

    #[test]
    fn even_steps_are_one_run_and_a_chunk_is_read_once() {
        let far = Near { gap: 0, chunk: None };
        assert_eq!(runs(&[3, 15, 27, 39], far).len(), 1);
        assert_eq!(runs(&[0, 1, 2, 9, 10, 11], far).len(), 2);
        assert_eq!(runs(&[0, 1, 2, 9, 10, 11], Near { gap: 7, chunk: None }).len(), 1);
        assert_eq!(runs(&[0, 2, 3, 7, 8, 13], Near { gap: 0, chunk: Some(8) }).len(), 2);
    }
}
