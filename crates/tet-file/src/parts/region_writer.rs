//! Regions of datasets, written as chunks of a part.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;

use tet_codec::{Encode, statistics};
use tet_io::Progress;

use super::base::{BaseFile, decoded};
use super::part::{FilePart, Key, PartWriter};
use super::partial::{Partial, Partials};
use super::plan::{FilePlan, PlannedDataset};
use super::region::{Block, Chunks, Overlap, bytes_of, for_runs};
use crate::error::{Error, Result};

/// Regions of fewer bytes are written by the thread that brings them.
const SHORT_LEN: u64 = 1 << 20;
/// Locks that the chunks share of which only some elements are written.
const LOCKS: usize = 64;

/// How regions are written.
///
/// # Examples
///
/// ```
/// use tet_file::parts::RegionOptions;
///
/// let alone = RegionOptions { threads: 1, ..RegionOptions::default() };
/// assert_eq!(alone.memory, 1 << 30);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RegionOptions {
    /// Threads that encode the chunks of a region; 0 is one for each processor.
    pub threads: usize,
    /// The most bytes of chunks of which only some elements are written.
    pub memory: u64,
}

impl Default for RegionOptions {
    fn default() -> Self {
        RegionOptions { threads: 0, memory: 1 << 30 }
    }
}

/// Writes regions of the datasets of a plan, from any thread, in any order.
///
/// Chunks that a region covers are encoded at once; of others the elements are kept in memory until the chunk is
/// complete. What is written later replaces what was there; regions that are written at the same time do not overlap.
///
/// # Examples
///
/// ```
/// use tet_file::parts::{FilePlan, RegionOptions, RegionWriter, publish};
/// use tet_io::Progress;
///
/// let plan = FilePlan::from_json(
///     r#"{"tet_plan": 1, "datasets": [{"name": "a", "dtype": "uint8", "shape": [2, 2], "chunks": [2, 1]}]}"#,
/// )?;
/// let folder = std::env::temp_dir();
/// let writer = RegionWriter::scratch(&folder, &plan, None, RegionOptions::default())?;
/// writer.write(0, &[1, 0], &[1, 2], &[3, 4], &Progress::default())?;
/// writer.write(0, &[0, 0], &[1, 2], &[1, 2], &Progress::default())?;
/// # let target = folder.join(format!("tet-regions-{}.tet", std::process::id()));
/// publish(&plan, &[writer.to_part()?], None, &target, &Default::default(), &[], &Progress::default())?;
/// # std::fs::remove_file(target)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RegionWriter {
    datasets: RwLock<Vec<Arc<PlannedDataset>>>,
    base: Option<BaseFile>,
    part: PartWriter,
    encoder: Box<dyn Encode>,
    options: RegionOptions,
    partial: Mutex<Partials>,
    /// Held from the time when a chunk is taken out of `partial` until it is back there or in the part: other threads
    /// that write to it would else begin with its older elements.
    taken: [Mutex<()>; LOCKS],
}

impl RegionWriter {
    /// A writer of the part `path`, for another process to publish.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when the part cannot be written there.
    pub fn create(path: &Path, plan: &FilePlan, options: RegionOptions) -> Result<RegionWriter> {
        RegionWriter::with_part(PartWriter::create(path, plan)?, plan, None, options)
    }

    /// A writer whose chunks are in a scratch file in `folder`; what it does not write is that of the base.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when there can be no scratch file.
    pub fn scratch(
        folder: &Path,
        plan: &FilePlan,
        base: Option<BaseFile>,
        options: RegionOptions,
    ) -> Result<RegionWriter> {
        RegionWriter::with_part(PartWriter::scratch(folder)?, plan, base, options)
    }

    fn with_part(
        part: PartWriter,
        plan: &FilePlan,
        base: Option<BaseFile>,
        options: RegionOptions,
    ) -> Result<RegionWriter> {
        let datasets = RwLock::new(plan.datasets().iter().cloned().map(Arc::new).collect());
        let (encoder, partial) = (plan.encoder()?, Mutex::default());
        let taken = std::array::from_fn(|_| Mutex::default());
        Ok(RegionWriter { datasets, base, part, encoder, options, partial, taken })
    }

    /// Adds a dataset behind the others. Returns its number.
    pub fn add(&self, dataset: PlannedDataset) -> usize {
        let mut datasets = self.datasets.write().unwrap_or_else(PoisonError::into_inner);
        datasets.push(Arc::new(dataset));
        datasets.len() - 1
    }

