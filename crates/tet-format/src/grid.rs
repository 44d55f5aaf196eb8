//! How chunks cover a shape: the geometry for all readers and writers (format section 3.1).

use crate::shape::{Shape, product};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// A regular grid of chunks over a shape.
///
/// Chunks at the far edge are clipped to the shape, or stored whole in a padded grid. Chunk
/// numbers run in row-major order: the last axis varies fastest.
///
/// Clones share their data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid(Arc<Geometry>);

#[derive(Debug, PartialEq, Eq)]
struct Geometry {
    shape: Shape,
    chunk_shape: Shape,
    counts: Vec<u64>,
    chunk_count: u64,
    is_padded: bool,
}

impl Grid {
    /// The grid of chunks of `chunk_shape` over `shape`.
    ///
    /// `None` when the ranks differ, a chunk extent is 0, or the number of chunks does not fit in
    /// 64 bits. An extent of 0 in `shape` makes a grid without chunks.
    #[must_use]
    pub fn new(shape: Shape, chunk_shape: Shape) -> Option<Grid> {
        if shape.rank() != chunk_shape.rank() || chunk_shape.contains(&0) {
            return None;
        }
        let pairs = shape.iter().zip(chunk_shape.iter());
        let counts: Vec<u64> = pairs.map(|(&extent, &chunk)| count(extent, chunk)).collect();
        let chunk_count = product(counts.iter().copied())?;
        let is_padded = false;
        Some(Grid(Arc::new(Geometry { shape, chunk_shape, counts, chunk_count, is_padded })))
    }

    /// The grid of a scalar: one chunk of one element.
    ///
    /// ```
    /// assert_eq!(tet_format::Grid::of_scalar().chunk_count(), 1);
    /// ```
    #[must_use]
    pub fn of_scalar() -> Grid {
        let (shape, chunk_shape) = (Shape::default(), Shape::default());
        let (counts, chunk_count, is_padded) = (Vec::new(), 1, false);
        Grid(Arc::new(Geometry { shape, chunk_shape, counts, chunk_count, is_padded }))
    }

    /// A grid whose chunks at the far edge are stored whole, as HDF5 and Zarr do: elements outside
    /// the shape have no meaning.
    ///
    /// `None` as for [`Grid::new`], and when the number of elements of a chunk does not fit in 64 bits.
    ///
    /// ```
    /// use tet_format::Grid;
    ///
    /// let clipped = Grid::new([10].into(), [4].into()).expect("it is small");
    /// let padded = Grid::padded([10].into(), [4].into()).expect("it is small");
    /// assert_eq!(clipped.chunk_elements(&[2]), Some(2));
    /// assert_eq!(padded.chunk_elements(&[2]), Some(4));
    /// ```
    #[must_use]
    pub fn padded(shape: Shape, chunk_shape: Shape) -> Option<Grid> {
        product(chunk_shape.iter().copied())?;
        let mut geometry = Arc::into_inner(Grid::new(shape, chunk_shape)?.0)?;
        geometry.is_padded = true;
        Some(Grid(Arc::new(geometry)))
    }

    /// A grid over another shape, whose chunks at the far edge are stored as in this one.
    ///
    /// `None` as for [`Grid::new`] or [`Grid::padded`].
    #[must_use]
    pub fn reshaped(&self, shape: Shape, chunk_shape: Shape) -> Option<Grid> {
        if self.is_padded() {
            return Grid::padded(shape, chunk_shape);
        }
        Grid::new(shape, chunk_shape)
    }

    /// Whether chunks at the far edge are stored whole.
    #[must_use]
    pub fn is_padded(&self) -> bool {
        self.0.is_padded
    }

