//! Elements that can be read at any place: pieces of an array, each row-major, in one source.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use tet_io::Source;

use super::region::{Region, for_each_run};

/// Bytes read ahead when a source is read in order.
const READ_AHEAD_LEN: usize = 1 << 18;

/// A part of the array whose elements lie row-major from `offset` on.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) offset: u64,
    pub(crate) region: Region,
}

/// An array in pieces that cover it exactly.
#[derive(Debug)]
pub(crate) struct Store {
    source: Source,
    pieces: Vec<Piece>,
    element_size: u64,
}

impl Store {
    pub(crate) fn new(source: Source, pieces: Vec<Piece>, element_size: usize) -> Self {
        Self { source, pieces, element_size: u64::try_from(element_size).unwrap_or(u64::MAX) }
    }

    /// Reads `region` into `out`, row-major.
    pub(crate) fn read(&self, region: &Region, out: &mut [u8]) -> io::Result<()> {
        for piece in &self.pieces {
            let Some(part) = piece.region.intersection(region) else { continue };
            for_each_run(&piece.region, region, &part, |run| {
                let start = index(run.to * self.element_size)?;
                let len = index(run.len * self.element_size)?;
                let offset = piece.offset + run.from * self.element_size;
                let out = out.get_mut(start..start + len).ok_or(io::ErrorKind::InvalidInput)?;
                self.source.read_exact_at(offset, out).map_err(io::Error::other)
            })?;
        }
        Ok(())
    }
}

/// A source as a stream: what `zip` and the header parser want.
#[derive(Debug)]
pub(crate) struct SourceReader {
    source: Source,
    at: u64,
}

impl SourceReader {
    /// A buffered stream over `source` from `at` on.
    pub(crate) fn buffered(source: &Source, at: u64) -> BufReader<Self> {
        BufReader::with_capacity(READ_AHEAD_LEN, Self { source: source.clone(), at })
    }
}

impl Read for SourceReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.source.len().saturating_sub(self.at)).unwrap_or(usize::MAX);
        let len = left.min(out.len());
        self.source.read_exact_at(self.at, &mut out[..len]).map_err(io::Error::other)?;
        self.at += u64::try_from(len).unwrap_or_default();
        Ok(len)
    }
}

impl Seek for SourceReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.source.len().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

fn index(position: u64) -> io::Result<usize> {
    usize::try_from(position).map_err(|_| io::ErrorKind::OutOfMemory.into())
}
