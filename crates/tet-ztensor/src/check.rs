//! Checking a file (section 8): every rule it breaks, each with its place.
//!
//! ```text
//!   container -> index -> entries -> names -> parts -> places of blobs -> gaps -> blobs
//! ```
//!
//! The checks stand in the order in which a reader meets the parts of a file. Blobs are looked at on
//! several threads and piece by piece; what is found comes in the order of the index.

mod agenda;
mod blob;
mod collect;
mod elements;
mod entries;
mod parts;
mod place;
mod report;
mod sparse;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};
use tet_format::{Span, usual_decoded_max};
use tet_io::{Progress, Source, Watch};

use self::agenda::Agenda;
use self::blob::{Scratch, Task, WINDOW_LOG_MAX};
use self::collect::{Collector, Found};
use self::parts::Role;
use self::sparse::Memory;
use crate::error::{Error, Result};
use crate::index::Index;
use crate::limits::Limits;
use crate::open::read_index;

pub use report::{Finding, Omitted, Report};

/// How closely to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Depth {
    /// Container, index, entries, and where the blobs lie.
    #[default]
    Structure,
    /// Blobs that have a checksum are compared with it.
    Checksums,
    /// Blobs are decoded, and bytes between them looked at.
    Deep,
}

/// How closely to look, with what, and how much to say.
#[derive(Clone)]
#[non_exhaustive]
pub struct VerifyOptions {
    /// How closely to look.
    pub depth: Depth,
    /// How much of the file's claims to believe.
    pub limits: Limits,
    /// How many findings of one rule are told; the rest are counted.
    pub findings_max: usize,
    /// Threads that look at blobs; 0 means as many as the machine runs at once.
    pub threads: usize,
    /// Bytes of memory for decoders and for sparse tensors that are checked in memory; what takes more
    /// is checked piece by piece.
    pub memory_budget: u64,
    /// The most bytes that all blobs together may decode to; `None` is [`usual_decoded_max`] of the file.
    pub decoded_max: Option<u64>,
    /// Set by the caller to stop early.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Told how far it is.
    pub progress: Option<Progress>,
}

impl VerifyOptions {
    /// Watches over a look at so many bytes.
    pub(crate) fn watch(&self, all: u64) -> Watch<'_> {
        Watch::new(self.cancel.as_deref(), self.progress.as_ref(), all)
    }
}

impl Default for VerifyOptions {
    fn default() -> Self {
        VerifyOptions {
            depth: Depth::default(),
            limits: Limits::default(),
            findings_max: 64,
            threads: 0,
            memory_budget: 1 << 30,
            decoded_max: None,
            cancel: None,
            progress: None,
        }
    }
}

impl fmt::Debug for VerifyOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifyOptions")
            .field("depth", &self.depth)
            .field("limits", &self.limits)
            .field("findings_max", &self.findings_max)
            .field("threads", &self.threads)
            .field("memory_budget", &self.memory_budget)
            .finish_non_exhaustive()
    }
}

/// What passes [`VerifyOptions::decoded_max`], in [`Error::Limit`].
pub const DECODED: &str = "decoded bytes of all tensors";

/// Bytes of blobs that are looked at for each byte of the file, and so many more.
const WORK_FACTOR: u64 = 16;
const WORK_LEN_MIN: u64 = 1 << 20;

/// What one thread looks at sooner than several are made.
const ALONE_LEN_MAX: u64 = 4 << 20;

/// Checks a whole file.
///
/// # Errors
///
/// Returns [`Error::Io`] when the file cannot be read or changes meanwhile, [`Error::Canceled`]
/// when the caller asks to stop, [`Error::Limit`] when blobs lie over each other many times, or decode to
/// more than [`VerifyOptions::decoded_max`]. What is wrong with the file is in the report.
pub fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut out = Collector::new(options.findings_max);
    let index = read_index(source, &options.limits, &mut |position, fault, field| {
        out.push(Found { fault, position: Some(position), field });
    });
    let index = match index {
        Ok(index) => index,
        Err(Error::Format(fault)) => {
            out.push(Found { fault, position: None, field: "" });
            source.check_unchanged()?;
            return Ok(report::report(source, options, None, out, 0));
        }
        Err(error) => return Err(error),
    };
    entries::check(&index, &mut out);
    let roles = parts::check(&index, &mut out);
    let gaps = place::check(&index, &mut out);
    let checked_len = check_blobs(source, options, (&index, &roles), &gaps, &mut out)?;
    source.check_unchanged()?;
    Ok(report::report(source, options, Some(&index), out, checked_len))
}

