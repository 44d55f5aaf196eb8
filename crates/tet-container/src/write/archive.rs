//! Members of a new zip file, which is what `.npz` and `.zarr.zip` are.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use tet_io::vfs::VfsFile;

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::{Error, Result};

/// The size of the buffer for writing.
pub const BUFFER_LEN: usize = 1 << 20;
/// Members from this length on are written with 64-bit sizes.
const LARGE_LEN: u64 = u32::MAX as u64 / 2;
/// Where the bytes of members begin: on a boundary for elements of every type, so that raw ones are
/// used where they lie in a map of the file.
const ALIGN: u16 = 64;

/// How a member of `len` bytes is written. It has no time, so that the file depends on its content alone.
pub fn member(method: CompressionMethod, len: u64) -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(method)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644)
        .with_alignment(ALIGN)
        .large_file(LARGE_LEN <= len)
}

/// A zip file to which members are written.
pub type NewArchive<'o, 'f> = ZipWriter<&'o mut FirstFault<'f>>;

/// Writes a zip file, whose members `fill` writes.
///
/// # Errors
///
/// Those of `fill`; [`Error::Write`] where `out` takes no bytes.
pub fn write(
    out: &mut dyn VfsFile,
    fill: impl FnOnce(&mut NewArchive<'_, '_>) -> Result<()>,
) -> Result<()> {
    let out = BufWriter::with_capacity(BUFFER_LEN, out);
    let mut out = FirstFault { out, at: 0, end: 0, final_end: 0, fault: None };
    let mut zip = ZipWriter::new(&mut out);
    let filled = fill(&mut zip);
    let ended = zip.finish().map_err(fault).and_then(|out| out.flush().map_err(Error::Write));
    match out.fault.take() {
        Some(error) => Err(Error::Write(error)),
        None => filled.and(ended),
    }
}

/// A stream that keeps its first error and takes all bytes after it: a zip file that is given up is ended all the
/// same, and its writer prints what it meets then, or panics.
///
/// The writer goes back for the header of a member that has ended, and for nothing else: what is there is final when
/// it returns to the end.
#[derive(Debug)]
pub struct FirstFault<'f> {
    out: BufWriter<&'f mut dyn VfsFile>,
    at: u64,
    /// The largest of the positions there were.
    end: u64,
    /// Where what is final ends.
    final_end: u64,
    fault: Option<io::Error>,
}

impl<'f> FirstFault<'f> {
    /// The outcome of a step, or `instead` after an error was given.
    fn step<T>(
        &mut self,
        instead: T,
        step: impl FnOnce(&mut BufWriter<&'f mut dyn VfsFile>) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.fault.is_some() {
            return Ok(instead);
        }
        match step(&mut self.out) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                let given = error.kind().into();
                self.fault = Some(error);
                // The writer takes a position before the start of a member for a defect of its own.
                self.at = self.end;
                Err(given)
            }
            outcome => outcome,
        }
    }
}

impl Write for FirstFault<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.step(bytes.len(), |out| out.write(bytes))?;
        self.at = self.at.saturating_add(len as u64);
        self.end = self.end.max(self.at);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.step((), Write::flush)
    }
}

impl Seek for FirstFault<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let instead = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::Current(by) => self.at.saturating_add_signed(by),
            SeekFrom::End(_) => self.at,
        };
        let before = self.at;
        self.at = self.step(instead, |out| out.seek(to))?;
        if before < self.end && self.at == self.end && self.final_end < self.end {
            self.out.get_mut().mark_final(self.final_end..self.end);
            self.final_end = self.end;
        }
        Ok(self.at)
    }
}

/// The error of a zip file that cannot be written.
pub fn fault(error: ZipError) -> Error {
    Error::Write(match error {
        ZipError::Io(error) => error,
        other => io::Error::other(other),
    })
}
