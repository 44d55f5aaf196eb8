//! Whether the file of a source is still what was opened, and who may have written to it.

use std::io;

use super::{Backend, Source};
use crate::error::{Error, Operation, Result};
use crate::stamp::Stamp;
use crate::writers::Writers;

impl Source {
    /// Checks that the file at the path is still the opened one, with the same bytes.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Changed`] when it is not.
    pub fn check_unchanged(&self) -> Result<()> {
        let path = self.path_for_errors();
        if let Backend::Custom(reader) = &self.0.backend {
            let now = reader.version().map_err(|error| self.read_error(error))?;
            return if now == self.0.version { Ok(()) } else { Err(Error::Changed { path }) };
        }
        let (Some(file), Some(at_open)) = (self.0.backend.file(), self.stamp()) else {
            return Ok(());
        };
        let now =
            Stamp::from_file(file).map_err(|error| Error::io(Operation::Stat, &path, error))?;
        if at_open.is_unchanged(&now) { Ok(()) } else { Err(Error::Changed { path }) }
    }

    /// Checks that the file is unchanged and that the path still leads to it: other files that it names may have been
    /// replaced with it.
    ///
    /// # Errors
    ///
    /// As [`Source::check_unchanged`], and [`Error::Io`] when that cannot be found out.
    pub fn check_in_place(&self) -> Result<()> {
        self.check_unchanged()?;
        let (Some(path), Some(stamp)) = (self.path(), self.stamp()) else { return Ok(()) };
        let changed = || Error::Changed { path: path.to_path_buf() };
        match std::fs::metadata(path) {
            Ok(now) if !cfg!(unix) || stamp.is_same_file(&Stamp::from_metadata(&now)) => Ok(()),
            Ok(_) => Err(changed()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(changed()),
            Err(error) => Err(Error::io(Operation::Stat, path, error)),
        }
    }

    /// Who may have changed the file since it was opened without changing its stamp: writes through
    /// a mapping, or one long write, change the file's time only once.
    ///
    /// [`Writers::Absent`], together with [`Source::check_unchanged`], means that all reads since
    /// the file was opened read the same state.
    #[must_use]
    pub fn writers(&self) -> Writers {
        self.0.writers.max(self.0.backend.writers())
    }

    /// Who had the file open for writing when it was opened: as [`Source::writers`] directly after that.
    ///
    /// ```
    /// use tet_io::{Source, Writers};
    ///
    /// assert_eq!(Source::from_bytes(*b"bytes").writers_at_open(), Writers::Absent);
    /// ```
    #[must_use]
    pub fn writers_at_open(&self) -> Writers {
        self.0.writers
    }
}
