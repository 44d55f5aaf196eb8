//! Bytes of another file, which the server may copy.
//!
//! ```text
//!   written | waiting: they follow each other in the other file  |
//!                 | a part: copied there   | a part: copied      | fills none: read and written
//! ```
//!
//! They wait until it is known whether they fill a part, and only final ones: a part that is copied is not in the temporary file.
//! One that the server did not copy is read and written after all, and so is what comes later.

use std::io::{Seek, SeekFrom};

use tet_format::Span;

use super::{PartState, UrlFile};
use crate::error::Result;
use crate::source::{Source, UrlPart, may_copy_on_server};

impl UrlFile {
    /// Takes bytes of another file, which the server may copy; `false` where they have to be read and written.
    pub(in super::super) fn copy(&mut self, source: &Source, span: Span) -> Result<bool> {
        let at = self.position();
        let may_copy = !self.is_uncopied && may_copy_on_server(source, &self.target);
        let all = Span::new(at, span.len()).filter(|all| may_copy && !all.is_empty());
        if !all.is_some_and(|all| self.finals.iter().any(|known| known.contains(all))) {
            return Ok(false);
        }
        self.check().map_err(|error| self.write_fault(error))?;
        let longer = self.waiting.as_ref().and_then(|(waiting, start)| {
            let follows = waiting.is_same(source) && start.end() == span.start();
            Span::from_range(start.start()..span.end()).filter(|_| follows)
        });
        if longer.is_none() {
            self.write_waiting()?;
        }
        self.waiting = Some((source.clone(), longer.unwrap_or(span)));
        while self.copy_part()? {}
        Ok(true)
    }

    /// Begins to copy the next part whose bytes wait, if all of them do; `false` if there is none.
    fn copy_part(&mut self) -> Result<bool> {
        let Some((source, span)) = &self.waiting else { return Ok(false) };
        let end = self.at.saturating_add(span.len());
        let first = UrlPart::at(self.at).filter(|part| part.span.start() < self.at);
        let part = first.map_or_else(|| UrlPart::at(self.at), |part| UrlPart::nth(part.nth + 1));
        let Some(part) = part.filter(|part| part.span.end() <= end) else { return Ok(false) };
        let source = source.clone();
        self.write_first_waiting(part.span.start() - self.at)?;
        let is_untouched =
            |state: &PartState| state.filled == 0 && !state.is_changed && !state.is_sent;
        if self.is_uncopied || !self.parts.get(part.nth).is_none_or(is_untouched) {
            self.write_first_waiting(part.span.len())?;
            return Ok(true);
        }
        let from = self.take_waiting(part.span.len()).unwrap_or(Span::EMPTY).start();
        self.skip_to(part)?;
        self.send(part, Some((source, from)))?;
        self.send_passed()?;
        Ok(true)
    }

    /// The position behind a part that is not in the temporary file.
    fn skip_to(&mut self, part: UrlPart) -> Result<()> {
        self.at = part.span.start();
        self.note(part, part.span.len());
        if let Some(state) = self.parts.get_mut(part.nth) {
            state.is_released = true;
        }
        self.seek_to(self.at)
    }

    /// The first bytes of those that wait, which do not any longer.
    fn take_waiting(&mut self, len: u64) -> Option<Span> {
        let (source, span) = self.waiting.take()?;
        let cut = span.start().saturating_add(len).min(span.end());
        let rest = Span::from_range(cut..span.end()).filter(|rest| !rest.is_empty());
        self.waiting = rest.map(|rest| (source, rest));
        Span::from_range(span.start()..cut)
    }

    /// Reads and writes the bytes that wait.
    pub(super) fn write_waiting(&mut self) -> Result<()> {
        self.write_first_waiting(u64::MAX)
    }

    /// Reads and writes the first bytes of those that wait.
    fn write_first_waiting(&mut self, len: u64) -> Result<()> {
        let source = self.waiting.as_ref().map(|(source, _)| source.clone());
        let Some((source, span)) = source.zip(self.take_waiting(len)) else { return Ok(()) };
        self.write_of(&source, span)
    }

    /// Reads and writes bytes of another file.
    fn write_of(&mut self, source: &Source, span: Span) -> Result<()> {
        source.for_windows(span.start()..span.end(), &mut Vec::new(), |_, window| {
            let mut rest = window;
            while !rest.is_empty() {
                let len = self.write_here(rest).map_err(|error| self.write_fault(error))?;
                rest = rest.get(len..).unwrap_or_default();
            }
            Ok(true)
        })
    }

    /// Writes a part that the server did not copy, and comes back to the current position.
    pub(super) fn write_uncopied(
        &mut self,
        part: UrlPart,
        source: &Source,
        start: u64,
    ) -> Result<()> {
        self.is_uncopied = true;
        let at = self.at;
        self.seek_to(part.span.start())?;
        if let Some(state) = self.parts.get_mut(part.nth) {
            *state = PartState::default();
        }
        let span = Span::new(start, part.span.len()).unwrap_or(Span::EMPTY);
        self.write_of(source, span)?;
        self.send_or_release(part)?;
        self.seek_to(at)
    }

    /// Goes on at another position of the temporary file.
    fn seek_to(&mut self, at: u64) -> Result<()> {
        let moved = self.file.seek(SeekFrom::Start(at));
        self.at = moved.map_err(|error| self.write_fault(error))?;
        Ok(())
    }
}
