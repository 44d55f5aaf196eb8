//! The files next to one that an object of Python reads, and those below it: a store of URLs for one folder.
//!
//! ```text
//!   name of the object   s3://bucket/year.zarr
//!   URL of a file        s3://bucket/year.zarr/temp/0.0   ->   beside("year.zarr/temp/0.0") of the object
//! ```
//!
//! An exception of Python is that of a missing file only where the object says so: all others are errors.

use std::fmt;
use std::sync::atomic::AtomicBool;

use pyo3::intern;
use pyo3::prelude::*;
use tet_io::{Error, FolderEntry, Operation, Progress, Result, Source, UrlList, UrlStore};
use tet_net::Settings;

use crate::error::raised;
use crate::ranges;

/// The store of an object of `tetfile._ranges`.
pub(crate) struct PyStore {
    object: Py<PyAny>,
    name: String,
    /// The name, with `/` behind that of a folder.
    url: String,
    /// Whether it may be a folder.
    may_be_folder: bool,
    /// Whether the last file was too long to be read with one request.
    is_long: AtomicBool,
}

impl fmt::Debug for PyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PyStore").field(&self.url).finish()
    }
}

impl PyStore {
    /// The store of an object.
    pub(crate) fn from_object(object: &Py<PyAny>) -> Result<PyStore> {
        let known = Python::attach(|py| -> PyResult<(String, Option<bool>)> {
            let name = object.getattr(py, intern!(py, "name"))?.extract(py)?;
            Ok((name, object.getattr(py, intern!(py, "is_folder"))?.extract(py)?))
        });
        let (name, is_folder) = known
            .map_err(|error| Error::io(Operation::Open, "(object)".as_ref(), raised(error)))?;
        let behind = if is_folder == Some(true) && !name.ends_with('/') { "/" } else { "" };
        let (url, may_be_folder) = (format!("{name}{behind}"), is_folder != Some(false));
        let object = Python::attach(|py| object.clone_ref(py));
        Ok(PyStore { object, name, url, may_be_folder, is_long: AtomicBool::new(false) })
    }

    /// The name of the object.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its URL: that of a folder ends with `/`.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Whether it may be a folder: an open file is none.
    pub(crate) fn may_be_folder(&self) -> bool {
        self.may_be_folder
    }

    /// The object that reads the file of a URL.
    fn beside<'py>(&self, py: Python<'py>, url: &str) -> PyResult<Bound<'py, PyAny>> {
        let folder_len = self.name.rfind('/').map_or(0, |at| at.saturating_add(1));
        let (folder, _) = self.name.split_at(folder_len);
        let key = url.strip_prefix(folder).unwrap_or(url).trim_end_matches('/');
        self.object.bind(py).call_method1(intern!(py, "beside"), (key,))
    }
}

impl UrlStore for PyStore {
    fn open(&self, url: &str) -> Result<Source> {
        if url == self.name {
            return ranges::open(&self.object, url);
        }
        let failed = |error| Error::io(Operation::Open, url.as_ref(), error);
        let progress = Progress::of_thread().unwrap_or_default();
        progress.check().map_err(|canceled| failed(std::io::Error::other(canceled)))?;
        let object = Python::attach(|py| Ok(self.beside(py, url)?.unbind()));
        let object = object.map_err(|error| failed(raised(error)))?;
        ranges::open_at_once(object, url, &self.is_long)
    }

    fn depth(&self) -> usize {
        Settings::default().depth
    }

    fn list(&self, url: &str, count_max: usize) -> Result<UrlList> {
        type Listed = (Vec<(String, u64)>, Vec<String>, bool);
        let listed = Python::attach(|py| -> PyResult<Listed> {
            let folder = self.beside(py, url)?;
            folder.call_method1(intern!(py, "list"), (count_max,))?.extract()
        });
        let (files, folders, is_cut) =
            listed.map_err(|error| Error::io(Operation::Read, url.as_ref(), raised(error)))?;
        let files = files.into_iter().map(|(name, len)| FolderEntry { name, len, age: None });
        Ok(UrlList { files: files.collect(), folders, is_cut })
    }
}
