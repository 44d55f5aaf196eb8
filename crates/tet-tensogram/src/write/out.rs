//! A buffered sink that counts bytes from the start of the message.

use std::io::{self, Write};
use std::path::Path;

use tet_io::Operation;

use crate::error::{Error, Result};

/// The buffer for small pieces.
const BUFFER_LEN: usize = 256 << 10;
/// Pieces of this length are not buffered.
const DIRECT_LEN: usize = 32 << 10;

static ZEROS: [u8; 4096] = [0; 4096];

#[derive(Debug)]
pub(super) struct Out<W> {
    inner: W,
    buffer: Vec<u8>,
    at: u64,
}

impl<W: Write> Out<W> {
    pub(super) const fn new(inner: W) -> Self {
        Out { inner, buffer: Vec::new(), at: 0 }
    }

    /// The offset of the next byte in the message.
    pub(super) const fn at(&self) -> u64 {
        self.at
    }

    /// The sink, which does not have all bytes yet.
    pub(super) const fn get_mut(&mut self) -> &mut W {
        &mut self.inner
    }

    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let end = self.at.checked_add(bytes.len() as u64);
        let end = end.ok_or_else(|| fault(io::ErrorKind::FileTooLarge.into()))?;
        if DIRECT_LEN <= bytes.len() {
            self.flush_buffer()?;
            self.inner.write_all(bytes).map_err(fault)?;
        } else {
            if BUFFER_LEN < self.buffer.len().saturating_add(bytes.len()) {
                self.flush_buffer()?;
            }
            self.buffer.extend_from_slice(bytes);
        }
        self.at = end;
        Ok(())
    }

    /// Writes zeros up to an offset.
    pub(super) fn pad_to(&mut self, end: u64) -> Result<()> {
        while self.at < end {
            let len = usize::try_from(end - self.at).unwrap_or(usize::MAX).min(ZEROS.len());
            self.put(ZEROS.get(..len).unwrap_or(&ZEROS))?;
        }
        Ok(())
    }

    /// The sink, after all bytes were written to it.
    pub(super) fn flushed(&mut self) -> Result<&mut W> {
        self.flush_buffer()?;
        self.inner.flush().map_err(fault)?;
        Ok(&mut self.inner)
    }

    /// Returns the sink after all bytes were written to it.
    pub(super) fn finish(mut self) -> Result<W> {
        self.flushed()?;
        Ok(self.inner)
    }

    fn flush_buffer(&mut self) -> Result<()> {
        let written = self.inner.write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(fault)
    }
}

/// Converts an error of the sink.
pub(super) fn fault(error: io::Error) -> Error {
    Error::Io(tet_io::Error::io(Operation::Write, Path::new("(output)"), error))
}
