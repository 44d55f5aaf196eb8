//! Some chunks of a new file, in a file of their own.
//!
//! ```text
//!   "TETPART2" | digest of the plan | payloads in any order ... | rows | rows at | row count | digest of rows | "TETPEND2"
//!   \________ 24 bytes ___________/                                88     \_________________ 40 bytes _______________/
//! ```
//!
//! A row is dataset, chunk, offset and length as `u64`, the digest of the payload in 12 bytes, the tag of the codec
//! as `u32`, the statistics of the elements in 32 bytes, and 1 as `u64`, or 0 where there are none; numbers are little
//! endian. The rows are ascending, each chunk is there once. A part that is not
//! complete has no end, and one of another plan another digest: both are refused.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tet_codec::{Strength, compare, digest};
use tet_format::write::WriteError;
use tet_format::{ChunkStatistics, Codec, Digest, Span};
use tet_io::{Operation, Overwrite, Publish, Publisher, Source, is_url};

use super::base::StoredChunk;
use super::plan::FilePlan;
use crate::error::{Error, Result};
use crate::write::CopiedChunk;

const MAGIC: [u8; 8] = *b"TETPART2";
const END_MAGIC: [u8; 8] = *b"TETPEND2";
const HEAD_LEN: u64 = 24;
const TAIL_LEN: u64 = 40;
const ROW_LEN: usize = 88;

/// A chunk by its dataset and its number there.
pub(super) type Key = (usize, u64);

/// The part and the place of each chunk.
pub(super) type Places<'p> = BTreeMap<Key, (&'p FilePart, PartRow)>;

/// Where the payload of a chunk is in its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartRow {
    pub(super) span: Span,
    pub(super) codec: Codec,
    pub(super) digest: Digest,
    pub(super) statistics: Option<ChunkStatistics>,
}

impl PartRow {
    /// The chunk as the one of a new file.
    pub(super) fn about(&self, decoded_len: u64) -> CopiedChunk {
        let PartRow { span, codec, digest, statistics } = *self;
        CopiedChunk { codec, decoded_len, stored_len: span.len(), digest: Some(digest), statistics }
    }
}

/// A chunk of a new file, as it is stored in another one.
///
/// ```
/// use tet_file::parts::{FilePart, PartChunk};
/// use tet_format::{Codec, Digest, Span};
/// use tet_io::Source;
///
/// let (span, digest) = (Span::new(4, 2).unwrap(), Digest::default());
/// let chunk = PartChunk { dataset: 0, linear: 7, span, codec: Codec::Raw, digest, statistics: None };
/// let part = FilePart::of_chunks(Source::from_bytes(*b"head12"), [chunk]);
/// assert_eq!(part.chunk_count(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartChunk {
    /// The number of its dataset in the new file.
    pub dataset: usize,
    /// Its number in the dataset, row-major.
    pub linear: u64,
    /// Where its payload is.
    pub span: Span,
    /// How it is encoded.
    pub codec: Codec,
    /// The digest of the payload.
    pub digest: Digest,
    /// The statistics of its elements, where they are known.
    pub statistics: Option<ChunkStatistics>,
}

/// Chunks of a new file.
///
/// # Examples
///
/// ```
/// use tet_file::parts::{FilePart, FilePlan, RegionOptions, RegionWriter};
/// use tet_io::Progress;
///
/// let plan = FilePlan::from_json(
///     r#"{"tet_plan": 1, "datasets": [{"name": "a", "dtype": "uint8", "shape": [3], "chunks": [2], "fill": "07"}]}"#,
/// )?;
/// let path = std::env::temp_dir().join(format!("tet-part-{}.part", std::process::id()));
/// let writer = RegionWriter::create(&path, &plan, RegionOptions::default())?;
/// writer.write(0, &[0], &[2], &[1, 2], &Progress::default())?;
/// writer.close()?;
/// assert_eq!(FilePart::open(&path, &plan)?.chunk_count(), 1);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FilePart {
    place: PartSource,
    rows: BTreeMap<Key, PartRow>,
}

