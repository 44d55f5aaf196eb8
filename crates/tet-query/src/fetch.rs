//! Runs into elements: windows of the file, views of it, decoded chunks.
//!
//! ```text
//!   raw, mapped, aligned    a view of the file, nothing copied
//!   raw                     a window of the file, read in one go for many strips
//!   raw, gaps or steps      windows, the selected elements gathered
//!   decoded whole           a window or a view of the stored bytes, decoded once for all strips
//! ```
//!
//! Whichever it is, the strip that comes out has the same elements in the same order.

mod ahead;
mod buffer;
mod check;
mod gather;
mod part_read;
mod passing;
mod pool;

use std::ops::Range;

use tet_format::Span;
use tet_io::{Source, View};

pub(crate) use self::buffer::Buffer;
pub(crate) use self::check::{Checks, Uses, seal};
pub(crate) use self::part_read::PartRead;
use self::passing::Passing;
pub(crate) use self::pool::run;
use crate::budget::Execution;
use crate::copy::copy_box;
use crate::decode;
use crate::element::make_truths;
use crate::error::{Error, Result};
use crate::plan::piece::{Segments, Strips, dense_range, strides};
use crate::plan::touch::AxisBox;
use crate::plan::{ChunkRead, ReadPlan};

/// The shortest read that goes straight to its destination instead of through a window.
const DIRECT_LEN_MIN: u64 = if cfg!(test) { 8 } else { 64 * 1024 };

/// What the user of strips needs of them.
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

/// Where the elements of a strip were brought.
enum Held {
    View(Range<u64>),
    Window(Range<usize>),
    Chunk(Range<usize>),
    Dense,
}

/// What one thread brings strips with.
#[derive(Debug)]
pub(crate) struct Fetcher<'a> {
    source: &'a Source,
    plan: &'a ReadPlan,
    window_len: u64,
    rows: Rows,
    view: Option<View<'a>>,
    checks: &'a Checks<'a>,
    passing: Passing<'a>,
    window: Buffer,
    window_at: Range<u64>,
    chunk: Buffer,
    chunk_at: Option<u64>,
    dense: Buffer,
    scratch: Buffer,
    stored: Buffer,
    strides: Vec<usize>,
}

impl<'a> Fetcher<'a> {
    /// A fetcher that has read nothing.
    pub(crate) fn new(
        source: &'a Source,
        checks: &'a Checks<'a>,
        plan: &'a ReadPlan,
        how: &Execution,
        rows: Rows,
    ) -> Self {
        Fetcher {
            source,
            plan,
            window_len: how.window_len(),
            rows,
            view: None,
            checks,
            passing: Passing::new(checks),
            window: Buffer::default(),
            window_at: 0..0,
            chunk: Buffer::default(),
            chunk_at: None,
            dense: Buffer::default(),
            scratch: Buffer::default(),
            stored: Buffer::default(),
            strides: Vec::new(),
        }
    }

    /// Begins a task: takes the view that is held until it ends.
    pub(crate) fn begin(&mut self) {
        self.view = self.source.view();
    }

    /// Ends a task.
    pub(crate) fn end(&mut self) {
        self.passing.leave();
        self.view = None;
    }

