//! The bytes of a file that is to be written: spans of a source, new bytes, zeros.

use std::collections::BTreeMap;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::Arc;

use tet_format::{Span, superblock};
use tet_io::{ReadAt, Source};

use super::{Progress, tell};
use crate::error::{Error, Result};

/// The bytes of a file that is to be written. Clones are cheap and independent.
#[derive(Clone, Debug)]
pub struct Image {
    source: Source,
    /// What the file consists of, by where it starts; nothing is left out.
    pieces: BTreeMap<u64, Piece>,
    len: u64,
}

#[derive(Clone, Debug)]
struct Piece {
    len: u64,
    from: From,
}

/// Where the bytes of a piece come from.
#[derive(Clone, Debug)]
enum From {
    /// The source, from this byte on.
    Source(u64),
    /// These bytes, from this one on.
    Bytes(Arc<[u8]>, u64),
    /// Zeros.
    Zeros,
}

impl From {
    /// The same from a later byte on.
    fn skip(&self, len: u64) -> From {
        match self {
            From::Source(at) => From::Source(at.saturating_add(len)),
            From::Bytes(bytes, at) => From::Bytes(Arc::clone(bytes), at.saturating_add(len)),
            From::Zeros => From::Zeros,
        }
    }
}

impl Image {
    /// The image that is the source, byte by byte.
    #[must_use]
    pub fn of(source: &Source) -> Self {
        let (source, len) = (source.clone(), source.len());
        let whole = (len != 0).then_some((0, Piece { len, from: From::Source(0) }));
        Image { source, pieces: whole.into_iter().collect(), len }
    }

    /// How many bytes the file has.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes bytes at a place; past the end the file grows, by zeros where nothing is said.
    pub fn put(&mut self, at: u64, bytes: impl Into<Arc<[u8]>>) {
        let bytes = bytes.into();
        self.place(at, Piece { len: bytes.len() as u64, from: From::Bytes(bytes, 0) });
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: impl Into<Arc<[u8]>>) {
        self.put(self.len, bytes);
    }

    /// Appends a span of another image of the same source.
    pub fn append_span(&mut self, other: &Image, span: Span) {
        for (at, piece) in other.parts(span) {
            let skipped = span.start().saturating_sub(at);
            let end = at.saturating_add(piece.len).min(span.end());
            let len = end.saturating_sub(at.max(span.start()));
            self.place(self.len, Piece { len, from: piece.from.skip(skipped) });
        }
    }

    /// Writes zeros over a span.
    pub fn zero(&mut self, span: Span) {
        self.place(span.start(), Piece { len: span.len(), from: From::Zeros });
    }

    /// Ends the file at this byte; a shorter one grows by zeros.
    pub fn resize(&mut self, len: u64) {
        if self.len < len {
            let from = From::Zeros;
            self.place(self.len, Piece { len: len.saturating_sub(self.len), from });
        } else {
            self.split(len);
            self.pieces.split_off(&len);
            self.len = len;
        }
    }

    fn place(&mut self, at: u64, piece: Piece) {
        if piece.len == 0 {
            return;
        }
        if self.len < at {
            self.resize(at);
        }
        let end = at.saturating_add(piece.len);
        self.split(at);
        self.split(end);
        let mut later = self.pieces.split_off(&at);
        let mut behind = later.split_off(&end);
        self.pieces.insert(at, piece);
        self.pieces.append(&mut behind);
        self.len = self.len.max(end);
    }

    /// Makes a piece start at `at`, if the file reaches that far.
    fn split(&mut self, at: u64) {
        let Some((&start, piece)) = self.pieces.range_mut(..at).next_back() else { return };
        let before = at.saturating_sub(start);
        if before < piece.len {
            let len = piece.len.saturating_sub(before);
            let behind = Piece { len, from: piece.from.skip(before) };
            piece.len = before;
            self.pieces.insert(at, behind);
        }
    }

    /// The pieces that have bytes of a span.
    fn parts(&self, span: Span) -> impl Iterator<Item = (u64, &Piece)> {
        let first = self.pieces.range(..=span.start()).next_back().map_or(0, |(&at, _)| at);
        let parts = self.pieces.range(first..span.end().max(first));
        parts
            .map(|(&at, piece)| (at, piece))
            .filter(move |(at, piece)| span.start() < at.saturating_add(piece.len))
    }

    /// The file as a source, to be looked at before it is written.
    #[must_use]
    pub fn to_source(&self) -> Source {
        Source::from_reader(Arc::new(self.clone()))
    }

    /// Writes the file to an empty place; the superblock comes last, so that an unfinished file
    /// has no magic.
    ///
    /// # Errors
    ///
    /// Returns errors of reading as they are, errors of `out` through `fault`, and
    /// [`Error::Canceled`](crate::Error::Canceled).
    pub fn write_to<W: Write + Seek>(
        &self,
        out: &mut W,
        fault: impl Fn(io::Error) -> tet_io::Error,
        progress: &mut Progress<'_>,
    ) -> Result<()> {
        let source = self.to_source();
        let head_len = superblock::LEN.min(self.len);
        out.seek(SeekFrom::Start(head_len)).map_err(&fault)?;
        source.for_windows(head_len..self.len, &mut Vec::new(), |at, window| {
            out.write_all(window).map_err(&fault)?;
            tell(progress, at.saturating_add(window.len() as u64), self.len)?;
            Ok::<_, Error>(true)
        })?;
        let head = source.read_vec(0, head_len)?;
        out.seek(SeekFrom::Start(0)).map_err(&fault)?;
        out.write_all(&head).map_err(&fault)?;
        out.flush().map_err(&fault)?;
        Ok(())
    }
}

impl ReadAt for Image {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let end = offset.saturating_add(out.len() as u64);
        if self.len < end {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let Some(span) = Span::from_range(offset..end) else { return Ok(()) };
        let mut rest = out;
        for (at, piece) in self.parts(span) {
            let skipped = offset.saturating_sub(at);
            let left = piece.len.saturating_sub(skipped).min(rest.len() as u64);
            let (now, later) = rest.split_at_mut(usize::try_from(left).unwrap_or(0));
            match piece.from.skip(skipped) {
                From::Source(from) => self.source.read_exact_at(from, now).map_err(read_fault)?,
                From::Bytes(bytes, from) => {
                    let from = usize::try_from(from).unwrap_or(usize::MAX);
                    let bytes = bytes.get(from..).and_then(|bytes| bytes.get(..now.len()));
                    now.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
                }
                From::Zeros => now.fill(0),
            }
            rest = later;
        }
        Ok(())
    }
}

/// What the source says, as a reader says it.
fn read_fault(error: tet_io::Error) -> io::Error {
    match error {
        tet_io::Error::Io { source, .. } => source,
        tet_io::Error::Changed { .. } => io::ErrorKind::UnexpectedEof.into(),
        error => io::Error::other(error),
    }
}
