//! Chunks out of an array, in row order, with bounded memory.
//!
//! Consecutive chunks are served from a **group**: a box that holds whole chunks, goes over the
//! full extent of its trailing axes, and fits in memory. A group of a row-major array is few and
//! long runs; where the axes before it are cut to single positions it is one stretch of the
//! input, and the input may then be a stream.

use std::io::{self, Read};

use super::region::{self, Region};
use super::store::Store;

/// A group has at most this many bytes, unless one chunk has more.
pub(crate) const GROUP_LEN_MAX: u64 = 16 << 20;

/// A chunk whose runs have this many bytes needs no group.
const DIRECT_LEN_MIN: u64 = 256 << 10;

/// How chunks are grouped: by the chunk coordinate up to `axis`, `chunk_count` of them along it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grouping {
    axis: usize,
    chunk_count: u64,
    is_contiguous: bool,
}

impl Grouping {
    /// The largest groups of at most `len_max` bytes.
    pub(crate) fn new(
        shape: &[u64],
        chunk_shape: &[u64],
        element_size: usize,
        len_max: u64,
    ) -> Self {
        let size = u64::try_from(element_size).unwrap_or(u64::MAX);
        let clipped = shape.iter().zip(chunk_shape).map(|(&extent, &chunk)| extent.min(chunk));
        let clipped = clipped.collect::<Vec<_>>();
        let last = shape.len().saturating_sub(1);
        for axis in 0..=last {
            let thick = clipped[..=axis].iter().chain(&shape[axis + 1..]);
            let len = thick.fold(size, |len, &extent| len.saturating_mul(extent));
            if len <= len_max || axis == last {
                // A chunk of whole trailing axes is read straight into place, if its runs are
                // worth a read each.
                let run =
                    clipped[axis..].iter().fold(size, |len, &extent| len.saturating_mul(extent));
                let is_whole = clipped[axis + 1..] == shape[axis + 1..];
                let is_read_alone = is_whole && DIRECT_LEN_MIN <= run;
                let chunk_count = if is_read_alone { 1 } else { (len_max / len.max(1)).max(1) };
                let is_contiguous = clipped[..axis].iter().all(|&extent| extent == 1);
                return Self { axis, chunk_count, is_contiguous };
            }
        }
        Self { axis: 0, chunk_count: 1, is_contiguous: true }
    }

    /// Whether each group is one stretch of a row-major array, and follows the one before.
    pub(crate) fn is_contiguous(&self) -> bool {
        self.is_contiguous
    }
}

/// Where the elements come from.
pub(crate) enum Elements<'a> {
    /// Row-major, in order; only for contiguous groups.
    Stream(&'a mut dyn Read),
    Stored(Store),
}

/// Serves the chunks of one array in row order.
pub(crate) struct Gather<'a> {
    elements: Elements<'a>,
    shape: Vec<u64>,
    chunk_shape: Vec<u64>,
    element_size: usize,
    grouping: Grouping,
    group: Option<Region>,
    group_bytes: Vec<u8>,
}

impl<'a> Gather<'a> {
    pub(crate) fn new(
        elements: Elements<'a>,
        shape: &[u64],
        chunk_shape: &[u64],
        element_size: usize,
        grouping: Grouping,
    ) -> Self {
        Self {
            elements,
            shape: shape.to_vec(),
            chunk_shape: chunk_shape.to_vec(),
            element_size,
            grouping,
            group: None,
            group_bytes: Vec::new(),
        }
    }

    /// Replaces `out` by the elements of the chunk at `coord`; call in row order.
    pub(crate) fn chunk(&mut self, coord: &[u64], out: &mut Vec<u8>) -> io::Result<()> {
        let chunk = self.boxed(coord, |_| 1);
        resize(out, &chunk, self.element_size)?;
        let is_held = self
            .group
            .as_ref()
            .is_some_and(|group| group.intersection(&chunk).is_some_and(|held| held == chunk));
        if !is_held {
            let group = self.group_from(coord);
            if group == chunk {
                return read(&mut self.elements, &chunk, out);
            }
            resize(&mut self.group_bytes, &group, self.element_size)?;
            read(&mut self.elements, &group, &mut self.group_bytes)?;
            self.group = Some(group);
        }
        if let Some(group) = &self.group {
            let from = (group, &self.group_bytes[..]);
            region::copy(from, (&chunk, &mut out[..]), &chunk, self.element_size);
        }
        Ok(())
    }

    /// The group that starts with the chunk at `coord`.
    fn group_from(&self, coord: &[u64]) -> Region {
        let Grouping { axis: grouped, chunk_count, .. } = self.grouping;
        self.boxed(coord, |axis| match axis.cmp(&grouped) {
            std::cmp::Ordering::Less => 1,
            std::cmp::Ordering::Equal => chunk_count,
            std::cmp::Ordering::Greater => u64::MAX,
        })
    }

