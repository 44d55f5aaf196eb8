//! Options of checks.

use std::fmt;

use tet_io::Progress;

use crate::level::Level;

/// Options of a check. `L` are the limits of the container.
#[derive(Clone)]
pub struct VerifyOptions<L> {
    /// How thoroughly to check.
    pub level: Level,
    /// How to treat warnings.
    pub strictness: Strictness,
    /// The limits of the reader.
    pub limits: L,
    /// How many findings of one code are reported; the rest are counted.
    pub findings_max: usize,
    /// The most index rows of a `.tet` file that are read: each takes 48 bytes of memory.
    pub row_count_max: u64,
    /// The most bytes between payloads of a `.tet` file that are read; [`Level::Deep`] reads all.
    pub gap_len_max: u64,
    /// Threads that read payloads; 0 is one per processor.
    pub threads: usize,
    /// Memory of decoders and of checks of sparse tensors, which limits the threads; larger data is
    /// checked piece by piece. A frame with the largest window that `.tet` allows takes 128 MiB in
    /// any case.
    pub memory_budget: u64,
    /// The most bytes that all payloads together may decode to; `None` is
    /// [`usual_decoded_max`](tet_format::usual_decoded_max) of the file.
    pub decoded_max: Option<u64>,
    /// Receives the number of bytes read, and may cancel.
    pub progress: Progress,
}

/// How to treat warnings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strictness {
    /// As warnings.
    #[default]
    Usual,
    /// As errors.
    Strict,
}

impl<L: Default> Default for VerifyOptions<L> {
    fn default() -> Self {
        VerifyOptions {
            level: Level::Structure,
            strictness: Strictness::Usual,
            limits: L::default(),
            findings_max: 64,
            row_count_max: 1 << 24,
            gap_len_max: 64 << 20,
            threads: 0,
            memory_budget: 256 << 20,
            decoded_max: None,
            progress: Progress::default(),
        }
    }
}

impl<L: fmt::Debug> fmt::Debug for VerifyOptions<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifyOptions")
            .field("level", &self.level)
            .field("strictness", &self.strictness)
            .field("limits", &self.limits)
            .field("threads", &self.threads)
            .field("memory_budget", &self.memory_budget)
            .finish_non_exhaustive()
    }
}

impl<L> VerifyOptions<L> {
    /// Replaces the limits by those of another container.
    #[must_use]
    pub fn with_limits<M>(&self, limits: M) -> VerifyOptions<M> {
        VerifyOptions {
            level: self.level,
            strictness: self.strictness,
            limits,
            findings_max: self.findings_max,
            row_count_max: self.row_count_max,
            gap_len_max: self.gap_len_max,
            threads: self.threads,
            memory_budget: self.memory_budget,
            decoded_max: self.decoded_max,
            progress: self.progress.clone(),
        }
    }
}
