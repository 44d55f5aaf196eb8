//! The new file of a URL: made in the folder for temporary files, and uploaded while it is written.
//!
//! ```text
//!   | sent | sent | being sent ... | written |    ->  finish: what was not sent, or was written again; then visible
//!     final: its disk space is free
//! ```
//!
//! A part is sent when writing has moved on past it by its length, or by a byte if it is final. A file of one part has no
//! upload: it is written with one request at the end.
//!
//! A final part whose bytes follow each other in another file of the server is copied there (`url_file/copies.rs`).

mod copies;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use tet_format::Span;

use super::Overwrite;
use crate::error::{Error, Operation, Result};
use crate::source::{Backend, PutMode, Source, UrlPart, UrlStore, UrlUpload, store_of};
use crate::stamp::Stamp;
use crate::vfs::VfsFile;

/// Parts that are sent at the same time.
const PARTS_AT_ONCE: usize = 4;

/// A file that is written to a URL.
#[derive(Debug)]
pub(super) struct UrlFile {
    /// In the folder for temporary files.
    file: Box<dyn VfsFile>,
    target: PathBuf,
    store: Arc<dyn UrlStore>,
    force: Overwrite,
    /// The version that may be replaced.
    version: Option<String>,
    at: u64,
    len: u64,
    parts: Vec<PartState>,
    /// The part that is sent next.
    next: usize,
    /// Spans that are not written again.
    finals: Vec<Span>,
    /// The upload, from the first part on that is sent.
    upload: Option<Arc<dyn UrlUpload>>,
    sending: VecDeque<Sending>,
    /// A range to copy from another object next, by its source, offset and length.
    waiting: Option<(Source, Span)>,
    /// Whether the server did not copy something.
    is_uncopied: bool,
    /// The first failure, after which nothing is written.
    fault: Option<(ErrorKind, String)>,
}

/// State of a part.
#[derive(Clone, Copy, Debug, Default)]
struct PartState {
    /// The bytes from its start on that were written.
    filled: u64,
    is_sent: bool,
    /// Whether it was written since it was sent.
    is_changed: bool,
    /// Whether its bytes are no longer in the temporary file.
    is_released: bool,
}

/// A part that is being sent, or copied.
#[derive(Debug)]
struct Sending {
    part: UrlPart,
    /// Where the bytes of a part are that the server copies.
    from: Option<(Source, u64)>,
    /// Ends with whether the part has arrived.
    thread: JoinHandle<Result<bool>>,
}

impl UrlFile {
    pub(super) fn new(
        file: Box<dyn VfsFile>,
        target: &Path,
        force: Overwrite,
        version: Option<String>,
    ) -> Result<Self> {
        let (store, _) = store_of(target)?;
        Ok(Self {
            file,
            target: target.to_path_buf(),
            store,
            force,
            version,
            at: 0,
            len: 0,
            parts: Vec::new(),
            next: 0,
            finals: Vec::new(),
            upload: None,
            sending: VecDeque::new(),
            waiting: None,
            is_uncopied: false,
            fault: None,
        })
    }

    /// Where the next byte is written.
    fn position(&self) -> u64 {
        let waiting = self.waiting.as_ref().map_or(0, |(_, span)| span.len());
        self.at.saturating_add(waiting)
    }

