//! A file whose bytes an object of Python reads: one of a filesystem of fsspec, of a store of obstore, an open file.
//!
//! ```text
//!   engine, without the lock -> Remote: windows, blocks, joined requests -> PyRanges: the lock for one range
//! ```
//!
//! Requests are planned as for URLs, and several are made at the same time: each takes the lock by itself, and objects
//! that wait release it. An object that compares the version in each request is pinned. Of others the version is asked
//! for again after ranges were read, before what was read is used.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;
use tet_format::Span;
use tet_io::{Access, Error, Operation, ReadAt, Source};
use tet_net::{FileVersion, RangeAnswer, RangeFailure, RangeSource, Remote, Settings, Wanted};

use crate::buffer::ReadMemory;
use crate::error::{is_changed, raised};

/// Bytes of the first read of a file, where it is one of many.
const HEAD_LEN: u64 = 256 << 10;

/// The file that an object reads.
pub(crate) fn open(object: &Py<PyAny>, name: &str) -> tet_io::Result<Source> {
    let refused = |error| Error::io(Operation::Open, name.as_ref(), error);
    let ranges = Python::attach(|py| {
        let version = stat(py, object)?;
        PyRanges::new(py, object.clone_ref(py), name, version, None)
    });
    let file = PyFile::open(ranges.map_err(|error| refused(raised(error)))?)?;
    let now = file.version().map_err(refused)?;
    // The first ranges are of no version until it is compared with that of before them.
    if now != file.ranges.version.text() {
        return Err(Error::Changed { path: name.into() });
    }
    Ok(Source::from_named_reader(name, Arc::new(file)))
}

/// The file that an object reads, where it is one of many: with one request if it is short. `is_long` is whether the last
/// one was not.
pub(crate) fn open_at_once(
    object: Py<PyAny>,
    name: &str,
    is_long: &AtomicBool,
) -> tet_io::Result<Source> {
    let expected = (HEAD_LEN, is_long.load(Ordering::Relaxed));
    let ranges = Python::attach(|py| {
        let begun = object.bind(py).call_method1(intern!(py, "begin"), expected)?;
        let (len, etag, head): (u64, Option<String>, Bound<'_, PyAny>) = begun.extract()?;
        let head = ReadMemory::from_object(&head)?.bytes().to_vec();
        let is_whole = head.len() as u64 == len;
        is_long.store(HEAD_LEN < len && !is_whole, Ordering::Relaxed);
        // Bytes that are read as a whole are of one version. They tell it from others.
        let etag = etag.or_else(|| is_whole.then(|| digest(&head)));
        let version = FileVersion { len, etag, ..FileVersion::default() };
        PyRanges::new(py, object, name, version, Some(head))
    });
    let ranges =
        ranges.map_err(|error| Error::io(Operation::Open, name.as_ref(), raised(error)))?;
    Ok(Source::from_named_reader(name, Arc::new(PyFile::open(ranges)?)))
}

fn digest(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// The ranges of one file.
struct PyRanges {
    object: Py<PyAny>,
    name: String,
    version: FileVersion,
    /// Whether each request is one for the version.
    is_pinned: bool,
    /// Bytes that were read before the file is opened, in place of the first read.
    head: Mutex<Option<Vec<u8>>>,
    /// Ranges that were read.
    count: AtomicU64,
}

impl fmt::Debug for PyRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PyRanges").field(&self.name).finish()
    }
}

impl PyRanges {
    fn new(
        py: Python<'_>,
        object: Py<PyAny>,
        name: &str,
        version: FileVersion,
        head: Option<Vec<u8>>,
    ) -> PyResult<PyRanges> {
        let is_pinned = object.getattr(py, intern!(py, "is_pinned"))?.extract(py)?;
        let (head, count) = (Mutex::new(head), AtomicU64::new(0));
        Ok(PyRanges { object, name: name.to_owned(), version, is_pinned, head, count })
    }

