//! Sources whose bytes have to be made first: into a file without a name, when they are first read.

use std::env;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tet_io::{Progress, ReadAt, Source, Step};

use crate::read::opened::OpenOptions;

/// Bytes read ahead when a source is read in order.
const READ_AHEAD_LEN: usize = 1 << 18;

/// Writes the bytes of a [`Spool`].
type Fill = dyn Fn(&mut dyn Write) -> io::Result<()> + Send + Sync;

/// Bytes that are made when they are first read, and kept in a file without a name.
pub(crate) struct Spool {
    /// What errors call it.
    name: String,
    len: u64,
    /// Where the file is made.
    folder: PathBuf,
    progress: Progress,
    fill: Box<Fill>,
    file: OnceLock<File>,
    /// Held by the thread that makes the bytes.
    filling: Mutex<()>,
}

impl Spool {
    /// A source of the `len` bytes that `fill` writes, in a file where the options say; errors call it
    /// `name`.
    pub(crate) fn source(
        name: String,
        len: u64,
        options: &OpenOptions,
        fill: impl Fn(&mut dyn Write) -> io::Result<()> + Send + Sync + 'static,
    ) -> Source {
        let folder = options.scratch.clone().unwrap_or_else(env::temp_dir);
        let progress = options.progress.clone();
        let (fill, file, filling) = (Box::new(fill), OnceLock::new(), Mutex::new(()));
        Source::from_reader(Arc::new(Spool { name, len, folder, progress, fill, file, filling }))
    }

    fn file(&self) -> io::Result<&File> {
        let _filling = self.filling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let file = tempfile::tempfile_in(&self.folder)
            .map_err(|error| self.unwritten(Step::Create, error))?;
        let mut out = Bounded { spool: self, file: &file, left: self.len };
        (self.fill)(&mut out).map_err(damaged)?;
        if out.left != 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(self.file.get_or_init(|| file))
    }

    /// An error of the file, by its folder.
    fn unwritten(&self, step: Step, error: io::Error) -> io::Error {
        io::Error::other(tet_io::Error::io(step, &tet_io::scratch_in(&self.folder), error))
    }
}

impl ReadAt for Spool {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let file = match self.file.get() {
            Some(file) => file,
            None => self.file()?,
        };
        FileExt::read_exact_at(file, out, offset)
    }

    fn name(&self) -> &str {
        &self.name
    }

    /// Nobody else has a name for it.
    fn writers(&self) -> tet_io::Writers {
        tet_io::Writers::Absent
    }
}

/// An error of the bytes that others are made of, unless it is one of a file.
fn damaged(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput => {
            io::Error::new(io::ErrorKind::InvalidData, error)
        }
        _ => error,
    }
}

/// A file that takes as many bytes as were promised, until the caller cancels.
struct Bounded<'a> {
    spool: &'a Spool,
    file: &'a File,
    left: u64,
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.spool.progress.check().map_err(|_| io::Error::other("canceled"))?;
        let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(len).ok_or(io::ErrorKind::InvalidData)?;
        let written = self.file.write_all(bytes);
        written.map_err(|error| self.spool.unwritten(Step::Write, error))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A source as a buffered stream: what `zip` and the header parser take.
#[derive(Debug)]
pub(crate) struct SourceReader {
    source: Source,
    /// Where the buffer begins in the source.
    start: u64,
    buffer: Vec<u8>,
    /// The next byte.
    at: u64,
}

impl SourceReader {
    /// A stream over `source` from `at` on.
    pub(crate) fn new(source: &Source, at: u64) -> Self {
        Self { source: source.clone(), start: at, buffer: Vec::new(), at }
    }

    /// The bytes of the buffer that are next.
    fn ahead(&self) -> &[u8] {
        let within = self.at.checked_sub(self.start).and_then(|at| usize::try_from(at).ok());
        within.and_then(|at| self.buffer.get(at..)).unwrap_or_default()
    }
}

impl Clone for SourceReader {
    /// A stream at the same place, which has read nothing ahead.
    fn clone(&self) -> Self {
        Self::new(&self.source, self.at)
    }
}

impl Read for SourceReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.ahead().is_empty() {
            let left = self.source.len().saturating_sub(self.at);
            let len = usize::try_from(left).unwrap_or(usize::MAX).min(READ_AHEAD_LEN);
            self.buffer.resize(len, 0);
            self.start = self.at;
            self.source.read_exact_at(self.at, &mut self.buffer).map_err(io::Error::other)?;
        }
        let ahead = self.ahead();
        let len = ahead.len().min(out.len());
        out[..len].copy_from_slice(&ahead[..len]);
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn spool(len: u64, bytes: &'static [u8]) -> (Source, Arc<AtomicUsize>) {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let source =
            Spool::source("a spool".to_owned(), len, &OpenOptions::default(), move |out| {
                counted.fetch_add(1, Ordering::Relaxed);
                out.write_all(bytes)
            });
        (source, count)
    }

    #[test]
    fn bytes_are_made_once_and_when_they_are_read() {
        let (source, count) = spool(5, b"hello");
        assert_eq!((source.len(), count.load(Ordering::Relaxed)), (5, 0));
        let read = |at| source.read_vec(at, 2).unwrap();
        assert_eq!((read(3), read(0)), (b"lo".to_vec(), b"he".to_vec()));
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn more_or_fewer_bytes_than_promised_are_an_error() {
        for len in [4, 6] {
            let (source, _) = spool(len, b"hello");
            let error = source.read_vec(0, 1).unwrap_err();
            assert_eq!(error.kind(), tet_io::Kind::Format, "{error}");
        }
    }

    #[test]
    fn a_stream_over_a_source_reads_and_seeks() {
        let bytes: Vec<u8> = (0..=255).cycle().take(READ_AHEAD_LEN * 2 + 7).collect();
        let mut reader = SourceReader::new(&Source::from_bytes(bytes.clone()), 3);
        let mut found = Vec::new();
        reader.read_to_end(&mut found).unwrap();
        assert!(found == bytes[3..]);
        assert_eq!(reader.seek(SeekFrom::End(-4)).unwrap(), bytes.len() as u64 - 4);
        let mut last = Vec::new();
        reader.read_to_end(&mut last).unwrap();
        assert_eq!(last, bytes[bytes.len() - 4..]);
        reader.seek(SeekFrom::Start(1)).unwrap();
        reader.seek(SeekFrom::Current(1)).unwrap();
        let mut byte = [0];
        reader.read_exact(&mut byte).unwrap();
        assert_eq!(byte, [2]);
    }
}