    /// Sends what was not sent, and makes the file visible.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.check().map_err(|error| self.write_fault(error))?;
        self.write_waiting()?;
        while !self.sending.is_empty() {
            self.wait_for_first()?;
        }
        let content = self.content()?;
        let Some(upload) = &self.upload else {
            let (_, url) = store_of(&self.target)?;
            return self.store.write(url, &content, self.replace());
        };
        let is_left = |part: &UrlPart| {
            self.parts.get(part.nth).is_none_or(|state| !state.is_sent || state.is_changed)
        };
        let rest: Vec<UrlPart> = UrlPart::all_of(self.len).into_iter().filter(is_left).collect();
        upload.finish(&content, &rest)
    }

    fn replace(&self) -> PutMode<'_> {
        match (self.force, &self.version) {
            (Overwrite::Refuse, _) => PutMode::Create,
            (_, Some(version)) => PutMode::Update(version),
            (_, None) => PutMode::Overwrite,
        }
    }

    /// The temporary file as it is now.
    pub(super) fn content(&self) -> Result<Source> {
        let failed = |error| self.write_fault(error);
        let file = self.file.reader().map_err(failed)?;
        let file = file.ok_or_else(|| Error::UrlOutput { path: self.target.clone() })?;
        let stamp = Stamp::from_file(&file).map_err(failed)?;
        Ok(Source::opened(Backend::Pread(file), &self.target, stamp))
    }

    /// Returns the failure that there was.
    fn check(&self) -> io::Result<()> {
        match &self.fault {
            Some((kind, text)) => Err(io::Error::new(*kind, text.clone())),
            None => Ok(()),
        }
    }

    fn write_fault(&self, error: io::Error) -> Error {
        Error::io(Operation::Write, &self.target, error)
    }

    /// Keeps the first failure, for what is written later.
    fn failed(&mut self, error: Error) -> io::Error {
        let error = match error {
            Error::Io { source, .. } if source.kind() != ErrorKind::Interrupted => source,
            other => io::Error::other(other),
        };
        self.fault.get_or_insert((error.kind(), error.to_string()));
        error
    }

    /// Notes that bytes were written at the current position.
    fn note(&mut self, part: UrlPart, len: u64) {
        if self.parts.len() <= part.nth {
            self.parts.resize(part.nth + 1, PartState::default());
        }
        let start = self.at - part.span.start();
        if let Some(state) = self.parts.get_mut(part.nth) {
            state.is_changed = true;
            if start <= state.filled {
                state.filled = state.filled.max(start + len);
            }
        }
        self.at += len;
        self.len = self.len.max(self.at);
    }

    /// Whether nothing of a part is written again.
    fn is_final(&self, part: UrlPart) -> bool {
        self.finals.iter().any(|known| known.contains(part.span))
    }

    /// Sends the parts that writing has passed.
    fn send_passed(&mut self) -> Result<()> {
        while let Some(part) = UrlPart::nth(self.next) {
            let distance = if self.is_final(part) { 1 } else { part.span.len() };
            if self.at < part.span.end() + distance {
                break;
            }
            self.next += 1;
            self.send_or_release(part)?;
        }
        Ok(())
    }

    /// Sends a part of which all is written, if that was not done, or it is final and was written again; frees the disk
    /// space of one that is final.
    fn send_or_release(&mut self, part: UrlPart) -> Result<()> {
        let state = self.parts.get(part.nth).copied().unwrap_or_default();
        if state.filled < part.span.len() || state.is_released {
            return Ok(());
        }
        let is_final = self.is_final(part);
        if state.is_changed && (is_final || !state.is_sent) {
            self.send(part, None)
        } else {
            if is_final && state.is_sent && !self.is_sending(part) {
                self.release(part);
            }
            Ok(())
        }
    }

    fn is_sending(&self, part: UrlPart) -> bool {
        self.sending.iter().any(|other| other.part == part)
    }

    /// Begins to send a part, or to have it copied from another file, on a thread of its own: it waits, and does not
    /// compute.
    fn send(&mut self, part: UrlPart, from: Option<(Source, u64)>) -> Result<()> {
        let depth = PARTS_AT_ONCE.min(self.store.depth()).max(1);
        while depth <= self.sending.len() || self.is_sending(part) {
            self.wait_for_first()?;
        }
        let upload = match &self.upload {
            Some(upload) => Arc::clone(upload),
            None => {
                let (_, url) = store_of(&self.target)?;
                let begun = Arc::from(self.store.begin_upload(url, self.replace())?);
                Arc::clone(self.upload.insert(begun))
            }
        };
        let content = self.content()?;
        if let Some(state) = self.parts.get_mut(part.nth) {
            (state.is_sent, state.is_changed) = (true, false);
        }
        let of_thread = from.clone();
        let arrive = move || match of_thread {
            Some((source, start)) => Ok(upload.copy(part, &source, start)),
            None => upload.send(&content, part).map(|()| true),
        };
        match Builder::new().spawn(arrive.clone()) {
            Ok(thread) => self.sending.push_back(Sending { part, from, thread }),
            Err(_) => self.arrived(part, from, arrive()?)?,
        }
        Ok(())
    }

    /// Waits until the part has arrived that was begun first.
    fn wait_for_first(&mut self) -> Result<()> {
        let Some(Sending { part, from, thread }) = self.sending.pop_front() else { return Ok(()) };
        let is_there = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        self.arrived(part, from, is_there)
    }

    /// Frees the disk space of a part that has arrived, and writes one that the server did not copy.
    fn arrived(
        &mut self,
        part: UrlPart,
        from: Option<(Source, u64)>,
        is_there: bool,
    ) -> Result<()> {
        if let Some((source, start)) = from {
            return if is_there { Ok(()) } else { self.write_uncopied(part, &source, start) };
        }
        let is_changed = self.parts.get(part.nth).is_none_or(|state| state.is_changed);
        if self.is_final(part) && !is_changed {
            self.release(part);
        }
        Ok(())
    }

    fn release(&mut self, part: UrlPart) {
        self.file.release(part.span);
        if let Some(state) = self.parts.get_mut(part.nth) {
            state.is_released = true;
        }
    }

    /// Writes bytes of one part at the current position.
    fn write_here(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let part = UrlPart::at(self.at).ok_or(ErrorKind::FileTooLarge)?;
        if self.parts.get(part.nth).is_some_and(|state| state.is_released) {
            return Err(io::Error::other("bytes that were final are written again"));
        }
        let room = usize::try_from(part.span.end() - self.at).unwrap_or(usize::MAX);
        let bytes = bytes.get(..room).unwrap_or(bytes);
        let len = self.file.write(bytes)?;
        self.note(part, len as u64);
        self.send_passed().map_err(|error| self.failed(error))?;
        Ok(len)
    }
}

