//! Boxes of a grid of elements, and the copies between them. Pure.
//!
//! A [`Region`] is a start and extents inside a larger row-major array. Copies walk the longest
//! runs that are contiguous on both sides.

/// A box of an array: `extents[i]` positions from `start[i]` along each axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) start: Vec<u64>,
    pub(crate) extents: Vec<u64>,
}

impl Region {
    pub(crate) fn whole(shape: &[u64]) -> Self {
        Self { start: vec![0; shape.len()], extents: shape.to_vec() }
    }

    pub(crate) fn element_count(&self) -> u64 {
        self.extents.iter().product()
    }

    /// What both hold; `None` if that is nothing.
    pub(crate) fn intersection(&self, other: &Self) -> Option<Self> {
        let mut both = Self { start: Vec::new(), extents: Vec::new() };
        for axis in 0..self.start.len() {
            let start = self.start[axis].max(other.start[axis]);
            let stop = (self.start[axis] + self.extents[axis])
                .min(other.start[axis] + other.extents[axis]);
            if stop <= start {
                return None;
            }
            both.start.push(start);
            both.extents.push(stop - start);
        }
        Some(both)
    }
}

/// One stretch that is contiguous in both arrays, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) len: u64,
}

/// Visits the runs that carry `part` from array `from` to array `to`; both are row-major, both
/// contain `part`, and all coordinates are those of one outer array.
///
/// # Errors
/// The first error of `visit`.
pub(crate) fn for_each_run<E>(
    from: &Region,
    to: &Region,
    part: &Region,
    mut visit: impl FnMut(Run) -> Result<(), E>,
) -> Result<(), E> {
    let rank = part.extents.len();
    let from_strides = strides(&from.extents);
    let to_strides = strides(&to.extents);
    let mut run = Run { from: 0, to: 0, len: 1 };
    for axis in 0..rank {
        run.from += (part.start[axis] - from.start[axis]) * from_strides[axis];
        run.to += (part.start[axis] - to.start[axis]) * to_strides[axis];
    }
    // Axes from `inner` on are one run: each but the first of them is whole on both sides.
    let mut inner = rank;
    while inner > 0 {
        inner -= 1;
        run.len *= part.extents[inner];
        if part.extents[inner] != from.extents[inner] || part.extents[inner] != to.extents[inner] {
            break;
        }
    }
    let mut at = vec![0; inner];
    loop {
        visit(run)?;
        let mut axis = inner;
        loop {
            if axis == 0 {
                return Ok(());
            }
            axis -= 1;
            at[axis] += 1;
            run.from += from_strides[axis];
            run.to += to_strides[axis];
            if at[axis] < part.extents[axis] {
                break;
            }
            run.from -= at[axis] * from_strides[axis];
            run.to -= at[axis] * to_strides[axis];
            at[axis] = 0;
        }
    }
}

/// Copies `part` from one array in memory to another.
pub(crate) fn copy(
    from: (&Region, &[u8]),
    to: (&Region, &mut [u8]),
    part: &Region,
    element_size: usize,
) {
    let walked = for_each_run(from.0, to.0, part, |run| {
        let len = place(run.len) * element_size;
        let (start, out) = (place(run.from) * element_size, place(run.to) * element_size);
        to.1[out..out + len].copy_from_slice(&from.1[start..start + len]);
        Ok::<(), std::convert::Infallible>(())
    });
    match walked {
        Ok(()) => {}
    }
}

/// Turns a column-major box into a row-major one of the same shape.
pub(crate) fn transpose(columns: &[u8], rows: &mut [u8], extents: &[u64], element_size: usize) {
    match element_size {
        1 => transpose_sized::<1>(columns, rows, extents),
        2 => transpose_sized::<2>(columns, rows, extents),
        4 => transpose_sized::<4>(columns, rows, extents),
        8 => transpose_sized::<8>(columns, rows, extents),
        16 => transpose_sized::<16>(columns, rows, extents),
        _ => unreachable!("elements have 1, 2, 4, 8 or 16 bytes"),
    }
}

fn transpose_sized<const SIZE: usize>(columns: &[u8], rows: &mut [u8], extents: &[u64]) {
    // A square of this side stays in the first cache, both ways.
    const TILE: usize = 32;
    let (columns, _) = columns.as_chunks::<SIZE>();
    let (rows, _) = rows.as_chunks_mut::<SIZE>();
    let extents = extents.iter().map(|&extent| place(extent)).filter(|&extent| extent > 1);
    let extents = extents.collect::<Vec<_>>();
    let [height, middle @ .., width] = &extents[..] else {
        rows.copy_from_slice(columns);
        return;
    };
    let (height, width) = (*height, *width);
    let middle_count = middle.iter().product::<usize>();
    let mut middle_at = vec![0; middle.len()];
    for in_rows in 0..middle_count {
        // The middle axes run the other way in the column-major box.
        let in_columns = middle.iter().zip(&middle_at).rev().fold(0, |at, (len, i)| at * len + i);
        for row_0 in (0..height).step_by(TILE) {
            for column_0 in (0..width).step_by(TILE) {
                for row in row_0..height.min(row_0 + TILE) {
                    for column in column_0..width.min(column_0 + TILE) {
                        rows[(row * middle_count + in_rows) * width + column] =
                            columns[(column * middle_count + in_columns) * height + row];
                    }
                }
            }
        }
        for (at, &len) in middle_at.iter_mut().zip(middle).rev() {
            *at += 1;
            if *at < len {
                break;
            }
            *at = 0;
        }
    }
}

