//! A column-major array in a file (Fortran order), cut into slabs along its last axis.
//!
//! In that order a slab of the last axis lies in one piece. Each is a chunk, and its decoder turns the
//! axes around.

use std::fmt;
use std::sync::Arc;

use tet_codec::{ChunkLayout, Decode, Error as Refused, StoredSpans, Swapped};
use tet_format::{Grid, Shape, Span};
use tet_query::{ChunkPlace, ChunkTable};

use super::slabs::locate;
use crate::chunking::AUTO_LEN_MAX;

/// Where the elements of an array lie, column after column.
pub(super) struct Columns {
    grid: Grid,
    element_size: u64,
    stored: Span,
    codecs: [Arc<dyn Decode>; 1],
}

impl Columns {
    /// The elements in `stored`, which has exactly their bytes; `None` when their chunks cannot be
    /// counted.
    pub(super) fn new(
        shape: &[u64],
        element_size: u64,
        stored: Span,
        swapped: Option<Swapped>,
    ) -> Option<(Grid, Columns)> {
        let (&last, leading) = shape.split_last()?;
        let column_len = leading.iter().try_fold(element_size, |len, &it| len.checked_mul(it))?;
        let width = (AUTO_LEN_MAX / column_len.max(1)).clamp(1, last.max(1));
        let chunk_shape: Shape = leading.iter().map(|&it| it.max(1)).chain([width]).collect();
        let grid = Grid::new(Shape::from(shape), chunk_shape)?;
        let turned = Turned { leading: leading.to_vec(), element_size, swapped };
        let codecs: [Arc<dyn Decode>; 1] = [Arc::new(turned)];
        Some((grid.clone(), Columns { grid, element_size, stored, codecs }))
    }

    fn place(&self, linear: u64) -> Option<ChunkPlace> {
        let len = |coord: &[u64]| self.grid.chunk_elements(coord)?.checked_mul(self.element_size);
        // All chunks but the last are as long as the first.
        let start = linear.checked_mul(len(&vec![0; self.grid.rank()])?)?;
        let decoded_len = len(&self.grid.coord_of(linear))?;
        let offset = self.stored.start().checked_add(start)?;
        let stored = Span::new(offset, decoded_len).filter(|&span| self.stored.contains(span))?;
        Some(ChunkPlace { stored, decoded_len, codec: 0, row: 0 })
    }
}

impl ChunkTable for Columns {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        locate(linear, self.stored, out, |linear| self.place(linear))
    }

    fn codecs(&self) -> &[Arc<dyn Decode>] {
        &self.codecs
    }
}

/// Turns a slab of columns into rows.
struct Turned {
    /// The extents of all axes but the last.
    leading: Vec<u64>,
    element_size: u64,
    swapped: Option<Swapped>,
}

const NAME: &str = "columns";

impl fmt::Debug for Turned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Turned").field(&self.leading).finish()
    }
}

impl Decode for Turned {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
        let lost = || {
            let (stored_len, decoded_len) = (stored.len(), out.len());
            let len = |len| u64::try_from(len).unwrap_or(u64::MAX);
            Refused::Lengths {
                codec: NAME,
                stored_len: len(stored_len),
                decoded_len: len(decoded_len),
            }
        };
        let index = |number: u64| usize::try_from(number).map_err(|_| lost());
        let size = index(self.element_size)?;
        let leading = self.leading.iter().map(|&it| index(it)).collect::<Result<Vec<_>, _>>()?;
        let rows: usize = leading.iter().product();
        let column_len = rows.saturating_mul(size);
        let width = out.len().checked_div(column_len).unwrap_or(0);
        if stored.len() != out.len() || width.saturating_mul(column_len) != out.len() {
            return Err(lost());
        }
        let mut coord = vec![0_usize; leading.len()];
        for row in out.chunks_exact_mut((width * size).max(1)) {
            // Where the row's first element lies in a column.
            let at = coord.iter().zip(&leading).rev().fold(0, |at, (it, extent)| at * extent + it);
            let elements = row.chunks_exact_mut(size).zip(stored.chunks_exact(column_len));
            for (element, column) in elements {
                let found = column.get(at * size..(at + 1) * size);
                element.copy_from_slice(found.unwrap_or_default());
            }
            for (it, extent) in coord.iter_mut().zip(&leading).rev() {
                *it += 1;
                if *it < *extent {
                    break;
                }
                *it = 0;
            }
        }
        if let Some(swapped) = self.swapped {
            swapped.in_place(out);
        }
        Ok(())
    }

    fn stored_spans(&self, _layout: ChunkLayout, _elements: std::ops::Range<u64>) -> StoredSpans {
        StoredSpans::Whole
    }

    fn check_len(&self, stored_len: u64, decoded_len: u64) -> tet_codec::Result<()> {
        if stored_len == decoded_len {
            return Ok(());
        }
        Err(Refused::Lengths { codec: NAME, stored_len, decoded_len })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_rows() {
        let shape = [2_u64, 3, 2];
        let stored = Span::new(10, 24).unwrap();
        let (grid, columns) = Columns::new(&shape, 2, stored, Swapped::new(2)).unwrap();
        assert_eq!(grid.chunk_count(), 1);
        // Element (i, j, k) is the number i + 2 j + 6 k, as two bytes, the high one first.
        let file: Vec<u8> = (0..12_u8).flat_map(|number| [0, number]).collect();
        let mut out = vec![0; 24];
        columns.codecs[0].decode(&file, &mut out).unwrap();
        let found: Vec<u8> = out.chunks(2).map(|pair| pair[0]).collect();
        assert_eq!(found, [0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11]);
        assert!(columns.codecs[0].decode(&file[1..], &mut out).is_err());
    }

    #[test]
    fn chunks_follow_one_another_in_the_file() {
        let stored = Span::new(64, 8 * 1000 * 1700).unwrap();
        let (grid, columns) = Columns::new(&[1000, 1700], 8, stored, None).unwrap();
        assert_eq!(grid.chunk_shape().as_slice(), [1000, 524]);
        let mut places = Vec::new();
        columns.locate(&[0, 1, 2, 3], &mut places).unwrap();
        let mut at = 64;
        for place in places {
            assert_eq!((place.stored.start(), place.stored.len()), (at, place.decoded_len));
            at = place.stored.end();
        }
        assert_eq!(at, stored.end());
        assert!(columns.locate(&[4], &mut Vec::new()).is_err());
        assert_eq!(
            Columns::new(&[3, 0], 8, Span::new(64, 0).unwrap(), None).unwrap().0.chunk_count(),
            0
        );
    }
}
