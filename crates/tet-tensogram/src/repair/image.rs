//! The new file before it is written: stretches of the old one, and new bytes.

use std::io;
use std::sync::Arc;

use tet_format::Span;
use tet_io::{ReadAt, Source};

/// A stretch of the new file.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Kept(Span),
    Made(Arc<[u8]>),
}

impl Piece {
    fn len(&self) -> u64 {
        match self {
            Piece::Kept(span) => span.len(),
            Piece::Made(bytes) => bytes.len() as u64,
        }
    }
}

/// Stretches, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    list: Vec<Piece>,
    /// Where each starts.
    starts: Vec<u64>,
    len: u64,
}

impl Pieces {
    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    /// Appends bytes of the old file.
    pub(super) fn keep(&mut self, span: Span) {
        if span.is_empty() {
            return;
        }
        if let Some(Piece::Kept(last)) = self.list.last_mut()
            && last.end() == span.start()
            && let Some(both) = Span::from_range(last.start()..span.end())
        {
            *last = both;
            self.len = self.len.saturating_add(span.len());
            return;
        }
        self.push(Piece::Kept(span));
    }

    /// Appends new bytes.
    pub(super) fn make(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.push(Piece::Made(bytes.into()));
        }
    }

    /// Appends zeros up to a place.
    pub(super) fn pad_to(&mut self, end: u64) {
        let missing = usize::try_from(end.saturating_sub(self.len)).unwrap_or_default();
        self.make(&vec![0; missing]);
    }

    pub(super) fn extend(&mut self, other: Pieces) {
        for piece in other.list {
            match piece {
                Piece::Kept(span) => self.keep(span),
                made @ Piece::Made(_) => self.push(made),
            }
        }
    }

    fn push(&mut self, piece: Piece) {
        self.starts.push(self.len);
        self.len = self.len.saturating_add(piece.len());
        self.list.push(piece);
    }

    /// The new file as a source, to be looked at before it is written.
    pub(super) fn to_source(&self, source: &Source) -> Source {
        let image = Image { source: source.clone(), pieces: self.clone() };
        Source::from_reader(Arc::new(image))
    }
}

/// A new file that is read where it would be.
struct Image {
    source: Source,
    pieces: Pieces,
}

impl ReadAt for Image {
    fn len(&self) -> u64 {
        self.pieces.len
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let Pieces { list, starts, .. } = &self.pieces;
        let (mut at, mut rest) = (offset, out);
        let first = starts.partition_point(|start| *start <= at).saturating_sub(1);
        for (piece, start) in list.iter().zip(starts).skip(first) {
            if rest.is_empty() {
                break;
            }
            let skip = at.saturating_sub(*start);
            let left = usize::try_from(piece.len().saturating_sub(skip)).unwrap_or(usize::MAX);
            let (now, later) = rest.split_at_mut(left.min(rest.len()));
            match piece {
                Piece::Kept(span) => {
                    let place = span.start().saturating_add(skip);
                    self.source.read_exact_at(place, now).map_err(io::Error::other)?;
                }
                Piece::Made(bytes) => {
                    let skip = usize::try_from(skip).unwrap_or(usize::MAX);
                    let held = bytes.get(skip..).and_then(|bytes| bytes.get(..now.len()));
                    now.copy_from_slice(held.ok_or(io::ErrorKind::UnexpectedEof)?);
                }
            }
            at = at.saturating_add(now.len() as u64);
            rest = later;
        }
        if rest.is_empty() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}
