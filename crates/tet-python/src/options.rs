//! The options of `open` as the engine has them.

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tet_convert::{Decoding, Io, ValueChoice};
use tet_file::StatisticsChoice;
use tet_query::{DigestPolicy, StatisticsPolicy};

/// How bytes are read.
///
/// # Errors
///
/// There is no such way.
pub(crate) fn io(name: &str) -> PyResult<Io> {
    match name {
        "auto" => Ok(Io::Auto),
        "pread" => Ok(Io::Pread),
        "mmap" => Ok(Io::Mmap),
        _ => Err(unknown("io", name, "auto, pread, mmap")),
    }
}

/// Which chunks are compared with their checksums.
///
/// # Errors
///
/// There is no such policy.
pub(crate) fn digests(name: &str) -> PyResult<DigestPolicy> {
    match name {
        "auto" => Ok(DigestPolicy::Auto),
        "always" => Ok(DigestPolicy::Always),
        "never" => Ok(DigestPolicy::Never),
        _ => Err(unknown("digests", name, "auto, always, never")),
    }
}

/// When statistics of chunks are used instead of the chunks.
///
/// # Errors
///
/// There is no such policy.
pub(crate) fn statistics(name: &str) -> PyResult<StatisticsPolicy> {
    match name {
        "never" => Ok(StatisticsPolicy::Never),
        "verified" => Ok(StatisticsPolicy::Verified),
        "trust" => Ok(StatisticsPolicy::Trust),
        _ => Err(unknown("stats", name, "never, verified, trust")),
    }
}

/// How packed and masked values are used.
pub(crate) fn decoding(values: Values) -> Decoding {
    let values = match values {
        Values { raw_values: true, .. } => ValueChoice::Raw,
        Values { decoded: true, .. } => ValueChoice::Decoded,
        _ => ValueChoice::Auto,
    };
    Decoding { values, ..Decoding::default() }
}

/// Options of the caller for packed and masked values.
#[derive(Clone, Copy, Default)]
pub(crate) struct Values {
    /// They are used as they are stored.
    pub(crate) raw_values: bool,
    /// They are written decoded to every format.
    pub(crate) decoded: bool,
}

/// Whether a new file gets statistics of its chunks.
pub(crate) fn statistics_choice(stats: bool) -> StatisticsChoice {
    if stats { StatisticsChoice::default() } else { StatisticsChoice::Left }
}

/// The error for a word that is not one of these.
pub(crate) fn unknown(what: &str, name: &str, known: &str) -> PyErr {
    PyValueError::new_err(format!("{what}={name:?} is not one of {known}"))
}

/// Options from a dict of Python. The error of a value names its key.
///
/// # Errors
///
/// A value is of another type, or out of bounds.
pub(crate) fn extract<'py, T>(asked: &Bound<'py, PyDict>) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    let py = asked.py();
    asked.extract::<T>().map_err(|error| {
        let text = error.value(py).to_string();
        let field = text.strip_prefix("failed to extract field ");
        let Some((_, key)) = field.and_then(|it| it.split_once('.')) else { return error };
        let Some(cause) = error.cause(py) else { return error };
        let text = format!("{key}: {}", cause.value(py));
        if cause.is_instance_of::<PyOverflowError>(py) {
            return PyValueError::new_err(text);
        }
        PyErr::from_type(cause.get_type(py), (text,))
    })
}
