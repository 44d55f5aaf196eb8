//! Bytes behind the end of a file that keeps its name: fast, and not atomic.
//!
//! Whoever reads the file meanwhile, or after a crash, sees the old bytes with more behind them.
//! A format that is read from its end must be able to find its older end again.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, Step};
use crate::source::Source;
use crate::stamp::Stamp;
use crate::vfs::{Disk, Vfs, VfsFile};

/// A file that grows; dropped before [`commit`](Appender::commit), it is cut back to what it was.
#[derive(Debug)]
pub struct Appender {
    file: File,
    path: PathBuf,
    /// How long the file was.
    old_len: u64,
    /// Whether there may be bytes that do not stand yet.
    is_dirty: bool,
    /// Keeps other edits out.
    _lock: Option<File>,
}

impl Appender {
    /// Opens the file that `source` was read from, if it is still in that state.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Changed`] when it is not, [`Error::NotRegular`] when the source is no file,
    /// and [`Error::Io`] when it cannot be written, or somebody else edits it.
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

    /// Makes what was written so far durable, before more is written that speaks of it.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`]; what was written cannot be relied on then.
    pub fn sync(&mut self) -> Result<()> {
        VfsFile::sync(&mut self.file).map_err(|error| Error::io(Step::Sync, &self.path, error))
    }

    /// Makes all of it durable, and lets it stand.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`]; the file is cut back then.
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
        // Nobody is left to hear of a failure; the older end of the file can be found again.
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
