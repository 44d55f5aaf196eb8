//! A source of bytes: file, mapping, memory, or a reader of the caller.

use std::fmt;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tet_format::Span;

use crate::error::{Error, Operation, Result};
#[cfg(all(feature = "mmap", target_os = "linux"))]
use crate::lease::LeasedMap;
use crate::read_at::{Access, ReadAt};
use crate::stamp::Stamp;
use crate::url::{is_url, local_path};
use crate::writers::{Writers, writers_of};

mod unchanged;
mod url_store;
mod url_upload;
mod view;

pub(crate) use url_store::store_of;
pub use url_store::{
    FolderEntry, PendingUpload, PutMode, UrlList, UrlStore, has_url_store, may_copy_on_server,
    set_url_store,
};
pub use url_upload::{UrlPart, UrlUpload};
pub use view::View;
use view::ViewOf;

/// The length of a read window, which fits the cache of one core.
const WINDOW_LEN: u64 = 1 << 18;

/// How a [`Source`] gets its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SourceKind {
    /// Positioned reads of an open file.
    Pread,
    /// A mapping that the caller guarantees.
    Map,
    /// A mapping held under a read lease.
    Leased,
    /// Bytes in memory.
    Memory,
    /// A reader of the caller.
    Custom,
}

/// The bytes of one file, opened once and shared by cheap clones; with them what opens the files next to it, where that
/// is another store than the one of all URLs.
#[derive(Clone, Debug)]
pub struct Source(Arc<Opened>, Option<Arc<dyn UrlStore>>);

#[derive(Debug)]
struct Opened {
    backend: Backend,
    path: Option<PathBuf>,
    stamp: Option<Stamp>,
    /// The version of a reader of the caller.
    version: Option<String>,
    len: u64,
    /// Who had the file open for writing when it was opened.
    writers: Writers,
}

pub(crate) enum Backend {
    Pread(File),
    #[cfg(feature = "mmap")]
    Map(File, memmap2::Mmap),
    #[cfg(all(feature = "mmap", target_os = "linux"))]
    Leased(LeasedMap),
    Memory(Vec<u8>),
    Custom(Arc<dyn ReadAt>),
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.kind(), f)
    }
}

impl Backend {
    fn kind(&self) -> SourceKind {
        match self {
            Self::Pread(_) => SourceKind::Pread,
            #[cfg(feature = "mmap")]
            Self::Map(..) => SourceKind::Map,
            #[cfg(all(feature = "mmap", target_os = "linux"))]
            Self::Leased(_) => SourceKind::Leased,
            Self::Memory(_) => SourceKind::Memory,
            Self::Custom(_) => SourceKind::Custom,
        }
    }

    /// Who has the file open for writing now.
    fn writers(&self) -> Writers {
        match self {
            Self::Pread(file) => writers_of(file),
            #[cfg(feature = "mmap")]
            Self::Map(..) => Writers::Absent,
            #[cfg(all(feature = "mmap", target_os = "linux"))]
            Self::Leased(map) => map.writers(),
            Self::Memory(_) => Writers::Absent,
            Self::Custom(reader) => reader.writers(),
        }
    }

    /// The open file, if there is one: mapped files are also read through it.
    fn file(&self) -> Option<&File> {
        match self {
            Self::Pread(file) => Some(file),
            #[cfg(feature = "mmap")]
            Self::Map(file, _) => Some(file),
            #[cfg(all(feature = "mmap", target_os = "linux"))]
            Self::Leased(map) => Some(map.file()),
            Self::Memory(_) | Self::Custom(_) => None,
        }
    }
}

