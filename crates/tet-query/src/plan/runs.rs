//! Reads of a task, in the order of its strips, as runs in batches. Nothing is listed: a batch is
//! made on demand, by the fetcher and to print the plan.

use std::iter::Peekable;
use std::ops::Range;

use tet_format::Span;

use super::output::OutputRect;
use super::piece::{Stage, Stretches, Strips, dense_range};
use super::touch::AxisBox;
use super::{ChunkRead, ReadPlan, Zone};
use crate::catalog::ReadRange;
use crate::coalesce::{Coalesce, Need, batch};

/// Remaining reads of one task.
#[derive(Debug)]
pub(crate) struct TaskReads<'a> {
    needs: Peekable<Needs<'a>>,
    policy: Coalesce,
    window_len: u64,
}

impl<'a> TaskReads<'a> {
    /// Reads of the task that goes through `strips`, in batches of `window_len` bytes. Strips that
    /// are contiguous in `output` are read straight into it, one by one. The chunk number `decoded`
    /// is in memory already.
    pub(crate) fn new(
        plan: &'a ReadPlan,
        strips: Strips<'a>,
        window_len: u64,
        output: Option<OutputRect>,
        decoded: Option<u64>,
    ) -> Self {
        let needs = Needs { plan, strips, window_len, output, decoded, left: None };
        TaskReads { needs: needs.peekable(), policy: plan.policy, window_len }
    }

    /// Sets `runs` to those that are read next, as one request; to none when all is read. Gives the
    /// object that they are in.
    pub(crate) fn batch(&mut self, runs: &mut Vec<Span>) -> u32 {
        batch(&mut self.needs, self.policy, self.window_len, runs)
    }

    /// Takes a span out of what is left when it is read next, straight into the array.
    pub(crate) fn take_direct(&mut self, object: u32, span: Span) -> bool {
        self.needs.next_if(|it| it.is_alone && it.object == object && it.span == span).is_some()
    }
}

/// The spans that a task needs, in order; a chunk that is decoded whole once for all its strips.
#[derive(Debug)]
struct Needs<'a> {
    plan: &'a ReadPlan,
    strips: Strips<'a>,
    window_len: u64,
    output: Option<OutputRect>,
    decoded: Option<u64>,
    /// The stretches that are left of a strip.
    left: Option<(ChunkRead, Stretches)>,
}

impl Iterator for Needs<'_> {
    type Item = Need;

    fn next(&mut self) -> Option<Need> {
        loop {
            if let Some((read, stretches)) = &mut self.left {
                let (plan, read) = (self.plan, *read);
                let span = |it: super::piece::Stretch| plan.stored_span(&read, it.elements);
                // One that the codec names no bytes for is an error of the strip.
                let mut spans = stretches.map(|it| span(it).unwrap_or(read.place.stored));
                if let Some(span) = spans.find(|span| !span.is_empty()) {
                    return Some(Need::joined(read.place.object, span));
                }
                self.left = None;
            }
            let boxes = self.strips.boxes()?;
            let ordinal = self.strips.ordinal();
            if self.plan.zone(ordinal) != Zone::Read {
                self.strips.skip_chunk();
                continue;
            }
            let read = *self.plan.chunks().get(usize::try_from(ordinal).ok()?)?;
            let need = if !self.plan.is_ranged(&read) {
                let is_decoded = self.decoded.replace(ordinal) == Some(ordinal);
                (!is_decoded).then(|| Need::joined(read.place.object, read.place.stored))
            } else if let Some(span) = self.direct(&read, boxes) {
                Some(Need { object: read.place.object, span, is_alone: true })
            } else {
                self.left = Some((read, self.plan.stretches(boxes, self.window_len)));
                None
            };
            self.strips.advance();
            if need.is_some_and(|need| !need.span.is_empty()) {
                return need;
            }
        }
    }
}

impl Needs<'_> {
    /// The bytes of a strip that is read straight into the array.
    fn direct(&self, read: &ChunkRead, boxes: &[AxisBox]) -> Option<Span> {
        let output = self.output.as_ref().filter(|_| self.plan.is_identity(read))?;
        let elements = dense_range(boxes).filter(|_| output.is_contiguous(boxes))?;
        let span = self.plan.stored_span(read, elements)?;
        (output.direct_len_min <= span.len()).then_some(span)
    }
}

impl ReadPlan {
    /// Calls `visit` with every run that the task owning the positions `rect`, or a stage of it, reads, in strips
    /// of `limit` elements.
    pub(crate) fn for_task_runs(
        &self,
        rect: &[Range<u64>],
        stage: Option<Stage>,
        limit: u64,
        window_len: u64,
        output: Option<OutputRect>,
        visit: &mut dyn FnMut(ReadRange),
    ) {
        let touch = self.touch.narrowed(rect);
        let mut reads =
            TaskReads::new(self, Strips::of_stage(&touch, limit, stage), window_len, output, None);
        let mut runs = Vec::new();
        loop {
            let object = reads.batch(&mut runs);
            if runs.is_empty() {
                return;
            }
            runs.iter().for_each(|&span| visit(ReadRange { object, span }));
        }
    }
}