    /// The extents of the dataset.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.0.shape
    }

    /// The extents of a chunk that is not clipped.
    #[must_use]
    pub fn chunk_shape(&self) -> &Shape {
        &self.0.chunk_shape
    }

    /// The number of chunks along each axis.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.0.counts
    }

    /// The number of chunks.
    #[must_use]
    pub fn chunk_count(&self) -> u64 {
        self.0.chunk_count
    }

    /// The number of axes.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.0.shape.rank()
    }

    /// The number of the chunk at `coord`; `None` when there is no such chunk.
    #[must_use]
    pub fn linear(&self, coord: &[u64]) -> Option<u64> {
        if coord.len() != self.0.counts.len() {
            return None;
        }
        coord.iter().zip(&self.0.counts).try_fold(0_u64, |linear, (&at, &count)| {
            if at < count { linear.checked_mul(count)?.checked_add(at) } else { None }
        })
    }

    /// Writes the coordinate of chunk number `linear` to `out`, which has one element per axis.
    ///
    /// Numbers past the last chunk wrap along the first axis: check against
    /// [`chunk_count`](Grid::chunk_count) first.
    pub fn coord(&self, linear: u64, out: &mut [u64]) {
        debug_assert_eq!(out.len(), self.rank(), "one slot per axis");
        let mut rest = linear;
        for (at, &count) in out.iter_mut().zip(&self.0.counts).rev() {
            *at = rest.checked_rem(count).unwrap_or(0);
            rest = rest.checked_div(count).unwrap_or(0);
        }
    }

    /// The coordinate of chunk number `linear`.
    #[must_use]
    pub fn coord_of(&self, linear: u64) -> Vec<u64> {
        let mut out = vec![0; self.rank()];
        self.coord(linear, &mut out);
        out
    }

    /// Steps `coord` to the next chunk in row-major order; from the last chunk it wraps to the
    /// first.
    pub fn advance(&self, coord: &mut [u64]) {
        debug_assert_eq!(coord.len(), self.rank(), "one slot per axis");
        for (at, &count) in coord.iter_mut().zip(&self.0.counts).rev() {
            *at = at.saturating_add(1);
            if *at < count {
                return;
            }
            *at = 0;
        }
    }

    /// Writes the clipped extents of the chunk at `coord` to `out`, which has one element per axis.
    /// A coordinate outside the grid has extents of 0.
    pub fn extents(&self, coord: &[u64], out: &mut [u64]) {
        debug_assert_eq!(out.len(), self.rank(), "one slot per axis");
        for (out, extent) in out.iter_mut().zip(self.clipped(coord)) {
            *out = extent;
        }
    }

    /// The clipped extents of the chunk at `coord`.
    #[must_use]
    pub fn extents_of(&self, coord: &[u64]) -> Vec<u64> {
        let mut out = vec![0; self.rank()];
        self.extents(coord, &mut out);
        out
    }

    /// The first element of the chunk at `coord`, along each axis.
    #[must_use]
    pub fn origin_of(&self, coord: &[u64]) -> Vec<u64> {
        let mut out = vec![0; self.rank()];
        self.origin(coord, &mut out);
        out
    }

    /// The first element of the chunk at `coord`, along each axis; saturated outside the grid.
    pub fn origin(&self, coord: &[u64], out: &mut [u64]) {
        for ((out, &at), &chunk) in out.iter_mut().zip(coord).zip(self.0.chunk_shape.iter()) {
            *out = at.saturating_mul(chunk);
        }
    }

    /// The number of elements that are stored for the chunk at `coord`; `None` when it does not fit
    /// in 64 bits.
    #[must_use]
    pub fn chunk_elements(&self, coord: &[u64]) -> Option<u64> {
        if self.is_padded() {
            return product(self.0.chunk_shape.iter().copied());
        }
        product(self.clipped(coord))
    }

    fn clipped(&self, coord: &[u64]) -> impl Iterator<Item = u64> {
        let axes = self.0.shape.iter().zip(self.0.chunk_shape.iter());
        coord.iter().zip(axes).map(|(&at, (&extent, &chunk))| {
            let origin = at.saturating_mul(chunk);
            extent.saturating_sub(origin).min(chunk)
        })
    }
}

/// How many chunks of extent `chunk` cover `extent`; none for a chunk extent of 0.
fn count(extent: u64, chunk: u64) -> u64 {
    if chunk == 0 { 0 } else { extent.div_ceil(chunk) }
}

