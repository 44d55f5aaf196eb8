//! Checking a file (section 8): every rule it breaks, each with its offset.
//!
//! ```text
//!   container -> index -> entries -> names -> parts -> blob positions -> gaps -> blobs
//! ```
//!
//! The checks run in the order in which a reader meets the parts of a file. Blobs are checked in
//! pieces and on several threads. Findings are reported in the order of the index.

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

use tet_format::{Span, usual_decoded_max};
use tet_io::Source;
use tet_report::{Level, Pool, Report};

use self::agenda::Agenda;
use self::blob::{BlobCheck, Scratch};
use self::collect::{Collector, FieldFault};
use self::parts::Role;
use self::sparse::Memory;
use crate::error::{Error, Result};
use crate::index::Index;
use crate::limits::Limits;
use crate::open::read_index;

/// How thoroughly to check a zTensor file, with which limits, and how much to report.
pub type VerifyOptions = tet_report::VerifyOptions<Limits>;

/// The limited quantity in [`Error::Limit`] when [`VerifyOptions::decoded_max`] is exceeded.
pub const DECODED: &str = "decoded bytes of all tensors";

/// Bytes of blobs that are checked for each byte of the file, and an additional amount.
const WORK_FACTOR: u64 = 16;
const WORK_LEN_MIN: u64 = 1 << 20;

/// Checks a whole file.
///
/// # Errors
///
/// Returns [`Error::Io`] when the file cannot be read or changes meanwhile, [`Error::Canceled`]
/// when the caller cancels, [`Error::Limit`] when blobs overlap many times, or decode to more than
/// [`VerifyOptions::decoded_max`]. Faults of the file are in the report.
pub fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut out = Collector::new(options.findings_max);
    let index = read_index(source, &options.limits, &mut |position, fault, field| {
        out.push(FieldFault { fault, position: Some(position), field });
    });
    let index = match index {
        Ok(index) => index,
        Err(Error::Format(fault)) => {
            out.push(FieldFault { fault, position: None, field: "" });
            source.check_unchanged()?;
            return Ok(report::report(source, options, None, out, 0));
        }
        Err(error) => return Err(error),
    };
    entries::check(&index, &mut out);
    let roles = parts::check(&index, &mut out);
    let gaps = place::check(&index, &mut out);
    let checked_len = check_blobs(source, options, &index, &roles, &gaps, &mut out)?;
    source.check_unchanged()?;
    Ok(report::report(source, options, Some(&index), out, checked_len))
}

/// Checks gaps and blobs at the requested level. Returns the number of bytes checked.
fn check_blobs(
    source: &Source,
    options: &VerifyOptions,
    index: &Index,
    roles: &BTreeMap<usize, Role>,
    gaps: &[Span],
    out: &mut Collector,
) -> Result<u64> {
    if options.level == Level::Structure {
        return Ok(0);
    }
    let gaps = if options.level == Level::Deep { gaps } else { &[] };
    let Agenda { tasks, turns, shared_len } = Agenda::new(index, roles, options.level);
    let blobs_len = tasks.iter().fold(0_u64, |sum, task| sum.saturating_add(task.len()));
    check_work(blobs_len, source.len())?;
    check_decoded(&tasks, options.decoded_max.unwrap_or_else(|| usual_decoded_max(source.len())))?;
    let all = gaps.iter().fold(blobs_len, |sum, gap| sum.saturating_add(gap.len()));
    let all = all.saturating_add(shared_len);
    let progress = options.progress.begin(all);
    progress.advance(shared_len)?;
    for gap in gaps {
        if let Some(fault) = place::check_gap(source, *gap, &progress)? {
            out.push(FieldFault { fault, position: None, field: "" });
        }
    }
    // A decoder may need a window of 2^27 bytes.
    let affordable = (options.memory_budget / 2) >> tet_codec::WINDOW_LOG_MAX;
    let affordable = usize::try_from(affordable).unwrap_or(usize::MAX).max(1);
    let pool = Pool::new(options.threads, affordable.min(tasks.len()), all);
    let memory = Memory::new(options.memory_budget, pool.thread_count());
    let found = pool.map(&tasks, Scratch::default, |scratch, task| {
        task.run(scratch, source, &options.limits, &memory, &progress)
    })?;
    for (position, task) in turns {
        let found = found.get(task).into_iter().flatten();
        found.for_each(|it| out.push(FieldFault { position: Some(position), ..*it }));
    }
    Ok(all)
}

/// Bounds the work on overlapping blobs: else a few bytes that decode to many could be checked
/// again for each entry.
fn check_work(wanted: u64, file_len: u64) -> Result<()> {
    let limit = file_len.saturating_mul(WORK_FACTOR).saturating_add(WORK_LEN_MIN);
    if wanted <= limit {
        return Ok(());
    }
    Err(Error::Limit { what: "bytes of overlapping blobs", wanted, limit })
}

/// Bounds the decoded length of all blobs, which may overlap.
fn check_decoded(tasks: &[BlobCheck<'_>], limit: u64) -> Result<()> {
    let wanted = tasks.iter().fold(0_u64, |sum, task| sum.saturating_add(task.decoded_len()));
    if wanted <= limit {
        return Ok(());
    }
    Err(Error::Limit { what: DECODED, wanted, limit })
}
