//! The chunks of one dataset on their way into a file: filled, measured, encoded, and written in order.

use std::io::BufWriter;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tet_codec::{Encode, digest, digest_and_statistics, statistics};
use tet_format::write::{FileWriter, WriteError};
use tet_format::{ChunkStatistics, DType, Digest, Grid};
use tet_io::{Operation, Progress, Publisher};

use super::ordered::OrderedJobs;
use crate::error::{Error, Result};

/// Error of the caller while it fills a chunk.
pub type FillError = Box<dyn std::error::Error + Send + Sync>;

/// Appends the elements of a chunk to an empty buffer.
pub type Fill<'a> = dyn FnMut(ChunkAt<'_>, &mut Vec<u8>) -> Result<(), FillError> + 'a;

/// Small chunks travel together, about this many bytes at a time; larger writes go straight to
/// the file.
pub(super) const BATCH_LEN: u64 = 1 << 20;

/// A chunk the caller is asked to fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkAt<'a> {
    /// The chunk's number in its dataset.
    pub linear: u64,
    /// Its place in the grid.
    pub coord: &'a [u64],
    /// Its extents, clipped at the dataset's edge.
    pub extents: &'a [u64],
    /// The bytes it takes.
    pub decoded_len: u64,
}

/// Sizes of a finished file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The length of the file.
    pub file_len: u64,
    /// The bytes of all payloads in the file.
    pub stored_len: u64,
    /// The bytes of all chunks before encoding.
    pub decoded_len: u64,
    /// The number of chunks.
    pub chunk_count: u64,
}

/// Where batches go, in order.
pub(super) struct Sink<'a> {
    pub(super) file: &'a mut FileWriter<BufWriter<Publisher>>,
    pub(super) target: &'a Path,
    pub(super) codec: tet_format::Codec,
    pub(super) written: &'a mut Written,
    pub(super) digests: Option<&'a mut Vec<Digest>>,
    pub(super) statistics: Option<&'a mut Vec<ChunkStatistics>>,
}

impl Sink<'_> {
    pub(super) fn write(&mut self, batch: &Batch) -> Result<()> {
        let is_raw = self.codec == tet_format::Codec::Raw;
        let bytes = if is_raw { batch.decoded.as_slice() } else { &batch.stored };
        let lens = batch.lens.iter();
        let chunks = split(bytes, lens.clone().map(|[_, stored_len]| *stored_len));
        for (stored, [decoded_len, _]) in chunks.zip(lens) {
            let decoded_len = *decoded_len as u64;
            let pushed = self.file.push(self.codec, decoded_len, stored);
            pushed.map_err(|error| fault(error, self.target))?;
            self.written.stored_len += stored.len() as u64;
            self.written.decoded_len += decoded_len;
            self.written.chunk_count += 1;
        }
        if let Some(digests) = &mut self.digests {
            digests.extend_from_slice(&batch.digests);
        }
        if let Some(statistics) = &mut self.statistics {
            statistics.extend_from_slice(&batch.statistics);
        }
        Ok(())
    }
}

/// Parts of these lengths, one after the other.
fn split(mut bytes: &[u8], lens: impl Iterator<Item = usize>) -> impl Iterator<Item = &[u8]> {
    lens.map(move |len| {
        let (part, rest) = bytes.split_at(len);
        bytes = rest;
        part
    })
}

pub(super) fn lock<'a, 'b>(sink: &'a Mutex<Sink<'b>>) -> MutexGuard<'a, Sink<'b>> {
    sink.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Some chunks on their way: one large one, or small ones together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The chunks' elements, back to back.
    decoded: Vec<u8>,
    /// Their payloads, back to back; empty for raw chunks, which are their elements.
    stored: Vec<u8>,
    /// Room for one payload among several.
    scratch: Vec<u8>,
    /// For each chunk, the bytes of its elements and of its payload.
    lens: Vec<[usize; 2]>,
    /// The digests of their payloads, where digests are written.
    digests: Vec<Digest>,
    /// The statistics of their elements, where they are written.
    statistics: Vec<ChunkStatistics>,
    pub(super) fault: Option<Error>,
}

impl Batch {
    fn clear(&mut self) {
        self.decoded.clear();
        self.stored.clear();
        self.lens.clear();
        self.digests.clear();
        self.statistics.clear();
        self.fault = None;
    }

