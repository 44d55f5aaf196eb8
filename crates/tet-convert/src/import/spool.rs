//! A file without a name beside the output, for input that must be read twice or out of order.
//!
//! A row-major stream is copied as it is. A column-major one is cut into stretches that fit in
//! memory; each is a box of the array, is turned row-major there, and becomes one piece. So a
//! Fortran-order array is read once, written once and read once, whatever its chunks are.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use tet_io::{ReadAt, Source};

use super::region::{self, Region};
use super::store::{Piece, Store};

/// Copies the row-major `elements` of `shape` to a spool in `folder`.
pub(crate) fn rows(
    elements: &mut dyn Read,
    shape: &[u64],
    element_size: usize,
    folder: &Path,
) -> io::Result<Store> {
    let region = Region::whole(shape);
    let len = byte_len(&region, element_size)?;
    let mut file = tempfile::tempfile_in(folder)?;
    let copied = io::copy(&mut elements.take(len), &mut file)?;
    if copied != len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let source = Source::from_reader(Arc::new(Spool { file, len }));
    Ok(Store::new(source, vec![Piece { offset: 0, region }], element_size))
}

/// Turns the column-major `elements` of `shape` row-major, in memory when they are at most
/// `len_max` bytes, else through a spool in `folder`.
pub(crate) fn columns(
    elements: &mut dyn Read,
    shape: &[u64],
    element_size: usize,
    folder: &Path,
    len_max: u64,
) -> io::Result<Store> {
    let stretches = stretches(shape, element_size, len_max);
    let mut spool = None;
    let mut memory = Vec::new();
    let mut pieces = Vec::new();
    let (mut columns, mut offset) = (Vec::new(), 0);
    for region in stretches {
        let len = byte_len(&region, element_size)?;
        let memory_len = usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
        columns.resize(memory_len, 0);
        memory.resize(memory_len, 0);
        elements.read_exact(&mut columns)?;
        region::transpose(&columns, &mut memory, &region.extents, element_size);
        let is_whole = region.extents == shape;
        pieces.push(Piece { offset, region });
        offset += len;
        if is_whole {
            return Ok(Store::new(Source::from_bytes(memory), pieces, element_size));
        }
        if spool.is_none() {
            spool = Some(tempfile::tempfile_in(folder)?);
        }
        if let Some(file) = &mut spool {
            file.write_all(&memory)?;
        }
    }
    let file = spool.ok_or(io::ErrorKind::UnexpectedEof)?;
    let source = Source::from_reader(Arc::new(Spool { file, len: offset }));
    Ok(Store::new(source, pieces, element_size))
}

/// The boxes whose elements are consecutive stretches of a column-major array, in its order.
fn stretches(shape: &[u64], element_size: usize, len_max: u64) -> impl Iterator<Item = Region> {
    // Axes before `cut` are whole, `cut` goes `step` positions at a time, later axes one.
    let room = (len_max / u64::try_from(element_size).unwrap_or(u64::MAX)).max(1);
    let (mut cut, mut inner) = (0, 1_u64);
    while cut + 1 < shape.len() && inner.saturating_mul(shape[cut]) <= room {
        inner = inner.saturating_mul(shape[cut]);
        cut += 1;
    }
    let step = (room / inner).max(1);
    let shape = shape.to_vec();
    let mut next = Some(vec![0; shape.len()]);
    std::iter::from_fn(move || {
        let start = next.take()?;
        let mut extents = vec![1; shape.len()];
        extents[..cut].copy_from_slice(&shape[..cut]);
        extents[cut] = step.min(shape[cut] - start[cut]);
        let mut after = start.clone();
        after[cut] += extents[cut];
        for axis in cut..shape.len() {
            if after[axis] < shape[axis] {
                next = Some(after);
                break;
            }
            after[axis] = 0;
            match after.get_mut(axis + 1) {
                Some(slower) => *slower += 1,
                None => break,
            }
        }
        Some(Region { start, extents })
    })
}

fn byte_len(region: &Region, element_size: usize) -> io::Result<u64> {
    let size = u64::try_from(element_size).unwrap_or(u64::MAX);
    region.element_count().checked_mul(size).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// The unnamed file, read by position.
struct Spool {
    file: File,
    len: u64,
}

impl ReadAt for Spool {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, out, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The column-major bytes of an array whose row-major positions are its elements.
    fn column_major(shape: &[u64]) -> Vec<u8> {
        let count: u64 = shape.iter().product();
        let mut columns = vec![0; usize::try_from(count).unwrap() * 2];
        for position in 0..count {
            let (mut rest, mut at, mut stride) = (position, 0, count);
            for &extent in shape.iter().rev() {
                stride /= extent;
                at += rest % extent * stride;
                rest /= extent;
            }
            let at = usize::try_from(at).unwrap() * 2;
            columns[at..at + 2].copy_from_slice(&(position as u16).to_le_bytes());
        }
        columns
    }

    #[test]
    fn every_small_column_major_array_is_turned() {
        let folder = tempfile::tempdir().unwrap();
        for shape in [&[1][..], &[7], &[3, 4], &[1, 5], &[5, 1], &[2, 3, 4], &[3, 1, 2, 2]] {
            let columns_bytes = column_major(shape);
            let wanted = (0..columns_bytes.len() / 2).flat_map(|i| (i as u16).to_le_bytes());
            let wanted = wanted.collect::<Vec<_>>();
            for len_max in [1, 2, 4, 6, 10, 16, 24, 1000] {
                let mut stream = &columns_bytes[..];
                let store = columns(&mut stream, shape, 2, folder.path(), len_max).unwrap();
                assert!(stream.is_empty());
                let mut out = vec![0; wanted.len()];
                store.read(&Region::whole(shape), &mut out).unwrap();
                assert_eq!(out, wanted, "{shape:?} within {len_max}");
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing has a name");
    }

    #[test]
    fn stretches_are_bounded_and_cover_the_array_once() {
        for len_max in 1..30 {
            for shape in [&[5][..], &[3, 4], &[2, 3, 4], &[7, 1, 2]] {
                let all = stretches(shape, 1, len_max).collect::<Vec<_>>();
                let count: u64 = all.iter().map(Region::element_count).sum();
                assert_eq!(count, shape.iter().product::<u64>(), "{shape:?} within {len_max}");
                assert!(all.iter().all(|region| region.element_count() <= len_max));
            }
        }
    }

    #[test]
    fn a_short_stream_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let short = |outcome: io::Result<Store>| {
            assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        };
        short(rows(&mut &[0; 23][..], &[3, 4], 2, folder.path()));
        short(columns(&mut &[0; 23][..], &[3, 4], 2, folder.path(), 4));
        short(columns(&mut &[0; 23][..], &[3, 4], 2, folder.path(), 400));
    }
}
