//! The options of `open` as the engine has them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tet_convert::Io;
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

/// Whether a new file gets statistics of its chunks.
pub(crate) fn statistics_choice(stats: bool) -> StatisticsChoice {
    if stats { StatisticsChoice::default() } else { StatisticsChoice::Left }
}

/// The error for a word that is not one of these.
pub(crate) fn unknown(what: &str, name: &str, known: &str) -> PyErr {
    PyValueError::new_err(format!("{what}={name:?} is not one of {known}"))
}