    /// Encodes the chunks, whose elements get statistics if they are `measured` as a dtype.
    pub(super) fn encode(
        &mut self,
        encoder: &dyn Encode,
        has_digests: bool,
        measured: Option<DType>,
    ) -> Result<()> {
        let measure = |decoded: &[u8]| measured.and_then(|dtype| statistics(dtype, decoded));
        if let [[_, stored_len]] = self.lens.as_mut_slice() {
            self.statistics.extend(measure(&self.decoded));
            encoder.encode(&self.decoded, &mut self.stored)?;
            *stored_len = self.stored.len();
            self.digests.extend(has_digests.then(|| digest(&self.stored)));
            return Ok(());
        }
        let mut rest = self.decoded.as_slice();
        for [decoded_len, stored_len] in &mut self.lens {
            let (decoded, later) = rest.split_at(*decoded_len);
            rest = later;
            self.statistics.extend(measure(decoded));
            encoder.encode(decoded, &mut self.scratch)?;
            *stored_len = self.scratch.len();
            self.digests.extend(has_digests.then(|| digest(&self.scratch)));
            self.stored.extend_from_slice(&self.scratch);
        }
        Ok(())
    }
}

/// One dataset on its way into the file.
pub(super) struct Stream<'a> {
    pub(super) dataset: usize,
    pub(super) grid: &'a Grid,
    pub(super) element_size: u64,
    /// Whether chunks get their digests here: raw ones, while others are written.
    pub(super) has_digests: bool,
    /// The dtype of the chunks, if they get their statistics together with their digests.
    pub(super) measured: Option<DType>,
    pub(super) coord: Vec<u64>,
    pub(super) extents: Vec<u64>,
    /// The chunk that is filled next.
    pub(super) linear: u64,
    pub(super) fill: &'a mut Fill<'a>,
    pub(super) progress: &'a Progress,
    /// Where encoded batches go; raw ones are written by the worker.
    pub(super) sink: Option<&'a Mutex<Sink<'a>>>,
    pub(super) spare: &'a mut Vec<Batch>,
}

impl Stream<'_> {
    /// Fills the next chunk into `batch`.
    fn fill_chunk(&mut self, batch: &mut Batch) -> Result<()> {
        self.grid.extents(&self.coord, &mut self.extents);
        let wanted = self.chunk_len();
        let dataset = self.dataset;
        let chunk = ChunkAt {
            linear: self.linear,
            coord: &self.coord,
            extents: &self.extents,
            decoded_len: wanted,
        };
        // The caller sees an empty buffer, so chunks that travel together are filled apart.
        let is_first = batch.decoded.is_empty();
        let out = if is_first { &mut batch.decoded } else { &mut batch.scratch };
        out.clear();
        (self.fill)(chunk, out).map_err(|source| {
            let coord = self.coord.clone();
            Error::Fill { dataset, coord, source }
        })?;
        let len = out.len();
        if len as u64 != wanted {
            let (coord, found) = (self.coord.clone(), len as u64);
            return Err(Error::ChunkLen { dataset, coord, found, wanted });
        }
        if self.has_digests {
            let (digest, statistics) = digest_and_statistics(out, self.measured);
            batch.digests.push(digest);
            batch.statistics.extend(statistics);
        }
        if !is_first {
            batch.decoded.extend_from_slice(&batch.scratch);
        }
        batch.lens.push([len, len]);
        self.grid.advance(&mut self.coord);
        self.linear += 1;
        Ok(())
    }

    fn chunk_len(&self) -> u64 {
        // The layout has bounded the bytes of all chunks together by 64 bits.
        self.grid.chunk_elements(&self.coord).unwrap_or(0).saturating_mul(self.element_size)
    }

    fn is_complete(&self) -> bool {
        self.linear == self.grid.chunk_count()
    }
}

impl OrderedJobs for Stream<'_> {
    type Item = Batch;
    type Error = Error;

    fn make(&mut self) -> Result<Option<Batch>> {
        if self.is_complete() {
            return Ok(None);
        }
        let mut batch = self.spare.pop().unwrap_or_default();
        batch.clear();
        self.fill_chunk(&mut batch)?;
        while !self.is_complete() && batch.decoded.len() as u64 + self.chunk_len() <= BATCH_LEN {
            self.fill_chunk(&mut batch)?;
        }
        Ok(Some(batch))
    }

    fn deliver(&mut self, mut batch: Batch) -> Result<()> {
        if let Some(fault) = batch.fault.take() {
            return Err(fault);
        }
        if let Some(sink) = self.sink {
            lock(sink).write(&batch)?;
        }
        let len = batch.decoded.len() as u64;
        self.spare.push(batch);
        Ok(self.progress.advance(len)?)
    }

    fn lost(&self) -> Error {
        Error::Thread
    }
}

/// An error of the format's writer; what the world did gets step and path.
pub(super) fn fault(error: WriteError, target: &Path) -> Error {
    match error {
        WriteError::Io(source) => tet_io::Error::io(Operation::Write, target, source).into(),
        error => Error::Layout(error),
    }
}
