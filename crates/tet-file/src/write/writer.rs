//! The streaming writer.

use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tet_codec::{Encode, digest, statistics};
use tet_format::footer::{FOOTER_VERSION, Spill};
use tet_format::superblock::FLAG_FOOTER;
use tet_format::write::{DatasetSpec, Declaration, FileWriter, FooterParts, Layout};
use tet_format::{ChunkStatistics, Codec, Digest, Grid, Span};
use tet_io::{Operation, Progress, Publisher, Source};

use super::BUDGET_LEN;
use super::footer::footer_text;
use super::options::{CodecChoice, DigestChoice, StatisticsChoice, WriteOptions};
use super::ordered::{OrderedWorkers, in_order};
use super::stream::{BATCH_LEN, Batch, Fill, Sink, Stream, Written, fault, lock};
use crate::edit::unused_spans;
use crate::error::{Error, Result};
use crate::integrity::{IntegrityBlock, Listed};
use crate::metadata::{HistoryRow, Metadata};
use crate::statistics::statistics_block;

/// As many bytes are copied at once, so that a long copy can be canceled.
pub(crate) const COPY_LEN: u64 = 64 << 20;

/// A chunk that stays as it is stored in another file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopiedChunk {
    pub(crate) codec: Codec,
    pub(crate) decoded_len: u64,
    pub(crate) stored_len: u64,
    /// Its digest; `None` in files without digests.
    pub(crate) digest: Option<Digest>,
    /// The statistics of its elements, where they are known.
    pub(crate) statistics: Option<ChunkStatistics>,
}

/// Writes a new file, dataset by dataset; dropped before [`finish`](Writer::finish), it leaves
/// nothing behind.
#[derive(Debug)]
pub struct Writer {
    file: FileWriter<BufWriter<Publisher>>,
    encoder: Box<dyn Encode>,
    thread_count: usize,
    memory: Option<u64>,
    next_dataset: usize,
    target: PathBuf,
    written: Written,
    /// The digests of the chunks written so far, unless none are wanted.
    digests: Option<Vec<Digest>>,
    /// The statistics of the chunks written so far, while they are known and wanted.
    statistics: Option<Vec<ChunkStatistics>>,
    statistics_choice: StatisticsChoice,
    /// Buffers that have been used and are used again.
    spare: Vec<Batch>,
}

impl Writer {
    /// Starts a file for `path` that will hold `datasets`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Layout`] when v1 cannot hold the datasets, [`Error::Codec`] or
    /// [`Error::NoCodec`] when chunks cannot be stored that way, and [`Error::Io`] when the target
    /// may not or cannot be written.
    pub fn create(
        path: impl AsRef<Path>,
        datasets: Vec<DatasetSpec>,
        options: &WriteOptions,
    ) -> Result<Self> {
        let encoder = options.encoder.encoder()?;
        let declaration =
            Declaration { datasets, align: options.align, reserved_rows: options.reserved_rows };
        let layout = declaration.layout_with(options.zero_extents).map_err(Error::Layout)?;
        let mut publisher = Publisher::begin(path, &options.publish())?;
        publisher.file().mark_final(layout.payloads_start()..u64::MAX);
        let target = publisher.target().to_path_buf();
        let out = BufWriter::with_capacity(usize::try_from(BATCH_LEN).unwrap_or(0), publisher);
        let file = FileWriter::new(out, layout).map_err(|error| fault(error, &target))?;
        let (thread_count, memory) = (options.thread_count(), options.memory);
        let (written, spare) = (Written::default(), Vec::new());
        let digests = (options.digests == DigestChoice::Written).then(Vec::new);
        let next_dataset = 0;
        let layout = file.layout();
        let is_wanted = options.statistics.takes(layout.row_count(), decoded_len(layout));
        let statistics = (digests.is_some() && is_wanted).then(Vec::new);
        Ok(Self {
            file,
            encoder,
            thread_count,
            memory,
            next_dataset,
            target,
            written,
            digests,
            statistics,
            statistics_choice: options.statistics,
            spare,
        })
    }

    /// Stores the chunks of the datasets that follow in another way than the options say.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Codec`] or [`Error::NoCodec`] when chunks cannot be stored that way.
    pub fn set_codec(&mut self, codec: CodecChoice) -> Result<()> {
        self.encoder = codec.encoder()?;
        Ok(())
    }

