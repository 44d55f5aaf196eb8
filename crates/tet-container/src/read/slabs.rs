//! One row-major array in a file, cut into chunks that follow one another without a gap.
//!
//! The chunks are not in the file: they are how much of it is read at once. So are cut all containers
//! that store an array in one piece and do not compress it.

use std::ops::Range;
use std::sync::Arc;

use tet_codec::{Raw, Swapped};
use tet_format::{Grid, Shape, Span};
use tet_query::{ChunkPlace, ChunkTable, Decoder, Sealed};

use crate::model::dtype::Unit;

/// Where the elements of an array are, one after the other.
pub struct Slabs {
    grid: Grid,
    /// Bits of one element.
    element_bits: u64,
    stored: Span,
    /// Turns numbers of the other byte order around.
    swapped: Option<Swapped>,
    sealed: Option<Arc<Sealed>>,
}

impl std::fmt::Debug for Slabs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slabs").field("grid", &self.grid).field("stored", &self.stored).finish()
    }
}

impl Slabs {
    /// The elements in `stored`, which has exactly their bytes; the chunks of `grid` must be slabs of
    /// whole bytes.
    #[must_use]
    pub fn new(grid: Grid, element_bits: u64, stored: Span) -> Slabs {
        Slabs { grid, element_bits, stored, swapped: None, sealed: None }
    }

    /// Sets that numbers are in the other byte order.
    #[must_use]
    pub fn swapped(self, swapped: Option<Swapped>) -> Slabs {
        Slabs { swapped, ..self }
    }

    /// Sets the checksum of all stored bytes.
    #[must_use]
    pub fn sealed(self, sealed: Option<Sealed>) -> Slabs {
        self.sharing(sealed.map(Arc::new))
    }

    /// Sets a checksum that is of the bytes of other arrays too.
    #[must_use]
    pub fn sharing(self, sealed: Option<Arc<Sealed>>) -> Slabs {
        Slabs { sealed, ..self }
    }

    /// Where a chunk is; `None` when its bytes cannot be counted.
    fn place(&self, linear: u64) -> Option<ChunkPlace> {
        let Range { start, end } = elements_of(&self.grid, linear);
        let decoded_len = (end - start).checked_mul(self.element_bits)?.div_ceil(8);
        let offset = self.stored.start().checked_add(start.checked_mul(self.element_bits)? / 8)?;
        let stored = Span::new(offset, decoded_len).filter(|&span| self.stored.contains(span))?;
        Some(ChunkPlace::new(stored, decoded_len))
    }
}

/// The elements of a chunk that is a slab of the array, counted in row-major order.
pub fn elements_of(grid: &Grid, linear: u64) -> Range<u64> {
    let coord = grid.coord_of(linear);
    let axes = coord.iter().zip(grid.shape().iter().zip(grid.chunk_shape().iter()));
    let start = axes.fold(0_u64, |start, (coord, (extent, chunk))| {
        start.saturating_mul(*extent).saturating_add(coord.saturating_mul(*chunk))
    });
    start..start.saturating_add(grid.chunk_elements(&coord).unwrap_or(0))
}

/// Appends the places of chunks in `stored`, one after the other.
///
/// # Errors
/// A chunk has no place: its number is past the grid.
pub fn locate(
    linear: &[u64],
    stored: Span,
    out: &mut Vec<ChunkPlace>,
    mut place: impl FnMut(u64) -> Option<ChunkPlace>,
) -> tet_query::Result<()> {
    for &linear in linear {
        out.push(place(linear).ok_or(tet_query::Error::Limit {
            what: "file offset",
            wanted: u64::MAX,
            limit: stored.end(),
        })?);
    }
    Ok(())
}

impl ChunkTable for Slabs {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        locate(linear, self.stored, out, |linear| self.place(linear))
    }

    fn seals(&self) -> Vec<&Sealed> {
        self.sealed.iter().map(AsRef::as_ref).collect()
    }

    fn decoder(&self, _linear: u64, _place: &ChunkPlace) -> Decoder<'_> {
        match &self.swapped {
            Some(swapped) => Decoder::Shared(swapped),
            None => Decoder::Shared(&Raw),
        }
    }
}

/// The grid of an array that is read in place; `None` when its chunks cannot be counted.
pub fn grid(shape: &[u64], element_bits: u64) -> Option<Grid> {
    if !element_bits.is_multiple_of(8) {
        let unit = Unit::of_bits(element_bits)?;
        // A row of such an array need not end with a byte.
        return grid_of_units(shape, unit).or_else(|| Some(grid_of_one(shape)));
    }
    let chunk_shape = crate::chunking::in_place(shape, element_bits / 8);
    Grid::new(Shape::from(shape), Shape::from(chunk_shape))
}

