//! Puts the chunks of parts together to a new file.

use std::path::Path;

use tet_codec::digest;
use tet_format::Span;
use tet_format::write::ChunkAt;
use tet_io::{Overwrite, Progress, Source, may_copy_on_server};

use super::ahead::Ahead;
use super::base::{BaseFile, StoredChunk};
use super::on_server::on_server;
use super::part::{FilePart, Places};
use super::plan::FilePlan;
use super::staying::Staying;
use crate::error::{Error, Result};
use crate::metadata::HistoryRow;
use crate::write::{
    COPY_LEN, CodecChoice, CopiedChunk, WriteOptions, Writer, Written, ZeroExtents,
};

/// How many of the chunks that are missing an error names.
const NAMED_MAX: usize = 8;

/// Result of publishing.
///
/// # Examples
///
/// ```
/// use tet_file::parts::Published;
///
/// assert_eq!(Published::default().kept, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// Sizes of the file.
    pub written: Written,
    /// The chunks that were copied from the base.
    pub kept: u64,
    /// The chunks that nothing wrote: fill values.
    pub filled: u64,
}

/// Writes the file of a plan: chunks of the parts, or else of the base, or else fill values.
///
/// A file that is edited in its place, by [`Overwrite::Edit`], keeps the payloads of the base where they are, so that file
/// systems can share them, unless more than an eighth of it would be unused then. Other files are packed.
///
/// `options` tell how the file is published; its chunks are stored as they are in the parts. `progress` counts the
/// bytes of elements. The file appears complete or not at all.
///
/// # Errors
///
/// Returns [`Error::Missing`] when chunks are nowhere, [`Error::Conflict`] when two parts have different bytes for
/// the same chunk, the broken rule for a damaged part or base, [`Error::Canceled`], and what the writer returns.
pub fn publish(
    plan: &FilePlan,
    parts: &[FilePart],
    base: Option<&BaseFile>,
    target: &Path,
    options: &WriteOptions,
    history: &[HistoryRow],
    progress: &Progress,
) -> Result<Published> {
    let chunks = chunks_of(plan, parts)?;
    check_all(plan, &chunks, base, progress)?;
    // The writer stores no chunk of its own but fill values.
    let options = WriteOptions {
        encoder: CodecChoice::Raw,
        zero_extents: ZeroExtents::Allow,
        ..options.clone()
    };
    let specs = plan.datasets().iter().map(|it| it.spec().clone()).collect();
    let mut writer = Writer::create(target, specs, &options)?;
    let mut published = Published::default();
    let mut fills = Fills { plan, last: None };
    let mut kept = KeptRun::default();
    let layout = writer.layout().clone();
    let is_in_place = matches!(options.overwrite, Overwrite::Edit(_));
    if let Some(base) = base.filter(|_| is_in_place)
        && let Some(staying) = Staying::from_base(plan, &layout, &chunks, base)?
    {
        staying.copy(&mut writer, progress)?;
        kept.stays_from = Some(layout.payloads_start());
    }
    let copied = on_server(&layout, &chunks, |source| may_copy_on_server(source, target));
    let of_parts = layout.chunks().filter_map(|chunk| {
        let key = (chunk.dataset, chunk.linear);
        let (part, row) = chunks.get(&key).filter(|_| !copied.contains(&key))?;
        Some((*part, *row, chunk.raw_len))
    });
    let mut ahead = Ahead::new(of_parts);
    for chunk in layout.chunks() {
        let key = (chunk.dataset, chunk.linear);
        let base = base.filter(|it| it.has(plan, chunk.dataset, chunk.coord()));
        let of_part = chunks.get(&key);
        let on_server = of_part.filter(|_| copied.contains(&key));
        if let Some((source, row)) = on_server.and_then(|(part, row)| Some((part.opened()?, row))) {
            kept.copy(&mut writer, source, row.span, chunk.dataset, row.about(chunk.raw_len))?;
        } else if let Some(chunk) = of_part.map(|_| ahead.next()).transpose()?.flatten() {
            kept.end(&mut writer)?;
            push(&mut writer, &chunk)?;
        } else if let Some(base) = base {
            kept.add(&mut writer, base, chunk.dataset, chunk.dataset, chunk.coord())?;
            published.kept += 1;
        } else {
            kept.end(&mut writer)?;
            push(&mut writer, fills.chunk(&chunk)?)?;
            published.filled += 1;
        }
        progress.advance(chunk.raw_len)?;
    }
    kept.end(&mut writer)?;
    if let Some(base) = base {
        base.file().source().check_unchanged()?;
    }
    published.written = writer.finish(plan.metadata(), history)?;
    Ok(published)
}

