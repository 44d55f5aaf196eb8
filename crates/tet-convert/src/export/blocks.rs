//! A selection in blocks that fit in memory, in row-major order.
//!
//! A block is single positions of the leading axes, a range of the axis it is cut along, and all
//! of the axes after. Cuts fall between chunks where they can, so that a chunk is decoded once.

use tet_query::{Axis, AxisSlice, Dataset, Hyperslab};

use crate::{Error, Result};

/// Blocks are about this long where memory allows.
const BLOCK_LEN: u64 = 32 << 20;

/// How a selection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    axis: usize,
    /// Positions along the axis that make up [`BLOCK_LEN`].
    wanted: u64,
    /// Positions along the axis that memory holds.
    most: u64,
}

/// Calls `visit` with each block of `slab`; half of `memory_budget` is for a block's elements.
pub(crate) fn for_each(
    dataset: &Dataset,
    slab: &Hyperslab,
    memory_budget: u64,
    visit: &mut dyn FnMut(&Hyperslab) -> Result<()>,
) -> Result<()> {
    if slab.is_empty() {
        return Ok(());
    }
    let size = dataset.dtype.and_then(|dtype| dtype.size()).unwrap_or(1);
    let Some(cut) = cut(slab.axes(), dataset.grid.chunk_shape(), size, memory_budget / 2) else {
        return Err(Error::Budget {
            dataset: dataset.name.clone(),
            wanted: size.saturating_mul(2),
            limit: memory_budget,
        });
    };
    let mut axes = slab.axes().to_vec();
    outer(dataset, slab, cut, 0, &mut axes, visit)
}

/// The first axis whose single positions fit; `None` if not even one element does.
fn cut(axes: &[AxisSlice], chunk_shape: &[u64], size: u64, len_max: u64) -> Option<Cut> {
    for (axis, slice) in axes.iter().enumerate() {
        let inner = axes[axis + 1..].iter().map(AxisSlice::count).fold(size, u64::saturating_mul);
        let most = len_max / inner.max(1);
        // A chunk's worth of positions should fit, or its chunks are decoded for each block.
        let chunk = chunk_shape.get(axis).copied().unwrap_or(1);
        let worth = chunk.div_ceil(slice.step).min(slice.count());
        let is_last_chance = axis + 1 == axes.len() || axes[..=axis].iter().any(|a| a.count() > 1);
        if most >= worth || (most > 0 && is_last_chance) {
            return Some(Cut { axis, wanted: (BLOCK_LEN / inner.max(1)).max(1), most });
        }
    }
    axes.is_empty().then_some(Cut { axis: 0, wanted: 1, most: 1 })
}

/// Single positions of the axes before the cut, then ranges along it.
fn outer(
    dataset: &Dataset,
    slab: &Hyperslab,
    cut: Cut,
    axis: usize,
    axes: &mut Vec<AxisSlice>,
    visit: &mut dyn FnMut(&Hyperslab) -> Result<()>,
) -> Result<()> {
    let Some(&whole) = slab.axes().get(axis) else {
        return visit(slab);
    };
    let chunk = dataset.grid.chunk_shape()[axis];
    let mut first = 0;
    while first < whole.count() {
        let end = if axis < cut.axis { first + 1 } else { next_cut(whole, chunk, first, cut) };
        axes[axis] = part(whole, first, end);
        first = end;
        if axis < cut.axis {
            outer(dataset, slab, cut, axis + 1, axes, visit)?;
        } else if let Some(block) = Hyperslab::new(axes.clone(), dataset.shape()) {
            visit(&block)?;
        }
    }
    Ok(())
}

/// Where the block that starts at selected position `first` ends.
fn next_cut(slice: AxisSlice, chunk: u64, first: u64, cut: Cut) -> u64 {
    let count = slice.count();
    let farthest = first.saturating_add(cut.most).min(count);
    let wished = first.saturating_add(cut.wanted).min(farthest);
    if wished == count {
        return count;
    }
    // The last selected position that starts a chunk at or before the wish, else the next one.
    let at = |position: u64| slice.start + position * slice.step;
    let starts_at = |boundary: u64| boundary.saturating_sub(slice.start).div_ceil(slice.step);
    let before = starts_at(at(wished) / chunk * chunk);
    if before > first {
        return before.min(wished);
    }
    let after = starts_at((at(wished) / chunk).saturating_add(1).saturating_mul(chunk));
    if after <= farthest { after } else { farthest }
}

/// The selected positions from `first` to before `end`.
fn part(slice: AxisSlice, first: u64, end: u64) -> AxisSlice {
    let start = slice.start + first * slice.step;
    let last = slice.start + (end - 1) * slice.step;
    let axis = if slice.is_kept() { Axis::Kept } else { Axis::Dropped };
    AxisSlice { start, stop: last + 1, step: slice.step, axis }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(start: u64, stop: u64, step: u64) -> AxisSlice {
        AxisSlice { start, stop, step, axis: Axis::Kept }
    }

    #[test]
    fn cuts_fall_between_chunks_where_they_can() {
        for chunk in 1..8 {
            for start in 0..4 {
                for step in 1..4 {
                    for wanted in 1..9 {
                        for most in wanted..12 {
                            check(slice(start, 20, step), chunk, wanted, most);
                        }
                    }
                }
            }
        }
    }

    fn check(whole: AxisSlice, chunk: u64, wanted: u64, most: u64) {
        let what = format!("{whole:?} by {chunk}, {wanted} to {most}");
        let cut = Cut { axis: 0, wanted, most };
        let mut first = 0;
        while first < whole.count() {
            let end = next_cut(whole, chunk, first, cut);
            assert!(first < end && end <= whole.count() && end - first <= most, "{what}");
            // A cut inside a chunk happens only where the block could not reach its end.
            let chunk_of = |position: u64| (whole.start + position * whole.step) / chunk;
            if end < whole.count() && chunk_of(end) == chunk_of(end - 1) {
                assert_eq!(chunk_of(first), chunk_of(end), "no boundary was passed: {what}");
                let reach = (first + most).min(whole.count() - 1);
                let full = end - first == most;
                assert!(full && chunk_of(reach) == chunk_of(first), "{what}");
            }
            first = end;
        }
        assert_eq!(part(whole, 0, whole.count()).count(), whole.count());
    }

    #[test]
    fn the_cut_is_the_first_axis_whose_chunks_fit() {
        let axes = [slice(0, 100, 1), slice(0, 50, 1), slice(0, 10, 1)];
        let at = |len_max| cut(&axes, &[10, 10, 10], 4, len_max).map(|cut| (cut.axis, cut.most));
        assert_eq!(at(1 << 20), Some((0, 524)));
        assert_eq!(at(20_000), Some((0, 10)));
        assert_eq!(at(4_000), Some((0, 2)));
        assert_eq!(at(400), Some((1, 10)));
        assert_eq!(at(40), Some((1, 1)));
        assert_eq!(at(8), Some((2, 2)));
        assert_eq!(at(3), None);
    }
}
