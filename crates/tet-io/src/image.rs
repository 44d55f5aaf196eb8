//! A new file before it is written: spans of sources, new bytes, zeros.
//!
//! ```text
//!   sources ---- spans ---> Image ----> write_to, Publisher::write_image: spans are copied, not read
//!           new bytes --------^   `----> a Source, to be read before it is written
//! ```

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use tet_format::Span;

use crate::error::{Error, Result};
use crate::progress::{Canceled, Progress};
use crate::read_at::ReadAt;
use crate::source::Source;
use crate::writers::Writers;

/// The buffer for small pieces.
const BUFFER_LEN: usize = 256 << 10;
/// Shorter pieces are read and written together with their neighbors.
const DIRECT_LEN: u64 = 64 << 10;
/// Longer pieces are written in parts, between which the caller may cancel.
const PART_LEN: u64 = 64 << 20;

/// The bytes of a new file. Clones are cheap and independent.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// The pieces of the file by offset; there are no holes.
    pieces: BTreeMap<u64, Piece>,
    len: u64,
}

#[derive(Clone, Debug)]
struct Piece {
    len: u64,
    content: Content,
}

/// The origin of the bytes of a piece.
#[derive(Clone, Debug)]
enum Content {
    /// A source, from this offset on.
    Source(Source, u64),
    /// Bytes in memory, from this index on.
    Bytes(Arc<[u8]>, u64),
    Zeros,
}

impl Content {
    /// The content without its first `len` bytes.
    fn skip(&self, len: u64) -> Self {
        match self {
            Content::Source(source, at) => Content::Source(source.clone(), at.saturating_add(len)),
            Content::Bytes(bytes, at) => Content::Bytes(Arc::clone(bytes), at.saturating_add(len)),
            Content::Zeros => Content::Zeros,
        }
    }

    fn read(&self, out: &mut [u8]) -> Result<()> {
        match self {
            Content::Source(source, at) => source.read_exact_at(*at, out)?,
            Content::Bytes(bytes, at) => {
                let from = usize::try_from(*at).unwrap_or(usize::MAX);
                let bytes = bytes.get(from..).and_then(|bytes| bytes.get(..out.len()));
                out.copy_from_slice(bytes.expect("a piece is no longer than its bytes"));
            }
            Content::Zeros => out.fill(0),
        }
        Ok(())
    }
}

impl Image {
    /// An image of the whole source.
    #[must_use]
    pub fn from_source(source: &Source) -> Self {
        let mut image = Image::default();
        image.append_span(source, Span::new(0, source.len()));
        image
    }

    /// The length of the file.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes bytes at an offset. Past the end the file grows; bytes in between are zero.
    pub fn put(&mut self, at: u64, bytes: impl Into<Arc<[u8]>>) {
        let bytes = bytes.into();
        self.place(at, Piece { len: bytes.len() as u64, content: Content::Bytes(bytes, 0) });
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: impl Into<Arc<[u8]>>) {
        self.put(self.len, bytes);
    }

    /// Appends a span of a source, if there is one.
    pub fn append_span(&mut self, source: &Source, span: impl Into<Option<Span>>) {
        let Some(span) = span.into() else { return };
        if let Some((start, piece)) = self.pieces.last_key_value()
            && let Content::Source(last, at) = &piece.content
            && last.is_same(source)
            && at.checked_add(piece.len) == Some(span.start())
        {
            let (start, at, len) = (*start, *at, piece.len.saturating_add(span.len()));
            let content = Content::Source(source.clone(), at);
            self.pieces.insert(start, Piece { len, content });
            self.len = start.saturating_add(len);
            return;
        }
        let content = Content::Source(source.clone(), span.start());
        self.place(self.len, Piece { len: span.len(), content });
    }

    /// Appends a span of another image.
    pub fn append_part(&mut self, other: &Image, span: Span) {
        for (at, piece) in other.parts(span) {
            let skipped = span.start().saturating_sub(at);
            let end = at.saturating_add(piece.len).min(span.end());
            let len = end.saturating_sub(at.max(span.start()));
            match piece.content.skip(skipped) {
                Content::Source(source, at) => self.append_span(&source, Span::new(at, len)),
                content => self.place(self.len, Piece { len, content }),
            }
        }
    }