/// Looks at gaps and blobs, as closely as is asked for; says how many bytes that came to.
fn check_blobs(
    source: &Source,
    options: &VerifyOptions,
    (index, roles): (&Index, &BTreeMap<usize, Role>),
    gaps: &[Span],
    out: &mut Collector,
) -> Result<u64> {
    if options.depth == Depth::Structure {
        return Ok(0);
    }
    let gaps = if options.depth == Depth::Deep { gaps } else { &[] };
    let Agenda { tasks, turns, shared_len } = Agenda::of(index, roles, options.depth);
    let blobs_len = tasks.iter().fold(0_u64, |sum, task| sum.saturating_add(task.len()));
    check_work(blobs_len, source.len())?;
    check_decoded(&tasks, options.decoded_max.unwrap_or_else(|| usual_decoded_max(source.len())))?;
    let all = gaps.iter().fold(blobs_len, |sum, gap| sum.saturating_add(gap.len()));
    let all = all.saturating_add(shared_len);
    let watch = options.watch(all);
    watch.tell(shared_len)?;
    for gap in gaps {
        if let Some(fault) = place::check_gap(source, *gap, &watch)? {
            out.push(Found { fault, position: None, field: "" });
        }
    }
    let pool = if all <= ALONE_LEN_MAX { None } else { pool(options, tasks.len()) };
    let thread_count = pool.as_ref().map_or(1, ThreadPool::current_num_threads);
    let memory = Memory::new(options.memory_budget, thread_count);
    let look = |scratch: &mut Scratch, task: &Task<'_>| {
        task.run(scratch, (source, &options.limits, &memory), &watch)
    };
    let found: Vec<Result<Vec<Found>>> = match &pool {
        Some(pool) => pool.install(|| tasks.par_iter().map_init(Scratch::default, look).collect()),
        // Without threads the caller's own does the work.
        None => {
            let mut scratch = Scratch::default();
            tasks.iter().map(|task| look(&mut scratch, task)).collect()
        }
    };
    // Of several errors the first in the file is told.
    let found = found.into_iter().collect::<Result<Vec<_>>>()?;
    for (position, task) in turns {
        let found = found.get(task).into_iter().flatten();
        found.for_each(|it| out.push(Found { position: Some(position), ..*it }));
    }
    Ok(all)
}

/// Bounds the bytes of blobs, some of which may lie over each other: else a few bytes that decode
/// to many could be looked at once for each entry.
fn check_work(wanted: u64, file_len: u64) -> Result<()> {
    let limit = file_len.saturating_mul(WORK_FACTOR).saturating_add(WORK_LEN_MIN);
    if wanted <= limit {
        return Ok(());
    }
    Err(Error::Limit { what: "bytes of blobs that lie over each other", wanted, limit })
}

/// Bounds what blobs decode to: several may lie over each other.
fn check_decoded(tasks: &[Task<'_>], limit: u64) -> Result<()> {
    let wanted = tasks.iter().fold(0_u64, |sum, task| sum.saturating_add(task.decoded_len()));
    if wanted <= limit {
        return Ok(());
    }
    Err(Error::Limit { what: DECODED, wanted, limit })
}

/// As many threads as are asked for, the machine has, and there is work for; none where one will do.
fn pool(options: &VerifyOptions, task_count: usize) -> Option<ThreadPool> {
    let all = || std::thread::available_parallelism().map_or(1, Into::into);
    let asked = if options.threads == 0 { all() } else { options.threads };
    // A decoder may need a window of 2^27 bytes.
    let affordable = (options.memory_budget / 2) >> WINDOW_LOG_MAX;
    let affordable = usize::try_from(affordable).unwrap_or(usize::MAX).max(1);
    let count = asked.min(task_count).min(affordable);
    let builder = ThreadPoolBuilder::new().num_threads(count);
    let builder = builder.thread_name(|at| format!("tet-ztensor-{at}"));
    (count > 1).then(|| builder.build().ok()).flatten()
}