    fn head(&self) -> MutexGuard<'_, Option<Vec<u8>>> {
        self.head.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, offset: u64, len: u64, out: &mut Vec<u8>) -> Result<(), RangeFailure> {
        Python::attach(|py| {
            let range = (offset, offset.saturating_add(len));
            let read = self.object.bind(py).call_method1(intern!(py, "read"), range);
            let memory = read.and_then(|read| ReadMemory::from_object(&read));
            let memory = memory.map_err(|error| failure(py, error))?;
            let bytes = memory.bytes();
            if (bytes.len() as u64) < len {
                return Err(RangeFailure::Changed);
            }
            if len < bytes.len() as u64 {
                let text = format!("{} bytes are read where {len} were asked for", bytes.len());
                return Err(RangeFailure::Final(io::Error::other(text)));
            }
            out.extend_from_slice(bytes);
            Ok(())
        })
    }
}

/// The length of the file and what tells its version from others, as they are now.
fn stat(py: Python<'_>, object: &Py<PyAny>) -> PyResult<FileVersion> {
    let found = object.bind(py).call_method0(intern!(py, "stat"))?;
    let (len, etag) = found.extract()?;
    Ok(FileVersion { len, etag, ..FileVersion::default() })
}

fn failure(py: Python<'_>, error: PyErr) -> RangeFailure {
    if is_changed(py, &error) { RangeFailure::Changed } else { RangeFailure::Final(raised(error)) }
}

/// Ranges that [`Remote`] asks for, and [`PyFile`] counts.
#[derive(Debug)]
struct Shared(Arc<PyRanges>);

impl RangeSource for Shared {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn get(
        &self,
        wanted: Wanted,
        _: Option<&FileVersion>,
        out: &mut Vec<u8>,
    ) -> Result<RangeAnswer, RangeFailure> {
        let version = self.0.version.clone();
        let (offset, len) = wanted.within(version.len);
        let head = self.0.head();
        if let Some(head) = head.as_ref().filter(|it| offset == 0 || it.len() as u64 == version.len)
        {
            let held = usize::try_from(offset).ok().and_then(|offset| head.get(offset..));
            out.extend_from_slice(held.unwrap_or_default());
            return Ok(RangeAnswer { offset, version });
        }
        drop(head);
        if 0 < len {
            self.0.read(offset, len, out)?;
            self.0.count.fetch_add(1, Ordering::AcqRel);
        }
        Ok(RangeAnswer { offset, version })
    }
}

/// A file, of one version.
struct PyFile {
    remote: Remote,
    ranges: Arc<PyRanges>,
    /// The number of ranges that were read of this version.
    seen: AtomicU64,
}

impl PyFile {
    fn open(ranges: PyRanges) -> tet_io::Result<PyFile> {
        let ranges = Arc::new(ranges);
        let remote = Remote::open(Box::new(Shared(Arc::clone(&ranges))), &Settings::default())?;
        // The windows of `remote` have it now.
        *ranges.head() = None;
        Ok(PyFile { remote, ranges, seen: AtomicU64::new(0) })
    }
}

impl ReadAt for PyFile {
    fn len(&self) -> u64 {
        self.remote.len()
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.remote.read_exact_at(offset, out)
    }

    fn read_ranges(&self, parts: &mut [(u64, &mut [u8])]) -> io::Result<()> {
        self.remote.read_ranges(parts)
    }

    fn name(&self) -> &str {
        self.remote.name()
    }

    fn version(&self) -> io::Result<Option<String>> {
        let count = self.ranges.count.load(Ordering::Acquire);
        if self.ranges.is_pinned || self.seen.load(Ordering::Acquire) == count {
            return self.remote.version();
        }
        let now = Python::attach(|py| stat(py, &self.ranges.object)).map_err(raised)?;
        if now == self.ranges.version {
            self.seen.fetch_max(count, Ordering::AcqRel);
            return self.remote.version();
        }
        // A length is a version too.
        Ok(Some(now.text().unwrap_or_else(|| now.len.to_string())))
    }

    fn is_pinned(&self) -> bool {
        self.ranges.is_pinned
    }

    fn access(&self) -> Access {
        self.remote.access()
    }

    fn request_count(&self, span: Span) -> u64 {
        self.remote.request_count(span)
    }
}