/// Writes the chunks of a dataset of a file as they are stored there, with the digests that they have there, as the
/// next dataset of a new file. `progress` counts the bytes of elements.
///
/// # Errors
///
/// Returns what reading the file and the writer return, and [`Error::Canceled`].
pub fn copy_dataset(
    base: &BaseFile,
    from: usize,
    to: usize,
    writer: &mut Writer,
    progress: &Progress,
) -> Result<()> {
    let rows = base.rows(from)?;
    if rows.is_empty() {
        return writer.write_dataset(to, &mut |_, _| Ok(()), progress);
    }
    let rank = base.file().datasets().get(from).map_or(0, |entry| entry.grid.rank());
    let mut kept = KeptRun::default();
    for (row, _) in rows {
        kept.add(writer, base, from, to, row.coord.get(..rank).unwrap_or_default())?;
        progress.advance(row.raw_len)?;
    }
    kept.end(writer)
}

/// Chunks of a dataset that are stored back to back in a file, and are copied together.
#[derive(Debug, Default)]
struct KeptRun {
    from: Option<(Source, Span)>,
    /// The dataset of the new file.
    dataset: usize,
    chunks: Vec<CopiedChunk>,
    /// Payloads that start here or later are in the new file already, at the same place.
    stays_from: Option<u64>,
}

impl KeptRun {
    /// Takes a chunk of dataset `from`, which is the next one of dataset `to`.
    fn add(
        &mut self,
        writer: &mut Writer,
        base: &BaseFile,
        from: usize,
        to: usize,
        coord: &[u64],
    ) -> Result<()> {
        let (span, chunk) = base.place(from, coord)?;
        let stays = self.stays_from.is_some_and(|start| start <= span.start());
        if stays || (writer.has_digests() && chunk.digest.is_none()) {
            self.end(writer)?;
        }
        if writer.has_digests() && chunk.digest.is_none() {
            let read = base.stored(from, coord)?;
            let digest = Some(digest(&read.stored));
            return if stays {
                writer.keep(span, &CopiedChunk { digest, ..chunk })
            } else {
                writer.push_copied(&read.stored, &CopiedChunk { digest, ..chunk })
            };
        }
        if stays {
            return writer.keep(span, &chunk);
        }
        self.copy(writer, base.file().source(), span, to, chunk)
    }

    /// Takes a chunk that is the next one of dataset `to`.
    fn copy(
        &mut self,
        writer: &mut Writer,
        source: &Source,
        span: Span,
        to: usize,
        chunk: CopiedChunk,
    ) -> Result<()> {
        let longer = self.from.as_mut().and_then(|(from, run)| {
            let len = run.len().saturating_add(span.len());
            let is_behind = from.is_same(source) && run.end() == span.start();
            let follows = is_behind && self.dataset == to && len <= COPY_LEN;
            Some((Span::new(run.start(), len).filter(|_| follows)?, run))
        });
        if let Some((longer, run)) = longer {
            *run = longer;
            self.chunks.push(chunk);
            return Ok(());
        }
        self.end(writer)?;
        self.from = Some((source.clone(), span));
        self.dataset = to;
        self.chunks.push(chunk);
        Ok(())
    }

