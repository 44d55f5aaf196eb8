//! Mapping a file: the one door the caller must vouch for, and the raw map under a lease.
#![allow(unsafe_code, reason = "a map is only as safe as the promise that nobody writes the file")]

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::{Mmap, MmapOptions};

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
        // SAFETY: the caller of this unsafe fn promises that nobody changes the file while the
        // source lives, and the map lives in the source.
        let map =
            unsafe { map(&file, stamp.size) }.map_err(|error| Error::io(Step::Map, path, error))?;
        Ok(Self::opened(Backend::Map(file, map), path, stamp))
    }
}

/// Maps the first `len` bytes of a file for reading.
///
/// # Safety
///
/// Nobody may change the file while the map lives, and it must hold `len` bytes.
pub(crate) unsafe fn map(file: &File, len: u64) -> io::Result<Mmap> {
    let len = usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
    // SAFETY: the caller of this unsafe fn promises what `MmapOptions::map` asks for: the file
    // holds `len` bytes and nobody changes it while the map lives.
    unsafe { MmapOptions::new().len(len).map(file) }
}

/// Maps a file of the test that calls it.
#[cfg(test)]
pub(crate) fn open_own(path: &Path) -> Source {
    // SAFETY: the tests that call this map files in folders of their own, and write to none of
    // them while the source lives.
    unsafe { Source::open_mmap(path) }.unwrap()
}
