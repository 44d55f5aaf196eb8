//! A tensor whose elements are at any strides in its storage, cut into chunks of one stretch each.
//!
//! Chunks are slabs in the order of the strides: a chunk has all of the axes with the smallest strides, a part of
//! the next, and one position of the others. Its decoder gathers the elements in row-major order.

use std::sync::Arc;

use tet_codec::{Decode, Error as Refused, Swapped};
use tet_format::{Grid, Shape, Span};
use tet_query::{ChunkPlace, ChunkTable, Decoder, Sealed};

use tet_container::chunking;
use tet_container::read::slabs::locate;

const NAME: &str = "strides";

/// The elements of a tensor in a storage.
pub(super) struct Strided {
    grid: Grid,
    /// Bytes from one position of an axis to the next.
    strides: Vec<u64>,
    element_size: u64,
    /// The bytes of the storage from the first element to the last one.
    stored: Span,
    swapped: Option<Swapped>,
    sealed: Option<Arc<Sealed>>,
}

/// How elements are stored.
pub(super) struct Elements {
    pub(super) size: u64,
    pub(super) swapped: Option<Swapped>,
    pub(super) sealed: Option<Arc<Sealed>>,
}

impl Strided {
    /// The elements of a shape without an extent of 0, in `stored`; `None` when their chunks cannot be counted.
    pub(super) fn new(
        shape: &[u64],
        strides: Vec<u64>,
        stored: Span,
        elements: Elements,
    ) -> Option<Strided> {
        let Elements { size, swapped, sealed } = elements;
        let mut order: Vec<usize> = (0..shape.len()).collect();
        // Stable: axes of one stride stay in their order.
        order.sort_by_key(|&axis| std::cmp::Reverse(strides.get(axis)));
        let sorted: Vec<u64> = order.iter().filter_map(|&axis| shape.get(axis)).copied().collect();
        let cut = chunking::in_place(&sorted, size);
        let mut chunk_shape = vec![1; shape.len()];
        for (&axis, extent) in order.iter().zip(cut) {
            if let Some(place) = chunk_shape.get_mut(axis) {
                *place = extent;
            }
        }
        let grid = Grid::new(Shape::from(shape), Shape::from(chunk_shape))?;
        Some(Strided { grid, strides, element_size: size, stored, swapped, sealed })
    }

    pub(super) const fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The extents of a chunk.
    fn extents(&self, coord: &[u64]) -> Vec<u64> {
        let axes = self.grid.shape().iter().zip(self.grid.chunk_shape().iter()).zip(coord);
        let extent = |((extent, chunk), at): ((&u64, &u64), &u64)| {
            extent.saturating_sub(at.saturating_mul(*chunk)).min(*chunk)
        };
        axes.map(extent).collect()
    }

    fn place(&self, linear: u64) -> Option<ChunkPlace> {
        let coord = self.grid.coord_of(linear);
        let steps = self.grid.chunk_shape().iter().zip(&self.strides).zip(&coord);
        let start = steps.map(|((chunk, stride), at)| at.checked_mul(*chunk)?.checked_mul(*stride));
        let start = start.sum::<Option<u64>>()?.checked_add(self.stored.start())?;
        let extents = self.extents(&coord);
        let span = Span::new(start, reach(&extents, &self.strides, self.element_size)?)?;
        let span = Some(span).filter(|&span| self.stored.contains(span))?;
        let count = extents.iter().try_fold(1_u64, |count, extent| count.checked_mul(*extent))?;
        Some(ChunkPlace::new(span, count.checked_mul(self.element_size)?))
    }
}

/// Bytes from the first element to the end of the last one; `None` for 2^64 and more.
pub(super) fn reach(extents: &[u64], strides: &[u64], element_size: u64) -> Option<u64> {
    let steps = extents.iter().zip(strides);
    let steps = steps.map(|(extent, stride)| extent.checked_sub(1)?.checked_mul(*stride));
    steps.sum::<Option<u64>>()?.checked_add(element_size)
}

impl ChunkTable for Strided {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        let is_chunk = |linear| linear < self.grid.chunk_count();
        locate(
            linear,
            self.stored,
            out,
            |linear| {
                if is_chunk(linear) { self.place(linear) } else { None }
            },
        )
    }

    fn seals(&self) -> Vec<&Sealed> {
        self.sealed.iter().map(AsRef::as_ref).collect()
    }

    fn decoder(&self, linear: u64, _place: &ChunkPlace) -> Decoder<'_> {
        let extents = self.extents(&self.grid.coord_of(linear));
        Decoder::Own(Box::new(Gather { table: self, extents }))
    }
}

/// The decoder of a chunk of these extents.
struct Gather<'a> {
    table: &'a Strided,
    extents: Vec<u64>,
}