/// The grid of an array whose elements are stored in blocks: each chunk is whole blocks of a row. `None` where rows are
/// not, or chunks cannot be counted.
pub fn grid_of_units(shape: &[u64], unit: Unit) -> Option<Grid> {
    /// Bytes of an element that blocks are decoded to.
    const VALUE_LEN: u64 = 4;
    let (last, head) = shape.split_last()?;
    let blocks = last.is_multiple_of(unit.count).then_some(last / unit.count)?;
    let in_blocks: Vec<u64> = head.iter().copied().chain([blocks]).collect();
    let unit_len = unit.len.max(unit.count.checked_mul(VALUE_LEN)?);
    let mut chunk_shape = crate::chunking::in_place(&in_blocks, unit_len);
    let last_chunk = chunk_shape.last_mut()?;
    *last_chunk = last_chunk.checked_mul(unit.count)?;
    Grid::new(Shape::from(shape), Shape::from(chunk_shape))
}

/// The grid of an array that cannot be read: one chunk.
///
/// # Panics
/// Never: a grid of one chunk fits its array.
pub fn grid_of_one(shape: &[u64]) -> Grid {
    let chunk_shape: Shape = shape.iter().map(|&extent| extent.max(1)).collect();
    Grid::new(Shape::from(shape), chunk_shape).expect("one chunk can be counted")
}

/// The grid and the table of an array that cannot be read: one chunk of no bytes.
pub fn unread(shape: &[u64], sealed: Option<Sealed>) -> (Grid, Arc<dyn ChunkTable>) {
    let grid = grid_of_one(shape);
    (grid.clone(), Arc::new(Slabs::new(grid, 8, no_bytes()).sealed(sealed)))
}

/// The place of what is not in the file.
///
/// # Panics
/// Never: the span is empty.
pub fn no_bytes() -> Span {
    Span::new(0, 0).expect("no bytes fit anywhere")
}

/// Why a shape is not read, if it has more axes than a selection can name.
pub fn too_deep(shape: &[u64]) -> Option<tet_query::Error> {
    let count = |len: usize| u64::try_from(len).unwrap_or(u64::MAX);
    let (wanted, limit) = (count(shape.len()), count(tet_query::AXES_MAX));
    let error = tet_query::Error::Limit { what: "axes of a tensor", wanted, limit };
    (limit < wanted).then_some(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_follow_one_another_and_fill_the_array() {
        for shape in [&[][..], &[0], &[7], &[5, 3], &[0, 3], &[3, 0], &[2, 3, 4]] {
            for bits in [8, 16, 64] {
                let count = shape.iter().product::<u64>();
                let stored = Span::new(24, count * bits / 8).unwrap();
                let chunk_shape: Vec<u64> = shape
                    .iter()
                    .enumerate()
                    .map(|(axis, &extent)| if axis == 0 { 2 } else { extent.max(1) })
                    .collect();
                let grid = Grid::new(shape.into(), Shape::from(chunk_shape)).unwrap();
                let slabs = Slabs::new(grid.clone(), bits, stored);
                let linear: Vec<u64> = (0..grid.chunk_count()).collect();
                let mut places = Vec::new();
                slabs.locate(&linear, &mut places).unwrap();
                let mut at = stored.start();
                for place in places {
                    assert_eq!((place.stored.start(), place.stored.len()), (at, place.decoded_len));
                    at = place.stored.end();
                }
                assert_eq!(at, stored.end(), "{shape:?} of {bits}");
            }
        }
    }

    #[test]
    fn chunks_of_half_bytes_are_whole_bytes() {
        let large = grid(&[3, 1 << 22], 4).unwrap();
        assert_eq!(large.chunk_shape().as_slice(), [1, 1 << 20]);
        let odd = grid(&[1 << 22, 3], 4).unwrap();
        assert_eq!(odd.chunk_count(), 1);
        let grid = grid(&[3, 2], 4).unwrap();
        assert_eq!(grid.chunk_count(), 1);
        let slabs = Slabs::new(grid, 4, Span::new(10, 3).unwrap());
        let mut places = Vec::new();
        slabs.locate(&[0], &mut places).unwrap();
        assert_eq!((places[0].stored.range(), places[0].decoded_len), (10..13, 3));
    }

    #[test]
    fn chunks_past_the_array_are_refused() {
        let grid = Grid::new([4].into(), [2].into()).unwrap();
        let slabs = Slabs::new(grid, 8, Span::new(0, 3).unwrap());
        let mut places = Vec::new();
        assert!(slabs.locate(&[0], &mut places).is_ok());
        assert!(slabs.locate(&[1], &mut places).is_err());
    }
}
