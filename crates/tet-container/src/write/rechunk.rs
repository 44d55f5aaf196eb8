//! The elements of an array in a scratch file, in the order in which an output of other chunks needs them.
//!
//! ```text
//!   input   bands of its chunks, each read once --> boxes: what a band has of each band of the output
//!   scratch | boxes of output band 0 | boxes of output band 1 | ...
//!   output  the boxes of a band, one after the other --> the band
//! ```
//!
//! Without it an output that is cut along other axes than the input would read all chunks of the input once for each
//! of its own bands.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use tet_format::{Grid, Shape};
use tet_io::Operation;
use tet_query::{AxisSlice, Execution, Hyperslab, LazyArray};

use crate::write::stream;
use crate::{Error, Result};

/// Positions along each axis.
pub type Region = Vec<Range<u64>>;

/// The elements of an array, band by band.
#[derive(Debug)]
pub struct Rechunked {
    file: File,
    folder: PathBuf,
    /// The bands of the output.
    bands: Grid,
    /// The bands of the input.
    inputs: Grid,
    /// Bytes of an element.
    size: u64,
    part: Vec<u8>,
}

impl Rechunked {
    /// Reads each chunk of an array once, into a scratch file in the folder. A quarter of the memory budget is for a
    /// band of the input, and a quarter for what one of the output has of it.
    ///
    /// # Errors
    /// The array cannot be read, a chunk of it is longer than a quarter of the budget, the scratch file cannot be written,
    /// or the caller canceled.
    pub fn new(
        lazy: &LazyArray,
        band_shape: &Shape,
        folder: &Path,
        how: &Execution,
    ) -> Result<Rechunked> {
        let (shape, size) = (lazy.shape(), lazy.dtype().size().unwrap_or(1));
        let room = how.memory_budget / 4;
        let input_shape = band_shape_of(shape, &lazy.chunk_shape(), size, room, room);
        let input_shape = input_shape.map_err(|one| Error::Budget {
            dataset: lazy.dataset().name.clone(),
            wanted: one.saturating_mul(4),
            limit: how.memory_budget,
        })?;
        let memory = || Error::Memory { dataset: lazy.dataset().name.clone() };
        let grid = |band: &Shape| Grid::new(shape.clone(), band.clone()).ok_or_else(memory);
        let (bands, inputs) = (grid(band_shape)?, grid(&input_shape)?);
        let file = tempfile::tempfile_in(folder)
            .map_err(|error| fault(folder, Operation::Create, error))?;
        let (folder, part) = (folder.to_path_buf(), Vec::new());
        let mut rechunked = Rechunked { file, folder, bands, inputs, size, part };
        let reading = Execution { memory_budget: how.memory_budget / 2, ..how.silent() };
        let mut held = Vec::new();
        for number in 0..rechunked.inputs.chunk_count() {
            how.progress.check()?;
            let from = region(&rechunked.inputs, &rechunked.inputs.coord_of(number));
            stream::read(lazy, &slab(&from, lazy)?, &reading, &mut held)?;
            rechunked.scatter(&from, &held)?;
        }
        rechunked.part = Vec::new();
        Ok(rechunked)
    }

    /// Writes a band of the input to the bands of the output.
    fn scatter(&mut self, from: &Region, held: &[u8]) -> Result<()> {
        for coord in meeting(&self.bands, from) {
            let band = region(&self.bands, &coord);
            let part = common(from, &band);
            self.part.clear();
            for_rows(from, &part, self.size, |row| {
                self.part.extend_from_slice(held.get(row).unwrap_or_default());
            });
            let at = self.offset(&coord, &band, &part)?;
            let written = self.file.write_all_at(&self.part, at);
            written.map_err(|error| fault(&self.folder, Operation::Write, error))?;
        }
        Ok(())
    }

    /// The elements of a band of the output.
    ///
    /// # Errors
    /// The scratch file cannot be read, or memory cannot hold the band.
    pub fn read(&mut self, band: &Region, out: &mut Vec<u8>) -> Result<()> {
        let coord = coord_at(&self.bands, band);
        let whole = len_of(band).checked_mul(self.size).and_then(|len| usize::try_from(len).ok());
        let no_memory =
            |_| fault(&self.folder, Operation::Read, std::io::ErrorKind::OutOfMemory.into());
        let whole = whole.unwrap_or(usize::MAX);
        out.clear();
        out.try_reserve_exact(whole).map_err(no_memory)?;
        out.resize(whole, 0);
        for input in meeting(&self.inputs, band) {
            let part = common(&region(&self.inputs, &input), band);
            let len =
                usize::try_from(len_of(&part).saturating_mul(self.size)).unwrap_or(usize::MAX);
            self.part.resize(len, 0);
            let at = self.offset(&coord, band, &part)?;
            let read = self.file.read_exact_at(&mut self.part, at);
            read.map_err(|error| fault(&self.folder, Operation::Read, error))?;
            let mut rest = self.part.as_slice();
            for_rows(band, &part, self.size, |row| {
                let (elements, after) = rest.split_at(row.len().min(rest.len()));
                if let Some(place) = out.get_mut(row).filter(|it| it.len() == elements.len()) {
                    place.copy_from_slice(elements);
                }
                rest = after;
            });
        }
        Ok(())
    }

