//! A sink that counts and buffers bytes, and computes checksums of large pieces while writing them.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tet_io::Operation;

use super::passing::Passing;
use crate::error::{Error, Result};

/// The buffer for small pieces.
const BUFFER_LEN: usize = 1 << 20;
/// Pieces of this length are written without buffering.
const DIRECT_LEN: usize = 64 << 10;
/// Pieces of this length are worth a second thread.
const JOIN_LEN: usize = 512 << 10;
/// The length that is written and hashed at once, long enough to justify starting a thread.
const PIECE_LEN: usize = 4 << 20;

static ZEROS: [u8; 4096] = [0; 4096];

#[derive(Debug)]
pub(super) struct Out<W> {
    inner: W,
    buffer: Vec<u8>,
    at: u64,
    target: PathBuf,
}

impl<W: Write + Send> Out<W> {
    /// Writes to `inner`, which is at offset `at` of the file.
    pub(super) fn new(inner: W, at: u64, target: &Path) -> Self {
        Self { inner, buffer: Vec::new(), at, target: target.to_path_buf() }
    }

    /// The offset of the next byte.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Writes bytes without a checksum.
    pub(super) fn plain(&mut self, bytes: &[u8]) -> Result<()> {
        self.write(bytes, &mut Passing::unseen())
    }

    /// Writes bytes and adds them to a checksum.
    pub(super) fn write(&mut self, bytes: &[u8], checksum: &mut Passing) -> Result<()> {
        for piece in bytes.chunks(PIECE_LEN) {
            if piece.len() < JOIN_LEN || checksum.is_unseen() {
                checksum.update(piece);
                self.put(piece)?;
            } else {
                tet_report::ensure_threads();
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

    /// Returns the sink after all bytes were written to it.
    pub(super) fn finish(mut self) -> Result<W> {
        self.flush_buffer()?;
        let flushed = self.inner.flush();
        flushed.map_err(|error| self.fault(error))?;
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
        Error::Io(tet_io::Error::io(Operation::Write, &self.target, error))
    }
}