    /// Appends another image.
    pub fn append_image(&mut self, other: &Image) {
        Span::new(0, other.len).into_iter().for_each(|all| self.append_part(other, all));
    }

    /// Replaces a span by zeros.
    pub fn zero(&mut self, span: Span) {
        self.place(span.start(), Piece { len: span.len(), content: Content::Zeros });
    }

    /// Truncates the file to this length, or extends it with zeros.
    pub fn resize(&mut self, len: u64) {
        if self.len < len {
            let content = Content::Zeros;
            self.place(self.len, Piece { len: len.saturating_sub(self.len), content });
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
        if at < self.len {
            self.split(at);
            self.split(end);
            let mut later = self.pieces.split_off(&at);
            let mut behind = later.split_off(&end);
            self.pieces.append(&mut behind);
        }
        self.pieces.insert(at, piece);
        self.len = self.len.max(end);
    }

    /// Splits the piece that contains `at`.
    fn split(&mut self, at: u64) {
        let Some((&start, piece)) = self.pieces.range_mut(..at).next_back() else { return };
        let before = at.saturating_sub(start);
        if before < piece.len {
            let len = piece.len.saturating_sub(before);
            let behind = Piece { len, content: piece.content.skip(before) };
            piece.len = before;
            self.pieces.insert(at, behind);
        }
    }

    /// The pieces that overlap a span.
    fn parts(&self, span: Span) -> impl Iterator<Item = (u64, &Piece)> {
        let first = self.pieces.range(..=span.start()).next_back().map_or(0, |(&at, _)| at);
        let parts = self.pieces.range(first..span.end().max(first));
        parts
            .map(|(&at, piece)| (at, piece))
            .filter(move |(at, piece)| span.start() < at.saturating_add(piece.len))
    }

    /// The file as a source, to be read before it is written.
    #[must_use]
    pub fn to_source(&self) -> Source {
        Source::from_reader(Arc::new(self.clone()))
    }

    /// Writes all bytes from `start` on.
    ///
    /// # Errors
    ///
    /// Errors of reading the sources and of writing (through `fault`), and [`Canceled`].
    pub fn write_to<W: Write, E: From<Error> + From<Canceled>>(
        &self,
        start: u64,
        out: &mut W,
        fault: impl Fn(io::Error) -> Error,
        progress: &Progress,
    ) -> Result<(), E> {
        self.write(start, out, &fault, progress, |out, source, span| {
            source.for_windows(span.range(), &mut Vec::new(), |_, bytes| {
                out.write_all(bytes).map_err(&fault)?;
                Ok(true)
            })
        })
    }

    /// Writes all bytes from `start` on; `copy` writes long spans of sources.
    pub(crate) fn write<W: Write, E: From<Error> + From<Canceled>>(
        &self,
        start: u64,
        out: &mut W,
        fault: impl Fn(io::Error) -> Error,
        progress: &Progress,
        mut copy: impl FnMut(&mut W, &Source, Span) -> Result<()>,
    ) -> Result<(), E> {
        let Some(all) = Span::from_range(start..self.len) else { return Ok(()) };
        let mut buffer: Vec<u8> = Vec::new();
        for (at, piece) in self.parts(all) {
            let mut skipped = start.saturating_sub(at);
            while skipped < piece.len {
                let left = piece.len.saturating_sub(skipped);
                let content = piece.content.skip(skipped);
                let long = match &content {
                    Content::Source(source, at) if DIRECT_LEN <= left => {
                        Span::new(*at, left.min(PART_LEN)).map(|span| (source, span))
                    }
                    _ => None,
                };
                let len = long.map_or(left.min(BUFFER_LEN as u64), |(_, span)| span.len());
                skipped = skipped.saturating_add(len);
                if long.is_none() {
                    let filled = buffer.len();
                    let len = usize::try_from(len).unwrap_or(0);
                    buffer.resize(filled.saturating_add(len), 0);
                    content.read(buffer.get_mut(filled..).unwrap_or_default())?;
                }
                if long.is_some() || BUFFER_LEN <= buffer.len() {
                    progress.advance(buffer.len() as u64)?;
                    out.write_all(&buffer).map_err(&fault)?;
                    buffer.clear();
                }
                if let Some((source, span)) = long {
                    copy(out, source, span)?;
                    progress.advance(len)?;
                }
            }
        }
        progress.advance(buffer.len() as u64)?;
        out.write_all(&buffer).map_err(&fault)?;
        Ok(())
    }
}

impl ReadAt for Image {
    fn len(&self) -> u64 {
        self.len
    }