impl std::fmt::Debug for Gather<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Gather").field(&self.extents).finish()
    }
}

impl Gather<'_> {
    fn lost(stored_len: u64, decoded_len: u64) -> Refused {
        Refused::Lengths { codec: NAME, stored_len, decoded_len }
    }
}

impl Decode for Gather<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
        let count = |len: usize| u64::try_from(len).unwrap_or(u64::MAX);
        let lost = || Gather::lost(count(stored.len()), count(out.len()));
        self.check_len(count(stored.len()), count(out.len()))?;
        let index = |number: &u64| usize::try_from(*number).map_err(|_| lost());
        let size = index(&self.table.element_size)?;
        let extents = self.extents.iter().map(index).collect::<Result<Vec<_>, _>>()?;
        let strides = self.table.strides.iter().map(index).collect::<Result<Vec<_>, _>>()?;
        let mut coord = vec![0_usize; extents.len()];
        let mut at = 0_usize;
        for element in out.chunks_exact_mut(size) {
            let found = stored.get(at..at.saturating_add(size)).unwrap_or_default();
            // The reach of the extents is the length of `stored`, so every element is in it.
            element.copy_from_slice(found);
            for ((it, extent), stride) in coord.iter_mut().zip(&extents).zip(&strides).rev() {
                *it += 1;
                at = at.saturating_add(*stride);
                if *it < *extent {
                    break;
                }
                at = at.saturating_sub(stride.saturating_mul(*extent));
                *it = 0;
            }
        }
        if let Some(swapped) = self.table.swapped {
            swapped.in_place(out);
        }
        Ok(())
    }

    fn check_len(&self, stored_len: u64, decoded_len: u64) -> tet_codec::Result<()> {
        let size = self.table.element_size;
        let count = self.extents.iter().try_fold(size, |len, extent| len.checked_mul(*extent));
        let reach = reach(&self.extents, &self.table.strides, size);
        if count == Some(decoded_len) && reach == Some(stored_len) {
            return Ok(());
        }
        Err(Gather::lost(stored_len, decoded_len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements of two bytes at these strides, counted in elements.
    fn check(shape: &[u64], strides: &[u64]) {
        let file: Vec<u8> = (0..120_u8).flat_map(|number| [number, 0]).collect();
        let bytes: Vec<u64> = strides.iter().map(|stride| stride * 2).collect();
        let len = reach(shape, &bytes, 2).unwrap();
        let stored = Span::new(6, len).unwrap();
        let elements = Elements { size: 2, swapped: None, sealed: None };
        let table = Strided::new(shape, bytes, stored, elements).unwrap();
        assert_eq!(table.grid.chunk_count(), 1);
        let mut places = Vec::new();
        table.locate(&[0], &mut places).unwrap();
        let count: u64 = shape.iter().product();
        let mut out = vec![0; usize::try_from(count * 2).unwrap()];
        let range = places[0].stored.range();
        let range = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
        table.decoder(0, &places[0]).decode(&file[range], &mut out).unwrap();
        for (nth, element) in (0..count).zip(out.chunks(2)) {
            let mut rest = nth;
            let mut wanted = 3;
            for (extent, stride) in shape.iter().zip(strides).rev() {
                wanted += rest % extent * stride;
                rest /= extent;
            }
            assert_eq!(u64::from(element[0]), wanted, "{shape:?} {strides:?} {nth}");
        }
        assert!(table.locate(&[1], &mut places).is_err());
    }

    #[test]
    fn elements_are_gathered_at_any_strides() {
        check(&[3, 4], &[1, 3]);
        check(&[2, 3, 4], &[1, 8, 2]);
        check(&[5], &[7]);
        check(&[4, 3], &[0, 1]);
        check(&[3, 3], &[1, 1]);
        check(&[], &[]);
        check(&[1, 5, 1], &[90, 2, 17]);
    }

    #[test]
    fn chunks_follow_the_strides() {
        // A transposed matrix of 8 bytes an element: its columns are stretches of the file.
        let stored = Span::new(0, 8 * 1000 * 1700).unwrap();
        let elements = Elements { size: 8, swapped: None, sealed: None };
        let table = Strided::new(&[1700, 1000], vec![8, 8 * 1700], stored, elements).unwrap();
        assert_eq!(table.grid.chunk_shape().as_slice(), [1700, 308]);
        let mut places = Vec::new();
        let all: Vec<u64> = (0..table.grid.chunk_count()).collect();
        table.locate(&all, &mut places).unwrap();
        let mut at = 0;
        for place in places {
            assert_eq!((place.stored.start(), place.stored.len()), (at, place.decoded_len));
            at = place.stored.end();
        }
        assert_eq!(at, stored.end());
    }
}
