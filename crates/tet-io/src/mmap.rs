//! Maps a file; unsafe, since the caller must guarantee that the file does not change.
#![allow(unsafe_code, reason = "a map is only as safe as the promise that no one writes the file")]

use std::io;
use std::path::Path;

use memmap2::MmapOptions;

use crate::error::{Error, Operation, Result};
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
        let failed = |error| Error::io(Operation::Map, path, error);
        let len =
            usize::try_from(stamp.size).map_err(|_| failed(io::ErrorKind::OutOfMemory.into()))?;
        // SAFETY: the caller of this unsafe fn promises that no one changes the file while the
        // source lives, and the map lives in the source.
        let map = unsafe { MmapOptions::new().len(len).map(&file) }.map_err(failed)?;
        Ok(Self::opened(Backend::Map(file, map), path, stamp))
    }
}

/// Shorter memory uses normal pages.
const HUGE_LEN_MIN: usize = 4 << 20;
/// The length of a normal page.
const PAGE_LEN: usize = 1 << 12;

/// Requests huge pages for memory that is about to be filled: this more than halves the time for
/// large arrays, which otherwise goes into page faults. Without huge pages nothing changes.
pub fn use_huge_pages(memory: &mut [u8]) {
    let start = memory.as_ptr().align_offset(PAGE_LEN);
    let Some(whole) = memory.get_mut(start..).filter(|it| HUGE_LEN_MIN <= it.len()) else { return };
    let len = whole.len() / PAGE_LEN * PAGE_LEN;
    #[cfg(target_os = "linux")]
    // SAFETY: the range lies within memory that is borrowed for this call alone, and the advice
    // changes neither what it holds nor whether it may be used.
    let _ = unsafe {
        let advice = rustix::mm::Advice::LinuxHugepage;
        rustix::mm::madvise(whole.as_mut_ptr().cast(), len, advice)
    };
    #[cfg(not(target_os = "linux"))]
    let _ = len;
}

/// Maps a file of a test.
#[cfg(test)]
pub(crate) fn open_own(path: &Path) -> Source {
    // SAFETY: the tests that call this map files in folders of their own, and write to none of
    // them while the source lives.
    unsafe { Source::open_mmap(path) }.unwrap()
}
