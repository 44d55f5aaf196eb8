//! Chunks out of a lazy array: as many neighbors as possible are read at once.
//!
//! A band is one chunk wide along the leading axes, some chunks along the axis it is cut along, and
//! all of the axes after. Its chunks follow one another in the file.

use std::ops::Range;
use std::path::{Path, PathBuf};

use tet_format::{DType, Shape};
use tet_query::{Execution, LazyArray};

use crate::write::rechunk::{Rechunked, Region, band_shape_of, for_rows, read_count, slab};
use crate::write::stream;
use crate::{Error, Result};

/// Bands are about this long where memory allows.
const BAND_LEN: u64 = 8 << 20;
/// How often each chunk of an input is read, at most, where there may be a scratch file.
const READ_COUNT_MAX: u64 = 2;

/// The chunks of a lazy array, band by band.
#[derive(Debug)]
pub struct Bands<'l> {
    lazy: &'l LazyArray,
    chunk_shape: Shape,
    to: DType,
    how: Execution,
    band_shape: Shape,
    /// The folder of the scratch file, if chunks of the input would be read too often without one.
    folder: Option<PathBuf>,
    /// The elements in the scratch file.
    rechunked: Option<Rechunked>,
    /// The positions along each axis that are in memory.
    held: Region,
    band: Vec<u8>,
}

impl<'l> Bands<'l> {
    /// Bands of which none has been read; a quarter of the memory budget is for one. Where each chunk of the input
    /// would be read more than twice, all are read once into a file in the folder for scratch files, if there is one.
    ///
    /// # Errors
    /// The budget does not hold a chunk, or the scratch file cannot be written.
    pub fn new(
        lazy: &'l LazyArray,
        chunk_shape: Shape,
        to: DType,
        execution: &Execution,
        scratch: Option<&Path>,
    ) -> Result<Self> {
        let room = execution.memory_budget / 4;
        let size = lazy.dtype().size().unwrap_or(1);
        let shape_of = |len_max| band_shape_of(lazy.shape(), &chunk_shape, size, room, len_max);
        let mut band_shape = shape_of(BAND_LEN).map_err(|one| {
            let (dataset, limit) = (lazy.dataset().name.clone(), execution.memory_budget);
            Error::Budget { dataset, wanted: one.saturating_mul(4), limit }
        })?;
        let is_stored = lazy.transform().is_none() && lazy.dataset().chunks.is_chunked();
        let is_read_often = |band_shape: &Shape| {
            READ_COUNT_MAX < read_count(lazy.shape(), &lazy.chunk_shape(), band_shape)
        };
        let mut folder = scratch.filter(|_| is_stored && is_read_often(&band_shape));
        if folder.is_some() {
            // As long as memory allows they may do without.
            band_shape = shape_of(u64::MAX).unwrap_or(band_shape);
            folder = folder.filter(|_| is_read_often(&band_shape));
        }
        let memory_budget = match folder {
            Some(_) => execution.memory_budget,
            None => execution.memory_budget - room,
        };
        let how = Execution { memory_budget, ..execution.clone() };
        let (folder, rechunked) = (folder.map(Path::to_path_buf), None);
        let (held, band) = (Vec::new(), Vec::new());
        Ok(Bands { lazy, chunk_shape, to, how, band_shape, folder, rechunked, held, band })
    }

    /// Appends the elements of a chunk to `out`, which is empty.
    ///
    /// # Errors
    /// The elements cannot be read.
    pub fn fill(&mut self, coord: &[u64], extents: &[u64], out: &mut Vec<u8>) -> Result<()> {
        // A scalar has no axes, its chunk has one.
        let rank = self.lazy.shape().rank();
        let (coord, extents) =
            (coord.get(..rank).unwrap_or(coord), extents.get(..rank).unwrap_or(extents));
        let first = coord.iter().zip(self.chunk_shape.iter()).map(|(at, chunk)| at * chunk);
        let wanted: Region =
            first.zip(extents).map(|(first, extent)| first..first + extent).collect();
        let holds = self.held.len() == rank && !self.band.is_empty();
        let within = |(held, wanted): (&Range<u64>, &Range<u64>)| {
            held.start <= wanted.start && wanted.end <= held.end
        };
        if !holds || !self.held.iter().zip(&wanted).all(within) {
            self.read(&wanted)?;
        }
        let size = self.lazy.dtype().size().unwrap_or(1);
        for_rows(&self.held, &wanted, size, |row| {
            out.extend_from_slice(self.band.get(row).unwrap_or_default());
        });
        widen(self.lazy.dtype(), self.to, out);
        Ok(())
    }

    /// Reads the band that has a chunk.
    fn read(&mut self, chunk: &[Range<u64>]) -> Result<()> {
        let axes = chunk.iter().zip(self.band_shape.iter()).zip(self.lazy.shape().iter());
        let band = axes.map(|((wanted, &band), &extent)| {
            let start = wanted.start / band.max(1) * band;
            start..start.saturating_add(band).min(extent)
        });
        self.held = band.collect();
        let Some(folder) = &self.folder else {
            let part = slab(&self.held, self.lazy)?;
            return stream::read(self.lazy, &part, &self.how, &mut self.band);
        };
        if self.rechunked.is_none() {
            let made = Rechunked::new(self.lazy, &self.band_shape, folder, &self.how)?;
            self.rechunked = Some(made);
        }
        let rechunked = self.rechunked.as_mut().map(|it| it.read(&self.held, &mut self.band));
        rechunked.unwrap_or(Ok(()))
    }
}

/// Converts elements in place to a wider type, which `.tet` has.
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
