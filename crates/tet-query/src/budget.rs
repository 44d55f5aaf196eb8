//! How much may be held and used at once while a plan executes.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZero;
use std::sync::OnceLock;

use tet_io::{Access, Progress, Source};

use crate::coalesce::Coalesce;
use crate::error::{Error, Result};
use crate::tuning::Tuning;

/// The most threads that a caller may ask for.
///
/// ```
/// assert!(tet_query::Execution::default().threads <= tet_query::THREADS_MAX);
/// ```
pub const THREADS_MAX: usize = 1024;

/// How a plan is executed. Results never depend on it.
#[derive(Clone)]
pub struct Execution {
    /// Threads to use; 0 means all there are.
    pub threads: usize,
    /// Bytes that may be in flight at once, windows and decoded chunks together.
    pub memory_budget: u64,
    /// The most bytes a result may have.
    pub result_max: u64,
    /// The most bytes that the payloads of a file may decode to in one answer. Unless it is given, 16
    /// GiB, or 65,536 times the length of the file where that is more.
    pub decoded_max: Option<u64>,
    /// Which gaps are read through.
    pub coalesce: Coalesce,
    /// Which payloads are compared with their digests.
    pub digests: DigestPolicy,
    /// Whether reductions use the statistics of chunks.
    pub statistics: StatisticsPolicy,
    /// Receives the number of selected bytes that are finished, and can cancel.
    pub progress: Progress,
    /// Cost of requests to a local file, which sets the length of reads and of read-ahead; a file of a server has its
    /// own.
    ///
    /// With [`Access::SERVER`] a plan of a local file is that of the same file on a server.
    pub access: Access,
    /// The sizes that work is cut by; only tests change them.
    #[doc(hidden)]
    pub tuning: Tuning,
}

/// Which payloads are compared with their digests, where a file has any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DigestPolicy {
    /// Every chunk of which every byte is read, whatever way it is read, by one half of its digest:
    /// XXH3 before it is decoded, CRC-32C of raw elements as they are used. Chunks of which a part is
    /// read are not compared. A [`Seal`](crate::Seal), which is of a whole dataset, is compared before
    /// all of the dataset is read.
    #[default]
    Auto,
    /// All that are touched, whole, mapped ones too, by both halves; a seal before any byte of its
    /// dataset is used.
    Always,
    /// None.
    Never,
}

/// Whether reductions use the statistics of chunks that a file has, instead of the chunks. Values do not depend on it,
/// unless the program that wrote the statistics was wrong.
///
/// ```
/// use tet_query::{Execution, StatisticsPolicy};
///
/// assert_eq!(Execution::default().statistics, StatisticsPolicy::Verified);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StatisticsPolicy {
    /// No: every chunk that is selected is read.
    Never,
    /// Once they were compared with their digest; not with [`DigestPolicy::Always`], which compares the chunks.
    #[default]
    Verified,
    /// As they are, without a comparison: such an answer is unchecked.
    Trust,
}

/// 1 GiB.
const MEMORY_BUDGET: u64 = 1 << 30;
/// 16 GiB: no sparse file of a terabyte is taken for an array by accident.
const RESULT_MAX: u64 = 1 << 34;
/// Read-ahead of a server's file takes at most this share of the budget, and at most this many bytes.
const AHEAD_SHARE: u64 = 4;
const AHEAD_LEN_MAX: u64 = 256 << 20;

impl Default for Execution {
    fn default() -> Self {
        Execution {
            threads: 0,
            memory_budget: MEMORY_BUDGET,
            result_max: RESULT_MAX,
            decoded_max: None,
            coalesce: Coalesce::DEFAULT,
            digests: DigestPolicy::Auto,
            statistics: StatisticsPolicy::default(),
            progress: Progress::default(),
            access: Access::LOCAL,
            tuning: Tuning::default(),
        }
    }
}

impl fmt::Debug for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Execution")
            .field("threads", &self.threads)
            .field("memory_budget", &self.memory_budget)
            .field("result_max", &self.result_max)
            .field("decoded_max", &self.decoded_max)
            .field("coalesce", &self.coalesce)
            .field("digests", &self.digests)
            .field("statistics", &self.statistics)
            .finish_non_exhaustive()
    }
}

