//! The plan of a read, as data.
//!
//! A plan is laid over chunk coordinates with arithmetic: it costs O(touched chunks), and inside a
//! chunk nothing is listed. It depends on catalog, selection and policy only. Tasks are cut from it,
//! and their runs (`runs.rs`) are what is fetched.

pub(crate) mod output;
pub(crate) mod piece;
pub(crate) mod runs;
pub(crate) mod tiling;
pub(crate) mod touch;

use std::ops::Range;
use std::sync::Arc;

use tet_codec::{ChunkLayout, StoredSpans};
use tet_format::{ChunkStatistics, ForeignFault, Span};
use tet_io::Source;

use self::piece::{Inside, Stretches, chunk_elements, element_count};
use self::touch::{AxisBox, Touch};
use crate::budget::Execution;
use crate::buffer;
use crate::catalog::{ChunkPlace, ChunkTable, Dataset, Decoder};
use crate::coalesce::Coalesce;
use crate::error::{Error, Result};
use crate::selection::Hyperslab;

/// Chunks that are looked up together: the files on a server that they are in are opened at the same time.
const BATCH: u64 = 1 << 16;

/// The most chunks of a dataset that is gone through, by any command, where its file has fewer bytes: those that are not
/// stored take no bytes, and each takes time.
pub const CHUNKS_MAX: u64 = 1 << 26;
/// The chunks of a plan that any budget holds.
const LISTED_MIN: u64 = 1 << 20;

impl Dataset {
    /// Checks how many chunks are gone through, before the first.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Limit`] when there are too many for a file of this length.
    pub fn check_chunk_count(&self, wanted: u64) -> Result<()> {
        let limit = self.source.len().max(CHUNKS_MAX);
        let what = "chunks, also those that are not stored";
        let error = || self.in_file(Error::Limit { what, wanted, limit });
        if wanted <= limit { Ok(()) } else { Err(error()) }
    }

    /// Plans the reading of a selection within a budget, which bounds the list of chunks: those that are not stored take no
    /// bytes of the file.
    ///
    /// # Errors
    ///
    /// As [`plan`], and [`Error::Budget`] for a list that the budget does not hold.
    pub fn plan(&self, slab: &Hyperslab, how: &Execution) -> Result<ReadPlan> {
        self.readable()?;
        let touch = Touch::new(&self.grid, slab).ok_or_else(|| Error::misfit(self))?;
        let (count, budget) = (touch.chunk_count(), how.memory_budget);
        self.check_chunk_count(count)?;
        let wanted = count.saturating_mul(size_of::<ChunkRead>() as u64);
        if budget < wanted && self.source.len().max(LISTED_MIN) < count {
            return Err(self.in_file(Error::Budget { wanted, budget }));
        }
        plan(self, slab, how.coalesce)
    }
}

/// One chunk that a plan touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkRead {
    /// The chunk's linear index in the grid.
    pub linear: u64,
    /// Where it is.
    pub place: ChunkPlace,
}

/// Decision about a chunk of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zone {
    /// It is read.
    Read,
    /// None of its elements matters.
    Skip,
    /// Its statistics stand for its elements, which are all selected and in one cell.
    Known(ChunkStatistics),
}

/// Use of chunk statistics in an answer; chunks that they decide are not read.
///
/// ```
/// let none = tet_query::StatisticsUse::default();
/// assert!(none.is_none());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatisticsUse {
    /// Chunks whose statistics went into the answer.
    pub answered: u64,
    /// Chunks whose statistics tell that none of their elements matters.
    pub skipped: u64,
    /// Whether the statistics were compared with their digest.
    pub is_checked: bool,
}

impl StatisticsUse {
    /// Whether all selected chunks were read.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.answered == 0 && self.skipped == 0
    }

    /// Combines the uses of two passes over the same chunks.
    pub(crate) fn and(self, other: StatisticsUse) -> StatisticsUse {
        StatisticsUse {
            answered: self.answered.max(other.answered),
            skipped: self.skipped.max(other.skipped),
            is_checked: self.is_checked | other.is_checked,
        }
    }
}

