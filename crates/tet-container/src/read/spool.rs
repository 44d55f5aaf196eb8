//! Sources whose bytes have to be made first: into a file without a name, when they are first read.

use std::env;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tet_io::{Operation, Progress, ReadAt, Source};

use crate::read::opened::OpenOptions;

/// Bytes read ahead when a source is read in order.
const READ_AHEAD_LEN: usize = 1 << 18;

/// Writes the bytes of a [`Spool`].
type Fill = dyn Fn(&mut dyn Write) -> io::Result<()> + Send + Sync;

/// A file without a name, made when it is first needed, in which several spools have their bytes: file systems take long to
/// make a file for each of very many.
#[derive(Debug)]
pub struct Scratch {
    /// Where the file is made.
    folder: PathBuf,
    file: OnceLock<File>,
    /// The end of what is taken.
    end: Mutex<u64>,
}

impl Scratch {
    /// A file where the options say.
    pub fn new(options: &OpenOptions) -> Arc<Scratch> {
        let folder = options.scratch.clone().unwrap_or_else(env::temp_dir);
        Arc::new(Scratch { folder, file: OnceLock::new(), end: Mutex::new(0) })
    }

    /// The file, and where there is room for as many bytes in it.
    fn room(&self, len: u64) -> io::Result<(&File, u64)> {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match self.file.get() {
            Some(file) => file,
            None => {
                let file = tempfile::tempfile_in(&self.folder);
                let file = file.map_err(|error| self.unwritten(Operation::Create, error))?;
                self.file.get_or_init(|| file)
            }
        };
        let at = *end;
        *end = at.checked_add(len).ok_or(io::ErrorKind::InvalidData)?;
        Ok((file, at))
    }

    /// An error of the file, by its folder.
    fn unwritten(&self, step: Operation, error: io::Error) -> io::Error {
        io::Error::other(tet_io::Error::io(step, &tet_io::scratch_in(&self.folder), error))
    }
}

/// Bytes that are made when they are first read, and kept in a [`Scratch`] file.
pub struct Spool {
    /// Its name in errors.
    name: String,
    len: u64,
    scratch: Arc<Scratch>,
    progress: Progress,
    fill: Box<Fill>,
    /// Where its bytes are in the file, once they are made.
    at: OnceLock<u64>,
    /// Held by the thread that makes the bytes.
    filling: Mutex<()>,
}

impl std::fmt::Debug for Spool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spool").finish_non_exhaustive()
    }
}

impl Spool {
    /// A source of the `len` bytes that `fill` writes, in a file where the options say; errors call it
    /// `name`.
    pub fn source(
        name: String,
        len: u64,
        options: &OpenOptions,
        fill: impl Fn(&mut dyn Write) -> io::Result<()> + Send + Sync + 'static,
    ) -> Source {
        Spool::in_file(&Scratch::new(options), name, len, options, fill)
    }

    /// A source in a scratch file that it shares with others.
    pub fn in_file(
        scratch: &Arc<Scratch>,
        name: String,
        len: u64,
        options: &OpenOptions,
        fill: impl Fn(&mut dyn Write) -> io::Result<()> + Send + Sync + 'static,
    ) -> Source {
        let (scratch, progress) = (Arc::clone(scratch), options.progress.clone());
        let (fill, at, filling) = (Box::new(fill), OnceLock::new(), Mutex::new(()));
        Source::from_reader(Arc::new(Spool { name, len, scratch, progress, fill, at, filling }))
    }

    /// Where its bytes are in the file, which are made if they are not.
    fn filled(&self) -> io::Result<u64> {
        if let Some(at) = self.at.get() {
            return Ok(*at);
        }
        let _filling = self.filling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = self.at.get() {
            return Ok(*at);
        }
        let (file, at) = self.scratch.room(self.len)?;
        let mut out = Bounded { spool: self, file, at, left: self.len };
        (self.fill)(&mut out).map_err(damaged)?;
        if out.left != 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(*self.at.get_or_init(|| at))
    }
}

impl ReadAt for Spool {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let count = u64::try_from(out.len()).unwrap_or(u64::MAX);
        let is_inside = offset.checked_add(count).is_some_and(|end| end <= self.len);
        let at = self.filled()?.checked_add(offset).filter(|_| is_inside);
        let file = self.scratch.file.get();
        let (file, at) = file.zip(at).ok_or(io::ErrorKind::UnexpectedEof)?;
        FileExt::read_exact_at(file, out, at)
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
    at: u64,
    left: u64,
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.spool.progress.check().map_err(|_| io::Error::other("canceled"))?;
        let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(len).ok_or(io::ErrorKind::InvalidData)?;
        let written = self.file.write_all_at(bytes, self.at);
        written.map_err(|error| self.spool.scratch.unwritten(Operation::Write, error))?;
        self.at = self.at.saturating_add(len);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A source as a buffered stream: what `zip` and the header parser take.
#[derive(Debug)]
pub struct SourceReader {
    source: Source,
    /// Bytes read ahead.
    ahead_len: usize,
    /// Where the buffer begins in the source.
    start: u64,
    buffer: Vec<u8>,
    /// The next byte.
    at: u64,
}

impl SourceReader {
    /// A stream over `source` from `at` on.
    pub fn new(source: &Source, at: u64) -> Self {
        let ahead_len = READ_AHEAD_LEN;
        Self { source: source.clone(), ahead_len, start: at, buffer: Vec::new(), at }
    }

    /// This reader with fewer bytes read ahead, for a stream that jumps.
    pub fn with_ahead(self, ahead_len: usize) -> Self {
        Self { ahead_len, ..self }
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
        Self::new(&self.source, self.at).with_ahead(self.ahead_len)
    }
}

impl Read for SourceReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.ahead().is_empty() {
            let left = self.source.len().saturating_sub(self.at);
            let len = usize::try_from(left).unwrap_or(usize::MAX).min(self.ahead_len);
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
    fn spools_in_one_file_have_their_own_bytes() {
        let (options, scratch) = (OpenOptions::default(), Scratch::new(&OpenOptions::default()));
        let spool = |byte: u8| {
            Spool::in_file(&scratch, "a spool".to_owned(), 3, &options, move |out| {
                out.write_all(&[byte; 3])
            })
        };
        let spools: Vec<Source> = (0..100).map(spool).collect();
        for (source, byte) in spools.iter().zip(0..100).rev() {
            assert_eq!(source.read_vec(0, 3).unwrap(), [byte; 3]);
            assert!(source.read_exact_at(1, &mut [0; 3]).is_err());
        }
        assert_eq!(spools[7].read_vec(1, 2).unwrap(), [7; 2]);
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