impl Write for UrlFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check()?;
        self.write_waiting().map_err(|error| self.failed(error))?;
        self.write_here(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for UrlFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let here = self.position();
        let to = match to {
            SeekFrom::Start(to) => Some(to),
            SeekFrom::Current(by) => here.checked_add_signed(by),
            // The temporary file does not end with a part that the server copied.
            SeekFrom::End(by) => self.len.max(here).checked_add_signed(by),
        };
        let to = to.ok_or(ErrorKind::InvalidInput)?;
        if to != here {
            self.write_waiting().map_err(|error| self.failed(error))?;
            self.at = self.file.seek(SeekFrom::Start(to))?;
        }
        Ok(to)
    }
}

impl VfsFile for UrlFile {
    /// An object in memory needs no sync.
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn keep_rights(&mut self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    /// None: what is written has to pass by here.
    fn copy_span(&mut self, _from: &File, _span: Span) -> u64 {
        0
    }

    /// Without what was released, or waits, there is no file to be read.
    fn reader(&self) -> io::Result<Option<File>> {
        let is_whole = self.waiting.is_none() && !self.parts.iter().any(|it| it.is_released);
        if is_whole { self.file.reader() } else { Ok(None) }
    }

    fn mark_final(&mut self, range: Range<u64>) {
        let Some(span) = Span::from_range(range) else { return };
        match self.finals.last_mut().filter(|last| last.end() == span.start()) {
            Some(last) => *last = Span::from_range(last.start()..span.end()).unwrap_or(*last),
            None => self.finals.push(span),
        }
        let first = UrlPart::at(span.start()).map_or(self.next, |part| part.nth);
        let mut passed = (first..self.next).map_while(UrlPart::nth);
        let mut sent = passed.try_for_each(|part| self.send_or_release(part));
        sent = sent.and_then(|()| self.send_passed());
        if let Err(error) = sent {
            // The next write gives it.
            self.failed(error);
        }
    }

    fn link(&mut self, _path: &Path) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }
}

impl Drop for UrlFile {
    fn drop(&mut self) {
        // A part that arrives after its upload was given up would stay.
        for sending in self.sending.drain(..) {
            let _ = sending.thread.join();
        }
    }
}