    /// The box of `chunk_count(axis)` chunks along each axis from `coord` on, clipped.
    fn boxed(&self, coord: &[u64], chunk_count: impl Fn(usize) -> u64) -> Region {
        let mut boxed = Region { start: Vec::new(), extents: Vec::new() };
        for (axis, (&shape, &chunk)) in self.shape.iter().zip(&self.chunk_shape).enumerate() {
            let start = coord[axis].saturating_mul(chunk).min(shape);
            boxed.start.push(start);
            boxed.extents.push(chunk.saturating_mul(chunk_count(axis)).min(shape - start));
        }
        boxed
    }
}

fn read(elements: &mut Elements<'_>, region: &Region, out: &mut [u8]) -> io::Result<()> {
    match elements {
        Elements::Stream(stream) => stream.read_exact(out),
        Elements::Stored(store) => store.read(region, out),
    }
}

/// Makes `out` as long as `region`, and says so when there is no memory for it.
fn resize(out: &mut Vec<u8>, region: &Region, element_size: usize) -> io::Result<()> {
    let count = usize::try_from(region.element_count()).ok();
    let len = count.and_then(|count| count.checked_mul(element_size));
    let len = len.ok_or(io::ErrorKind::OutOfMemory)?;
    out.try_reserve_exact(len.saturating_sub(out.len())).map_err(|_| io::ErrorKind::OutOfMemory)?;
    out.resize(len, 0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use tet_format::{Grid, Shape};
    use tet_io::Source;

    use super::super::store::Piece;
    use super::*;

    /// All chunks of an array whose elements are their own positions, both ways.
    fn check(shape: &[u64], chunk_shape: &[u64], len_max: u64) {
        let what = format!("{shape:?} by {chunk_shape:?} within {len_max}");
        let whole = Region::whole(shape);
        let count = whole.element_count();
        let bytes = (0..count).flat_map(|i| (i as u16).to_le_bytes()).collect::<Vec<_>>();
        let grid = Grid::new(Shape::from(shape), Shape::from(chunk_shape)).unwrap();
        let grouping = Grouping::new(shape, chunk_shape, 2, len_max);
        let pieces = vec![Piece { offset: 0, region: whole }];
        let store = Store::new(Source::from_bytes(bytes.clone()), pieces, 2);
        let mut stream = &bytes[..];
        let mut sources = vec![Elements::Stored(store)];
        if grouping.is_contiguous() {
            sources.push(Elements::Stream(&mut stream));
        }
        for elements in sources {
            let mut gather = Gather::new(elements, shape, chunk_shape, 2, grouping);
            for linear in 0..grid.chunk_count() {
                let coord = grid.coord_of(linear);
                let mut out = vec![];
                gather.chunk(&coord, &mut out).unwrap();
                let found = out.as_chunks::<2>().0.iter().map(|e| u16::from_le_bytes(*e));
                let found = found.collect::<Vec<_>>();
                assert_eq!(found, positions(shape, chunk_shape, &coord), "{coord:?} of {what}");
                assert!(
                    gather.group_bytes.len() as u64 <= len_max,
                    "group of {} bytes: {what}",
                    gather.group_bytes.len()
                );
            }
        }
        assert!(!grouping.is_contiguous() || stream.is_empty(), "the whole stream is used: {what}");
    }

    /// The positions a chunk holds, by asking every position where it belongs.
    fn positions(shape: &[u64], chunk_shape: &[u64], coord: &[u64]) -> Vec<u16> {
        let count: u64 = shape.iter().product();
        let belongs = |position: u64| {
            let mut rest = position;
            (0..shape.len()).rev().all(|axis| {
                let at = rest % shape[axis];
                rest /= shape[axis];
                at / chunk_shape[axis] == coord[axis]
            })
        };
        (0..count).filter(|&position| belongs(position)).map(|position| position as u16).collect()
    }

    #[test]
    fn every_small_world_is_gathered_within_its_bound() {
        for len_max in [1, 8, 20, 1000] {
            for a in 1..=5 {
                for chunk_a in 1..=6 {
                    check(&[a], &[chunk_a], len_max);
                    for b in 1..=4 {
                        for chunk_b in 1..=4 {
                            check(&[a, b], &[chunk_a, chunk_b], len_max);
                            check(&[a, b, 3], &[chunk_a, chunk_b, 2], len_max);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn slabs_are_contiguous_and_tiles_of_large_rows_are_not() {
        assert!(Grouping::new(&[100, 1 << 20], &[1, 1 << 20], 4, GROUP_LEN_MAX).is_contiguous());
        assert!(Grouping::new(&[100, 1 << 10], &[10, 10], 4, GROUP_LEN_MAX).is_contiguous());
        assert!(!Grouping::new(&[1 << 20, 1 << 20], &[512, 512], 4, GROUP_LEN_MAX).is_contiguous());
    }
}
