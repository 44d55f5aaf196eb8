//! Checksums of whole datasets, which some containers have in the place of digests of chunks.
//!
//! A container supplies the digester; reading, caching and the policy are here and in
//! `fetch/check.rs`.

use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use tet_format::{ForeignFault, Span};
use tet_io::Source;

use crate::budget::Execution;
use crate::buffer;
use crate::error::Result;

/// A checksum of all stored bytes of a dataset.
pub trait Seal: Send + Sync {
    /// The bytes it is of; they lie in the file.
    fn span(&self) -> Span;

    /// A digester that has seen nothing.
    fn digester(&self) -> Box<dyn SealDigester + '_>;
}

/// Takes the bytes of a [`Seal`] as they come, in order.
pub trait SealDigester {
    /// Takes the next bytes.
    fn update(&mut self, bytes: &[u8]);

    /// The fault, when the bytes are not those that were sealed.
    fn fault(self: Box<Self>) -> Option<ForeignFault>;
}

/// A seal, and what came of comparing it.
pub struct Sealed {
    seal: Box<dyn Seal>,
    outcome: Mutex<Option<Option<ForeignFault>>>,
}

impl Sealed {
    /// A seal that was not compared yet.
    #[must_use]
    pub fn new(seal: impl Seal + 'static) -> Sealed {
        Sealed { seal: Box::new(seal), outcome: Mutex::new(None) }
    }

    /// The cached outcome of the comparison; `None` before the first one.
    #[must_use]
    pub fn known(&self) -> Option<Option<ForeignFault>> {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compares the stored bytes with the checksum once and caches the outcome; concurrent callers
    /// wait for it.
    ///
    /// # Errors
    ///
    /// Returns an error when the bytes cannot be read, or the caller stops.
    pub fn compare(&self, source: &Source, how: &Execution) -> Result<Option<ForeignFault>> {
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = *outcome {
            return Ok(known);
        }
        let found = self.compared_again(source, how)?;
        *outcome = Some(found);
        Ok(found)
    }

    /// Compares the stored bytes again, ignoring the cached outcome.
    pub(crate) fn compared_again(
        &self,
        source: &Source,
        how: &Execution,
    ) -> Result<Option<ForeignFault>> {
        let mut digester = self.seal.digester();
        for_windows(source, self.seal.span().range(), how, |bytes| digester.update(bytes))?;
        Ok(digester.fault())
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealed").field("span", &self.seal.span()).finish_non_exhaustive()
    }
}

/// Goes through a stretch of the file, in place where it is mapped.
fn for_windows(
    source: &Source,
    stretch: Range<u64>,
    how: &Execution,
    mut visit: impl FnMut(&[u8]),
) -> Result<()> {
    let mut window = Vec::new();
    let mut at = stretch.start;
    while at < stretch.end {
        how.progress.check()?;
        let end = stretch.end.min(at.saturating_add(how.tuning.seal_window_len));
        let view = source.view();
        match view.as_ref().and_then(|view| view.bytes(at..end)) {
            Some(bytes) => visit(bytes),
            None => {
                window.resize(buffer::len(end - at)?, 0);
                source.read_exact_at(at, &mut window)?;
                visit(&window);
            }
        }
        at = end;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
