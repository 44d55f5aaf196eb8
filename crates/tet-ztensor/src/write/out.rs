//! Where bytes go: counted, small ones together, large ones digested while they are written.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tet_io::Step;

use super::passing::Passing;
use crate::error::{Error, Result};

/// Small pieces travel together, this many bytes at a time.
const BUFFER_LEN: usize = 1 << 20;
/// Pieces of this many bytes go straight to the file.
const DIRECT_LEN: usize = 64 << 10;
/// Pieces of this many bytes are worth a second thread.
const JOIN_LEN: usize = 512 << 10;
/// What is written and digested at once: enough to pay for the meeting of two threads.
const PIECE_LEN: usize = 4 << 20;

static ZEROS: [u8; 4096] = [0; 4096];

/// Where bytes go.
#[derive(Debug)]
pub(super) struct Out<W> {
    inner: W,
    buffer: Vec<u8>,
    at: u64,
    target: PathBuf,
}

impl<W: Write + Send> Out<W> {
    /// Bytes go to `inner`, whose next byte is number `at` of the file.
    pub(super) fn new(inner: W, at: u64, target: &Path) -> Self {
        Self { inner, buffer: Vec::new(), at, target: target.to_path_buf() }
    }

    /// The number of the next byte.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Writes bytes that have no checksum.
    pub(super) fn plain(&mut self, bytes: &[u8]) -> Result<()> {
        self.write(bytes, &mut Passing::unseen())
    }

    /// Writes bytes and takes them into a checksum.
    pub(super) fn write(&mut self, bytes: &[u8], checksum: &mut Passing) -> Result<()> {
        for piece in bytes.chunks(PIECE_LEN) {
            if piece.len() < JOIN_LEN || checksum.is_unseen() {
                checksum.update(piece);
                self.put(piece)?;
            } else {
                rayon::join(|| self.put(piece), || checksum.update(piece)).0?;
            }
        }
        Ok(())
    }

    /// Writes zeros up to the next multiple of `align`.
    pub(super) fn pad(&mut self, align: u64) -> Result<()> {
        let end = self.at.checked_next_multiple_of(align).ok_or_else(|| self.full())?;
        while self.at < end {
            let len = usize::try_from(end - self.at).unwrap_or(usize::MAX).min(ZEROS.len());
            self.put(ZEROS.get(..len).unwrap_or(&ZEROS))?;
        }
        Ok(())
    }

    /// What is written to, when all bytes so far have arrived there.
    pub(super) fn flushed(&mut self) -> Result<&mut W> {
        self.flush_buffer()?;
        let flushed = self.inner.flush();
        flushed.map_err(|error| self.fault(error))?;
        Ok(&mut self.inner)
    }

    /// Gives back what was written to, when all bytes have arrived there.
    pub(super) fn finish(mut self) -> Result<W> {
        self.flushed()?;
        Ok(self.inner)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let end = self.at.checked_add(bytes.len() as u64).ok_or_else(|| self.full())?;
        if DIRECT_LEN <= bytes.len() {
            self.flush_buffer()?;
            self.inner.write_all(bytes).map_err(|error| self.fault(error))?;
        } else {
            if BUFFER_LEN < self.buffer.len() + bytes.len() {
                self.flush_buffer()?;
            }
            self.buffer.extend_from_slice(bytes);
        }
        self.at = end;
        Ok(())
    }

    fn flush_buffer(&mut self) -> Result<()> {
        let written = self.inner.write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(|error| self.fault(error))
    }

    fn full(&self) -> Error {
        self.fault(io::ErrorKind::FileTooLarge.into())
    }

    fn fault(&self, error: io::Error) -> Error {
        Error::Io(tet_io::Error::io(Step::Write, &self.target, error))
    }
}