/// Where the bytes of a part are.
#[derive(Clone, Debug)]
enum PartSource {
    /// A file, which is opened for each chunk: there may be more parts than files that a process may have open.
    File(PathBuf),
    Open(Source),
}

impl FilePart {
    /// Opens a part of a plan.
    ///
    /// # Errors
    ///
    /// Returns an error when the file cannot be read, and [`Error::Part`] when it is not a complete part of the plan.
    pub fn open(path: &Path, plan: &FilePlan) -> Result<FilePart> {
        let part = FilePart::of_source(Source::open(path)?, plan)?;
        if is_url(path) {
            return Ok(part);
        }
        Ok(FilePart { place: PartSource::File(path.to_path_buf()), ..part })
    }

    /// The chunks of these datasets alone, which are numbered in their order from then on.
    ///
    /// ```
    /// use tet_file::parts::{FilePart, PartChunk};
    /// use tet_format::{Codec, Digest, Span};
    /// use tet_io::Source;
    ///
    /// let (span, digest) = (Span::new(4, 2).unwrap(), Digest::default());
    /// let chunk = PartChunk { dataset: 2, linear: 7, span, codec: Codec::Raw, digest, statistics: None };
    /// let part = FilePart::of_chunks(Source::from_bytes(*b"head12"), [chunk]);
    /// assert_eq!(part.clone().select_datasets(&[0, 2]).chunk_count(), 1);
    /// assert_eq!(part.select_datasets(&[0]).chunk_count(), 0);
    /// ```
    #[must_use]
    pub fn select_datasets(self, numbers: &[usize]) -> FilePart {
        let mut rows = BTreeMap::new();
        for (new, &old) in numbers.iter().enumerate() {
            let chunks = self.rows.range((old, 0)..(old.saturating_add(1), 0));
            rows.extend(chunks.map(|(&(_, linear), row)| ((new, linear), *row)));
        }
        FilePart { rows, ..self }
    }

    /// The part that a source is.
    ///
    /// # Errors
    ///
    /// As [`open`](FilePart::open).
    pub fn of_source(source: Source, plan: &FilePlan) -> Result<FilePart> {
        let refused = |at, what| Error::Part { path: name(&source), at, what };
        let tail_at = source.len().checked_sub(TAIL_LEN).filter(|&at| HEAD_LEN <= at);
        let tail_at = tail_at.ok_or_else(|| refused(0, "is too short to be a complete part"))?;
        let head = source.read_vec(0, HEAD_LEN)?;
        let tail = source.read_vec(tail_at, TAIL_LEN)?;
        if !head.starts_with(&MAGIC) {
            return Err(refused(0, "is no part of a file"));
        }
        if head.get(8..20) != Some(&plan.digest().to_bytes()) {
            return Err(refused(8, "is a part of another plan"));
        }
        if !tail.ends_with(&END_MAGIC) {
            return Err(refused(tail_at, "is not complete: its writer has not closed it"));
        }
        let (rows_at, count) = (number(&tail, 0), number(&tail, 8));
        let rows_len = count.checked_mul(ROW_LEN as u64);
        let end = rows_len.and_then(|len| rows_at.checked_add(len));
        if end != Some(tail_at) || rows_at < HEAD_LEN {
            return Err(refused(tail_at, "has rows that do not end where its tail begins"));
        }
        let bytes = source.read_vec(rows_at, tail_at - rows_at)?;
        if tail.get(16..28) != Some(&digest(&bytes).to_bytes()) {
            return Err(refused(rows_at, "has rows that do not match their digest"));
        }
        let payloads = Span::from_range(HEAD_LEN..rows_at).unwrap_or(Span::EMPTY);
        let mut rows = BTreeMap::new();
        for (nth, bytes) in (0_u64..).zip(bytes.as_chunks::<ROW_LEN>().0) {
            let at = rows_at + nth * ROW_LEN as u64;
            let row = row(bytes, payloads, plan).map_err(|what| refused(at, what))?;
            if rows.last_key_value().is_some_and(|(last, _)| row.0 <= *last) {
                return Err(refused(at, "has rows that are not ascending"));
            }
            rows.insert(row.0, row.1);
        }
        Ok(FilePart { place: PartSource::Open(source), rows })
    }