    /// Brings the strip that `strips` has come to.
    pub(crate) fn block(&mut self, strips: &Strips<'_>, boxes: &[AxisBox]) -> Result<Block<'_>> {
        let plan = self.plan;
        let ordinal = strips.ordinal();
        let read = plan.chunks()[decode::len(ordinal)?];
        let held = if !plan.is_ranged(&read) {
            self.decoded(strips, &read, boxes)?
        } else if plan.is_identity(&read) {
            self.passing.enter(&read, ordinal, self.view.as_ref())?;
            let held = self.identity(strips, &read, boxes)?;
            self.digest(&held, boxes)?;
            held
        } else {
            let segments = plan.segments(&read, boxes);
            self.checks.part(&read, ordinal, self.view.as_ref())?;
            self.gather(&read, boxes, segments)?;
            Held::Dense
        };
        self.set_strides(boxes, matches!(held, Held::Dense));
        if self.rows == Rows::Truths {
            let len = self.dense_len(boxes)?;
            make_truths(self.dense.room(len)?);
        }
        let bytes = self.held(&held, boxes)?;
        Ok(Block { bytes, strides: &self.strides })
    }

    /// The bytes of a strip where they were brought.
    fn held(&self, held: &Held, boxes: &[AxisBox]) -> Result<&[u8]> {
        let bytes = match held {
            Held::View(range) => self.view.as_ref().and_then(|view| view.bytes(range.clone())),
            Held::Window(range) => self.window.bytes().get(range.clone()),
            Held::Chunk(range) => self.chunk.bytes().get(range.clone()),
            Held::Dense => self.dense.bytes().get(..self.dense_len(boxes)?),
        };
        bytes.ok_or_else(|| Error::changed(self.source))
    }

    /// Digests the strip of a raw chunk that is compared, while it is in the nearest caches.
    fn digest(&mut self, held: &Held, boxes: &[AxisBox]) -> Result<()> {
        if !self.passing.is_digesting() {
            return Ok(());
        }
        // Out of the fetcher, whose buffers have the bytes.
        let mut passing = std::mem::replace(&mut self.passing, Passing::new(self.checks));
        let size = self.plan.element_size;
        let segments = Segments::new(boxes, 0);
        let len = decode::len(segments.len * size)?;
        let bytes = self.held(held, boxes)?;
        let is_dense = matches!(held, Held::Dense);
        for (nth, start) in segments.starts(boxes).enumerate() {
            let at =
                if is_dense { nth * len } else { decode::len((start - segments.base) * size)? };
            let piece = bytes.get(at..).and_then(|bytes| bytes.get(..len));
            passing.pass(start * size, piece.ok_or_else(|| Error::misfit(self.checks.dataset()))?);
        }
        self.passing = passing;
        Ok(())
    }

    /// Reads a strip straight into `out` where that saves a copy; false where it does not.
    pub(crate) fn direct(
        &mut self,
        strips: &Strips<'_>,
        boxes: &[AxisBox],
        out: &mut [u8],
    ) -> Result<bool> {
        if self.view.is_some() || (out.len() as u64) < DIRECT_LEN_MIN {
            return Ok(false);
        }
        let read = self.plan.chunks()[decode::len(strips.ordinal())?];
        let identity = self.plan.is_identity(&read);
        let Some(elements) = dense_range(boxes).filter(|_| identity) else { return Ok(false) };
        let span = self.span(&read, &elements);
        if self.holds(span) {
            return Ok(false);
        }
        self.passing.enter(&read, strips.ordinal(), None)?;
        self.source.read_exact_at(span.start(), out)?;
        self.passing.pass(elements.start * self.plan.element_size, out);
        Ok(true)
    }

    /// The strip's bytes in a raw chunk.
    fn identity(
        &mut self,
        strips: &Strips<'_>,
        read: &ChunkRead,
        boxes: &[AxisBox],
    ) -> Result<Held> {
        let segments = self.plan.segments(read, boxes);
        let span = self.span(read, &(segments.base..segments.end(boxes)));
        if let Some(bytes) = self.view.as_ref().and_then(|view| view.bytes(span.range())) {
            if self.fits(bytes, boxes) {
                return Ok(Held::View(span.range()));
            }
            let len = self.dense_len(boxes)?;
            let element_size = decode::len(self.plan.element_size)?;
            copy_dense(bytes, boxes, self.dense.room(len)?, element_size);
            return Ok(Held::Dense);
        }
        if segments.count != 1 || self.window_len < span.len() {
            self.gather(read, boxes, segments)?;
            return Ok(Held::Dense);
        }
        let range = self.ensure(strips, span)?;
        if self.fits(&self.window.bytes()[range.clone()], boxes) {
            return Ok(Held::Window(range));
        }
        let len = self.dense_len(boxes)?;
        let element_size = decode::len(self.plan.element_size)?;
        copy_dense(&self.window.bytes()[range], boxes, self.dense.room(len)?, element_size);
        Ok(Held::Dense)
    }

    /// The strip's bytes in a chunk that is decoded whole, which is done at its first strip.
    fn decoded(
        &mut self,
        strips: &Strips<'_>,
        read: &ChunkRead,
        boxes: &[AxisBox],
    ) -> Result<Held> {
        if self.chunk_at != Some(strips.ordinal()) {
            self.chunk_at = None;
            let span = read.place.stored;
            if let Some(stored) = self.view.as_ref().and_then(|view| view.bytes(span.range())) {
                self.checks.whole(read, stored)?;
                decode::whole(self.plan, self.checks.dataset(), read, stored, &mut self.chunk)?;
            } else if span.len() <= self.window_len {
                let range = self.ensure(strips, span)?;
                let stored = &self.window.bytes()[range];
                self.checks.whole(read, stored)?;
                decode::whole(self.plan, self.checks.dataset(), read, stored, &mut self.chunk)?;
            } else {
                let stored = self.stored.room(decode::len(span.len())?)?;
                self.source.read_exact_at(span.start(), stored)?;
                self.checks.whole(read, stored)?;
                decode::whole(self.plan, self.checks.dataset(), read, stored, &mut self.chunk)?;
            }
            self.chunk_at = Some(strips.ordinal());
        }
        let segments = Segments::new(boxes, u64::MAX);
        let element_size = self.plan.element_size;
        let start = decode::len(segments.base * element_size)?;
        let end = decode::len(segments.end(boxes) * element_size)?;
        let bytes = &self.chunk.bytes()[start..end];
        if self.fits(bytes, boxes) {
            return Ok(Held::Chunk(start..end));
        }
        let len = self.dense_len(boxes)?;
        copy_dense(bytes, boxes, self.dense.room(len)?, decode::len(element_size)?);
        Ok(Held::Dense)
    }

    /// Has `span` in the window, together with what the next strips of the task will want of the
    /// same run; gives its place there.
    fn ensure(&mut self, strips: &Strips<'_>, span: Span) -> Result<Range<usize>> {
        if !self.holds(span) {
            let end = self.horizon(strips, span);
            self.window_at = 0..0;
            let room = self.window.room(decode::len(end - span.start())?)?;
            self.source.read_exact_at(span.start(), room)?;
            self.window_at = span.start()..end;
        }
        let start = decode::len(span.start() - self.window_at.start)?;
        Ok(start..start + decode::len(span.len())?)
    }

    /// Whether the window has these bytes.
    fn holds(&self, span: Span) -> bool {
        self.window_at.start <= span.start() && span.end() <= self.window_at.end
    }

    /// How far to read from `span` on: to the end of the run, of the task or of a window.
    fn horizon(&self, strips: &Strips<'_>, span: Span) -> u64 {
        let mut end = span.end();
        let mut ahead = strips.clone();
        let mut ordinal = ahead.ordinal();
        loop {
            ahead.advance();
            let Some(boxes) = ahead.boxes() else { return end };
            let Some(read) =
                usize::try_from(ahead.ordinal()).ok().and_then(|at| self.plan.chunks().get(at))
            else {
                return end;
            };
            let next = if self.plan.is_ranged(read) {
                let segments = self.plan.segments(read, boxes);
                if segments.count != 1 {
                    return end;
                }
                self.span(read, &(segments.base..segments.end(boxes)))
            } else if ahead.ordinal() == ordinal {
                continue;
            } else {
                read.place.stored
            };
            ordinal = ahead.ordinal();
            let near = end <= next.start() && next.start() - end <= self.plan.policy.gap_max;
            if !near || self.window_len < next.end() - span.start() {
                return end;
            }
            end = next.end();
        }
    }

    /// Where in the file these elements of a raw chunk lie.
    fn span(&self, read: &ChunkRead, elements: &Range<u64>) -> Span {
        let (stored, size) = (read.place.stored, self.plan.element_size);
        let range = stored.start() + elements.start * size..stored.start() + elements.end * size;
        Span::from_range(range).unwrap_or(stored)
    }

    /// Whether the bytes of a strip serve as they lie in the chunk.
    fn fits(&self, bytes: &[u8], boxes: &[AxisBox]) -> bool {
        match self.rows {
            Rows::Any => true,
            Rows::Aligned(align) => {
                bytes.as_ptr().addr().is_multiple_of(align) && is_inner_dense(boxes)
            }
            Rows::Truths => false,
        }
    }

    /// The bytes of the strip's elements, gathered.
    fn dense_len(&self, boxes: &[AxisBox]) -> Result<usize> {
        decode::len(crate::plan::piece::element_count(boxes) * self.plan.element_size)
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

/// Whether the innermost axis with several positions has them side by side in the chunk.
fn is_inner_dense(boxes: &[AxisBox]) -> bool {
    let mut stride = 1;
    for part in boxes.iter().rev() {
        if part.count > 1 {
            return part.step * stride == 1;
        }
        stride *= part.extent;
    }
    true
}

/// Elements between neighbors of the selection where they lie in the chunk.
fn held_strides(boxes: &[AxisBox]) -> Vec<usize> {
    let stride = |(part, stride): (&AxisBox, u64)| {
        // Products of what lies inside a chunk in memory.
        if part.count > 1 { usize::try_from(part.step * stride).unwrap_or(usize::MAX) } else { 0 }
    };
    boxes.iter().zip(strides(boxes)).map(stride).collect()
}

/// Elements between neighbors of the selection when its elements lie side by side.
fn dense_strides(boxes: &[AxisBox]) -> Vec<usize> {
    let mut strides = vec![0; boxes.len()];
    let mut inner = 1;
    for (stride, part) in strides.iter_mut().zip(boxes).rev() {
        if part.count > 1 {
            *stride = inner;
            inner *= usize::try_from(part.count).unwrap_or(usize::MAX);
        }
    }
    strides
}

/// Gathers the selected elements out of the bytes from the first to the last of them.
fn copy_dense(bytes: &[u8], boxes: &[AxisBox], out: &mut [u8], element_size: usize) {
    let counts: Vec<usize> =
        boxes.iter().map(|part| usize::try_from(part.count).unwrap_or(usize::MAX)).collect();
    copy_box(&counts, element_size, (bytes, &held_strides(boxes)), (out, &dense_strides(boxes)));
}