/// The number of chunks, without building the grid.
pub(crate) fn chunk_count(axes: impl Iterator<Item = (u64, u64)>) -> Option<u64> {
    product(axes.map(|(extent, chunk)| count(extent, chunk)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(shape: &[u64], chunk_shape: &[u64]) -> Option<Grid> {
        Grid::new(shape.into(), chunk_shape.into())
    }

    /// All lists of `rank` numbers from `low` to `high`.
    fn tuples(rank: usize, low: u64, high: u64) -> Vec<Vec<u64>> {
        let mut all = vec![vec![]];
        for _ in 0..rank {
            all = all
                .into_iter()
                .flat_map(|list: Vec<u64>| {
                    (low..=high).map(move |next| [list.as_slice(), &[next]].concat())
                })
                .collect();
        }
        all
    }

    /// Every shape with extents up to 4 and every chunk shape up to 5, rank 1 to 3: each element is
    /// in exactly the chunk, and at the position, that the grid computes.
    #[test]
    fn every_element_has_one_place() {
        for rank in 1..=3 {
            for shape in tuples(rank, 0, 4) {
                for chunk_shape in tuples(rank, 1, 5) {
                    check_world(&shape, &chunk_shape);
                }
            }
        }
    }

    fn check_world(shape: &[u64], chunk_shape: &[u64]) {
        let grid = grid(shape, chunk_shape).unwrap();
        let mut counted = vec![0_u64; usize::try_from(grid.chunk_count()).unwrap()];
        let mut elements = vec![vec![]];
        for &extent in shape {
            elements = elements
                .into_iter()
                .flat_map(|at: Vec<u64>| (0..extent).map(move |next| [&at[..], &[next]].concat()))
                .collect();
        }
        for element in &elements {
            let coord: Vec<u64> =
                element.iter().zip(chunk_shape).map(|(&at, &chunk)| at / chunk).collect();
            let linear = grid.linear(&coord).unwrap();
            counted[usize::try_from(linear).unwrap()] += 1;
        }
        let mut coord = vec![0; shape.len()];
        for (linear, &count) in (0..).zip(&counted) {
            assert_eq!(grid.coord_of(linear), coord, "numbers follow row-major order");
            assert_eq!(grid.linear(&coord), Some(linear));
            assert_eq!(grid.chunk_elements(&coord), Some(count));
            let mut extents = vec![9; shape.len()];
            grid.extents(&coord, &mut extents);
            assert_eq!(extents.iter().product::<u64>(), count);
            assert!(count > 0, "no chunk is empty");
            grid.advance(&mut coord);
        }
        assert!(coord.iter().all(|&at| at == 0), "the last step wraps");
        assert_eq!(counted.iter().sum::<u64>(), elements.len() as u64);
        assert_eq!(grid.counts().iter().product::<u64>(), grid.chunk_count());
    }

    #[test]
    fn impossible_grids_are_refused() {
        let big = 1 << 32;
        assert_eq!(grid(&[2], &[2, 2]), None, "ranks differ");
        assert_eq!(grid(&[2, 2], &[2, 0]), None, "a chunk extent is 0");
        assert_eq!(grid(&[big, big], &[1, 1]), None, "too many chunks");
        assert_eq!(grid(&[big, big], &[1, 2]).unwrap().chunk_count(), 1 << 63);
        assert_eq!(grid(&[big, big, 0], &[1, 1, 1]).unwrap().chunk_count(), 0);
        assert_eq!(grid(&[big, big], &[big, big]).unwrap().chunk_elements(&[0, 0]), None);
        assert_eq!(grid(&[u64::MAX], &[u64::MAX]).unwrap().chunk_elements(&[0]), Some(u64::MAX));
    }

    #[test]
    fn places_outside_the_grid_are_none() {
        let grid = grid(&[4, 6], &[2, 4]).unwrap();
        assert_eq!(grid.linear(&[1, 1]), Some(3));
        for coord in [&[2, 0][..], &[0, 2], &[u64::MAX, 0], &[0], &[0, 0, 0]] {
            assert_eq!(grid.linear(coord), None, "{coord:?}");
        }
        assert_eq!(grid.chunk_elements(&[u64::MAX, u64::MAX]), Some(0));
        let mut origin = [0, 0];
        grid.origin(&[1, 1], &mut origin);
        assert_eq!(origin, [2, 4]);
    }
}
