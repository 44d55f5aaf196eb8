//! Stored bytes, brought: borrowed from a view, or read a batch of runs at a time.

use std::ops::Range;

use tet_format::Span;
use tet_io::{Source, View};

use super::prefetch::Prefetch;
use crate::buffer::{self, Buffer};
use crate::catalog::{Dataset, ReadRange};
use crate::error::{Error, Result};
use crate::plan::runs::TaskReads;

/// Every run begins on this boundary in the buffer.
const ALIGN: usize = 8;

/// The stored bytes that one thread has at a time.
#[derive(Debug)]
pub(super) struct Bring<'a> {
    dataset: &'a Dataset,
    prefetch: &'a Prefetch<'a>,
    task: u64,
    view: Option<View<'a>>,
    /// The object that is read, where that is not the dataset's file: it has no view.
    object: Option<(u32, Source)>,
    buffer: Buffer,
    /// The runs in the buffer, and where each begins.
    runs: Vec<Span>,
    starts: Vec<usize>,
    /// The run that was used last.
    at: usize,
}

impl<'a> Bring<'a> {
    pub(super) fn new(dataset: &'a Dataset, prefetch: &'a Prefetch<'a>) -> Self {
        let (runs, starts) = (Vec::new(), Vec::new());
        let (view, object, buffer) = (None, None, Buffer::default());
        Bring { dataset, prefetch, task: 0, view, object, buffer, runs, starts, at: 0 }
    }

    /// Begins a task: takes a view of the file, where there is one.
    pub(super) fn begin(&mut self, task: u64) {
        self.task = task;
        self.view = self.dataset.source.view();
        self.runs.clear();
    }

    /// Goes on to bytes of this object.
    ///
    /// # Errors
    ///
    /// Returns an error when it cannot be opened.
    pub(super) fn enter(&mut self, object: u32) -> Result<()> {
        if self.number() == object {
            return Ok(());
        }
        self.runs.clear();
        let source = if object == 0 { None } else { self.dataset.chunks.object(object)? };
        self.object = source.map(|source| (object, source));
        Ok(())
    }

    /// The number of the object that is read.
    fn number(&self) -> u32 {
        self.object.as_ref().map_or(0, |(number, _)| *number)
    }

    /// The file that is read.
    fn source(&self) -> &Source {
        self.object.as_ref().map_or(&self.dataset.source, |(_, source)| source)
    }

    /// Ends the task: gives the view back.
    pub(super) fn end(&mut self) {
        self.view = None;
        self.prefetch.end(self.task);
    }

    pub(super) fn view(&self) -> Option<&View<'a>> {
        self.view.as_ref().filter(|_| self.object.is_none())
    }

    /// These bytes of the file. Spans are requested in the order of `reads`.
    ///
    /// # Errors
    ///
    /// Returns an error when they cannot be read.
    pub(super) fn bytes(&mut self, reads: &mut TaskReads<'_>, span: Span) -> Result<&[u8]> {
        while self.held(span).is_none() {
            self.at += 1;
            if self.at < self.runs.len() {
                continue;
            }
            if self.view().is_none() {
                // Those of the dataset's file are passed over where its view had them.
                while reads.batch(&mut self.runs) != self.number() && !self.runs.is_empty() {}
            } else {
                // A page that the view cannot bring.
                self.runs.clear();
            }
            if self.runs.is_empty() {
                self.runs.push(span);
            }
            self.read()?;
        }
        self.held(span).ok_or_else(|| self.changed())
    }

    /// These bytes, where they are in memory.
    pub(super) fn held(&self, span: Span) -> Option<&[u8]> {
        if let Some(bytes) = self.view().and_then(|view| view.bytes(span.range())) {
            return Some(bytes);
        }
        if span.is_empty() {
            return Some(&[]);
        }
        let run = self.runs.get(self.at).filter(|run| run.contains(span))?;
        let start = usize::try_from(span.start() - run.start()).ok()?;
        let bytes = self.buffer.bytes().get(self.starts[self.at] + start..)?;
        bytes.get(..usize::try_from(span.len()).ok()?)
    }

    /// The bytes of these spans, from the last requested one on, where each is a run and they
    /// are neighbors in the buffer.
    pub(super) fn neighbors(&self, spans: impl Iterator<Item = Span>) -> Option<Range<usize>> {
        let start = *self.starts.get(self.at)?;
        let mut end = start;
        for (at, span) in (self.at..).zip(spans) {
            if self.runs.get(at) != Some(&span) || self.starts[at] != end {
                return None;
            }
            end += usize::try_from(span.len()).ok()?;
        }
        Some(start..end)
    }

    /// A part of the buffer.
    pub(super) fn part(&self, range: Range<usize>) -> Option<&[u8]> {
        self.buffer.bytes().get(range)
    }

    /// Reads the next run straight into `out`.
    ///
    /// # Errors
    ///
    /// Returns an error when it cannot be read.
    pub(super) fn direct(&self, run: Span, out: &mut [u8]) -> Result<()> {
        if self.prefetch.take(self.task, ReadRange { object: self.number(), span: run }, out)? {
            return Ok(());
        }
        Ok(self.source().read_ranges(&mut [(run.start(), out)])?)
    }

    /// The file has not the bytes that it had when it was opened.
    pub(super) fn changed(&self) -> Error {
        Error::changed(self.source())
    }

    /// Reads the runs: those that were not read ahead as one request.
    fn read(&mut self) -> Result<()> {
        self.starts.clear();
        let mut len = 0;
        for run in &self.runs {
            self.starts.push(len);
            len += buffer::len(run.len())?.next_multiple_of(ALIGN);
        }
        let object = self.number();
        let mut room = self.buffer.room(len)?;
        let mut parts = Vec::with_capacity(self.runs.len());
        for run in &self.runs {
            let len = buffer::len(run.len())?;
            let (part, rest) = room.split_at_mut(len.next_multiple_of(ALIGN));
            let part = &mut part[..len];
            if !self.prefetch.take(self.task, ReadRange { object, span: *run }, part)? {
                parts.push((run.start(), part));
            }
            room = rest;
        }
        self.at = 0;
        let source = self.object.as_ref().map_or(&self.dataset.source, |(_, source)| source);
        Ok(source.read_ranges(&mut parts)?)
    }
}
