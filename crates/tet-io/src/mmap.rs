//! Mapping a file: the one door the caller must vouch for.
#![allow(unsafe_code, reason = "a map is only as safe as the promise that nobody writes the file")]

use std::io;
use std::path::Path;

use memmap2::MmapOptions;

use crate::error::{Error, Result, Step};
use crate::source::{Backend, Source, open_regular};

impl Source {
    /// Opens and maps a regular file.
    ///
    /// # Errors
    ///
    /// Returns what [`Source::open`] returns, and [`Error::Io`] when the file cannot be mapped.
    ///
    /// # Safety
    ///
    /// Nobody, in this process or another, may write to the file, truncate it or punch holes into
    /// it while the source or one of its clones lives. Replacing it by rename is harmless.
    pub unsafe fn open_mmap(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (file, stamp) = open_regular(path)?;
        let failed = |error| Error::io(Step::Map, path, error);
        let len =
            usize::try_from(stamp.size).map_err(|_| failed(io::ErrorKind::OutOfMemory.into()))?;
        // SAFETY: the caller of this unsafe fn promises that nobody changes the file while the
        // source lives, and the map lives in the source.
        let map = unsafe { MmapOptions::new().len(len).map(&file) }.map_err(failed)?;
        Ok(Self::opened(Backend::Map(file, map), path, stamp))
    }
}

/// Maps a file of the test that calls it.
#[cfg(test)]
pub(crate) fn open_own(path: &Path) -> Source {
    // SAFETY: the tests that call this map files in folders of their own, and write to none of
    // them while the source lives.
    unsafe { Source::open_mmap(path) }.unwrap()
}