/// The chunks that will be read, as data. [`Dataset::read_runs`](crate::Dataset::read_runs) and
/// [`Dataset::reduce_runs`](crate::Dataset::reduce_runs) list the ranges of bytes.
#[derive(Clone, Debug)]
pub struct ReadPlan {
    pub(crate) touch: Touch,
    pub(crate) policy: Coalesce,
    pub(crate) element_size: u64,
    pub(crate) inside: Inside,
    /// The most bytes one chunk takes that is decoded whole: stored and decoded.
    pub(crate) whole_len_max: u64,
    chunks: Vec<ChunkRead>,
    /// Decision for each chunk; empty where all are read.
    zones: Vec<Zone>,
    are_checked: bool,
    table: Arc<dyn ChunkTable>,
    /// Requested stretches of the file, before coalescing.
    pub span_count: u64,
    /// Requested stored bytes.
    pub stored_len: u64,
    /// Bytes of the touched chunks after decoding.
    pub decoded_len: u64,
    /// Selected elements.
    pub element_count: u64,
}

/// Plans the reading of a selection.
///
/// # Errors
///
/// Returns an error when a touched chunk is missing, twice there or breaks a rule.
pub fn plan(dataset: &Dataset, slab: &Hyperslab, policy: Coalesce) -> Result<ReadPlan> {
    let dtype = dataset.readable()?;
    let misfit = || Error::misfit(dataset);
    let plan = ReadPlan {
        touch: Touch::new(&dataset.grid, slab).ok_or_else(misfit)?,
        policy,
        element_size: dtype.size().ok_or_else(|| Error::no_bytes(dtype))?,
        inside: Inside::Cut,
        whole_len_max: 0,
        chunks: Vec::new(),
        zones: Vec::new(),
        are_checked: false,
        table: Arc::clone(&dataset.chunks),
        span_count: 0,
        stored_len: 0,
        decoded_len: 0,
        element_count: slab.element_count().ok_or_else(misfit)?,
    };
    plan.filled(dataset)
}

/// Whether the first chunk of a selection is read in ranges of elements; a chunk that cannot be
/// located is an error when it is read.
pub(crate) fn starts_in_ranges(dataset: &Dataset, slab: &Hyperslab) -> bool {
    let touch = Touch::new(&dataset.grid, slab).filter(|touch| touch.chunk_count() != 0);
    let Some(linear) = touch.map(|touch| touch.cursor().linear()) else { return true };
    let mut places = Vec::new();
    let located = dataset.chunks.locate(&[linear], &mut places);
    let place = places.first().filter(|_| located.is_ok());
    place.is_none_or(|place| dataset.chunks.decoder(linear, place).is_ranged())
}

impl ReadPlan {
    /// The touched chunks, row-major in the grid.
    #[must_use]
    pub fn chunks(&self) -> &[ChunkRead] {
        &self.chunks
    }

    /// Sets the decision for each chunk, by statistics that were compared with their digest or not.
    pub(crate) fn with_zones(self, zones: Vec<Zone>, are_checked: bool) -> ReadPlan {
        ReadPlan { zones, are_checked, ..self }
    }

    /// The decision for the `ordinal`th chunk.
    pub(crate) fn zone(&self, ordinal: u64) -> Zone {
        let zone = usize::try_from(ordinal).ok().and_then(|at| self.zones.get(at));
        zone.copied().unwrap_or(Zone::Read)
    }

    /// How many chunks are answered from statistics and how many are skipped.
    pub(crate) fn statistics_use(&self) -> StatisticsUse {
        let mut used = StatisticsUse { is_checked: self.are_checked, ..StatisticsUse::default() };
        for zone in &self.zones {
            match zone {
                Zone::Read => {}
                Zone::Skip => used.skipped += 1,
                Zone::Known(_) => used.answered += 1,
            }
        }
        used
    }