    /// Ends a dataset after `extent` positions of its first axis, of which no more are written.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Plan`] when it is shorter already, and [`Error::Incomplete`] when positions behind the end are
    /// written.
    pub fn truncate(&self, id: usize, extent: u64) -> Result<()> {
        let long = self.dataset(id)?;
        let short = Arc::new(long.truncated(extent)?);
        let mut partials = self.lock();
        let row = |linear: u64| long.grid().coord_of(linear);
        let here: Vec<Key> =
            partials.chunks.range((id, 0)..(id + 1, 0)).map(|(key, _)| *key).collect();
        for key in here {
            let Some(mut partial) = partials.remove(key) else { continue };
            let elements = short.grid().chunk_elements(&row(key.1)).unwrap_or(0);
            if !partial.truncate(elements, short.element_size()) {
                let (dataset, coord) = (short.spec().name.clone(), row(key.1));
                let left = partial.left;
                partials.insert(key, partial);
                return Err(Error::Incomplete { dataset, coord, left });
            }
            if partial.left == 0 {
                self.put(key, &partial.bytes, &mut Vec::new())?;
            } else {
                partials.insert(key, partial);
            }
        }
        drop(partials);
        let mut datasets = self.datasets.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(dataset) = datasets.get_mut(id) {
            *dataset = short;
        }
        Ok(())
    }

    /// Gives up the elements of a dataset of which only some chunks are complete. Its number stays its own.
    pub fn forget(&self, id: usize) {
        let mut partials = self.lock();
        let here: Vec<Key> = partials
            .chunks
            .range((id, 0)..(id.saturating_add(1), 0))
            .map(|(key, _)| *key)
            .collect();
        for key in here {
            partials.remove(key);
        }
    }

    /// A dataset by its number.
    fn dataset(&self, id: usize) -> Result<Arc<PlannedDataset>> {
        let datasets = self.datasets.read().unwrap_or_else(PoisonError::into_inner);
        let missing = || Error::Plan { what: format!("there is no dataset #{id}") };
        datasets.get(id).cloned().ok_or_else(missing)
    }

    /// The file of which the new one is an edited copy.
    #[must_use]
    pub fn base(&self) -> Option<&BaseFile> {
        self.base.as_ref()
    }

    /// Writes the elements of a region: row-major, little endian. `progress` counts their bytes.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Region`] for a region that is not in the dataset or another number of bytes,
    /// [`Error::PartialMemory`] when more chunks are incomplete than the options allow, [`Error::Canceled`], and errors of
    /// the codec and the part.
    pub fn write(
        &self,
        dataset: usize,
        start: &[u64],
        extents: &[u64],
        bytes: &[u8],
        progress: &Progress,
    ) -> Result<()> {
        let planned = &*self.dataset(dataset)?;
        check(planned, start, extents, bytes)?;
        let block = Block { start, extents, bytes };
        let Some(chunks) = Chunks::touched_by(planned.grid(), start, extents) else {
            return Ok(());
        };
        let next = AtomicU64::new(0);
        let work = || -> Result<()> {
            let (mut elements, mut stored) = (Vec::new(), Vec::new());
            loop {
                let nth = next.fetch_add(1, Ordering::Relaxed);
                let Some(coord) = chunks.coord(nth) else { return Ok(()) };
                let len =
                    self.write_chunk(dataset, planned, &coord, block, [&mut elements, &mut stored]);
                // Others need not begin another chunk.
                let len = len.inspect_err(|_| next.store(u64::MAX / 2, Ordering::Relaxed))?;
                progress.advance(len)?;
            }
        };
        let threads = self.threads(chunks.count, bytes.len() as u64);
        if threads <= 1 {
            return work();
        }
        thread::scope(|scope| {
            // Where the system has no more threads, those that there are do the work.
            let begin = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
            let others: Vec<_> = (1..threads).map_while(begin).collect();
            let mine = work();
            let joined = others.into_iter().map(|it| it.join().unwrap_or(Err(Error::Thread)));
            joined.fold(mine, Result::and)
        })
    }

    fn threads(&self, chunk_count: u64, len: u64) -> usize {
        if len < SHORT_LEN {
            return 1;
        }
        let all = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads = if self.options.threads == 0 { all() } else { self.options.threads };
        threads.min(usize::try_from(chunk_count).unwrap_or(threads)).min(1024)
    }

    /// Writes the elements of a block that are in a chunk. Returns their bytes.
    fn write_chunk(
        &self,
        dataset: usize,
        planned: &PlannedDataset,
        coord: &[u64],
        block: Block<'_>,
        [elements, stored]: [&mut Vec<u8>; 2],
    ) -> Result<u64> {
        let overlap = Overlap::new(planned.grid(), coord, block);
        let key = (dataset, planned.grid().linear(coord).unwrap_or(0));
        let size = planned.element_size();
        if overlap.extents == overlap.chunk {
            elements.clear();
            let len = planned.decoded_len(coord);
            elements
                .try_reserve(usize::try_from(len).unwrap_or(usize::MAX))
                .map_err(|_| Error::ChunkMemory { dataset: planned.spec().name.clone(), len })?;
            let (from, to) = overlap.places(block);
            for_runs(&overlap.extents, from, to, |from, _, count| {
                elements.extend_from_slice(bytes_of(block.bytes, from, count, size));
            });
            self.lock().remove(key);
            self.put(key, elements, stored)?;
            return Ok(len);
        }
        let _taken = self.take(key);
        let held = self.lock().remove(key);
        let mut partial = held.map_or_else(|| self.begin(key, planned, coord), Ok)?;
        let count = overlap.extents.iter().product::<u64>();
        partial.write(&overlap, block, size);
        let stored = match partial.left {
            0 => self.put(key, &partial.bytes, stored),
            _ => Ok(()),
        };
        // A chunk that could not be stored is kept for the next try.
        if (partial.left > 0 || stored.is_err())
            && self.lock().insert(key, partial) > self.options.memory
        {
            let (dataset, limit) = (planned.spec().name.clone(), self.options.memory);
            return stored.and(Err(Error::PartialMemory { dataset, limit }));
        }
        stored.map(|()| count.saturating_mul(size))
    }

