//! Reading for a caller who watches: piece by piece, until asked to stop, telling how far it is.

use std::sync::atomic::{AtomicU64, Ordering};

use tet_format::Span;
use tet_io::Source;

use super::VerifyOptions;
use crate::error::{Error, Result};

/// How far it is.
pub(super) struct Watch<'a> {
    options: &'a VerifyOptions,
    done: AtomicU64,
    all: u64,
}

impl<'a> Watch<'a> {
    /// Nothing of so many bytes is done.
    pub(super) fn new(options: &'a VerifyOptions, all: u64) -> Self {
        Watch { options, done: AtomicU64::new(0), all }
    }

    /// Gives the bytes of a stretch to `visit`, each piece with its place in the file, until it has
    /// seen enough.
    pub(super) fn pieces(
        &self,
        source: &Source,
        span: Span,
        window: &mut Vec<u8>,
        mut visit: impl FnMut(u64, &[u8]) -> bool,
    ) -> Result<()> {
        source.for_windows(span.range(), window, |at, bytes| {
            self.tell(bytes.len() as u64)?;
            Ok(visit(at, bytes))
        })
    }

    /// Tells that so many more bytes were looked at, unless the caller asked to stop.
    pub(super) fn tell(&self, len: u64) -> Result<()> {
        if self.options.cancel.as_ref().is_some_and(|it| it.load(Ordering::Relaxed)) {
            return Err(Error::Canceled);
        }
        let done = self.done.fetch_add(len, Ordering::Relaxed).saturating_add(len);
        if let Some(progress) = &self.options.progress {
            progress(done.min(self.all), self.all);
        }
        Ok(())
    }
}