/// Elements per step along each axis of a row-major array.
fn strides(extents: &[u64]) -> Vec<u64> {
    let mut strides = vec![1; extents.len()];
    for axis in (1..extents.len()).rev() {
        strides[axis - 1] = strides[axis] * extents[axis];
    }
    strides
}

/// A position inside a buffer that is in memory, and so fits `usize`.
fn place(position: u64) -> usize {
    usize::try_from(position).expect("the buffer it points into is in memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All coordinates of `region`, in row-major order.
    fn coords(region: &Region) -> Vec<Vec<u64>> {
        let mut coords = vec![vec![]];
        for (start, extent) in region.start.iter().zip(&region.extents) {
            coords = coords
                .into_iter()
                .flat_map(|coord: Vec<u64>| {
                    (*start..start + extent).map(move |i| [&coord[..], &[i]].concat())
                })
                .collect();
        }
        coords
    }

    /// A name for a coordinate, so that misplaced elements show.
    fn tag(coord: &[u64]) -> u8 {
        coord.iter().fold(1, |tag: u8, &i| tag.wrapping_mul(7).wrapping_add(i as u8))
    }

    fn regions(extent: u64, rank: usize) -> Vec<Region> {
        let mut all = vec![Region { start: vec![], extents: vec![] }];
        for _ in 0..rank {
            all = all
                .into_iter()
                .flat_map(|region| {
                    (0..extent).flat_map(move |start| {
                        let region = region.clone();
                        (1..=extent - start).map(move |len| Region {
                            start: [&region.start[..], &[start]].concat(),
                            extents: [&region.extents[..], &[len]].concat(),
                        })
                    })
                })
                .collect();
        }
        all
    }

    #[test]
    fn every_part_of_every_small_box_lands_where_it_belongs() {
        for rank in 1..=2 {
            let all = regions(3, rank);
            for from in &all {
                let source = coords(from).iter().map(|coord| tag(coord)).collect::<Vec<_>>();
                for to in &all {
                    let Some(part) = from.intersection(to) else { continue };
                    let mut target = vec![0; to.element_count() as usize];
                    copy((from, &source), (to, &mut target), &part, 1);
                    let inside = coords(&part);
                    for (coord, value) in coords(to).iter().zip(&target) {
                        let wanted = if inside.contains(coord) { tag(coord) } else { 0 };
                        assert_eq!(*value, wanted, "{coord:?} of {from:?} in {to:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn whole_rows_are_one_run() {
        let outer = Region::whole(&[4, 3, 2]);
        let part = Region { start: vec![1, 0, 0], extents: vec![2, 3, 2] };
        let mut runs = vec![];
        for_each_run(&outer, &part, &part, |run| {
            runs.push(run);
            Ok::<(), ()>(())
        })
        .unwrap();
        assert_eq!(runs, [Run { from: 6, to: 0, len: 12 }]);
    }

    #[test]
    fn transposing_reverses_the_axes() {
        for extents in [
            &[1][..],
            &[5],
            &[3, 4],
            &[70, 33],
            &[1, 4, 1, 3],
            &[2, 3, 4],
            &[2, 3, 4, 5],
            &[33, 2, 3, 40],
        ] {
            for size in [1, 2, 4, 8] {
                let shape = Region::whole(extents);
                let reversed = extents.iter().rev().copied().collect::<Vec<_>>();
                // The file's order of a column-major array is row-major over its reversed axes.
                let element = |coord: &[u64]| {
                    let bits = coord.iter().fold(1_u64, |bits, i| bits * 71 + i);
                    bits.to_le_bytes()[..size].to_vec()
                };
                let columns = coords(&Region::whole(&reversed))
                    .iter()
                    .flat_map(|coord| element(&coord.iter().rev().copied().collect::<Vec<_>>()))
                    .collect::<Vec<_>>();
                let wanted = coords(&shape).iter().flat_map(|c| element(c)).collect::<Vec<_>>();
                let mut rows = vec![0; wanted.len()];
                transpose(&columns, &mut rows, extents, size);
                assert_eq!(rows, wanted, "{extents:?} of {size} bytes");
            }
        }
    }
}