    /// Writes all chunks of dataset `id`, the next one declared.
    ///
    /// `fill` is called on this thread for each chunk in row-major order, with an empty buffer to
    /// which it appends the chunk's elements. `progress` counts the bytes that are written, before
    /// encoding.
    ///
    /// # Errors
    ///
    /// Returns [`Error::DatasetOrder`] when another dataset is next, [`Error::Fill`] and
    /// [`Error::ChunkLen`] when `fill` fails or gives other bytes than asked for,
    /// [`Error::Canceled`], and errors of encoder and file. The file is lost then.
    pub fn write_dataset(
        &mut self,
        id: usize,
        fill: &mut Fill<'_>,
        progress: &Progress,
    ) -> Result<()> {
        let wanted = self.next_dataset;
        let layout = self.file.layout();
        let (Some(grid), Some(dtype)) = (layout.grid(id), layout.dtype(id)) else {
            return Err(Error::DatasetOrder { found: id, wanted });
        };
        if id != wanted {
            return Err(Error::DatasetOrder { found: id, wanted });
        }
        let (grid, element_size) = (grid.clone(), dtype.size().unwrap_or(1));
        let encoder = &*self.encoder;
        let is_raw = encoder.codec() == tet_format::Codec::Raw;
        let workers = pool(&grid, element_size, self.thread_count, self.memory, is_raw);
        let sink = Sink {
            file: &mut self.file,
            target: &self.target,
            codec: encoder.codec(),
            written: &mut self.written,
            digests: self.digests.as_mut(),
            statistics: self.statistics.as_mut(),
        };
        let has_digests = sink.digests.is_some();
        let measured = sink.statistics.is_some().then_some(dtype);
        let sink = Mutex::new(sink);
        let rank = grid.rank();
        let mut stream = Stream {
            dataset: id,
            grid: &grid,
            element_size,
            has_digests: has_digests && is_raw,
            measured: measured.filter(|_| is_raw),
            coord: vec![0; rank],
            extents: vec![0; rank],
            linear: 0,
            fill,
            progress,
            sink: if is_raw { None } else { Some(&sink) },
            spare: &mut self.spare,
        };
        // Raw chunks have nothing to be encoded: they are written while the next are filled.
        let work = |batch: &mut Batch| {
            batch.fault = if is_raw {
                lock(&sink).write(batch).err()
            } else {
                batch.encode(encoder, has_digests, measured).err()
            };
        };
        in_order(&mut stream, workers, work)?;
        self.next_dataset += 1;
        Ok(())
    }