    /// Where a part of a band begins in the file: behind the bands and the parts before it, in row-major order.
    fn offset(&self, coord: &[u64], band: &Region, part: &Region) -> Result<u64> {
        let number = self.bands.linear(coord);
        let shape = self.bands.chunk_shape().iter().zip(self.bands.shape().iter());
        let longest = shape.map(|(&band, &extent)| band.min(extent)).fold(1, u64::saturating_mul);
        let mut elements = number.and_then(|number| number.checked_mul(longest));
        for axis in 0..band.len() {
            let before = part[..axis].iter().map(len);
            let after = band[axis + 1..].iter().map(len);
            let first = part[axis].start - band[axis].start;
            let skipped = before.chain(after).fold(first, u64::saturating_mul);
            elements = elements.and_then(|elements| elements.checked_add(skipped));
        }
        let offset = elements.and_then(|elements| elements.checked_mul(self.size));
        // A file has at most 2^63 bytes.
        let offset = offset.filter(|offset| *offset < 1 << 62);
        let too_long =
            || fault(&self.folder, Operation::Write, std::io::ErrorKind::FileTooLarge.into());
        offset.ok_or_else(too_long)
    }
}

/// The shape of bands of chunks: one chunk along the first axes, some along one, and all of the others, as many as fit
/// `len_max`. A single chunk has to fit `room`.
///
/// # Errors
/// The bytes of a chunk that does not.
pub fn band_shape_of(
    shape: &Shape,
    chunk_shape: &[u64],
    size: u64,
    room: u64,
    len_max: u64,
) -> Result<Shape, u64> {
    let chunk = |axis: usize| {
        let extent = shape.get(axis).copied().unwrap_or(1);
        chunk_shape.get(axis).copied().unwrap_or(1).min(extent)
    };
    let mut one = size;
    for cut in 0..shape.rank() {
        let inner = shape[cut + 1..].iter().copied();
        one = (0..=cut).map(chunk).chain(inner).fold(size, u64::saturating_mul);
        if one <= room {
            let count = (len_max.min(room) / one.max(1)).max(1);
            let extent = |(axis, &extent): (usize, &u64)| match axis.cmp(&cut) {
                std::cmp::Ordering::Less => chunk(axis).max(1),
                std::cmp::Ordering::Equal => {
                    chunk(axis).saturating_mul(count).clamp(1, extent.max(1))
                }
                std::cmp::Ordering::Greater => extent.max(1),
            };
            return Ok(shape.iter().enumerate().map(extent).collect());
        }
    }
    if shape.rank() == 0 { Ok(Shape::from([])) } else { Err(one) }
}

/// How often a chunk of the input is read, at most, when bands of the output are read one after the other.
pub fn read_count(shape: &[u64], chunk_shape: &[u64], band_shape: &[u64]) -> u64 {
    let axes = shape.iter().zip(chunk_shape).zip(band_shape);
    let counts = axes.map(|((&extent, &chunk), &band)| {
        let (chunk, band) = (chunk.min(extent).max(1), band.max(1));
        match () {
            () if extent <= band || band.is_multiple_of(chunk) => 1,
            () if chunk.is_multiple_of(band) => chunk / band,
            () => (chunk - 1).div_ceil(band) + 1,
        }
    });
    counts.fold(1, u64::saturating_mul)
}

/// Calls `visit` with the bytes of each row of a part in those of the region that it is in, in row-major order.
pub fn for_rows(
    region: &[Range<u64>],
    part: &[Range<u64>],
    size: u64,
    mut visit: impl FnMut(Range<usize>),
) {
    // Axes that are taken whole belong to the row of the axis before them.
    let whole = region.iter().zip(part).rev().take_while(|(held, wanted)| held == wanted).count();
    let row_axis = region.len().saturating_sub(whole + 1).min(part.len());
    let row: u64 = part[row_axis..].iter().map(len).product();
    let outer: u64 = part[..row_axis].iter().map(len).product();
    for nth in 0..outer {
        let (mut rest, mut start, mut stride) = (nth, 0, 1);
        for axis in (0..region.len()).rev() {
            let mut at = part[axis].start - region[axis].start;
            if axis < row_axis {
                at += rest % len(&part[axis]);
                rest /= len(&part[axis]);
            }
            start += at * stride;
            stride *= len(&region[axis]);
        }
        let place = |element: u64| usize::try_from(element * size).unwrap_or(usize::MAX);
        visit(place(start)..place(start + row));
    }
}

