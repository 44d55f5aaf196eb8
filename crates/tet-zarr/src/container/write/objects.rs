//! The objects of an array: chunks or shards, made of bands of elements, encoded in parallel, stored in order.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::{NewArray, ZarrFormat, shard_index};
use tet_file::write::{OrderedJobs, OrderedWorkers, in_order};
use tet_format::{Grid, Shape, Span};
use tet_io::Progress;
use tet_query::{Execution, LazyArray};

use super::chunk::{ChunkEncoder, Cut, is_filled};
use super::draft::{ArraySource, dtype_of, element_size};
use super::store::ObjectSink;
use tet_container::write::bands::Bands;
use tet_container::write::conversion::ConvertOptions;
use tet_container::{Error, Result};

/// The most threads that encode.
const THREAD_COUNT_MAX: usize = 1024;

/// The store, for threads that take turns.
type Store<'p> = Mutex<&'p mut (dyn ObjectSink + 'p)>;

/// An array that is written.
#[derive(Debug)]
pub(super) struct Written<'w> {
    pub(super) array: &'w NewArray,
    pub(super) part: &'w ArraySource,
    pub(super) lazy: &'w LazyArray,
    pub(super) encoder: &'w ChunkEncoder,
}

/// Writes the only chunk of an array along one axis.
pub(super) fn write_one(
    array: &NewArray,
    bytes: &[u8],
    encoder: &ChunkEncoder,
    store: &mut dyn ObjectSink,
) -> Result<()> {
    if array.shape.contains(&0) {
        return Ok(());
    }
    let mut stored = Vec::new();
    encoder.encode(bytes, &mut stored)?;
    store.put(&array.object_key(store.format(), &[0]), &stored)
}

/// Writes the elements of a lazy array.
///
/// # Errors
/// Elements cannot be read, memory cannot hold an object, or the store refuses one.
pub(super) fn write(
    of: &Written<'_>,
    options: &ConvertOptions,
    execution: &Execution,
    store: &mut dyn ObjectSink,
) -> Result<()> {
    let size = element_size(of.array);
    // An array without axes may be read as one of one element.
    let rank = of.lazy.shape().rank();
    let along = |shape: &Shape| {
        if shape.rank() == rank { shape.clone() } else { vec![1; rank].into() }
    };
    let (object_shape, chunk_shape) =
        (along(of.array.object_shape()), along(&of.array.chunk_shape));
    let room = execution.memory_budget / 4;
    let object_len = object_shape.iter().copied().fold(size, u64::saturating_mul);
    if room < object_len {
        let (dataset, limit) = (of.lazy.dataset().name.clone(), execution.memory_budget);
        return Err(Error::Budget { dataset, wanted: object_len.saturating_mul(4), limit });
    }
    // Bands are parts, none of which is the whole.
    let mut reading = execution.silent();
    reading.memory_budget -= room;
    of.lazy.check_seal(&reading)?;
    let scratch = options.open.scratch.as_deref();
    let bands = Bands::new(of.lazy, object_shape.clone(), dtype_of(of.array), &reading, scratch)?;
    let grid = Grid::new(of.lazy.shape().clone(), object_shape);
    let memory = || Error::Memory { dataset: of.lazy.dataset().name.clone() };
    let grid = grid.ok_or_else(memory)?;
    let plan = Plan { of, chunk_shape, size: usize::try_from(size).map_err(|_| memory())? };
    let is_raw = of.encoder.is_identity();
    let workers = workers(&grid, object_len, room, options.tet.threads, is_raw);
    let format = store.format();
    let store = Mutex::new(store);
    let mut stream = Stream {
        of,
        format,
        coordinate: vec![0; grid.rank()],
        grid,
        made: 0,
        bands,
        store: &store,
        spare: Vec::new(),
        is_stored_by_worker: is_raw,
        progress: &execution.progress,
    };
    // Objects that need no encoding are stored while the next ones are read.
    let work = |object: &mut Object| {
        let done = plan.encode(object);
        let stored = done.and_then(|()| if is_raw { object.put(&store) } else { Ok(()) });
        object.fault = stored.err();
    };
    in_order(&mut stream, workers, work)
}

/// How many threads, and how many objects at a time.
fn workers(
    grid: &Grid,
    object_len: u64,
    room: u64,
    threads: usize,
    is_raw: bool,
) -> OrderedWorkers {
    let thread_count = match threads {
        0 => thread::available_parallelism().map_or(1, Into::into),
        threads => threads.min(THREAD_COUNT_MAX),
    };
    let worker_count = match thread_count {
        0 | 1 => 0,
        _ if grid.chunk_count() < 2 => 0,
        // The one that stores.
        _ if is_raw => 1,
        count => count,
    };
    // An object is there as it was read and as it is stored.
    let fitting = room / object_len.saturating_mul(2).max(1);
    let in_flight_max = usize::try_from(fitting).unwrap_or(usize::MAX);
    OrderedWorkers { worker_count, in_flight_max: in_flight_max.clamp(1, 4 * worker_count.max(1)) }
}

/// How objects are encoded.
struct Plan<'p> {
    of: &'p Written<'p>,
    chunk_shape: Shape,
    size: usize,
}

/// An object on its way into the store.
#[derive(Debug, Default)]
struct Object {
    key: String,
    extents: Vec<u64>,
    decoded: Vec<u8>,
    stored: Vec<u8>,
    scratch: Vec<u8>,
    form: Form,
    fault: Option<Error>,
}