    /// A chunk with the elements that it has already: those written before, or those of the base.
    fn begin(&self, key: Key, planned: &PlannedDataset, coord: &[u64]) -> Result<Partial> {
        let mut partial = Partial::new(planned, coord)?;
        if let Some(row) = self.part.get(key) {
            partial.bytes = decoded(row.codec, &self.part.read(&row)?, planned.decoded_len(coord))?;
            partial.written.fill(u64::MAX);
            partial.left = 0;
        } else if let Some((base, extents)) =
            self.base.as_ref().and_then(|base| Some((base, base.extents(key.0, coord)?)))
        {
            let bytes = base.elements(key.0, coord)?;
            let chunk = planned.grid().extents_of(coord);
            let zeros = vec![0; coord.len()];
            let overlap = Overlap {
                extents: extents.clone(),
                in_block: zeros.clone(),
                in_chunk: zeros,
                chunk,
            };
            let block = Block { start: &[], extents: &extents, bytes: &bytes };
            partial.write(&overlap, block, planned.element_size());
        }
        Ok(partial)
    }

    fn put(&self, key: Key, elements: &[u8], stored: &mut Vec<u8>) -> Result<()> {
        let codec = self.encoder.codec();
        let measured = statistics(self.dataset(key.0)?.spec().dtype, elements);
        if codec == tet_format::Codec::Raw {
            return self.part.put(key, codec, elements, measured);
        }
        self.encoder.encode(elements, stored)?;
        self.part.put(key, codec, stored, measured)
    }

    /// Writes the chunks that are incomplete where the plan has a fill value for the rest.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Incomplete`] for those of a dataset without one.
    fn complete(&self) -> Result<()> {
        let mut partials = self.lock();
        for (key, partial) in &partials.chunks {
            let planned = self.dataset(key.0)?;
            if partial.left > 0 && planned.fill().is_none() {
                let (dataset, coord) =
                    (planned.spec().name.clone(), planned.grid().coord_of(key.1));
                return Err(Error::Incomplete { dataset, coord, left: partial.left });
            }
        }
        // Nothing of memory goes before it is written: after an error the caller may write the rest.
        let mut stored = Vec::new();
        while let Some((&key, partial)) = partials.chunks.first_key_value() {
            self.put(key, &partial.bytes, &mut stored)?;
            partials.remove(key);
        }
        Ok(())
    }

    /// Ends the part and gives it its name. Returns the number of its chunks.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Incomplete`] for a chunk of which only some elements are written, and errors of the part.
    pub fn close(self) -> Result<usize> {
        self.complete()?;
        self.part.close()
    }

    /// The chunks that are written, to be published by this process.
    ///
    /// # Errors
    ///
    /// As [`close`](RegionWriter::close).
    pub fn to_part(&self) -> Result<FilePart> {
        self.complete()?;
        self.part.to_part()
    }

    /// Waits until no other thread has the chunk.
    fn take(&self, key: Key) -> MutexGuard<'_, ()> {
        let (dataset, linear) = key;
        let at = linear.wrapping_add(dataset as u64) % LOCKS as u64;
        let lock = &self.taken[usize::try_from(at).unwrap_or(0)];
        lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Partials> {
        self.partial.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The block is in the dataset and has the bytes of its elements.
fn check(planned: &PlannedDataset, start: &[u64], extents: &[u64], bytes: &[u8]) -> Result<()> {
    let shape = planned.grid().shape();
    let is_inside = start.len() == shape.rank()
        && extents.len() == shape.rank()
        && start.iter().zip(extents).zip(shape.iter()).all(|((start, extent), shape)| {
            start.checked_add(*extent).is_some_and(|end| end <= *shape)
        });
    let count = extents.iter().copied().try_fold(planned.element_size(), u64::checked_mul);
    if is_inside && count == Some(bytes.len() as u64) {
        return Ok(());
    }
    let (dataset, shape) = (planned.spec().name.clone(), shape.clone().into_vec());
    let [start, extents] = [start, extents].map(<[u64]>::to_vec);
    Err(Error::Region { dataset, shape, start, extents, len: bytes.len() as u64 })
}
