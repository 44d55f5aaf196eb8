//! Boxes of elements in row-major memory, and the chunks that they touch.

use tet_format::Grid;

/// A box of elements inside a larger one in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryBox<'a> {
    /// The extents of the memory.
    pub(super) shape: &'a [u64],
    /// Where the box begins in it.
    pub(super) start: &'a [u64],
}

/// Calls `visit` with the first element in either memory, and the number of elements, for each run that is contiguous
/// in both.
pub(super) fn for_runs(
    extents: &[u64],
    from: MemoryBox<'_>,
    to: MemoryBox<'_>,
    mut visit: impl FnMut(u64, u64, u64),
) {
    if extents.contains(&0) {
        return;
    }
    // The last axes that are whole in both memories are one run.
    let mut outer = extents.len();
    let mut run = 1_u64;
    while let Some(axis) = outer.checked_sub(1) {
        outer = axis;
        run = run.saturating_mul(at(extents, axis));
        let is_whole = |place: &MemoryBox<'_>| at(place.shape, axis) == at(extents, axis);
        if !is_whole(&from) || !is_whole(&to) {
            break;
        }
    }
    let mut coord = vec![0; outer];
    loop {
        visit(offset(&from, &coord), offset(&to, &coord), run);
        // The next coordinate, the last axis fastest.
        let Some(axis) = (0..outer).rev().find(|&axis| at(&coord, axis) + 1 < at(extents, axis))
        else {
            return;
        };
        coord[axis] += 1;
        coord[axis + 1..].fill(0);
    }
}

/// The number of the element at `start + coord`, where missing coordinates are 0.
fn offset(place: &MemoryBox<'_>, coord: &[u64]) -> u64 {
    let axes = place.shape.iter().zip(place.start).enumerate();
    axes.fold(0_u64, |sum, (axis, (extent, start))| {
        let position = start.saturating_add(at(coord, axis));
        sum.saturating_mul(*extent).saturating_add(position)
    })
}

fn at(values: &[u64], axis: usize) -> u64 {
    values.get(axis).copied().unwrap_or(0)
}

/// Elements in memory that are to be written.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    pub(super) start: &'a [u64],
    pub(super) extents: &'a [u64],
    pub(super) bytes: &'a [u8],
}

/// The chunks that a block touches.
pub(super) struct Chunks {
    pub(super) first: Vec<u64>,
    pub(super) counts: Vec<u64>,
    pub(super) count: u64,
}

impl Chunks {
    /// `None` for a block without elements.
    pub(super) fn touched_by(grid: &Grid, start: &[u64], extents: &[u64]) -> Option<Chunks> {
        let (mut first, mut counts) = (Vec::new(), Vec::new());
        for ((start, extent), chunk) in start.iter().zip(extents).zip(grid.chunk_shape().iter()) {
            let last = (start + extent.checked_sub(1)?) / chunk;
            first.push(start / chunk);
            counts.push(last - start / chunk + 1);
        }
        let count = counts.iter().product();
        Some(Chunks { first, counts, count })
    }

    pub(super) fn coord(&self, nth: u64) -> Option<Vec<u64>> {
        let mut nth = (nth < self.count).then_some(nth)?;
        let mut coord = self.first.clone();
        for (position, count) in coord.iter_mut().zip(&self.counts).rev() {
            *position += nth % count;
            nth /= count;
        }
        Some(coord)
    }
}

/// The elements that a block and a chunk share.
pub(super) struct Overlap {
    pub(super) extents: Vec<u64>,
    /// Where they begin in the block.
    pub(super) in_block: Vec<u64>,
    /// Where they begin in the chunk.
    pub(super) in_chunk: Vec<u64>,
    /// The extents of the chunk.
    pub(super) chunk: Vec<u64>,
}

impl Overlap {
    pub(super) fn new(grid: &Grid, coord: &[u64], block: Block<'_>) -> Overlap {
        let rank = coord.len();
        let (chunk, origin) = (grid.extents_of(coord), grid.origin_of(coord));
        let [mut extents, mut in_block, mut in_chunk] =
            [vec![0; rank], vec![0; rank], vec![0; rank]];
        for axis in 0..rank {
            let first = block.start[axis].max(origin[axis]);
            let end = (block.start[axis] + block.extents[axis]).min(origin[axis] + chunk[axis]);
            extents[axis] = end.saturating_sub(first);
            in_block[axis] = first - block.start[axis];
            in_chunk[axis] = first - origin[axis];
        }
        Overlap { extents, in_block, in_chunk, chunk }
    }

    pub(super) fn places<'a>(&'a self, block: Block<'a>) -> (MemoryBox<'a>, MemoryBox<'a>) {
        let from = MemoryBox { shape: block.extents, start: &self.in_block };
        (from, MemoryBox { shape: &self.chunk, start: &self.in_chunk })
    }
}

pub(super) fn bytes_of(bytes: &[u8], first: u64, count: u64, size: u64) -> &[u8] {
    // The block has the bytes of all its elements.
    let at = |element: u64| usize::try_from(element * size).unwrap_or(usize::MAX);
    bytes.get(at(first)..at(first + count)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every element of the box, one by one.
    fn pairs(extents: &[u64], from: MemoryBox<'_>, to: MemoryBox<'_>) -> Vec<(u64, u64)> {
        let count: u64 = extents.iter().product();
        let coord = |mut nth: u64| {
            let mut coord = vec![0; extents.len()];
            for axis in (0..extents.len()).rev() {
                coord[axis] = nth % extents[axis];
                nth /= extents[axis];
            }
            coord
        };
        (0..count).map(coord).map(|coord| (offset(&from, &coord), offset(&to, &coord))).collect()
    }

    proptest! {
        #[test]
        fn runs_are_all_elements_in_order(
            axes in prop::collection::vec((0_u64..4, 0_u64..3, 0_u64..3, 0_u64..3, 0_u64..3), 0..5),
        ) {
            let extents: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
            let starts: [Vec<u64>; 2] =
                [axes.iter().map(|axis| axis.1).collect(), axes.iter().map(|axis| axis.2).collect()];
            let shapes: [Vec<u64>; 2] = [
                axes.iter().map(|axis| axis.0 + axis.1 + axis.3).collect(),
                axes.iter().map(|axis| axis.0 + axis.2 + axis.4).collect(),
            ];
            let from = MemoryBox { shape: &shapes[0], start: &starts[0] };
            let to = MemoryBox { shape: &shapes[1], start: &starts[1] };
            let mut found = Vec::new();
            for_runs(&extents, from, to, |from, to, count| {
                found.extend((0..count).map(|nth| (from + nth, to + nth)));
            });
            prop_assert_eq!(found, pairs(&extents, from, to));
        }
    }
}