    /// Copies the chunks that were taken.
    fn end(&mut self, writer: &mut Writer) -> Result<()> {
        let chunks = std::mem::take(&mut self.chunks);
        let from = self.from.take();
        from.map_or(Ok(()), |(from, span)| writer.copy(&from, span, &chunks))
    }
}

fn push(writer: &mut Writer, chunk: &StoredChunk) -> Result<()> {
    writer.push_copied(&chunk.stored, &chunk.about)
}

fn chunks_of<'p>(plan: &FilePlan, parts: &'p [FilePart]) -> Result<Places<'p>> {
    let mut chunks = Places::new();
    for part in parts {
        for (key, row) in part.rows() {
            let Some((other, held)) = chunks.insert(*key, (part, *row)) else { continue };
            // A task that ran twice wrote the same bytes twice.
            if (held.digest, held.span.len()) != (row.digest, row.span.len()) {
                let planned = plan.dataset(key.0)?;
                return Err(Error::Conflict {
                    dataset: planned.spec().name.clone(),
                    coord: planned.grid().coord_of(key.1),
                    paths: [other.path(), part.path()],
                });
            }
        }
    }
    Ok(chunks)
}

/// Every chunk is somewhere. Without a base this takes as long as there are chunks that were written, however many the
/// plan has.
fn check_all(
    plan: &FilePlan,
    chunks: &Places<'_>,
    base: Option<&BaseFile>,
    progress: &Progress,
) -> Result<()> {
    let (mut named, mut count) = (Vec::new(), 0_u64);
    for (id, planned) in plan.datasets().iter().enumerate() {
        if planned.fill().is_some() {
            continue;
        }
        let grid = planned.grid();
        let mut note = |coord: Vec<u64>| {
            if named.len() < NAMED_MAX {
                named.push((planned.spec().name.clone(), coord));
            }
        };
        if let Some(base) = base {
            let mut coord = vec![0; grid.rank()];
            for linear in 0..grid.chunk_count() {
                if !chunks.contains_key(&(id, linear)) && !base.has(plan, id, &coord) {
                    count = count.saturating_add(1);
                    note(coord.clone());
                }
                grid.advance(&mut coord);
                progress.check()?;
            }
            continue;
        }
        let written = chunks.range((id, 0)..(id.saturating_add(1), 0)).map(|(key, _)| key.1);
        let mut next = 0;
        for linear in written.chain([grid.chunk_count()]) {
            count = count.saturating_add(linear.saturating_sub(next));
            (next..linear).take(NAMED_MAX).for_each(|missing| note(grid.coord_of(missing)));
            next = linear.saturating_add(1);
            progress.check()?;
        }
    }
    if count == 0 { Ok(()) } else { Err(Error::Missing { named, count }) }
}

/// Chunks of fill values.
struct Fills<'p> {
    plan: &'p FilePlan,
    /// The last one, with the dataset and the number of bytes that it is for.
    last: Option<((usize, u64), StoredChunk)>,
}

impl Fills<'_> {
    fn chunk(&mut self, chunk: &ChunkAt) -> Result<&StoredChunk> {
        let of = (chunk.dataset, chunk.raw_len);
        let filled = match self.last.take().filter(|(last, _)| *last == of) {
            Some((_, filled)) => filled,
            None => {
                let elements = self.plan.dataset(chunk.dataset)?.empty_chunk(chunk.coord())?;
                let encoder = self.plan.encoder()?;
                let mut stored = Vec::new();
                encoder.encode(&elements, &mut stored)?;
                let (digest, statistics) = (None, None);
                let (codec, decoded_len) = (encoder.codec(), chunk.raw_len);
                let stored_len = stored.len() as u64;
                let about = CopiedChunk { codec, decoded_len, stored_len, digest, statistics };
                StoredChunk { stored, about }
            }
        };
        Ok(&self.last.insert((of, filled)).1)
    }
}
