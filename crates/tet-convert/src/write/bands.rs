//! Chunks out of a lazy array: as many neighbors as possible are read at once.
//!
//! A band is one chunk wide along the leading axes, some chunks along the axis it is cut along, and
//! all of the axes after. Its chunks follow one another in the file.

use std::ops::Range;

use tet_format::{DType, Shape};
use tet_query::{AxisSlice, Execution, Hyperslab, LazyArray};

use crate::write::stream;
use crate::{Error, Result};

/// Bands are about this long where memory allows.
const BAND_LEN: u64 = 8 << 20;

/// The chunks of a lazy array, band by band.
#[derive(Debug)]
pub(crate) struct Bands<'l> {
    lazy: &'l LazyArray,
    chunk_shape: Shape,
    to: DType,
    how: Execution,
    /// The axis that bands are cut along, and how many chunks they take of it.
    cut: (usize, u64),
    /// What is held: positions along each axis.
    held: Vec<Range<u64>>,
    band: Vec<u8>,
}

impl<'l> Bands<'l> {
    /// Bands of which none has been read; a quarter of the memory budget is for one.
    pub(crate) fn new(
        lazy: &'l LazyArray,
        chunk_shape: Shape,
        to: DType,
        execution: &Execution,
    ) -> Result<Self> {
        let room = execution.memory_budget / 4;
        let how = Execution { memory_budget: execution.memory_budget - room, ..execution.clone() };
        let size = lazy.dtype().size().unwrap_or(1);
        let mut bands =
            Bands { lazy, chunk_shape, to, how, cut: (0, 1), held: vec![], band: vec![] };
        let shape = lazy.shape();
        for axis in 0..shape.rank() {
            let outer = bands.chunk_shape[..axis].iter().zip(shape.iter());
            let outer = outer.map(|(&chunk, &extent)| chunk.min(extent));
            let inner = shape[axis + 1..].iter().copied();
            let row = outer.chain(inner).fold(size, u64::saturating_mul);
            let one = row.saturating_mul(bands.chunk_shape[axis].min(shape[axis]));
            bands.cut = (axis, (BAND_LEN.min(room) / one.max(1)).max(1));
            if one <= room {
                return Ok(bands);
            }
            if axis + 1 == shape.rank() {
                let (dataset, limit) = (lazy.dataset().name.clone(), execution.memory_budget);
                return Err(Error::Budget { dataset, wanted: one.saturating_mul(4), limit });
            }
        }
        Ok(bands)
    }

    /// Appends the elements of a chunk to `out`, which is empty.
    pub(crate) fn fill(&mut self, coord: &[u64], extents: &[u64], out: &mut Vec<u8>) -> Result<()> {
        // A scalar has no axes, its chunk has one.
        let rank = self.lazy.shape().rank();
        let (coord, extents) =
            (coord.get(..rank).unwrap_or(coord), extents.get(..rank).unwrap_or(extents));
        let first = coord.iter().zip(self.chunk_shape.iter()).map(|(at, chunk)| at * chunk);
        let wanted: Vec<Range<u64>> =
            first.zip(extents).map(|(first, extent)| first..first + extent).collect();
        let holds = self.held.len() == rank && !self.band.is_empty();
        let within = |(held, wanted): (&Range<u64>, &Range<u64>)| {
            held.start <= wanted.start && wanted.end <= held.end
        };
        if !holds || !self.held.iter().zip(&wanted).all(within) {
            self.read(&wanted)?;
        }
        let size = self.lazy.dtype().size().unwrap_or(1);
        copy(&self.band, &self.held, &wanted, size, out);
        widen(self.lazy.dtype(), self.to, out);
        Ok(())
    }

    /// Reads the band that begins with a chunk.
    fn read(&mut self, chunk: &[Range<u64>]) -> Result<()> {
        let (cut, count) = self.cut;
        let shape = self.lazy.shape();
        self.held.clear();
        for (axis, wanted) in chunk.iter().enumerate() {
            self.held.push(match axis.cmp(&cut) {
                std::cmp::Ordering::Less => wanted.clone(),
                std::cmp::Ordering::Greater => 0..shape[axis],
                std::cmp::Ordering::Equal => {
                    let len = self.chunk_shape[axis].saturating_mul(count);
                    wanted.start..wanted.start.saturating_add(len).min(shape[axis])
                }
            });
        }
        let slices = self.held.iter().map(|range| AxisSlice {
            start: range.start,
            stop: range.end,
            step: 1,
            axis: Default::default(),
        });
        let part = Hyperslab::new(slices.collect(), shape);
        let part = part.ok_or_else(|| tet_query::Error::Misfit {
            dataset: self.lazy.dataset().name.clone(),
            shape: shape.clone(),
        })?;
        stream::read(self.lazy, &part, &self.how, &mut self.band)
    }
}

/// Appends the elements of `wanted` out of a band that holds them.
fn copy(band: &[u8], held: &[Range<u64>], wanted: &[Range<u64>], size: u64, out: &mut Vec<u8>) {
    let len = |range: &Range<u64>| range.end - range.start;
    // Axes that are taken whole belong to the row of the axis before them.
    let whole = held.iter().zip(wanted).rev().take_while(|(held, wanted)| held == wanted).count();
    let row_axis = held.len().saturating_sub(whole + 1);
    let row: u64 = wanted[row_axis.min(wanted.len())..].iter().map(len).product();
    let outer: u64 = wanted[..row_axis.min(wanted.len())].iter().map(len).product();
    for nth in 0..outer {
        let (mut rest, mut start, mut stride) = (nth, 0, 1);
        for axis in (0..held.len()).rev() {
            let mut at = wanted[axis].start - held[axis].start;
            if axis < row_axis {
                at += rest % len(&wanted[axis]);
                rest /= len(&wanted[axis]);
            }
            start += at * stride;
            stride *= len(&held[axis]);
        }
        let range = usize::try_from(start * size).ok().zip(usize::try_from(row * size).ok());
        let bytes = range.and_then(|(start, row)| band.get(start..)?.get(..row));
        out.extend_from_slice(bytes.unwrap_or(&[]));
    }
}

/// The same values in a type that `.tet` has.
fn widen(from: DType, to: DType, out: &mut Vec<u8>) {
    match (from, to) {
        (DType::Int8, DType::Int16) => {
            let wide = |&byte: &u8| i16::from(byte.cast_signed()).to_le_bytes();
            *out = out.iter().flat_map(wide).collect();
        }
        (DType::BFloat16, DType::Float32) => {
            let wide = |half: &[u8; 2]| [0, 0, half[0], half[1]];
            *out = out.as_chunks::<2>().0.iter().flat_map(wide).collect();
        }
        _ => {}
    }
}
