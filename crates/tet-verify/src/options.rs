//! How closely to look, with what, and how much to say.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tet_format::Limits;
use tet_io::{Progress, Watch};

use crate::error::{Error, Result};
use crate::level::Level;

/// How closely to look, with what, and how much to say.
#[derive(Clone)]
#[non_exhaustive]
pub struct VerifyOptions {
    /// How closely to look.
    pub level: Level,
    /// What becomes of warnings.
    pub strictness: Strictness,
    /// How much of the file's claims to believe.
    pub limits: Limits,
    /// How many findings of one code are told; the rest are counted.
    pub findings_max: usize,
    /// The most index rows that are looked at: each takes 24 bytes of memory, twice over.
    pub row_count_max: u64,
    /// The most bytes between payloads that are looked at; [`Level::Deep`] looks at all.
    pub gap_len_max: u64,
    /// Threads that look at payloads; 0 means as many as the machine runs at once.
    pub threads: usize,
    /// Bytes that decoders may hold, which bounds the threads. A frame with the largest window that
    /// the format allows takes 128 MiB, whatever is asked for.
    pub memory_budget: u64,
    /// The most bytes that objects of a Tensogram file may decode to when all are decoded; the bound of
    /// a reader unless it is given.
    pub decoded_max: Option<u64>,
    /// Set by the caller to stop early.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Told how far it is.
    pub progress: Option<Progress>,
}

/// What becomes of warnings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strictness {
    /// They are warnings.
    #[default]
    Usual,
    /// They are errors.
    Strict,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        VerifyOptions {
            level: Level::Structure,
            strictness: Strictness::Usual,
            limits: Limits::default(),
            findings_max: 64,
            row_count_max: 1 << 24,
            gap_len_max: 64 << 20,
            threads: 0,
            memory_budget: 256 << 20,
            decoded_max: None,
            cancel: None,
            progress: None,
        }
    }
}

impl fmt::Debug for VerifyOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifyOptions")
            .field("level", &self.level)
            .field("strictness", &self.strictness)
            .field("threads", &self.threads)
            .field("memory_budget", &self.memory_budget)
            .finish_non_exhaustive()
    }
}

impl VerifyOptions {
    /// Stops when the caller asked to stop.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Canceled`] when it did.
    pub fn check_canceled(&self) -> Result<()> {
        let is_canceled = self.cancel.as_ref().is_some_and(|it| it.load(Ordering::Relaxed));
        if is_canceled { Err(Error::Canceled) } else { Ok(()) }
    }

    /// Watches over a look at so many bytes.
    pub(crate) fn watch(&self, all: u64) -> Watch<'_> {
        Watch::new(self.cancel.as_deref(), self.progress.as_ref(), all)
    }
}
