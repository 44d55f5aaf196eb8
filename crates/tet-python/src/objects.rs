//! Small files at URLs: the plan of a file that several processes write, and the names of its parts.

use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tet_io::{Folder, Publish, Publisher, Source};

use crate::run::{ProgressCallback, detached};

/// Names of one folder that are listed.
const NAMES_MAX: usize = 1 << 20;

/// Writes a new file.
#[pyfunction]
pub(crate) fn write_object(py: Python<'_>, url: PathBuf, content: &[u8]) -> PyResult<()> {
    detached(py, &ProgressCallback::long(None), |_| {
        let mut publisher = Publisher::begin(&url, &Publish::default())?;
        let written = publisher.write_all(content);
        written.map_err(|error| publisher.write_fault(error))?;
        publisher.commit()
    })
}

/// The folder of a new file, where there is no such folder.
#[pyfunction]
pub(crate) fn missing_folder(path: PathBuf) -> Option<String> {
    tet_io::missing_folder(&path).map(|folder| folder.to_string_lossy().into_owned())
}

/// Whether there is a file.
#[pyfunction]
pub(crate) fn has_object(py: Python<'_>, url: PathBuf) -> PyResult<bool> {
    detached(py, &ProgressCallback::long(None), |_| match Source::open(&url) {
        Ok(_) => Ok(true),
        Err(error) if error.system().is_some_and(|it| it.1.kind() == ErrorKind::NotFound) => {
            Ok(false)
        }
        Err(error) => Err(error),
    })
}

/// The content of a file.
#[pyfunction]
pub(crate) fn read_object<'py>(py: Python<'py>, url: PathBuf) -> PyResult<Bound<'py, PyBytes>> {
    let content = detached(py, &ProgressCallback::long(None), |_| {
        let source = Source::open(&url)?;
        source.read_vec(0, source.len())
    })?;
    Ok(PyBytes::new(py, &content))
}

/// The names of the files in a folder.
#[pyfunction]
pub(crate) fn list_objects(py: Python<'_>, url: PathBuf) -> PyResult<Vec<String>> {
    detached(py, &ProgressCallback::long(None), |_| {
        let entries = Folder::open(&url)?.entries(NAMES_MAX)?;
        Ok::<_, tet_io::Error>(entries.into_iter().map(|entry| entry.name).collect())
    })
}

/// Removes files of a folder.
#[pyfunction]
pub(crate) fn remove_objects(py: Python<'_>, url: PathBuf, names: Vec<String>) -> PyResult<()> {
    detached(py, &ProgressCallback::long(None), |_| {
        let folder = Folder::open(&url)?;
        names.iter().try_for_each(|name| folder.remove(name))
    })
}
