//! Reading piece by piece for a caller who is told the progress and may cancel.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tet_format::Span;

use crate::error::Error;
use crate::source::Source;

/// Is told how many bytes were looked at of how many, from any thread.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// The caller asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canceled;

/// How far a reader is with so many bytes, for a caller who may stop it from another thread.
pub struct ProgressReporter<'a> {
    cancel: Option<&'a AtomicBool>,
    progress: Option<&'a Progress>,
    done: AtomicU64,
    all: u64,
}

impl<'a> ProgressReporter<'a> {
    /// Nothing of so many bytes is done.
    #[must_use]
    pub const fn new(
        cancel: Option<&'a AtomicBool>,
        progress: Option<&'a Progress>,
        all: u64,
    ) -> Self {
        ProgressReporter { cancel, progress, done: AtomicU64::new(0), all }
    }

    /// Gives the bytes of a stretch to `visit`, each piece with its place in the file, until it has
    /// seen enough; `window` is memory that is used again.
    ///
    /// # Errors
    ///
    /// As [`Source::for_windows`], and [`Canceled`] when the caller asked to stop.
    pub fn pieces<E: From<Error> + From<Canceled>>(
        &self,
        source: &Source,
        span: Span,
        window: &mut Vec<u8>,
        mut visit: impl FnMut(u64, &[u8]) -> bool,
    ) -> Result<(), E> {
        source.for_windows(span.range(), window, |at, bytes| {
            self.advance(bytes.len() as u64)?;
            Ok(visit(at, bytes))
        })
    }

    /// Reports that so many more bytes were read.
    ///
    /// # Errors
    ///
    /// [`Canceled`], and nothing is reported, when the caller asked to stop.
    pub fn advance(&self, len: u64) -> Result<(), Canceled> {
        if self.cancel.is_some_and(|it| it.load(Ordering::Relaxed)) {
            return Err(Canceled);
        }
        let done = self.done.fetch_add(len, Ordering::Relaxed).saturating_add(len);
        if let Some(progress) = self.progress {
            progress(done.min(self.all), self.all);
        }
        Ok(())
    }
}

impl fmt::Debug for ProgressReporter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgressReporter")
            .field("cancel", &self.cancel)
            .field("done", &self.done)
            .field("all", &self.all)
            .finish_non_exhaustive()
    }
}
