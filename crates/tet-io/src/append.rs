//! Appends bytes to an existing file: fast, but not atomic.
//!
//! Readers of the file meanwhile, or after a crash, see the old bytes and more after them. A format
//! that is read from its end must be able to find its older end again.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, Step};
use crate::source::Source;
use crate::stamp::Stamp;
use crate::vfs::{Disk, Vfs, VfsFile};

/// A file that is appended to. Dropping it before [`commit`](Appender::commit) undoes that.
#[derive(Debug)]
pub struct Appender {
    file: File,
    path: PathBuf,
    /// The old length of the file.
    old_len: u64,
    /// Whether uncommitted bytes may have been written.
    is_dirty: bool,
    /// Prevents concurrent edits.
    _lock: Option<File>,
}

impl Appender {
    /// Opens the file of `source`, if it has not changed since.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Changed`] when it has, [`Error::NotRegular`] when the source is no file,
    /// and [`Error::Io`] when it cannot be written or is being edited.
    pub fn begin(source: &Source) -> Result<Self> {
        let (Some(path), Some(stamp)) = (source.path(), source.stamp()) else {
            let path = PathBuf::from("(memory)");
            return Err(Error::NotRegular { path, what: "bytes in memory" });
        };
        let fault = |step| move |error| Error::io(step, path, error);
        let lock = Disk.lock(path).map_err(fault(Step::Lock))?;
        let mut file =
            OpenOptions::new().read(true).write(true).open(path).map_err(fault(Step::Open))?;
        let now = Stamp::of(&file).map_err(fault(Step::Stat))?;
        if !stamp.is_same_state(&now) {
            return Err(Error::Changed { path: path.to_path_buf() });
        }
        file.seek(SeekFrom::End(0)).map_err(fault(Step::Write))?;
        let path = path.to_path_buf();
        Ok(Self { file, path, old_len: now.size, is_dirty: false, _lock: lock })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Syncs the bytes written so far, before bytes that refer to them are written.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`]; the bytes may be lost then.
    pub fn sync(&mut self) -> Result<()> {
        VfsFile::sync(&mut self.file).map_err(|error| Error::io(Step::Sync, &self.path, error))
    }

    /// Syncs all bytes and completes the append.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`]; the file gets its old length then.
    pub fn commit(mut self) -> Result<()> {
        self.sync()?;
        self.is_dirty = false;
        Ok(())
    }
}

impl Write for Appender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_dirty = true;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        // A failure cannot be reported here; the older end of the file can be found again.
        while self.is_dirty {
            match self.file.set_len(self.old_len) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => self.is_dirty = false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_committed_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, b"old").unwrap();
        let source = Source::open(&path).unwrap();
        let mut appender = Appender::begin(&source).unwrap();
        appender.write_all(b" and new").unwrap();
        appender.sync().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old and new");
        drop(appender);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        let source = Source::open(&path).unwrap();
        let mut appender = Appender::begin(&source).unwrap();
        assert!(Appender::begin(&source).is_err(), "one at a time");
        appender.write_all(b" and new").unwrap();
        appender.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old and new");
        assert!(Appender::begin(&source).is_err(), "it is not in that state any more");
        assert!(Appender::begin(&Source::from_bytes(b"old".to_vec())).is_err());
    }
}