    /// Those of the files that it copies spans of.
    fn writers(&self) -> Writers {
        let of_piece = |piece: &Piece| match &piece.content {
            Content::Source(source, _) => source.writers(),
            Content::Bytes(..) | Content::Zeros => Writers::Absent,
        };
        self.pieces.values().map(of_piece).max().unwrap_or(Writers::Absent)
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
            piece.content.skip(skipped).read(now).map_err(read_fault)?;
            rest = later;
        }
        Ok(())
    }
}

/// Converts an error of a source to one of a reader.
fn read_fault(error: Error) -> io::Error {
    match error {
        Error::Io { source, .. } => source,
        Error::Changed { .. } => io::ErrorKind::UnexpectedEof.into(),
        error => io::Error::other(error),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    type Failed = Box<dyn std::error::Error>;

    fn bytes_of(image: &Image) -> Vec<u8> {
        let mut out = Vec::new();
        let fault = |_| unreachable!("memory takes all");
        image.write_to::<_, Failed>(0, &mut out, fault, &Progress::default()).unwrap();
        assert_eq!(image.to_source().read_vec(0, image.len()).unwrap(), out);
        out
    }

    #[test]
    fn an_image_is_what_is_put_into_a_plain_vector() {
        let source = Source::from_bytes((0..100_u8).collect::<Vec<u8>>());
        let mut image = Image::from_source(&source);
        let mut plain: Vec<u8> = (0..100).collect();
        let mut seed = 7_usize;
        for step in 0..2000_usize {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let (at, len) = ((seed >> 33) % 120, (seed >> 20) % 30);
            match step % 4 {
                0 | 1 => {
                    let new = vec![step as u8; len];
                    plain.resize(plain.len().max(if len == 0 { 0 } else { at + len }), 0);
                    if len != 0 {
                        plain[at..at + len].copy_from_slice(&new);
                    }
                    image.put(at as u64, new);
                }
                2 => {
                    plain.resize(plain.len().max(if len == 0 { 0 } else { at + len }), 0);
                    if len != 0 {
                        plain[at..at + len].fill(0);
                    }
                    image.zero(Span::new(at as u64, len as u64).unwrap());
                }
                _ => {
                    let older = image.clone();
                    let end = (at + len).min(plain.len());
                    let start = at.min(end);
                    image.append_part(&older, Span::from_range(start as u64..end as u64).unwrap());
                    plain.extend_from_within(start..end);
                    image.resize((plain.len() - at.min(plain.len())) as u64 + 20);
                    plain.resize(plain.len() - at.min(plain.len()) + 20, 0);
                }
            }
            assert_eq!(image.len(), plain.len() as u64, "step {step}");
            assert!(bytes_of(&image) == plain, "step {step}");
        }
    }

    #[test]
    fn long_pieces_and_short_ones_come_in_order() {
        let source: Vec<u8> = (0..1_000_000_u32).map(|at| (at >> 5) as u8).collect();
        let mut image = Image::from_source(&Source::from_bytes(source.clone()));
        let (big, mut plain) = (vec![7; 600_000], source.clone());
        image.put(10, [1, 2, 3]);
        plain[10..13].copy_from_slice(&[1, 2, 3]);
        image.append(big.clone());
        plain.extend(&big);
        image.zero(Span::new(70_000, 400_000).unwrap());
        plain[70_000..470_000].fill(0);
        assert!(bytes_of(&image) == plain);
        let (mut out, reported) = (Vec::new(), Arc::new(AtomicU64::new(0)));
        let fault = |_| unreachable!("memory takes all");
        let sum = Arc::clone(&reported);
        let progress = Progress::new(move |done, _| sum.store(done, Ordering::Relaxed));
        image.write_to::<_, Failed>(999_990, &mut out, fault, &progress).unwrap();
        assert!(out == plain[999_990..] && reported.load(Ordering::Relaxed) == out.len() as u64);
    }
}