    /// The datasets of the file, and their chunks in the order they are written.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        self.file.layout()
    }

    /// Writes the next chunk as it is stored elsewhere, with the digest that it has there, or a new one.
    ///
    /// A dataset is written by this or by [`write_dataset`](Writer::write_dataset), not by both; others may be written
    /// by the other.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Layout`] when all chunks are written or the lengths are not those of the next one, and
    /// [`Error::Io`] when the file cannot be written.
    pub fn push(
        &mut self,
        codec: Codec,
        decoded_len: u64,
        stored: &[u8],
        known: Option<Digest>,
    ) -> Result<()> {
        let stored_len = stored.len() as u64;
        let (digest, statistics) = (known, None);
        self.push_copied(
            stored,
            &CopiedChunk { codec, decoded_len, stored_len, digest, statistics },
        )
    }

    /// Writes the next chunk as it is stored elsewhere, with what is known of it there.
    ///
    /// # Errors
    ///
    /// Those of [`push`](Writer::push).
    pub(crate) fn push_copied(&mut self, stored: &[u8], chunk: &CopiedChunk) -> Result<()> {
        let CopiedChunk { codec, decoded_len, .. } = *chunk;
        let dataset = self.file.next_chunk().map(|chunk| chunk.dataset);
        let pushed = self.file.push(codec, decoded_len, stored);
        pushed.map_err(|error| fault(error, &self.target))?;
        let digest = chunk.digest.or_else(|| self.digests.is_some().then(|| digest(stored)));
        let known = chunk.statistics;
        let statistics = known.or_else(|| self.statistics_of(dataset, codec, decoded_len, stored));
        self.count(dataset, &CopiedChunk { digest, statistics, ..*chunk });
        Ok(())
    }

    /// The statistics of a chunk that was stored elsewhere, where they are wanted and its bytes decode.
    fn statistics_of(
        &self,
        dataset: Option<usize>,
        codec: Codec,
        decoded_len: u64,
        stored: &[u8],
    ) -> Option<ChunkStatistics> {
        self.statistics.as_ref()?;
        let dtype = self.file.layout().dtype(dataset?)?;
        if codec == Codec::Raw {
            return statistics(dtype, stored);
        }
        // As long as the layout says, which the push has checked.
        if BUDGET_LEN < decoded_len {
            return None;
        }
        let mut elements = vec![0; usize::try_from(decoded_len).ok()?];
        tet_codec::decoder(codec)?.decode(stored, &mut elements).ok()?;
        statistics(dtype, &elements)
    }

    /// Whether digests are written: a chunk whose digest is not known is read for it then.
    pub(crate) fn has_digests(&self) -> bool {
        self.digests.is_some()
    }

    /// Writes the next chunks, all of one dataset, as they are stored back to back in `span` of another file: copied
    /// inside the kernel where possible, and not compared with their digests, which stay theirs.
    ///
    /// # Errors
    ///
    /// Those of [`push`](Writer::push), and what reading `source` returns.
    pub(crate) fn copy(
        &mut self,
        source: &Source,
        span: Span,
        chunks: &[CopiedChunk],
    ) -> Result<()> {
        let mut is_first = true;
        for chunk in chunks {
            let dataset = self.file.next_chunk().map(|next| next.dataset);
            let placed = self.file.place(chunk.codec, chunk.decoded_len, chunk.stored_len);
            let out = placed.map_err(|error| fault(error, &self.target))?;
            if std::mem::take(&mut is_first) {
                out.flush()
                    .map_err(|error| tet_io::Error::io(Operation::Write, &self.target, error))?;
                out.get_mut().copy_from(source, span)?;
            }
            self.count(dataset, chunk);
        }
        Ok(())
    }

    /// Begins with a span of another file, at the offset that it has there: copied inside the kernel where possible,
    /// but for what belongs to none of `chunks`, which becomes zeros. Those can be [kept](Writer::keep) then, and others
    /// come behind them.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Canceled`], and what reading and writing return.
    pub(crate) fn copy_in_place(
        &mut self,
        source: &Source,
        span: Span,
        mut chunks: Vec<Span>,
        progress: &Progress,
    ) -> Result<()> {
        let failed = |error| tet_io::Error::io(Operation::Write, &self.target, error);
        let unused = unused_spans(source, &mut chunks, span)?;
        let out = self.file.skip_to(span.end()).map_err(|error| fault(error, &self.target))?;
        out.seek(SeekFrom::Start(span.start())).map_err(failed)?;
        let mut at = span.start();
        for gap in unused.into_iter().chain(Span::new(span.end(), 0)) {
            while at < gap.start() {
                progress.check()?;
                let end = at.saturating_add(COPY_LEN).min(gap.start());
                Span::from_range(at..end)
                    .map_or(Ok(()), |it| out.get_mut().copy_from(source, it))?;
                at = end;
            }
            io::copy(&mut io::repeat(0).take(gap.len()), out).map_err(failed)?;
            out.flush().map_err(failed)?;
            at = gap.end();
        }
        Ok(())
    }

    /// Takes the bytes at a place that was [copied](Writer::copy_in_place) as the next chunk.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Layout`] when all chunks are written, the lengths are not those of the next one, or no bytes are
    /// there.
    pub(crate) fn keep(&mut self, place: Span, chunk: &CopiedChunk) -> Result<()> {
        let dataset = self.file.next_chunk().map(|next| next.dataset);
        let kept = self.file.keep(chunk.codec, chunk.decoded_len, place);
        kept.map_err(|error| fault(error, &self.target))?;
        self.count(dataset, chunk);
        Ok(())
    }

    /// Counts a chunk that was written to a dataset.
    fn count(&mut self, dataset: Option<usize>, chunk: &CopiedChunk) {
        if let (Some(digests), Some(known)) = (&mut self.digests, chunk.digest) {
            digests.push(known);
        }
        match (&mut self.statistics, chunk.statistics) {
            (Some(all), Some(known)) => all.push(known),
            // A file has statistics of all of its chunks or none.
            _ => self.statistics = None,
        }
        self.written.stored_len += chunk.stored_len;
        self.written.decoded_len += chunk.decoded_len;
        self.written.chunk_count += 1;
        // The next one may have no chunks.
        let next = self.file.next_chunk().map(|chunk| chunk.dataset);
        self.next_dataset = dataset.map_or(0, |it| it + usize::from(next != dataset));
    }

    /// Writes footer, index and superblock, and puts the file in its place.
    ///
    /// Metadata and history are written so that the oldest readers take them; without any, there is
    /// no footer.
    ///
    /// # Errors
    ///
    /// Returns [`Error::DatasetOrder`] when datasets are missing, [`Error::FooterLimit`] and
    /// [`Error::Json`] when the footer cannot be written, and [`Error::Io`] when the file cannot.
    pub fn finish(self, metadata: &Metadata, history: &[HistoryRow]) -> Result<Written> {
        let (written, publisher) = self.complete(metadata, history)?;
        publisher.commit()?;
        Ok(written)
    }

    /// The block of statistics, where it is wanted and known of all chunks.
    fn fitting_statistics(&self) -> Option<Vec<u8>> {
        let all = self.statistics.as_ref()?;
        let row_count = all.len() as u64;
        let fits = self.statistics_choice.takes(row_count, self.written.stored_len);
        let is_complete = row_count == self.file.layout().row_count();
        (fits && is_complete && row_count != 0).then(|| statistics_block(all))
    }

    fn complete(
        mut self,
        metadata: &Metadata,
        history: &[HistoryRow],
    ) -> Result<(Written, Publisher)> {
        let wanted = self.next_dataset;
        let found = self.file.layout().dataset_count();
        // Datasets without chunks have nothing to be written.
        if found != wanted && self.file.next_chunk().is_some() {
            return Err(Error::DatasetOrder { found, wanted });
        }
        let seal = self.digests.as_ref().map(|digests| {
            let head = self.file.layout().head_bytes(FLAG_FOOTER);
            IntegrityBlock::new(&head, self.file.rows(), digests, self.file.position())
        });
        // The place of digests and statistics is between the last payload and the spill.
        let (key, mut block) = seal.map_or((None, vec![]), |seal| (Some(seal.key), seal.block));
        let statistics = self.fitting_statistics().map(|statistics| {
            let (offset, len) =
                (self.file.position() + block.len() as u64, statistics.len() as u64);
            let listed = Listed { spill: Spill { offset, len }, digest: digest(&statistics) };
            block.extend(statistics);
            listed
        });
        let spill_offset = self.file.position() + block.len() as u64;
        let text = footer_text(metadata, history, spill_offset, key.as_ref(), statistics.as_ref())?;
        let parts = text.as_ref().map(|text| FooterParts {
            block: &block,
            spill: text.spill.as_bytes(),
            json: text.json.as_bytes(),
            version: FOOTER_VERSION,
        });
        let footer_len = text.as_ref().map_or(0, |text| {
            tet_format::footer::TAIL_LEN + (text.spill.len() + text.json.len()) as u64
        });
        self.written.file_len = spill_offset + footer_len;
        let out = self.file.finish(parts).map_err(|error| fault(error, &self.target))?;
        let flushed = out.into_inner().map_err(std::io::IntoInnerError::into_error);
        let publisher =
            flushed.map_err(|error| tet_io::Error::io(Operation::Write, &self.target, error))?;
        Ok((self.written, publisher))
    }
}

