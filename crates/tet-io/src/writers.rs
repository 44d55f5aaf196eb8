//! Who has a file open for writing: asked of the kernel by a read lease that is given back at once.
//!
//! A read lease (`F_SETLEASE`, `F_RDLCK`) is refused while a file is open for writing anywhere, shared
//! maps included. Where it is granted at the start and at the end of some reads, and the file's
//! stamp is the same, nothing was written in between: whoever opened the file after the first look
//! and closed it before the second has changed its time.

use std::fs::File;

/// Who has a file open for writing. The order is that of trust: the greater, the less is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Writers {
    /// Nobody.
    Absent,
    /// The system does not tell: a file of another user, or a file system without leases that bind.
    Unknown,
    /// Somebody.
    Present,
}

/// Asks who has a file open for writing.
#[cfg(all(feature = "mmap", target_os = "linux"))]
pub(crate) fn writers_of(file: &File) -> Writers {
    crate::lease::writers_of(file)
}

/// Asks who has a file open for writing; this system has no way to tell.
#[cfg(not(all(feature = "mmap", target_os = "linux")))]
pub(crate) fn writers_of(_file: &File) -> Writers {
    Writers::Unknown
}
