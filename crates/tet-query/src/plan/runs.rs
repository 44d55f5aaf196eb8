//! The stretches of the file that a plan reads, one after the other and never as a list.

use tet_format::Span;

use super::piece::Starts;
use super::{ChunkRead, ReadPlan};
use crate::coalesce::{Coalesce, Run, join};

/// Adds up runs while chunks come in file order.
#[derive(Debug, Default)]
pub(super) struct RunCount {
    run_count: u64,
    read_len: u64,
    last: Option<Span>,
}

impl RunCount {
    /// Adds the runs inside one chunk, as if nothing were before it.
    pub(super) fn within(&mut self, run_count: u64, read_len: u64) {
        self.run_count += run_count;
        self.read_len = self.read_len.saturating_add(read_len);
    }

    /// Joins the chunk just added to what is before it; false when it lies before that.
    pub(super) fn follow(&mut self, span: Span, policy: Coalesce) -> bool {
        let last = self.last.replace(span);
        let Some(last) = last else { return true };
        if span.start() < last.end() {
            return false;
        }
        if join(last, span, policy).is_some() {
            self.run_count -= 1;
            self.read_len = self.read_len.saturating_add(span.start() - last.end());
        }
        true
    }

    /// How many runs there are and how many bytes they have.
    pub(super) const fn totals(&self) -> (u64, u64) {
        (self.run_count, self.read_len)
    }
}

/// The runs of a plan, in file order.
///
/// Inside a chunk stretches merge axis by axis: either all neighbors along an axis, or none.
#[derive(Debug)]
pub struct Runs<'a> {
    plan: &'a ReadPlan,
    /// How many chunks were entered, in file order.
    entered: usize,
    /// What is left of the chunk that was entered last: first elements, and their length.
    left: Option<Stretches>,
    pending: Option<Run>,
}

impl<'a> Runs<'a> {
    pub(super) fn new(plan: &'a ReadPlan) -> Self {
        Runs { plan, entered: 0, left: None, pending: None }
    }

    /// How many runs there are and how many bytes they have.
    pub(super) fn totals(self) -> (u64, u64) {
        self.fold((0, 0), |(count, len), run| (count + 1, len + run.span.len()))
    }

    /// The next stretch, and its chunk's number in file order.
    fn next_span(&mut self) -> Option<(Span, usize)> {
        loop {
            if let Some(stretches) = &mut self.left
                && let Some(start) = stretches.starts.next()
            {
                let elements = start..start + stretches.len;
                let span = self.plan.stored_span(&stretches.read, elements)?;
                return Some((span, self.entered - 1));
            }
            if self.entered == self.plan.chunks().len() {
                return None;
            }
            let at = self.plan.in_file_order(self.entered);
            let read = self.plan.chunks()[at];
            let boxes = self.plan.touch.parts_of(at as u64);
            let segments = self.plan.segments(&read, &boxes);
            let starts = segments.starts(&boxes);
            self.left = Some(Stretches { read, starts, len: segments.len });
            self.entered += 1;
        }
    }
}

/// What is left to read of one chunk.
#[derive(Debug)]
struct Stretches {
    read: ChunkRead,
    starts: Starts,
    len: u64,
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        loop {
            let Some((span, at)) = self.next_span() else { return self.pending.take() };
            // Inside a chunk all merging is done: its stretches are as far apart as they seem.
            let before = self.pending.as_ref().filter(|run| run.members.end == at);
            let joined = before.and_then(|run| join(run.span, span, self.plan.policy));
            match (joined, &mut self.pending) {
                (Some(joined), Some(run)) => {
                    run.span = joined;
                    run.members.end = at + 1;
                }
                (_, pending) => {
                    let run = pending.replace(Run { span, members: at..at + 1 });
                    if run.is_some() {
                        return run;
                    }
                }
            }
        }
    }
}
