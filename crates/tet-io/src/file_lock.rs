//! A lock between processes: a file that several of them lock together, or one alone.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{Error, Operation, Result};
use crate::source::what_is;

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
        reading.read(true);
        locked(path, reading, File::try_lock_shared)
    }

    /// Locks a file alone; `None` while others have it.
    ///
    /// # Errors
    ///
    /// As [`FileLock::try_shared`].
    pub fn try_exclusive(path: &Path) -> Result<Option<FileLock>> {
        let mut writing = OpenOptions::new();
        writing.read(true).write(true);
        locked(path, writing, File::try_lock)
    }
}

/// Opens a file so that the lock can be had, for which others may have created it, and locks it. The folder may be one of
/// somebody else: a symbolic link at this name would be one to a file outside of it, and a pipe would block.
fn locked(
    path: &Path,
    mut options: OpenOptions,
    lock: impl FnOnce(&File) -> Result<(), TryLockError>,
) -> Result<Option<FileLock>> {
    let opened = match opened(path, &mut options) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let mut creating = OpenOptions::new();
            opened(path, creating.read(true).write(true).create(true).truncate(false))
        }
        opened => opened,
    };
    let not_regular = |what| Error::NotRegular { path: path.to_path_buf(), what };
    let is_link = || fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink());
    let file = opened.map_err(|error| match is_link() {
        true => not_regular("a symbolic link"),
        false => Error::io(Operation::Open, path, error),
    })?;
    let metadata = file.metadata().map_err(|error| Error::io(Operation::Stat, path, error))?;
    if !metadata.is_file() {
        return Err(not_regular(what_is(&metadata)));
    }
    match lock(&file) {
        Ok(()) => Ok(Some(FileLock { _file: file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(Error::io(Operation::Lock, path, error)),
    }
}

/// Opens a file without following a symbolic link, and without blocking on a pipe.
fn opened(path: &Path, options: &mut OpenOptions) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_a_regular_file_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (lock, outside) = (folder.path().join("lock"), folder.path().join("outside"));
        let refused = |what: &str| {
            for locked in [FileLock::try_shared(&lock), FileLock::try_exclusive(&lock)] {
                let Err(Error::NotRegular { what: found, .. }) = locked else { panic!("{what}") };
                assert_eq!(found, what);
            }
        };
        std::os::unix::fs::symlink(&outside, &lock).unwrap();
        refused("a symbolic link");
        assert!(!outside.exists());
        std::fs::remove_file(&lock).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &lock,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        refused("a pipe");
    }
}
