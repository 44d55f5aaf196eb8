//! A lock between processes: a file that several of them lock together, or one alone.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{Error, Result, Step};

/// A lock on a file, until it is dropped or the process ends. It is advisory.
///
/// # Examples
///
/// ```
/// use tet_io::FileLock;
///
/// let path = std::env::temp_dir().join(format!("tet-lock-{}", std::process::id()));
/// let [first, second] = [FileLock::try_shared(&path)?, FileLock::try_shared(&path)?];
/// assert!(first.is_some() && second.is_some());
/// assert!(FileLock::try_exclusive(&path)?.is_none());
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

impl FileLock {
    /// Locks a file together with others who do so; `None` while somebody has it alone. The file is created if it
    /// does not exist.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when the file cannot be created, or the file system has no locks.
    pub fn try_shared(path: &Path) -> Result<Option<FileLock>> {
        let mut reading = OpenOptions::new();
        locked(path, reading.read(true), File::try_lock_shared)
    }

    /// Locks a file alone; `None` while others have it.
    ///
    /// # Errors
    ///
    /// As [`FileLock::try_shared`].
    pub fn try_exclusive(path: &Path) -> Result<Option<FileLock>> {
        let mut writing = OpenOptions::new();
        locked(path, writing.read(true).write(true), File::try_lock)
    }
}

/// Opens a file so that the lock can be had, for which others may have created it, and locks it.
fn locked(
    path: &Path,
    options: &OpenOptions,
    lock: impl FnOnce(&File) -> Result<(), TryLockError>,
) -> Result<Option<FileLock>> {
    let opened = match options.open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let mut creating = OpenOptions::new();
            creating.read(true).write(true).create(true).truncate(false).open(path)
        }
        opened => opened,
    };
    let file = opened.map_err(|error| Error::io(Step::Open, path, error))?;
    match lock(&file) {
        Ok(()) => Ok(Some(FileLock { _file: file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(Error::io(Step::Lock, path, error)),
    }
}