    /// Whether the chunk is read in ranges of elements; otherwise it is decoded whole.
    pub(crate) fn is_ranged(&self, read: &ChunkRead) -> bool {
        self.decoder(read).is_ranged()
    }

    /// Whether the chunk's stored bytes are its elements.
    pub(crate) fn is_identity(&self, read: &ChunkRead) -> bool {
        self.decoder(read).is_identity()
    }

    /// The decoder of the chunk.
    pub(crate) fn decoder(&self, read: &ChunkRead) -> Decoder<'_> {
        self.table.decoder(read.linear, &read.place)
    }

    /// The stretches of a strip's elements that are read, those with gaps no longer than a window.
    pub(crate) fn stretches(&self, boxes: &[AxisBox], window_len: u64) -> Stretches {
        let size = self.element_size.max(1);
        Stretches::new(boxes, self.policy.gap_max / size, window_len / size)
    }

    /// Bytes of the touched chunks in the file.
    pub(crate) fn touched_len(&self) -> u64 {
        self.chunks.iter().map(|read| read.place.stored.len()).fold(0, u64::saturating_add)
    }

    /// Bytes of the files that the touched chunks lie in, each counted once.
    pub(crate) fn distinct_len(&self) -> u64 {
        let mut spans: Vec<(u32, u64, u64)> = Vec::new();
        for ChunkRead { place, .. } in self.chunks.iter().filter(|read| !read.place.is_absent()) {
            spans.push((place.object, place.stored.start(), place.stored.end()));
        }
        spans.sort_unstable();
        let (mut len, mut reached) = (0_u64, (u32::MAX, 0));
        for (object, start, end) in spans {
            let start = if reached.0 == object { start.max(reached.1) } else { start };
            len = len.saturating_add(end.saturating_sub(start));
            reached = (object, end.max(start));
        }
        len
    }

    /// Whether all elements of the `ordinal`th chunk are selected.
    pub(crate) fn is_whole(&self, ordinal: u64) -> bool {
        let boxes = self.touch.parts_of(ordinal);
        element_count(&boxes) == chunk_elements(&boxes)
    }

    /// Whether all stored bytes of the dataset's chunks are requested.
    pub(crate) fn is_of_all(&self, dataset: &Dataset) -> bool {
        self.chunks.len() as u64 == dataset.grid.chunk_count()
            && self.touched_len() == self.stored_len
    }

    /// Looks all chunks up and adds up what is read of them.
    fn filled(mut self, dataset: &Dataset) -> Result<ReadPlan> {
        let total = self.touch.chunk_count();
        dataset.check_chunk_count(total)?;
        let wanted = total.saturating_mul(size_of::<ChunkRead>() as u64);
        let reserved = self.chunks.try_reserve_exact(buffer::len(total)?);
        reserved.map_err(|_| Error::NoMemory { wanted })?;
        let mut linear = Vec::new();
        let mut places = Vec::new();
        // Out of the plan while it is added to, back in at the end.
        let touch = std::mem::take(&mut self.touch);
        let mut ahead = touch.cursor();
        let mut cursor = touch.cursor();
        for batch in (0..total).step_by(usize::try_from(BATCH).unwrap_or(usize::MAX)) {
            linear.clear();
            places.clear();
            for _ in batch..total.min(batch + BATCH) {
                linear.push(ahead.linear());
                ahead.advance();
            }
            dataset.locate(&linear, &mut places)?;
            for (&linear, &place) in linear.iter().zip(&places) {
                let read = ChunkRead { linear, place };
                self.chunks.push(read);
                if let Some(boxes) = cursor.boxes() {
                    self.add(dataset, &read, boxes)?;
                }
                cursor.advance();
            }
        }
        self.touch = touch;
        Ok(self)
    }

    /// Adds up one chunk.
    fn add(&mut self, dataset: &Dataset, read: &ChunkRead, boxes: &[AxisBox]) -> Result<()> {
        let ChunkPlace { stored, decoded_len, .. } = read.place;
        let wanted = chunk_elements(boxes).saturating_mul(self.element_size);
        let codec = dataset.chunks.decoder(read.linear, &read.place);
        let lengths = codec.check_len(stored.len(), decoded_len);
        lengths.map_err(|fault| Error::codec(dataset, read, fault))?;
        if decoded_len != wanted {
            let fault = tet_codec::Error::TooShort {
                codec: codec.name(),
                found: decoded_len,
                decoded_len: wanted,
            };
            return Err(Error::codec(dataset, read, fault));
        }
        self.decoded_len = self.decoded_len.saturating_add(decoded_len);
        if codec.is_identity() {
            self.span_count += Stretches::new(boxes, 0, 0).total();
            self.stored_len += element_count(boxes) * self.element_size;
            return Ok(());
        }
        if !codec.is_ranged() {
            self.inside = Inside::Whole;
            let held = stored.len().saturating_add(decoded_len);
            self.whole_len_max = self.whole_len_max.max(held);
            self.span_count += 1;
            self.stored_len += stored.len();
            return Ok(());
        }
        self.span_count += Stretches::new(boxes, 0, 0).total();
        for stretch in self.stretches(boxes, u64::MAX) {
            let span = self.stored_span(read, stretch.elements);
            let span = span.ok_or_else(|| Error::codec(dataset, read, past_end(codec.name())))?;
            self.stored_len = self.stored_len.saturating_add(span.len());
        }
        Ok(())
    }

    /// Where in the file the bytes of these elements of a chunk lie: all of them when it is
    /// decoded whole, `None` when its codec names bytes outside it.
    pub(crate) fn stored_span(&self, read: &ChunkRead, elements: Range<u64>) -> Option<Span> {
        let ChunkPlace { stored, decoded_len, .. } = read.place;
        let element_size = self.element_size;
        let layout = ChunkLayout { stored_len: stored.len(), decoded_len, element_size };
        match self.decoder(read).stored_spans(layout, elements) {
            StoredSpans::Range(range) => {
                let start = stored.start().checked_add(range.start)?;
                let end = stored.start().checked_add(range.end)?;
                Span::from_range(start..end).filter(|&span| stored.contains(span))
            }
            _ => Some(stored),
        }
    }
}

