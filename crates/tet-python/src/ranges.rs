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
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::intern;
use pyo3::prelude::*;
use tet_convert::{ConvertOptions, ImportReport, OpenOptions, Opened};
use tet_format::Span;
use tet_io::{Access, Error, ReadAt, Source, Step};
use tet_net::{FileVersion, RangeAnswer, RangeFailure, RangeSource, Remote, Settings, Wanted};

use crate::buffer::ReadMemory;
use crate::error::{is_changed, raised};

/// A file that is read: its path or URL, or an object of `tetfile._ranges`.
#[derive(FromPyObject)]
pub(crate) enum Input {
    Path(PathBuf),
    Object(Py<PyAny>),
}

impl Input {
    /// Opens it.
    pub(crate) fn open(&self, options: &OpenOptions) -> tet_convert::Result<Opened> {
        match self {
            Input::Path(path) => tet_convert::open(path, options),
            Input::Object(object) => tet_convert::open_source(source(object)?, options),
        }
    }

    /// Writes its datasets to a new file.
    pub(crate) fn convert(
        &self,
        output: &Path,
        options: &ConvertOptions,
    ) -> tet_convert::Result<ImportReport> {
        match self {
            Input::Path(path) => tet_convert::convert(path, output, options),
            Input::Object(object) => tet_convert::convert_source(&source(object)?, output, options),
        }
    }

    /// The document of a file in several files, or the file.
    pub(crate) fn document(&self) -> tet_io::Result<Source> {
        match self {
            Input::Path(path) => Source::open(tet_convert::document_of(path)),
            Input::Object(object) => source(object),
        }
    }
}

/// The bytes that an object reads.
fn source(object: &Py<PyAny>) -> tet_io::Result<Source> {
    let refused = |name: &str, error| Error::io(Step::Open, name.as_ref(), raised(error));
    let name = Python::attach(|py| object.getattr(py, intern!(py, "name"))?.extract::<String>(py));
    let name = name.map_err(|error| refused("(object)", error))?;
    let ranges = PyRanges::of(object, name.clone()).map_err(|error| refused(&name, error))?;
    let ranges = Arc::new(ranges);
    let remote = Remote::open(Box::new(Shared(Arc::clone(&ranges))), &Settings::default())?;
    let file = PyFile { remote, ranges, seen: AtomicU64::new(0) };
    let now = file.version().map_err(|error| Error::io(Step::Open, name.as_ref(), error))?;
    // The first ranges are of no version until it is compared with that of before them.
    if now != file.ranges.version.text() {
        return Err(Error::Changed { path: name.into() });
    }
    Ok(Source::from_named_reader(name, Arc::new(file)))
}

/// The ranges of one file.
struct PyRanges {
    object: Py<PyAny>,
    name: String,
    version: FileVersion,
    /// Whether each request is one for the version.
    is_pinned: bool,
    /// Ranges that were read.
    count: AtomicU64,
}

impl fmt::Debug for PyRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PyRanges").field(&self.name).finish()
    }
}

impl PyRanges {
    fn of(object: &Py<PyAny>, name: String) -> PyResult<PyRanges> {
        Python::attach(|py| {
            let object = object.clone_ref(py);
            let version = stat(py, &object)?;
            let is_pinned = object.getattr(py, intern!(py, "is_pinned"))?.extract(py)?;
            Ok(PyRanges { object, name, version, is_pinned, count: AtomicU64::new(0) })
        })
    }

    fn read(&self, offset: u64, len: u64, out: &mut Vec<u8>) -> Result<(), RangeFailure> {
        Python::attach(|py| {
            let range = (offset, offset.saturating_add(len));
            let read = self.object.bind(py).call_method1(intern!(py, "read"), range);
            let memory = read.and_then(|read| ReadMemory::of(&read));
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
    Ok(FileVersion { len, etag, modified: None })
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

    fn access(&self) -> Access {
        self.remote.access()
    }

    fn request_count(&self, span: Span) -> u64 {
        self.remote.request_count(span)
    }
}