impl Source {
    /// Opens a regular file for positioned reads: the default, safe against concurrent writers. A
    /// URL is opened by the store of [`set_url_store`](crate::set_url_store).
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when it cannot be opened, [`Error::NotRegular`] when it is a folder,
    /// a pipe or a device, [`Error::NoUrls`] for a URL when no such function is set.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = &local_path(path.as_ref());
        if is_url(path) {
            return url_store::open_url(path);
        }
        let (file, stamp) = open_regular(path)?;
        Ok(Self::opened(Backend::Pread(file), path, stamp))
    }

    /// Opens a regular file, takes a read lease on it and maps it (Linux only).
    ///
    /// The lease stops writers. When a writer opens the file, the mapping ends after the current
    /// views and the source continues with positioned reads. Pages are read ahead of their first
    /// use, so that a disk error is returned as an error. Two things can still raise a signal: a
    /// process that is stopped for longer than the kernel waits for it
    /// (`/proc/sys/fs/lease-break-time`, 45 seconds by default, at least 10 here), and a page that
    /// the system drops and cannot read again. [`Source::open`] has neither limit.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NoLease`] when no lease is granted (another system; a file system where
    /// leases do not work, such as a network file system, FUSE or overlay; a file of another user;
    /// an active writer), and what [`Source::open`] returns.
    pub fn open_leased(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        #[cfg(all(feature = "mmap", target_os = "linux"))]
        {
            let (file, _) = open_regular(path)?;
            let no_lease = |reason: String| Error::NoLease { path: path.to_path_buf(), reason };
            let map = LeasedMap::take(file).map_err(no_lease)?;
            // Nobody writes under the lease, so this is the stamp of the mapped bytes.
            let stamp = Stamp::from_file(map.file())
                .map_err(|error| Error::io(Operation::Stat, path, error))?;
            Ok(Self::opened(Backend::Leased(map), path, stamp))
        }
        #[cfg(not(all(feature = "mmap", target_os = "linux")))]
        {
            let reason = "this build has no leased maps".to_owned();
            Err(Error::NoLease { path: path.to_path_buf(), reason })
        }
    }

    /// A source of bytes in memory.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self::of_bytes(bytes.into(), None)
    }

    /// A source of bytes in memory that have the name of a file: formats without a magic are known by it.
    ///
    /// ```
    /// let source = tet_io::Source::from_named_bytes("rows.csv", b"1,2\n".as_slice());
    /// assert_eq!(source.path(), Some("rows.csv".as_ref()));
    /// ```
    pub fn from_named_bytes(name: impl AsRef<Path>, bytes: impl Into<Vec<u8>>) -> Self {
        Self::of_bytes(bytes.into(), Some(name.as_ref()))
    }

    /// A source with a reader of the caller.
    #[must_use]
    pub fn from_reader(reader: Arc<dyn ReadAt>) -> Self {
        Self::of_reader(reader, None)
    }

    /// A source with a reader of the caller that has the name of a file, such as a URL: other files of
    /// the same container are looked for next to it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tet_io::{ReadAt, Source};
    ///
    /// struct Zeros;
    ///
    /// impl ReadAt for Zeros {
    ///     fn len(&self) -> u64 {
    ///         100
    ///     }
    ///
    ///     fn read_exact_at(&self, _: u64, out: &mut [u8]) -> std::io::Result<()> {
    ///         out.fill(0);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let source = Source::from_named_reader("https://host/a.npy", Arc::new(Zeros));
    /// assert_eq!(source.path(), Some("https://host/a.npy".as_ref()));
    /// ```
    #[must_use]
    pub fn from_named_reader(name: impl AsRef<Path>, reader: Arc<dyn ReadAt>) -> Self {
        Self::of_reader(reader, Some(name.as_ref()))
    }

    fn of_reader(reader: Arc<dyn ReadAt>, name: Option<&Path>) -> Self {
        let len = reader.len();
        // An unknown version now differs from a known version later.
        let version = reader.version().ok().flatten();
        Self::unstamped(Backend::Custom(reader), len, version, name)
    }

    fn of_bytes(bytes: Vec<u8>, name: Option<&Path>) -> Self {
        let len = bytes.len() as u64;
        Self::unstamped(Backend::Memory(bytes), len, None, name)
    }

    fn unstamped(backend: Backend, len: u64, version: Option<String>, name: Option<&Path>) -> Self {
        let (path, writers) = (name.map(Path::to_path_buf), backend.writers());
        Self(Arc::new(Opened { backend, path, stamp: None, version, len, writers }), None)
    }

    pub(crate) fn opened(backend: Backend, path: &Path, stamp: Stamp) -> Self {
        let writers = backend.writers();
        Self::opened_beside(writers, backend, path.to_path_buf(), stamp)
    }

    /// A source of a file that these have open for writing.
    pub(crate) fn opened_beside(
        writers: Writers,
        backend: Backend,
        path: PathBuf,
        stamp: Stamp,
    ) -> Self {
        let (path, len) = (Some(path), stamp.size);
        let (stamp, version) = (Some(stamp), None);
        Self(Arc::new(Opened { backend, path, stamp, version, len, writers }), None)
    }

    /// Sets the store of which the path is a URL: it also opens the files next to it, as
    /// [`Folder::of_store`](crate::Folder::of_store) shows.
    #[must_use]
    pub fn of_store(self, store: Arc<dyn UrlStore>) -> Self {
        Self(self.0, Some(store))
    }

    /// The store that opens the files next to it, where that is not the one of all URLs.
    pub(crate) fn store(&self) -> Option<&Arc<dyn UrlStore>> {
        self.1.as_ref()
    }

    /// Whether two sources are clones of the same source.
    #[must_use]
    pub fn is_same(&self, other: &Source) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The length of the file when it was opened.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.0.len
    }

    /// Whether the file was empty when it was opened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The path it was opened with, if it has one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// How the bytes are read.
    #[must_use]
    pub fn kind(&self) -> SourceKind {
        self.0.backend.kind()
    }

    /// Fills `out` with the bytes from `offset` on.
    ///
    /// # Errors
    ///
    /// Returns [`Error::PastEnd`] for bytes past the end of the file, [`Error::Changed`] when the
    /// file became shorter, [`Error::Io`] for an error of the system.
    pub fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        self.check_end(offset, out.len() as u64)?;
        let outcome = match &self.0.backend {
            Backend::Memory(bytes) => read_slice(bytes, offset, out),
            Backend::Custom(reader) => reader.read_exact_at(offset, out),
            backend => match backend.file() {
                Some(file) => read_file(file, offset, out),
                None => Err(io::ErrorKind::Unsupported.into()),
            },
        };
        outcome.map_err(|error| self.read_error(error))
    }

    /// Fills every part with the bytes from its offset on, all parts as one request.
    ///
    /// # Errors
    ///
    /// As [`Source::read_exact_at`].
    pub fn read_ranges(&self, parts: &mut [(u64, &mut [u8])]) -> Result<()> {
        let Backend::Custom(reader) = &self.0.backend else {
            return parts.iter_mut().try_for_each(|(offset, out)| self.read_exact_at(*offset, out));
        };
        parts.iter().try_for_each(|(offset, out)| self.check_end(*offset, out.len() as u64))?;
        reader.read_ranges(parts).map_err(|error| self.read_error(error))
    }

    /// Whether each read fails unless its bytes are of the version that was opened, as of a file on a server that has versions.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        matches!(&self.0.backend, Backend::Custom(reader) if reader.is_pinned())
    }

    /// The cost of requests to its bytes.
    #[must_use]
    pub fn access(&self) -> Access {
        match &self.0.backend {
            Backend::Custom(reader) => reader.access(),
            _ => Access::LOCAL,
        }
    }

    /// The number of requests that reading these bytes would take.
    #[must_use]
    pub fn request_count(&self, span: Span) -> u64 {
        match &self.0.backend {
            Backend::Custom(reader) => reader.request_count(span),
            _ => u64::from(!span.is_empty()),
        }
    }

    fn check_end(&self, offset: u64, len: u64) -> Result<()> {
        let (file_len, end) = (self.len(), offset.saturating_add(len));
        if end <= file_len {
            return Ok(());
        }
        Err(Error::PastEnd { path: self.path_for_errors(), end, file_len })
    }

    /// The error of a read; a reader that uses files may return an error about one of them.
    fn read_error(&self, error: io::Error) -> Error {
        let path = self.path_for_errors();
        match error.downcast::<Error>() {
            Ok(error) => error,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Error::Changed { path },
            Err(source) => Error::Io { operation: Operation::Read, path, source },
        }
    }

    /// The `len` bytes from `offset` on; a length past the end of the file allocates nothing.
    ///
    /// # Errors
    ///
    /// As [`Source::read_exact_at`].
    pub fn read_vec(&self, offset: u64, len: u64) -> Result<Vec<u8>> {
        let file_len = self.len();
        let end = offset.saturating_add(len);
        let held = usize::try_from(len).ok().filter(|_| end <= file_len);
        let Some(len) = held else {
            return Err(Error::PastEnd { path: self.path_for_errors(), end, file_len });
        };
        let mut bytes = vec![0; len];
        self.read_exact_at(offset, &mut bytes)?;
        Ok(bytes)
    }

    /// Calls `visit` with the bytes of a span in windows, each with its file offset, until `visit`
    /// returns false. Bytes in memory are not copied; for others `window` is a reusable buffer.
    ///
    /// # Errors
    ///
    /// As [`Source::read_exact_at`], and what `visit` returns.
    pub fn for_windows<E: From<Error>>(
        &self,
        stretch: Range<u64>,
        window: &mut Vec<u8>,
        mut visit: impl FnMut(u64, &[u8]) -> Result<bool, E>,
    ) -> Result<(), E> {
        let access = self.access();
        let window_len = if access.is_remote() { access.request_len } else { WINDOW_LEN };
        let mut at = stretch.start;
        while at < stretch.end {
            let len = (stretch.end - at).min(window_len);
            // Held for one window only, so that writers do not wait longer for the lease.
            let view = self.view();
            let goes_on = match view.as_ref().and_then(|view| view.bytes(at..at + len)) {
                Some(bytes) => visit(at, bytes)?,
                None => {
                    window.resize(usize::try_from(len).unwrap_or(0), 0);
                    self.read_exact_at(at, window)?;
                    visit(at, window)?
                }
            };
            if !goes_on {
                break;
            }
            at += len;
        }
        Ok(())
    }

    /// The open file, if there is one. It has the bytes of the source unless it changed.
    pub(crate) fn file(&self) -> Option<&File> {
        self.0.backend.file()
    }

    /// All bytes, if they stay in memory or mapped as long as the source.
    pub(crate) fn pinned(&self) -> Option<&[u8]> {
        match &self.0.backend {
            Backend::Memory(bytes) => Some(bytes),
            #[cfg(feature = "mmap")]
            Backend::Map(_, map) => Some(map),
            _ => None,
        }
    }

    /// The bytes of the file in place, without a read, if possible.
    ///
    /// Hold the view for one task, then drop it. A leased mapping returns `None` after a writer
    /// opened the file, and in a forked process; positioned reads still work.
    #[must_use]
    pub fn view(&self) -> Option<View<'_>> {
        match &self.0.backend {
            #[cfg(all(feature = "mmap", target_os = "linux"))]
            Backend::Leased(map) => map.view().map(|view| View(ViewOf::Leased(view))),
            _ => self.pinned().map(|bytes| View(ViewOf::Bytes(bytes))),
        }
    }

    /// The identity of the file when it was opened, if it is a file.
    #[must_use]
    pub fn stamp(&self) -> Option<Stamp> {
        self.0.stamp
    }

    /// The version of the bytes when they were opened, of a reader that has versions, such as a file on a server.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.0.version.as_deref()
    }

    /// The first byte of the span in a hole of the file, which reads as zero; `None` if there is
    /// none or if it is unknown.
    #[must_use]
    pub fn first_hole(&self, span: Span) -> Option<u64> {
        #[cfg(target_os = "linux")]
        if let Some(file) = self.0.backend.file().filter(|_| !span.is_empty()) {
            use rustix::fs::{SeekFrom, seek};
            // This moves the file position, which no read uses.
            let hole = seek(file, SeekFrom::Hole(span.start())).ok()?;
            return (hole < span.end()).then_some(hole);
        }
        let _ = span;
        None
    }

    fn path_for_errors(&self) -> PathBuf {
        match &self.0.backend {
            Backend::Custom(reader) => reader.name().into(),
            _ => self.path().unwrap_or(Path::new("(memory)")).to_path_buf(),
        }
    }
}

