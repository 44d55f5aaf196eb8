//! Members of a new zip file, which is what `.npz` and `.zarr.zip` are.

use std::io::{self, Seek, SeekFrom, Write};

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime};

use crate::Error;

/// Members from this length on are written with 64-bit sizes.
const LARGE_LEN: u64 = u32::MAX as u64 / 2;
/// Where the bytes of members begin: on a boundary for elements of every type, so that raw ones are
/// used where they lie in a map of the file.
const ALIGN: u16 = 64;

/// How a member of `len` bytes is written. It has no time, so that the file depends on its content alone.
pub(crate) fn member(method: CompressionMethod, len: u64) -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(method)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644)
        .with_alignment(ALIGN)
        .large_file(LARGE_LEN <= len)
}

/// A stream that keeps its first error and takes all bytes after it: a zip file that is given up writes an end, and
/// prints an error that it meets then.
pub(crate) struct FirstFault<W> {
    out: W,
    at: u64,
    pub(crate) fault: Option<io::Error>,
}

impl<W> FirstFault<W> {
    pub(crate) fn new(out: W) -> Self {
        FirstFault { out, at: 0, fault: None }
    }

    /// The outcome of a step, or `instead` after an error.
    fn step<T>(&mut self, instead: T, step: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        if self.fault.is_some() {
            return Ok(instead);
        }
        match step(&mut self.out) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.fault = Some(error);
                Ok(instead)
            }
            outcome => outcome,
        }
    }
}

impl<W: Write> Write for FirstFault<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.step(bytes.len(), |out| out.write(bytes))?;
        self.at = self.at.saturating_add(len as u64);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.step((), Write::flush)
    }
}

impl<W: Seek> Seek for FirstFault<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let instead = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::Current(by) => self.at.saturating_add_signed(by),
            SeekFrom::End(_) => self.at,
        };
        self.at = self.step(instead, |out| out.seek(to))?;
        Ok(self.at)
    }
}

/// The error of a zip file that cannot be written.
pub(crate) fn fault(error: ZipError) -> Error {
    Error::Write(match error {
        ZipError::Io(error) => error,
        other => io::Error::other(other),
    })
}