    /// Chunks that are in another file, as a part. Of one that is given twice the last one is taken.
    #[must_use]
    pub fn of_chunks(source: Source, chunks: impl IntoIterator<Item = PartChunk>) -> FilePart {
        let row = |chunk: PartChunk| {
            let PartChunk { dataset, linear, span, codec, digest, statistics } = chunk;
            ((dataset, linear), PartRow { span, codec, digest, statistics })
        };
        FilePart { place: PartSource::Open(source), rows: chunks.into_iter().map(row).collect() }
    }

    /// How errors call it.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        match &self.place {
            PartSource::File(path) => path.clone(),
            PartSource::Open(source) => name(source),
        }
    }

    /// The number of chunks.
    #[must_use]
    pub fn chunk_count(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn rows(&self) -> &BTreeMap<Key, PartRow> {
        &self.rows
    }

    /// How many of its chunks are worth reading at the same time.
    pub(super) fn depth(&self) -> usize {
        match &self.place {
            PartSource::File(_) => 1,
            PartSource::Open(source) => source.access().depth,
        }
    }

    /// The file, if it stays open.
    pub(super) fn opened(&self) -> Option<&Source> {
        match &self.place {
            PartSource::File(_) => None,
            PartSource::Open(source) => Some(source),
        }
    }

    /// A chunk as it is stored, which matches its digest.
    pub(super) fn stored(&self, row: &PartRow, decoded_len: u64) -> Result<StoredChunk> {
        let source = match &self.place {
            PartSource::File(path) => Source::open(path)?,
            PartSource::Open(source) => source.clone(),
        };
        let stored = source.read_vec(row.span.start(), row.span.len())?;
        if compare(&stored, row.digest, Strength::Full).is_some() {
            let (path, at) = (self.path(), row.span.start());
            return Err(Error::Part {
                path,
                at,
                what: "has a chunk that does not match its digest",
            });
        }
        Ok(StoredChunk { stored, about: row.about(decoded_len) })
    }
}

/// A row that fits the plan and the file.
fn row(
    bytes: &[u8; ROW_LEN],
    payloads: Span,
    plan: &FilePlan,
) -> Result<(Key, PartRow), &'static str> {
    let [dataset, linear, offset, len] = [0, 8, 16, 24].map(|at| number(bytes, at));
    let id = usize::try_from(dataset).ok();
    let planned = id.and_then(|id| Some((id, plan.datasets().get(id)?)));
    let (id, planned) = planned.ok_or("has a chunk of a dataset that the plan does not have")?;
    if planned.grid().chunk_count() <= linear {
        return Err("has a chunk that is not in its grid");
    }
    let span = Span::new(offset, len);
    let span = span.filter(|it| payloads.start() <= it.start() && it.end() <= payloads.end());
    let span = span.ok_or("has a chunk outside the payloads")?;
    let [digest, tag] = [bytes.get(32..44), bytes.get(44..48)];
    let digest = digest.and_then(|it| it.first_chunk()).map(|it| Digest::from_bytes(*it));
    let tag = tag.and_then(|it| it.first_chunk()).map(|it| u32::from_le_bytes(*it));
    let codec = Codec::from_tag(tag.unwrap_or(u32::MAX));
    let decoder = tet_codec::decoder(codec).ok_or("has a chunk of a codec that is not known")?;
    let decoded_len = planned.decoded_len(&planned.grid().coord_of(linear));
    decoder.check_len(len, decoded_len).map_err(|_| "has a chunk of a wrong length")?;
    let statistics = bytes.get(48..80).and_then(|it| it.first_chunk()).map(ChunkStatistics::decode);
    let statistics = statistics.filter(|_| number(bytes, 80) == 1);
    Ok(((id, linear), PartRow { span, codec, digest: digest.unwrap_or_default(), statistics }))
}

