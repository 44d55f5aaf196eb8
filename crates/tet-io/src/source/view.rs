//! The bytes of a source that are in memory or mapped.

use std::ops::Range;

#[cfg(all(feature = "mmap", target_os = "linux"))]
use crate::lease::LeasedView;

/// The bytes of a file in place, valid while this value exists.
#[derive(Debug)]
pub struct View<'a>(pub(super) ViewOf<'a>);

#[derive(Debug)]
pub(super) enum ViewOf<'a> {
    Bytes(&'a [u8]),
    #[cfg(all(feature = "mmap", target_os = "linux"))]
    Leased(LeasedView<'a>),
}

impl View<'_> {
    /// These bytes of the file; `None` past the end, or if pages of a leased mapping cannot be
    /// loaded.
    #[must_use]
    pub fn bytes(&self, range: Range<u64>) -> Option<&[u8]> {
        let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
        match &self.0 {
            ViewOf::Bytes(bytes) => bytes.get(range),
            #[cfg(all(feature = "mmap", target_os = "linux"))]
            ViewOf::Leased(view) => view.bytes(range),
        }
    }

    /// All bytes of the file; empty if they must be read.
    #[must_use]
    pub fn whole(&self) -> &[u8] {
        let len = match &self.0 {
            ViewOf::Bytes(bytes) => bytes.len(),
            #[cfg(all(feature = "mmap", target_os = "linux"))]
            ViewOf::Leased(view) => view.len(),
        };
        self.bytes(0..len as u64).unwrap_or_default()
    }
}
