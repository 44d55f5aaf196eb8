//! Chunks of one shape out of a lazy array: those at the edges are filled up, all are encoded on several
//! threads and handed over in row-major order.

use std::path::Path;
use std::thread::available_parallelism;

use tet_file::write::{OrderedJobs, OrderedWorkers, in_order};
use tet_format::{Grid, Shape};
use tet_query::{Execution, LazyArray};

use super::bands::Bands;
use crate::{Error, Result};

/// Small chunks are encoded together, about this many bytes at a time.
const BATCH_LEN: u64 = 1 << 20;

/// Encodes the elements of a chunk into a buffer, whose content it replaces.
pub type EncodeChunk<'e> = dyn Fn(&[u8], &mut Vec<u8>) -> tet_codec::Result<()> + Sync + 'e;

/// How an array is cut into chunks.
pub struct WholeChunks<'e> {
    /// The extents of each chunk.
    pub chunk_shape: Shape,
    /// The element that chunks at the edges are filled up with.
    pub fill: Vec<u8>,
    /// Threads that encode; 0 is one per processor.
    pub threads: usize,
    /// The folder for scratch files.
    pub scratch: Option<&'e Path>,
    /// The encoder of elements; `None` where they are stored as they are.
    pub encode: Option<&'e EncodeChunk<'e>>,
}

impl std::fmt::Debug for WholeChunks<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WholeChunks").finish_non_exhaustive()
    }
}

/// Calls `take` with the number and the stored bytes of each chunk; the progress of `execution` counts the
/// bytes of elements that were read.
///
/// # Errors
/// The array cannot be read, memory cannot hold a chunk, or `take` fails.
pub fn for_each(
    lazy: &LazyArray,
    how: &WholeChunks<'_>,
    execution: &Execution,
    take: &mut dyn FnMut(u64, &[u8]) -> Result<()>,
) -> Result<()> {
    let memory = || Error::Memory { dataset: lazy.dataset().name.clone() };
    let grid = Grid::new(lazy.shape().clone(), how.chunk_shape.clone()).ok_or_else(memory)?;
    let size = lazy.dtype().size().unwrap_or(1);
    let chunk_len = how.chunk_shape.iter().copied().fold(size, u64::saturating_mul);
    // A chunk is held as it is read, filled up, and as it is stored.
    let wanted = chunk_len.saturating_mul(4);
    if execution.memory_budget < wanted {
        let (dataset, limit) = (lazy.dataset().name.clone(), execution.memory_budget);
        return Err(Error::Budget { dataset, wanted, limit });
    }
    let room = execution.memory_budget / 4;
    let memory_budget = execution.memory_budget - room;
    let reading = Execution { memory_budget, ..execution.silent() };
    // Bands are parts, and a seal is of the whole.
    lazy.check_seal(&reading)?;
    let batch_len = chunk_len.max(BATCH_LEN);
    let workers = workers(how, room / batch_len.saturating_mul(2), grid.chunk_count());
    let mut stream = Stream {
        bands: Bands::new(lazy, how.chunk_shape.clone(), lazy.dtype(), &reading, how.scratch)?,
        coord: vec![0; grid.rank()],
        extents: vec![0; grid.rank()],
        grid: &grid,
        how,
        chunk_len,
        size,
        next: 0,
        clipped: Vec::new(),
        execution,
        take,
        spare: Vec::new(),
        memory: &memory,
    };
    let chunk_len = usize::try_from(chunk_len).map_err(|_| memory())?;
    in_order(&mut stream, workers, |batch: &mut Batch| {
        batch.encode(chunk_len, how.encode);
    })
}

/// How many threads, and how many batches at a time.
fn workers(how: &WholeChunks<'_>, batch_count_max: u64, chunk_count: u64) -> OrderedWorkers {
    let all = || available_parallelism().map_or(1, usize::from);
    let threads = if how.threads == 0 { all() } else { how.threads };
    let is_alone = how.encode.is_none() || threads == 1 || chunk_count <= 1;
    let worker_count = if is_alone { 0 } else { threads };
    let most = 4_u64.saturating_mul(u64::try_from(worker_count.max(1)).unwrap_or(1));
    let in_flight_max = usize::try_from(batch_count_max.clamp(1, most)).unwrap_or(1);
    OrderedWorkers { worker_count, in_flight_max }
}

/// Some chunks on their way.
#[derive(Debug, Default)]
struct Batch {
    /// The number of the first.
    number: u64,
    /// Bytes of elements that were read for them.
    read_len: u64,
    /// The elements of all, each chunk filled up.
    decoded: Vec<u8>,
    /// The stored bytes of all, and how many each has.
    stored: Vec<u8>,
    lens: Vec<usize>,
    scratch: Vec<u8>,
    fault: Option<tet_codec::Error>,
}

impl Batch {
    fn encode(&mut self, chunk_len: usize, encode: Option<&EncodeChunk<'_>>) {
        let Some(encode) = encode else {
            self.lens.extend(self.decoded.chunks(chunk_len.max(1)).map(<[u8]>::len));
            std::mem::swap(&mut self.stored, &mut self.decoded);
            return;
        };
        for chunk in self.decoded.chunks(chunk_len.max(1)) {
            if let Err(fault) = encode(chunk, &mut self.scratch) {
                self.fault = Some(fault);
                return;
            }
            self.lens.push(self.scratch.len());
            self.stored.extend_from_slice(&self.scratch);
        }
    }

    fn clear(&mut self) {
        self.decoded.clear();
        self.stored.clear();
        self.lens.clear();
        self.read_len = 0;
    }
}

