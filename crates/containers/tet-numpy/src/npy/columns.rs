//! A column-major array in a file (Fortran order), cut into chunks of one piece.
//!
//! In that order the first axis varies fastest: a chunk has all of the first axes, a part of the next,
//! and one position of the others. Its decoder turns the axes around. An array that is about to be read
//! in row-major order, as when it is converted, is turned around once, in a scratch file.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use tet_codec::{
    ChunkLayout, Decode, Error as Refused, NumcodecsPipeline, Raw, StoredSpans, Swapped,
};
use tet_format::{Grid, Shape, Span};
use tet_io::Source;
use tet_query::{ChunkPlace, ChunkTable, Decoder, Execution, Sealed};

use super::place::Place;
use tet_container::chunking;
use tet_container::read::opened::OpenOptions;
use tet_container::read::slabs::locate;
use tet_container::read::spool::Spool;

/// Where the elements of an array are, column after column.
#[derive(Clone)]
pub(super) struct Columns {
    grid: Grid,
    element_size: u64,
    stored: Span,
    codec: Arc<dyn Decode>,
    source: Source,
    sealed: Option<Arc<Sealed>>,
    /// Whether a chunk's elements are in the source in their own order.
    is_turned: bool,
}

impl Columns {
    /// The elements in `stored`, which has exactly their bytes; `None` when their chunks cannot be
    /// counted.
    pub(super) fn new(
        shape: &[u64],
        element_size: u64,
        stored: Span,
        swapped: Option<Swapped>,
        place: Place,
    ) -> Option<Columns> {
        let reversed: Vec<u64> = shape.iter().rev().copied().collect();
        let mut chunk_shape = chunking::in_place(&reversed, element_size);
        chunk_shape.reverse();
        let whole = shape.iter().zip(&chunk_shape).take_while(|(extent, chunk)| extent <= chunk);
        let leading: Vec<u64> = whole.map(|(extent, _)| *extent).collect();
        // The last of the axes that a chunk has more than one position of need not be turned.
        let leading = &leading[..leading.len().min(shape.len().saturating_sub(1))];
        let is_turned = leading.iter().any(|&extent| 1 < extent);
        let codec: Arc<dyn Decode> = match swapped {
            _ if is_turned => Arc::new(Turned { leading: leading.to_vec(), element_size, swapped }),
            Some(swapped) => Arc::new(swapped),
            None => Arc::new(Raw),
        };
        let grid = Grid::new(Shape::from(shape), Shape::from(chunk_shape))?;
        let (source, sealed) = (place.source, place.seal.map(Arc::new));
        Some(Columns { grid, element_size, stored, codec, source, sealed, is_turned })
    }

    pub(super) const fn source(&self) -> &Source {
        &self.source
    }

    pub(super) const fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The columns with the elements of each chunk in row-major order, in a scratch file.
    pub(super) fn in_rows(self, options: &OpenOptions) -> Columns {
        if !self.is_turned || self.grid.chunk_count() <= 1 {
            return self;
        }
        let from = self.clone();
        let fill = move |out: &mut dyn Write| from.turn(out);
        let len = self.stored.len();
        let source = Spool::source("a column-major array".to_owned(), len, options, fill);
        let stored = Span::new(0, len).unwrap_or(self.stored);
        let codec = Arc::new(Raw);
        Columns { stored, codec, source, sealed: None, is_turned: false, ..self }
    }

    /// Writes the elements of all chunks, each in row-major order.
    fn turn(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(sealed) = &self.sealed {
            let fault = sealed.compare(&self.source, &Execution::default());
            if let Some(fault) = fault.map_err(io::Error::other)? {
                return Err(io::Error::new(io::ErrorKind::InvalidData, fault));
            }
        }
        let (mut stored, mut decoded) = (Vec::new(), Vec::new());
        for nth in 0..self.grid.chunk_count() {
            let place = self.place(&self.coord(nth)).ok_or(io::ErrorKind::InvalidData)?;
            let len = usize::try_from(place.decoded_len).map_err(|_| io::ErrorKind::OutOfMemory)?;
            stored.resize(len, 0);
            decoded.resize(len, 0);
            let read = self.source.read_exact_at(place.stored.start(), &mut stored);
            read.map_err(io::Error::other)?;
            self.codec.decode(&stored, &mut decoded).map_err(io::Error::other)?;
            out.write_all(&decoded)?;
        }
        Ok(())
    }

