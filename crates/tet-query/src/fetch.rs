//! Runs into elements: stored bytes are brought, then strips are made of them.
//!
//! ```text
//!   bring    the runs of the plan, batch by batch in the order of tasks; a view reads nothing
//!   strip    raw, aligned           the stored bytes, nothing copied
//!            raw, gaps or steps     the selected elements, gathered
//!            decoded whole          decoded once for all strips of a task
//! ```
//!
//! Whichever it is, the strip that comes out has the same elements in the same order.

mod ahead;
mod bring;
mod check;
mod groups;
mod part_read;
mod passing;
mod pool;
mod prefetch;
mod strip;

use std::ops::Range;

use tet_format::Span;

use self::bring::Bring;
pub(crate) use self::check::{Checks, Unverified, Uses, seal};
pub(crate) use self::groups::each_request;
pub(crate) use self::part_read::PartRead;
use self::passing::Passing;
pub(crate) use self::pool::run;
pub(crate) use self::prefetch::Prefetch;
use self::strip::{dense_strides, held_strides, serves, spread};
use crate::budget::Execution;
use crate::buffer::{self, Buffer};
use crate::decode;
use crate::element::make_truths;
use crate::error::{Error, Result};
use crate::plan::output::OutputRect;
use crate::plan::piece::{Stretch, Stretches, Strips, dense_range, element_count};
use crate::plan::runs::TaskReads;
use crate::plan::touch::AxisBox;
use crate::plan::{ChunkRead, ReadPlan};

/// Row layout that the user of strips needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    /// Bytes at any distance and on any boundary.
    Any,
    /// Elements on their boundary, and rows without steps.
    Aligned(usize),
    /// Booleans as 0 and 1, and rows without steps.
    Truths,
}

/// The selected elements of one strip in memory.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    /// The bytes from the first element to the last.
    pub bytes: &'a [u8],
    /// Elements between neighbors along each axis; 0 where there is one position.
    pub strides: &'a [usize],
}

/// Where the elements of a strip are.
enum StripSource {
    /// Where they were brought.
    Stored(Span),
    Chunk(Range<usize>),
    /// Gathered, by reading them to neighboring places.
    Neighbors(Range<usize>),
    Dense,
}

impl StripSource {
    const fn is_gathered(&self) -> bool {
        matches!(self, StripSource::Neighbors(_) | StripSource::Dense)
    }
}

/// Makes the strips of one thread.
#[derive(Debug)]
pub(crate) struct Fetcher<'a> {
    plan: &'a ReadPlan,
    window_len: u64,
    rows: Rows,
    bring: Bring<'a>,
    checks: &'a Checks<'a>,
    passing: Passing<'a>,
    chunk: Buffer,
    chunk_at: Option<u64>,
    dense: Buffer,
    scratch: Buffer,
    strides: Vec<usize>,
}

impl<'a> Fetcher<'a> {
    /// A fetcher that has read nothing.
    pub(crate) fn new(
        checks: &'a Checks<'a>,
        plan: &'a ReadPlan,
        how: &Execution,
        rows: Rows,
        prefetch: &'a Prefetch<'a>,
    ) -> Self {
        Fetcher {
            plan,
            window_len: how.window_len(),
            rows,
            bring: Bring::new(checks.dataset(), prefetch),
            checks,
            passing: Passing::new(checks),
            chunk: Buffer::default(),
            chunk_at: None,
            dense: Buffer::default(),
            scratch: Buffer::default(),
            strides: Vec::new(),
        }
    }