/// The stored form of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// Nothing: all of it is the fill value.
    #[default]
    Absent,
    /// Its elements.
    Decoded,
    /// Its encoded bytes.
    Encoded,
}

impl Object {
    fn put(&self, store: &Store<'_>) -> Result<()> {
        match self.form {
            Form::Absent => Ok(()),
            Form::Decoded => lock(store).put(&self.key, &self.decoded),
            Form::Encoded => lock(store).put(&self.key, &self.stored),
        }
    }
}

fn lock<'a, 'p>(store: &'a Store<'p>) -> MutexGuard<'a, &'p mut (dyn ObjectSink + 'p)> {
    store.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Plan<'_> {
    fn encode(&self, object: &mut Object) -> Result<()> {
        if self.of.array.shard_shape.is_some() {
            return self.encode_shard(object);
        }
        let Object { extents, decoded, stored, scratch, .. } = object;
        let first = vec![0; extents.len()];
        let cut = Cut {
            object: extents,
            first: &first,
            extents,
            chunk: &self.chunk_shape,
            size: self.size,
        };
        if !cut.is_whole() {
            cut.copy(decoded, self.fill(), scratch)?;
            std::mem::swap(decoded, scratch);
        }
        object.form = if self.is_absent(decoded) {
            Form::Absent
        } else if self.of.encoder.is_identity() {
            Form::Decoded
        } else {
            self.of.encoder.encode(decoded, stored)?;
            Form::Encoded
        };
        Ok(())
    }

    /// Chunks one after the other, and their places behind them.
    fn encode_shard(&self, object: &mut Object) -> Result<()> {
        let Object { extents, decoded, stored, scratch, .. } = object;
        let shard = self.of.array.object_shape();
        let memory = || Error::Memory { dataset: self.of.lazy.dataset().name.clone() };
        let grid = Grid::new(shard.clone(), self.chunk_shape.clone()).ok_or_else(memory)?;
        let rank = grid.rank();
        let (mut at, mut first) = (vec![0; rank], vec![0; rank]);
        let (mut chunks, mut chunk) = (Vec::new(), Vec::new());
        stored.clear();
        for _ in 0..grid.chunk_count() {
            grid.origin(&at, &mut first);
            let ends = first.iter().zip(&*extents).zip(self.chunk_shape.iter());
            let inside: Vec<u64> =
                ends.map(|((&first, &end), &chunk)| end.saturating_sub(first).min(chunk)).collect();
            let mut span = None;
            if !inside.contains(&0) {
                let cut = Cut {
                    object: extents,
                    first: &first,
                    extents: &inside,
                    chunk: &self.chunk_shape,
                    size: self.size,
                };
                cut.copy(decoded, self.fill(), scratch)?;
                if !self.is_absent(scratch) {
                    self.of.encoder.encode(scratch, &mut chunk)?;
                    span = span_of(stored.len(), chunk.len());
                    stored.try_reserve(chunk.len()).map_err(|_| memory())?;
                    stored.extend_from_slice(&chunk);
                }
            }
            chunks.push(span);
            grid.advance(&mut at);
        }
        object.form = Form::Absent;
        if chunks.iter().any(Option::is_some) {
            stored.extend(shard_index(&chunks));
            object.form = Form::Encoded;
        }
        Ok(())
    }

    fn fill(&self) -> &[u8] {
        self.of.part.fill.as_deref().unwrap_or(&[0])
    }

    fn is_absent(&self, chunk: &[u8]) -> bool {
        self.of.part.fill.as_deref().is_some_and(|fill| is_filled(chunk, fill))
    }
}

pub(super) fn span_of(start: usize, len: usize) -> Option<Span> {
    Span::new(u64::try_from(start).ok()?, u64::try_from(len).ok()?)
}

/// The objects of an array, made of bands.
struct Stream<'s, 'p> {
    of: &'s Written<'s>,
    format: ZarrFormat,
    grid: Grid,
    coordinate: Vec<u64>,
    made: u64,
    bands: Bands<'s>,
    store: &'s Store<'p>,
    spare: Vec<Object>,
    is_stored_by_worker: bool,
    progress: &'s Progress,
}

impl OrderedJobs for Stream<'_, '_> {
    type Item = Object;
    type Error = Error;

    fn make(&mut self) -> Result<Option<Object>> {
        if self.made == self.grid.chunk_count() {
            return Ok(None);
        }
        let mut object = self.spare.pop().unwrap_or_default();
        object.decoded.clear();
        object.extents.resize(self.grid.rank(), 0);
        self.grid.extents(&self.coordinate, &mut object.extents);
        self.bands.fill(&self.coordinate, &object.extents, &mut object.decoded)?;
        let coordinate = self.coordinate.get(..self.of.array.shape.rank()).unwrap_or_default();
        object.key = self.of.array.object_key(self.format, coordinate);
        self.grid.advance(&mut self.coordinate);
        self.made += 1;
        Ok(Some(object))
    }

    fn deliver(&mut self, mut object: Object) -> Result<()> {
        if let Some(fault) = object.fault.take() {
            return Err(fault);
        }
        if !self.is_stored_by_worker {
            object.put(self.store)?;
        }
        let count = object.extents.iter().copied().fold(1, u64::saturating_mul);
        let len = count.saturating_mul(element_size(self.of.array));
        self.spare.push(object);
        Ok(self.progress.advance(len)?)
    }

    fn lost(&self) -> Error {
        tet_file::Error::Thread.into()
    }
}