/// The elements of a lazy array in a region.
///
/// # Errors
/// The region is not inside of the array.
pub fn slab(region: &[Range<u64>], lazy: &LazyArray) -> Result<Hyperslab> {
    let slices = region.iter().map(|range| AxisSlice {
        start: range.start,
        stop: range.end,
        step: 1,
        axis: Default::default(),
    });
    let (dataset, shape) = (&lazy.dataset().name, lazy.shape());
    let misfit = || tet_query::Error::Misfit { dataset: dataset.clone(), shape: shape.clone() };
    Ok(Hyperslab::new(slices.collect(), shape).ok_or_else(misfit)?)
}

fn len(range: &Range<u64>) -> u64 {
    range.end - range.start
}

fn len_of(region: &Region) -> u64 {
    region.iter().map(len).fold(1, u64::saturating_mul)
}

/// The region of a band.
fn region(grid: &Grid, coord: &[u64]) -> Region {
    let extents = grid.extents_of(coord);
    grid.origin_of(coord).into_iter().zip(extents).map(|(at, len)| at..at + len).collect()
}

/// The coordinate of the band that has the first element of a region.
fn coord_at(grid: &Grid, region: &Region) -> Vec<u64> {
    region.iter().zip(grid.chunk_shape().iter()).map(|(range, band)| range.start / band).collect()
}

/// The coordinates of the bands that have elements of a region, in row-major order.
fn meeting(grid: &Grid, region: &Region) -> impl Iterator<Item = Vec<u64>> + use<> {
    let first = coord_at(grid, region);
    let bands = region.iter().zip(grid.chunk_shape().iter()).zip(&first);
    let counts: Vec<u64> =
        bands.map(|((range, band), first)| range.end.div_ceil(*band) - first).collect();
    let count = counts.iter().copied().fold(1, u64::saturating_mul);
    (0..count).map(move |mut nth| {
        let mut coord = first.clone();
        for (at, count) in coord.iter_mut().zip(&counts).rev() {
            *at += nth % count;
            nth /= count;
        }
        coord
    })
}

/// The intersection of two regions that meet.
fn common(a: &Region, b: &Region) -> Region {
    a.iter().zip(b).map(|(a, b)| a.start.max(b.start)..a.end.min(b.end)).collect()
}

fn fault(folder: &Path, step: Operation, error: std::io::Error) -> Error {
    Error::Io(tet_io::Error::io(step, &tet_io::scratch_in(folder), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_counted_as_often_as_bands_meet_them() {
        // By trying all: extents, chunks and bands of one axis.
        for extent in 1..14_u64 {
            for chunk in 1..=extent {
                for band in 1..=extent {
                    let bands_of = |start: u64| {
                        let end = (start + chunk).min(extent);
                        (start / band..end.div_ceil(band)).count() as u64
                    };
                    let most = (0..extent).step_by(chunk as usize).map(bands_of).max().unwrap();
                    let found = read_count(&[extent], &[chunk], &[band]);
                    assert!(most <= found && found <= most + 1, "{extent} {chunk} {band}: {found}");
                    assert!(most > 1 || found == 1 || chunk % band != 0, "{extent} {chunk} {band}");
                }
            }
        }
        // Time steps as time series: with all positions of a band, 32 bands read each chunk.
        assert_eq!(read_count(&[512, 360, 720], &[1, 360, 720], &[512, 10, 720]), 36);
        assert_eq!(read_count(&[512, 360, 720], &[1, 360, 720], &[16, 360, 720]), 1);
    }

    #[test]
    fn bands_are_some_chunks_along_one_axis_and_all_of_the_rest() {
        let of = |chunk: [u64; 3], room| {
            band_shape_of(&Shape::from([100, 40, 50]), &chunk, 4, room, room).map(|it| it.to_vec())
        };
        assert_eq!(of([1, 40, 50], 80_000), Ok(vec![10, 40, 50]));
        assert_eq!(of([100, 4, 5], 80_000), Ok(vec![100, 4, 50]));
        assert_eq!(of([100, 4, 5], 8_000), Ok(vec![100, 4, 5]));
        assert_eq!(of([100, 4, 5], 7_999), Err(8_000));
        assert_eq!(of([1, 1, 1], u64::MAX), Ok(vec![100, 40, 50]));
    }

    #[test]
    fn rows_of_a_part_are_where_the_region_has_them() {
        let mut found = Vec::new();
        for_rows(&[2..6, 0..5], &[3..5, 1..4], 2, |row| found.push(row));
        assert_eq!(found, [12..18, 22..28]);
        found.clear();
        for_rows(&[2..6, 0..5], &[3..5, 0..5], 1, |row| found.push(row));
        assert_eq!(found, std::iter::once(5..15).collect::<Vec<_>>());
    }
}