fn number(bytes: &[u8], at: usize) -> u64 {
    let eight = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
    eight.map_or(0, |eight| u64::from_le_bytes(*eight))
}

fn name(source: &Source) -> PathBuf {
    source.path().map_or_else(|| SCRATCH.into(), Path::to_path_buf)
}

/// Writes a part: chunks in any order, from any thread. A chunk that is written again replaces the one before.
///
/// Dropped before it is closed, it leaves nothing behind.
#[derive(Debug)]
pub(super) struct PartWriter {
    file: File,
    /// The path in messages.
    shown: PathBuf,
    /// Gives the file its name when it is closed; `None` for a scratch file.
    publisher: Mutex<Option<Publisher>>,
    /// Where a scratch file is written to when it is closed.
    url: Option<PathBuf>,
    state: Mutex<PartRows>,
}

#[derive(Debug)]
struct PartRows {
    end: u64,
    rows: BTreeMap<Key, PartRow>,
}

impl PartWriter {
    /// A file of this name, which others can open when it is closed: one of a URL is written there then.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when a file cannot be written there.
    pub(super) fn create(path: &Path, plan: &FilePlan) -> Result<PartWriter> {
        let head = [&MAGIC[..], &plan.digest().to_bytes(), &[0; 4]].concat();
        if is_url(path) {
            let mut part = PartWriter::scratch(&std::env::temp_dir())?;
            part.url = Some(path.to_path_buf());
            part.write(0, &head)?;
            return Ok(part);
        }
        let publish = Publish { force: Overwrite::Replace, ..Publish::default() };
        let mut publisher = Publisher::begin(path, &publish)?;
        let unsupported = || std::io::Error::from(std::io::ErrorKind::Unsupported);
        let file = publisher.file().reader().and_then(|file| file.ok_or_else(unsupported));
        let file = file.map_err(|error| tet_io::Error::io(Operation::Create, path, error))?;
        let part = PartWriter::new(file, path.to_path_buf(), Some(publisher));
        part.write(0, &head)?;
        Ok(part)
    }

    /// A file without a name in a folder, gone when it is dropped.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when a file cannot be written there.
    pub(super) fn scratch(folder: &Path) -> Result<PartWriter> {
        let shown = tet_io::scratch_in(folder);
        let fault = |error| tet_io::Error::io(Operation::Create, &shown, error);
        let file = tempfile::tempfile_in(folder).map_err(fault)?;
        Ok(PartWriter::new(file, shown, None))
    }

    fn new(file: File, shown: PathBuf, publisher: Option<Publisher>) -> PartWriter {
        PartWriter {
            file,
            shown,
            publisher: Mutex::new(publisher),
            url: None,
            state: Mutex::new(PartRows { end: HEAD_LEN, rows: BTreeMap::new() }),
        }
    }

    /// Writes a chunk as it is stored, with the statistics of its elements.
    pub(super) fn put(
        &self,
        key: Key,
        codec: Codec,
        stored: &[u8],
        statistics: Option<ChunkStatistics>,
    ) -> Result<()> {
        let digest = digest(stored);
        let span = {
            let mut state = self.lock();
            let span = Span::new(state.end, stored.len() as u64);
            let span = span.ok_or(Error::Layout(WriteError::TooLarge))?;
            state.end = span.end();
            span
        };
        self.write(span.start(), stored)?;
        self.lock().rows.insert(key, PartRow { span, codec, digest, statistics });
        Ok(())
    }

    /// The chunk of this key, if it is written.
    pub(super) fn get(&self, key: Key) -> Option<PartRow> {
        self.lock().rows.get(&key).copied()
    }

    /// The payload of a chunk that is written.
    pub(super) fn read(&self, row: &PartRow) -> Result<Vec<u8>> {
        let len = usize::try_from(row.span.len()).unwrap_or(usize::MAX);
        let mut stored = vec![0; len];
        let read = self.file.read_exact_at(&mut stored, row.span.start());
        read.map_err(|error| tet_io::Error::io(Operation::Read, self.shown(), error))?;
        Ok(stored)
    }