    /// The coordinate of the chunk that is the `nth` in the file.
    fn coord(&self, mut nth: u64) -> Vec<u64> {
        let axes = self.grid.shape().iter().zip(self.grid.chunk_shape().iter());
        let coord = axes.map(|(extent, chunk)| {
            let count = extent.div_ceil(*chunk).max(1);
            let coord = nth % count;
            nth /= count;
            coord
        });
        coord.collect()
    }

    fn place(&self, coord: &[u64]) -> Option<ChunkPlace> {
        let axes = self.grid.shape().iter().zip(self.grid.chunk_shape().iter()).zip(coord);
        let (mut first, mut before) = (0_u64, 1_u64);
        for ((extent, chunk), coord) in axes {
            let at = coord.checked_mul(*chunk).filter(|at| at < extent)?;
            first = first.checked_add(at.checked_mul(before)?)?;
            before = before.checked_mul(*extent)?;
        }
        let decoded_len = self.grid.chunk_elements(coord)?.checked_mul(self.element_size)?;
        let start = self.stored.start().checked_add(first.checked_mul(self.element_size)?)?;
        let stored = Span::new(start, decoded_len).filter(|&span| self.stored.contains(span))?;
        Some(ChunkPlace::new(stored, decoded_len))
    }
}

impl ChunkTable for Columns {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        let is_chunk = |linear| linear < self.grid.chunk_count();
        locate(linear, self.stored, out, |linear| {
            self.place(&self.grid.coord_of(linear)).filter(|_| is_chunk(linear))
        })
    }

    fn seals(&self) -> Vec<&Sealed> {
        self.sealed.iter().map(AsRef::as_ref).collect()
    }

    fn decoder(&self, _linear: u64, _place: &ChunkPlace) -> Decoder<'_> {
        Decoder::Shared(self.codec.as_ref())
    }
}

/// Turns a chunk of columns into rows.
struct Turned {
    /// The extents of the first axes, which a chunk has whole; the next axis is the last of the chunk
    /// with more than one position.
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
            // Where the row's first element is in a column.
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

    fn numcodecs(&self) -> Option<NumcodecsPipeline> {
        let is_big_endian = self.swapped.is_some();
        Some(NumcodecsPipeline { codecs: Vec::new(), is_big_endian, is_column_major: true })
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

    fn columns(shape: &[u64], size: u64, at: u64, bytes: &[u8]) -> Columns {
        let len = shape.iter().product::<u64>() * size;
        let place = Place { source: Source::from_bytes(bytes), at: 0, seal: None };
        Columns::new(shape, size, Span::new(at, len).unwrap(), Swapped::new(size), place).unwrap()
    }

    #[test]
    fn columns_become_rows() {
        // Element (i, j, k) is the number i + 2 j + 6 k, as two bytes, the high one first.
        let file: Vec<u8> = (0..12_u8).flat_map(|number| [0, number]).collect();
        let columns = columns(&[2, 3, 2], 2, 0, &file);
        assert_eq!(columns.grid.chunk_count(), 1);
        let mut out = vec![0; 24];
        columns.codec.decode(&file, &mut out).unwrap();
        let found: Vec<u8> = out.chunks(2).map(|pair| pair[0]).collect();
        assert_eq!(found, [0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11]);
        assert!(columns.codec.decode(&file[1..], &mut out).is_err());
    }

    #[test]
    fn chunks_follow_one_another_in_the_file() {
        for (shape, chunk_shape) in [
            (&[1000, 1700][..], &[1000, 524][..]),
            // A column of 16 MB is cut too.
            (&[2_000_000, 3], &[524_288, 1]),
            (&[3, 500_000, 2], &[3, 174_762, 1]),
            (&[5, 1, 400_000, 2], &[5, 1, 104_857, 1]),
        ] {
            let columns = columns(shape, 8, 64, &[]);
            assert_eq!(columns.grid.chunk_shape().as_slice(), chunk_shape);
            let mut at = 64;
            for nth in 0..columns.grid.chunk_count() {
                let place = columns.place(&columns.coord(nth)).unwrap();
                assert_eq!((place.stored.start(), place.stored.len()), (at, place.decoded_len));
                at = place.stored.end();
            }
            assert_eq!(at, columns.stored.end());
            assert!(columns.locate(&[columns.grid.chunk_count()], &mut Vec::new()).is_err());
        }
        assert_eq!(columns(&[3, 0], 8, 64, &[]).grid.chunk_count(), 0);
    }
}