impl Execution {
    /// Replaces the progress.
    #[must_use]
    pub fn with_progress(&self, progress: Progress) -> Execution {
        Execution { progress, ..self.clone() }
    }

    /// Starts the progress of new work on `all` bytes: see [`Progress::begin`].
    #[must_use]
    pub fn begin(&self, all: u64) -> Execution {
        self.with_progress(self.progress.begin(all))
    }

    /// Silences the progress, for a part of the work that its caller reports: see
    /// [`Progress::silent`].
    #[must_use]
    pub fn silent(&self) -> Execution {
        self.with_progress(self.progress.silent())
    }

    /// Limits the memory budget to the hint of a file: a hint lowers the budget and never raises
    /// it.
    #[must_use]
    pub fn within(mut self, hint: Option<u64>) -> Execution {
        self.memory_budget = hint.map_or(self.memory_budget, |hint| self.memory_budget.min(hint));
        self
    }

    /// Settings for the file of `source`: with the access cost of that source.
    pub(crate) fn suited(&self, source: &Source) -> Cow<'_, Execution> {
        let access = source.access();
        let access = if access.is_remote() { access } else { self.access };
        if access == Access::LOCAL {
            return Cow::Borrowed(self);
        }
        let is_wide = access.is_remote() && self.coalesce == Coalesce::DEFAULT;
        let coalesce = if is_wide { Coalesce { gap_max: access.gap_max } } else { self.coalesce };
        Cow::Owned(Execution { access, coalesce, ..self.clone() })
    }

    /// The most bytes of a run in one read of a thread.
    pub(crate) fn window_len(&self) -> u64 {
        let least = self.tuning.window_len_min;
        (self.memory_budget / 8).clamp(least, self.access.request_len.max(least))
    }

    /// The most bytes that are read ahead: none of a local file.
    pub(crate) fn ahead_len(&self) -> u64 {
        let len = (self.memory_budget / AHEAD_SHARE).min(AHEAD_LEN_MAX);
        if self.access.is_remote() { len } else { 0 }
    }

    /// How many threads may work at once when each holds `held` bytes besides its windows.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Budget`] when `held` alone is over the budget.
    pub(crate) fn workers(&self, held: u64) -> Result<usize> {
        if self.memory_budget < held {
            return Err(Error::Budget { wanted: held, budget: self.memory_budget });
        }
        Ok(self.affordable(held))
    }

    /// Number of workers that the budget allows for `held` bytes each, without a check: at least
    /// one.
    pub(crate) fn affordable(&self, held: u64) -> usize {
        let each = held.saturating_add(2 * self.window_len());
        let affordable = ((self.memory_budget - self.ahead_len()) / each).max(1);
        let threads = if self.threads == 0 { thread_count() } else { self.threads };
        threads.min(usize::try_from(affordable).unwrap_or(usize::MAX))
    }

    /// Checks what payloads of a file of `file_len` bytes decode to, before any is decoded.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Expansion`] when it is more than [`Execution::decoded_max`].
    pub fn check_decoded(&self, wanted: u64, file_len: u64) -> Result<()> {
        let limit = self.decoded_max.unwrap_or_else(|| tet_format::usual_decoded_max(file_len));
        if wanted <= limit { Ok(()) } else { Err(Error::Expansion { wanted, limit }) }
    }

    /// Checks a result's length before it is allocated.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Limit`] when it is over [`Execution::result_max`].
    pub(crate) fn check_result(&self, len: Option<u64>) -> Result<()> {
        match len {
            Some(len) if len <= self.result_max => Ok(()),
            _ => {
                let (wanted, limit) = (len.unwrap_or(u64::MAX), self.result_max);
                Err(Error::Limit { what: "bytes of the result", wanted, limit })
            }
        }
    }
}

/// The threads this process may use. Determined once: the system call is slow.
fn thread_count() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, NonZero::get))
}