    /// Syncs the part and gives it its name. Returns the number of its chunks.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when the rows cannot be written.
    pub(super) fn close(mut self) -> Result<usize> {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let state = PartRows { end: state.end, rows: std::mem::take(&mut state.rows) };
        if let Some(url) = &self.url {
            self.upload(url, &state)?;
            return Ok(state.rows.len());
        }
        self.write(state.end, &end_of(&state))?;
        let publisher = self.publisher.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        publisher.map_or(Ok(()), Publisher::commit)?;
        Ok(state.rows.len())
    }

    /// Writes the part to a URL, with the payloads in the order of their rows: those of neighbors are copied together
    /// then, on the server.
    fn upload(&self, url: &Path, state: &PartRows) -> Result<()> {
        let mut publisher = Publisher::begin(url, &Publish::default())?;
        publisher.file().mark_final(0..u64::MAX);
        let source = self.source(state.end)?;
        publisher.copy_from(&source, Span::new(0, HEAD_LEN).unwrap_or(Span::EMPTY))?;
        let mut ordered = PartRows { end: HEAD_LEN, rows: state.rows.clone() };
        for row in ordered.rows.values_mut() {
            publisher.copy_from(&source, row.span)?;
            let moved = Span::new(ordered.end, row.span.len());
            row.span = moved.ok_or(Error::Layout(WriteError::TooLarge))?;
            ordered.end = row.span.end();
        }
        let written = publisher.write_all(&end_of(&ordered));
        written.map_err(|error| publisher.write_fault(error))?;
        Ok(publisher.commit()?)
    }

    /// The part that was written, to be read by this process.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when the file cannot be opened a second time.
    pub(super) fn to_part(&self) -> Result<FilePart> {
        let state = self.lock();
        let (len, rows) = (state.end, state.rows.clone());
        Ok(FilePart { place: PartSource::Open(self.source(len)?), rows })
    }

    /// The first bytes of the file, to be read.
    fn source(&self, len: u64) -> Result<Source> {
        let file = self.file.try_clone();
        let file = file.map_err(|error| tet_io::Error::io(Operation::Open, self.shown(), error))?;
        Ok(Source::from_reader(std::sync::Arc::new(Scratch { file, len })))
    }

    fn write(&self, at: u64, bytes: &[u8]) -> Result<()> {
        let written = self.file.write_all_at(bytes, at);
        Ok(written.map_err(|error| tet_io::Error::io(Operation::Write, self.shown(), error))?)
    }

    fn shown(&self) -> &Path {
        &self.shown
    }

    fn lock(&self) -> MutexGuard<'_, PartRows> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bytes after the payloads.
fn end_of(state: &PartRows) -> Vec<u8> {
    let mut bytes = Vec::new();
    for ((dataset, linear), row) in &state.rows {
        let numbers = [*dataset as u64, *linear, row.span.start(), row.span.len()];
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes.extend(row.digest.to_bytes());
        bytes.extend(row.codec.tag().to_le_bytes());
        bytes.extend(row.statistics.map_or([0; 32], |it| it.encode()));
        bytes.extend(u64::from(row.statistics.is_some()).to_le_bytes());
    }
    let of_rows = digest(&bytes).to_bytes();
    [state.end, state.rows.len() as u64].iter().for_each(|it| bytes.extend(it.to_le_bytes()));
    bytes.extend(of_rows);
    bytes.extend([0; 4]);
    bytes.extend(END_MAGIC);
    bytes
}

const SCRATCH: &str = "a scratch file";

/// A scratch file as a source.
struct Scratch {
    file: File,
    len: u64,
}

impl tet_io::ReadAt for Scratch {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        FileExt::read_exact_at(&self.file, out, offset)
    }

    fn name(&self) -> &str {
        SCRATCH
    }

    /// Nobody else has a name for it.
    fn writers(&self) -> tet_io::Writers {
        tet_io::Writers::Absent
    }
}