fn past_end(codec: &'static str) -> tet_codec::Error {
    tet_codec::Error::Corrupt { codec, reason: "it names bytes past its end" }
}

impl Error {
    /// A chunk that breaks a rule.
    pub(crate) fn chunk(dataset: &Dataset, read: &ChunkRead, fault: tet_format::Error) -> Self {
        let chunk = dataset.grid.coord_of(read.linear).into();
        in_object(dataset, read, Error::Chunk { dataset: dataset.name.clone(), chunk, fault })
    }

    /// A payload that does not decode.
    pub(crate) fn codec(dataset: &Dataset, read: &ChunkRead, fault: tet_codec::Error) -> Self {
        if let Some(rule) = dataset.chunks.rule_of(&fault) {
            let at = read.place.stored.start();
            let fault = ForeignFault { rule, at, found: 0, wanted: 0 };
            return in_object(
                dataset,
                read,
                Error::Foreign { dataset: dataset.name.clone(), fault },
            );
        }
        in_object(
            dataset,
            read,
            Error::Codec {
                dataset: dataset.name.clone(),
                chunk: dataset.grid.coord_of(read.linear).into(),
                at: read.place.stored.start(),
                fault,
            },
        )
    }
}

/// An error of reading a chunk, which names the file that it is in where that is not the dataset's.
fn in_object(dataset: &Dataset, read: &ChunkRead, error: Error) -> Error {
    let object = dataset.object(&read.place).ok().flatten();
    match object.as_ref().and_then(Source::path) {
        Some(path) => error.in_file(Arc::from(path)),
        None => dataset.in_file(error),
    }
}

#[cfg(test)]
mod tests;