    /// Begins the task of this number: takes the view that is held until it ends, and gives what the task reads where
    /// there is no view. What it reads into an array goes to `output`.
    pub(crate) fn begin<'t>(
        &mut self,
        task: u64,
        strips: &Strips<'t>,
        output: Option<OutputRect>,
    ) -> TaskReads<'t>
    where
        'a: 't,
    {
        self.bring.begin(task);
        TaskReads::new(self.plan, strips.clone(), self.window_len, output, self.chunk_at)
    }

    /// Ends a task.
    pub(crate) fn end(&mut self) {
        self.passing.leave();
        self.bring.end();
    }

    /// The strip that `strips` has come to.
    pub(crate) fn block(
        &mut self,
        reads: &mut TaskReads<'_>,
        strips: &Strips<'_>,
        boxes: &[AxisBox],
    ) -> Result<Block<'_>> {
        let plan = self.plan;
        let ordinal = strips.ordinal();
        let read = plan.chunks()[buffer::len(ordinal)?];
        if !read.place.is_absent() {
            self.bring.enter(read.place.object)?;
        }
        let held = if !plan.is_ranged(&read) {
            self.decoded(reads, &read, ordinal, boxes)?
        } else if plan.is_identity(&read) {
            self.passing.enter(&read, ordinal, self.bring.view())?;
            let held = self.identity(reads, &read, boxes)?;
            self.digest(&held, boxes)?;
            held
        } else {
            self.checks.part(&read, ordinal, self.bring.view())?;
            self.gather(reads, &read, boxes)?
        };
        self.set_strides(boxes, held.is_gathered());
        if self.rows == Rows::Truths {
            let len = self.dense_len(boxes)?;
            make_truths(self.dense.room(len)?);
        }
        let bytes = self.held(&held, boxes)?;
        Ok(Block { bytes, strides: &self.strides })
    }

    /// The bytes of a strip where they are.
    fn held(&self, held: &StripSource, boxes: &[AxisBox]) -> Result<&[u8]> {
        match held {
            StripSource::Stored(span) => self.bring.held(*span),
            StripSource::Chunk(range) => self.chunk.bytes().get(range.clone()),
            StripSource::Neighbors(range) => self.bring.part(range.clone()),
            StripSource::Dense => self.dense.bytes().get(..self.dense_len(boxes)?),
        }
        .ok_or_else(|| self.bring.changed())
    }

    /// Digests the strip of a raw chunk that is compared, while it is in the nearest caches.
    fn digest(&mut self, held: &StripSource, boxes: &[AxisBox]) -> Result<()> {
        if !self.passing.is_digesting() {
            return Ok(());
        }
        // Out of the fetcher, whose buffers have the bytes.
        let mut passing = std::mem::replace(&mut self.passing, Passing::new(self.checks));
        let size = self.plan.element_size;
        let stretches = Stretches::new(boxes, 0, 0);
        let base = stretches.base;
        let bytes = self.held(held, boxes)?;
        let mut gathered = 0;
        for Stretch { elements, .. } in stretches {
            let len = elements.end - elements.start;
            let at = if held.is_gathered() { gathered } else { elements.start - base };
            let (at, len) = (buffer::len(at * size)?, buffer::len(len * size)?);
            let piece = bytes.get(at..).and_then(|bytes| bytes.get(..len));
            let piece = piece.ok_or_else(|| Error::misfit(self.checks.dataset()))?;
            passing.pass(elements.start * size, piece);
            gathered += elements.end - elements.start;
        }
        self.passing = passing;
        Ok(())
    }

    /// Reads a strip straight into `out` where that is planned; false where it is not.
    pub(crate) fn direct(
        &mut self,
        reads: &mut TaskReads<'_>,
        strips: &Strips<'_>,
        boxes: &[AxisBox],
        out: &mut [u8],
    ) -> Result<bool> {
        let read = self.plan.chunks()[buffer::len(strips.ordinal())?];
        if !self.plan.is_identity(&read) {
            return Ok(false);
        }
        self.bring.enter(read.place.object)?;
        if self.bring.view().is_some() {
            return Ok(false);
        }
        let Some(elements) = dense_range(boxes) else { return Ok(false) };
        let start = elements.start * self.plan.element_size;
        let span = self.span(&read, elements)?;
        if !reads.take_direct(read.place.object, span) {
            return Ok(false);
        }
        self.passing.enter(&read, strips.ordinal(), None)?;
        self.bring.direct(span, out)?;
        self.passing.pass(start, out);
        Ok(true)
    }

    /// A strip of a raw chunk.
    fn identity(
        &mut self,
        reads: &mut TaskReads<'_>,
        read: &ChunkRead,
        boxes: &[AxisBox],
    ) -> Result<StripSource> {
        let stretches = self.plan.stretches(boxes, self.window_len);
        let span = self.span(read, stretches.base..stretches.end)?;
        let is_viewed = self.bring.view().is_some() && self.bring.held(span).is_some();
        if !is_viewed && stretches.total() != 1 {
            let spans = stretches.filter_map(|it| self.plan.stored_span(read, it.elements));
            return match self.neighbors(reads, spans, boxes)? {
                Some(range) => Ok(StripSource::Neighbors(range)),
                None => self.gather(reads, read, boxes),
            };
        }
        let bytes = self.bring.bytes(reads, span)?;
        let element_size = buffer::len(self.plan.element_size)?;
        let serves = serves(self.rows, bytes, boxes, element_size, &mut self.dense)?;
        Ok(if serves { StripSource::Stored(span) } else { StripSource::Dense })
    }

    /// The place of a strip in the buffer, where reading its stretches gathered it.
    fn neighbors(
        &mut self,
        reads: &mut TaskReads<'_>,
        spans: impl Iterator<Item = Span> + Clone,
        boxes: &[AxisBox],
    ) -> Result<Option<Range<usize>>> {
        let len = self.dense_len(boxes)?;
        let Some(first) = spans.clone().next() else { return Ok(None) };
        self.bring.bytes(reads, first)?;
        let range = self.bring.neighbors(spans).filter(|range| range.len() == len);
        let fits = |range: &Range<usize>| match (self.rows, self.bring.part(range.clone())) {
            (Rows::Any, Some(_)) => true,
            (Rows::Aligned(align), Some(bytes)) => bytes.as_ptr().addr().is_multiple_of(align),
            _ => false,
        };
        Ok(range.filter(fits))
    }

    /// A strip of a chunk that is decoded whole, which is done at its first strip.
    fn decoded(
        &mut self,
        reads: &mut TaskReads<'_>,
        read: &ChunkRead,
        ordinal: u64,
        boxes: &[AxisBox],
    ) -> Result<StripSource> {
        if self.chunk_at != Some(ordinal) {
            self.chunk_at = None;
            let stored = self.bring.bytes(reads, read.place.stored)?;
            self.checks.whole(read, stored)?;
            decode::whole(self.plan, self.checks.dataset(), read, stored, &mut self.chunk)?;
            self.chunk_at = Some(ordinal);
        }
        let stretches = Stretches::new(boxes, 0, 0);
        let element_size = buffer::len(self.plan.element_size)?;
        let range =
            buffer::len(stretches.base)? * element_size..buffer::len(stretches.end)? * element_size;
        let bytes = &self.chunk.bytes()[range.clone()];
        let serves = serves(self.rows, bytes, boxes, element_size, &mut self.dense)?;
        Ok(if serves { StripSource::Chunk(range) } else { StripSource::Dense })
    }

    /// Gathers a strip of a chunk that is read in ranges, stretch by stretch.
    fn gather(
        &mut self,
        reads: &mut TaskReads<'_>,
        read: &ChunkRead,
        boxes: &[AxisBox],
    ) -> Result<StripSource> {
        let (plan, dataset) = (self.plan, self.checks.dataset());
        let len = self.dense_len(boxes)?;
        let mut rest = self.dense.room(len)?;
        let stretches = plan.stretches(boxes, self.window_len);
        for stretch in stretches.clone() {
            let elements = stretch.elements.clone();
            let len = buffer::len(stretches.selected(&stretch) * plan.element_size)?;
            let (out, after) = rest.split_at_mut(len);
            rest = after;
            let span = plan.stored_span(read, elements.clone());
            let span = span.ok_or_else(|| no_range(plan, self.checks, read))?;
            let stored = self.bring.bytes(reads, span)?;
            let held_len = buffer::len((elements.end - elements.start) * plan.element_size)?;
            let size = buffer::len(plan.element_size)?;
            if plan.is_identity(read) {
                spread(&stretches, &stretch, boxes, size, stored, out)?;
            } else if held_len == out.len() {
                decode::range(plan, dataset, read, stored, elements, out)?;
            } else {
                let held = self.scratch.room(held_len)?;
                decode::range(plan, dataset, read, stored, elements, held)?;
                spread(&stretches, &stretch, boxes, size, held, out)?;
            }
        }
        Ok(StripSource::Dense)
    }

    /// Where in the file these elements of a raw chunk lie.
    fn span(&self, read: &ChunkRead, elements: Range<u64>) -> Result<Span> {
        let span = self.plan.stored_span(read, elements);
        span.ok_or_else(|| Error::misfit(self.checks.dataset()))
    }

    /// The bytes of the strip's elements, gathered.
    fn dense_len(&self, boxes: &[AxisBox]) -> Result<usize> {
        buffer::len(element_count(boxes) * self.plan.element_size)
    }

    fn set_strides(&mut self, boxes: &[AxisBox], gathered: bool) {
        self.strides.clear();
        if gathered {
            self.strides.extend(dense_strides(boxes));
        } else {
            self.strides.extend(held_strides(boxes));
        }
    }
}

/// The error for a codec that cannot locate the bytes of elements.
fn no_range(plan: &ReadPlan, checks: &Checks<'_>, read: &ChunkRead) -> Error {
    let codec = plan.decoder(read).name();
    Error::codec(checks.dataset(), read, tet_codec::Error::NoRange { codec })
}