/// The chunks of an array on their way.
struct Stream<'s> {
    bands: Bands<'s>,
    coord: Vec<u64>,
    extents: Vec<u64>,
    grid: &'s Grid,
    how: &'s WholeChunks<'s>,
    chunk_len: u64,
    size: u64,
    /// The number of the chunk that is read next.
    next: u64,
    clipped: Vec<u8>,
    execution: &'s Execution,
    take: &'s mut dyn FnMut(u64, &[u8]) -> Result<()>,
    spare: Vec<Batch>,
    memory: &'s dyn Fn() -> Error,
}

impl Stream<'_> {
    /// Reads the next chunk into a batch.
    fn read(&mut self, batch: &mut Batch) -> Result<()> {
        self.grid.extents(&self.coord, &mut self.extents);
        let len = usize::try_from(self.chunk_len).map_err(|_| (self.memory)())?;
        batch.decoded.try_reserve(len).map_err(|_| (self.memory)())?;
        let before = batch.decoded.len();
        if self.extents[..] == self.how.chunk_shape[..] {
            self.bands.fill(&self.coord, &self.extents, &mut batch.decoded)?;
            batch.read_len += u64::try_from(batch.decoded.len() - before).unwrap_or(0);
        } else {
            self.clipped.clear();
            self.bands.fill(&self.coord, &self.extents, &mut self.clipped)?;
            let chunk_shape = &self.how.chunk_shape;
            extend(&mut batch.decoded, &self.how.fill, len);
            let chunk = &mut batch.decoded[before..];
            copy_rows(&self.clipped, &self.extents, self.size, chunk_shape, chunk);
            batch.read_len += u64::try_from(self.clipped.len()).unwrap_or(0);
        }
        if batch.decoded.len() - before != len {
            return Err((self.memory)());
        }
        self.grid.advance(&mut self.coord);
        self.next += 1;
        Ok(())
    }
}

impl OrderedJobs for Stream<'_> {
    type Item = Batch;
    type Error = Error;

    fn make(&mut self) -> Result<Option<Batch>> {
        if self.next == self.grid.chunk_count() {
            return Ok(None);
        }
        let mut batch = self.spare.pop().unwrap_or_default();
        batch.clear();
        batch.number = self.next;
        self.read(&mut batch)?;
        let has_room = |batch: &Batch, more: u64| batch.decoded.len() as u64 + more <= BATCH_LEN;
        while self.next != self.grid.chunk_count() && has_room(&batch, self.chunk_len) {
            self.read(&mut batch)?;
        }
        Ok(Some(batch))
    }

    fn deliver(&mut self, mut batch: Batch) -> Result<()> {
        if batch.fault.take().is_some() {
            return Err((self.memory)());
        }
        let mut rest = batch.stored.as_slice();
        for (&len, number) in batch.lens.iter().zip(batch.number..) {
            let (stored, after) = rest.split_at(len);
            (self.take)(number, stored)?;
            rest = after;
        }
        self.execution.progress.advance(batch.read_len)?;
        self.spare.push(batch);
        Ok(())
    }

    fn lost(&self) -> Error {
        (self.memory)()
    }
}

/// Appends `len` bytes of an element, one after the other.
fn extend(out: &mut Vec<u8>, fill: &[u8], len: usize) {
    if fill.iter().all(|byte| *byte == 0) {
        out.resize(out.len() + len, 0);
    } else {
        out.extend(fill.iter().copied().cycle().take(len));
    }
}

/// Copies the elements of a chunk that are inside of the array, of `size` bytes each, to their places in the whole chunk.
fn copy_rows(elements: &[u8], extents: &[u64], size: u64, chunk_shape: &[u64], chunk: &mut [u8]) {
    let index = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let Some((&row, outer)) = extents.split_last() else { return };
    let row = index(row.saturating_mul(size));
    let mut coord = vec![0; outer.len()];
    for elements in elements.chunks_exact(row.max(1)) {
        let place =
            coord.iter().zip(chunk_shape).fold(0, |place, (&at, &extent)| place * extent + at);
        let place = place * chunk_shape.last().copied().unwrap_or(1) * size;
        if let Some(to) = chunk.get_mut(index(place)..).and_then(|rest| rest.get_mut(..row)) {
            to.copy_from_slice(elements);
        }
        for (at, &extent) in coord.iter_mut().zip(outer).rev() {
            *at += 1;
            if *at < extent {
                break;
            }
            *at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_at_the_edges_are_filled_up() {
        let mut out = vec![7];
        extend(&mut out, &[9], 9);
        copy_rows(&[1, 2, 3, 4], &[2, 2], 1, &[3, 3], &mut out[1..]);
        assert_eq!(out, [7, 1, 2, 9, 3, 4, 9, 9, 9, 9]);
        let mut out = Vec::new();
        let elements: Vec<u8> = (1..=12).collect();
        extend(&mut out, &[0, 0], 36);
        copy_rows(&elements, &[1, 3, 2], 2, &[2, 3, 3], &mut out);
        assert_eq!(out[..18], [1, 2, 3, 4, 0, 0, 5, 6, 7, 8, 0, 0, 9, 10, 11, 12, 0, 0]);
        assert_eq!(out[18..], [0; 18]);
        let mut out = Vec::new();
        extend(&mut out, &[5, 6], 6);
        copy_rows(&[1, 0], &[1], 2, &[3], &mut out);
        assert_eq!(out, [1, 0, 5, 6, 5, 6]);
    }
}