/// The bytes of all elements.
fn decoded_len(layout: &Layout) -> u64 {
    let len = |id| {
        let count = layout.grid(id)?.shape().element_count()?;
        count.checked_mul(layout.dtype(id)?.size()?)
    };
    (0..layout.dataset_count()).filter_map(len).fold(0, u64::saturating_add)
}

/// How many threads, and how many batches at a time.
pub(super) fn pool(
    grid: &Grid,
    element_size: u64,
    thread_count: usize,
    memory: Option<u64>,
    is_raw: bool,
) -> OrderedWorkers {
    let decoded_len = |elements: Option<u64>| elements.unwrap_or(0).saturating_mul(element_size);
    let chunk_len = decoded_len(grid.chunk_elements(&vec![0; grid.rank()]));
    let batch_len = chunk_len.max(BATCH_LEN);
    let is_one_batch = decoded_len(grid.shape().element_count()) <= batch_len;
    let worker_count = match thread_count {
        0 | 1 => 0,
        _ if is_one_batch => 0,
        // The one that writes.
        _ if is_raw => 1,
        _ => thread_count,
    };
    let usual = BUDGET_LEN.saturating_add(batch_len.saturating_mul(thread_count as u64));
    let budget = memory.map_or(usual, |memory| memory.min(usual));
    // An encoded batch is there twice: as it was filled and as it is stored.
    let copy_count = if is_raw { 1 } else { 2 };
    let in_flight_max = budget / batch_len.saturating_mul(copy_count).max(1);
    let in_flight_max = in_flight_max.clamp(1, 4 * worker_count.max(1) as u64);
    OrderedWorkers { worker_count, in_flight_max: usize::try_from(in_flight_max).unwrap_or(1) }
}
