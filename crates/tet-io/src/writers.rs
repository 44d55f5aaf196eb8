//! Finds out who has a file open for writing, by a read lease that is released at once.
//!
//! A read lease (`F_SETLEASE`, `F_RDLCK`) is refused while a file is open for writing anywhere,
//! shared mappings included. If it is granted before and after some reads, and the file's stamp is
//! the same, nothing was written in between: opening and closing the file in between would change
//! its time.

use std::fs::File;

/// Who has a file open for writing, ordered from the safest state to the least safe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Writers {
    /// Nobody.
    #[default]
    Absent,
    /// Unknown: a file of another user, or a file system where leases do not work.
    Unknown,
    /// At least one process.
    Present,
}

/// Finds out who has a file open for writing.
pub(crate) fn writers_of(file: &File) -> Writers {
    writers_on(file, || stops_writers(file))
}

/// Finds out who has a file open for writing; `stops_writers` tells whether a lease on its file system does.
#[cfg(all(feature = "mmap", target_os = "linux"))]
pub(crate) fn writers_on(file: &File, stops_writers: impl FnOnce() -> bool) -> Writers {
    crate::lease::writers_of(file, stops_writers)
}

/// Finds out who has a file open for writing; this system does not support it.
#[cfg(not(all(feature = "mmap", target_os = "linux")))]
pub(crate) fn writers_on(_file: &File, _stops_writers: impl FnOnce() -> bool) -> Writers {
    Writers::Unknown
}

/// Whether a lease on a file, or on others of its file system, stops writers.
#[cfg(all(feature = "mmap", target_os = "linux"))]
pub(crate) fn stops_writers(file: &File) -> bool {
    crate::lease::stops_writers(file)
}

/// Whether a lease on a file stops writers; this system does not support it.
#[cfg(not(all(feature = "mmap", target_os = "linux")))]
pub(crate) fn stops_writers(_file: &File) -> bool {
    false
}