/// Opens a file without blocking on a pipe and without acquiring a controlling terminal.
pub(crate) fn open_regular(path: &Path) -> Result<(File, Stamp)> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    regular(options.open(path).map_err(|error| Error::io(Operation::Open, path, error))?, path)
}

/// A file with its state, unless it is something else.
pub(crate) fn regular(file: File, path: &Path) -> Result<(File, Stamp)> {
    let metadata = file.metadata().map_err(|error| Error::io(Operation::Stat, path, error))?;
    if !metadata.is_file() {
        return Err(Error::NotRegular { path: path.to_path_buf(), what: what_is(&metadata) });
    }
    Ok((file, Stamp::from_metadata(&metadata)))
}

/// A noun for the kind of entry.
pub(crate) fn what_is(metadata: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    let file_type = metadata.file_type();
    if file_type.is_fifo() {
        "a pipe"
    } else if file_type.is_socket() {
        "a socket"
    } else if file_type.is_char_device() || file_type.is_block_device() {
        "a device"
    } else if file_type.is_dir() {
        "a directory"
    } else {
        "something else"
    }
}

fn read_slice(bytes: &[u8], offset: u64, out: &mut [u8]) -> io::Result<()> {
    let start = usize::try_from(offset).ok();
    let bytes = start.and_then(|start| bytes.get(start..)?.get(..out.len()));
    out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
    Ok(())
}

pub(crate) fn read_file(file: &File, mut offset: u64, mut out: &mut [u8]) -> io::Result<()> {
    while !out.is_empty() {
        match read_some_at(file, out, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                offset = offset.saturating_add(read as u64);
                out = out.split_at_mut(read).1;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn read_some_at(file: &File, out: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, out, offset)
}

#[cfg(test)]
mod tests;
