//! Deep checks: each payload is read once, decoded, and compared with its digest.
//!
//! ```text
//!   page of rows --> jobs --> threads: read a piece, digest it, decode it --> findings, in order
//! ```
//!
//! Decoded data is discarded, so memory does not depend on the sizes declared in the file.

mod payload_check;

use tet_file::integrity::chunk_digests;
use tet_format::digest::PAGE_ROW_COUNT;
use tet_format::index::{IndexRow, ROW_LEN, RowContext, check_payload, check_row};
use tet_format::{Codec, Digest, Error as Fault, Span, layout, usual_decoded_max};
use tet_io::Progress;
use tet_report::Pool;

use self::payload_check::{PayloadCheck, PayloadFinding, RowRequirement, Scratch, run_job};
use super::index::{Index, contexts};
use super::integrity::Digests;
use super::payload::Payloads;
use super::statistics::Statistics;
use super::subject::{Seen, Subject};
use crate::collect::{Collector, Entry};
use crate::error::{Error, Result};

/// Tables of a file, against which its payloads are checked.
#[derive(Clone, Copy)]
pub(super) struct FileTables<'a> {
    pub(super) index: Index,
    /// The end of the payloads.
    pub(super) payload_end: u64,
    pub(super) payloads: &'a Payloads,
    pub(super) digests: &'a Digests,
    pub(super) statistics: Option<Statistics>,
    pub(super) seen: &'a Seen,
}

/// Checks every payload. Returns the number of bytes read, and whether each was compared with its
/// digest.
///
/// # Errors
/// The payloads decode to more bytes than the options allow; one that several rows share is decoded once.
pub(super) fn check(
    subject: &Subject<'_>,
    tables: &FileTables<'_>,
    pool: &Pool,
    progress: &Progress,
    out: &mut Collector,
) -> Result<(u64, bool)> {
    let FileTables { index, payload_end, payloads, digests, statistics, seen } = *tables;
    let contexts = contexts(&seen.datasets);
    let is_sound = |row: &IndexRow, at: u64| {
        let id = usize::try_from(row.dataset_id).unwrap_or(usize::MAX);
        let mut faults: Vec<Fault> = Vec::new();
        let context: Option<&RowContext<'_>> = contexts.get(id);
        let checked = context.map(|context| {
            let placed = check_row(row, at, context, &mut faults);
            let end = subject.superblock.index_end();
            placed.and_then(|()| check_payload(row, at, end, payload_end, &mut faults))
        });
        checked.is_some_and(|checked| checked.is_ok()) && faults.is_empty()
    };
    let mut run =
        DeepCheck { subject, pool, progress, out, done: 0, decoded: 0, is_all: digests.are_sound };
    let mut shared: Vec<(Span, u32, RowRequirement)> = Vec::new();
    let mut start = 0;
    while start < index.row_count {
        let end = index.row_count.min(start.saturating_add(PAGE_ROW_COUNT));
        let (rows, wanted) = read_rows(subject, index, digests, start..end)?;
        let records = statistics.map(|all| all.records(subject.source, start..end)).transpose()?;
        let mut jobs = Vec::with_capacity(rows.len());
        for (nth, (number, row)) in (start..).zip(rows).enumerate() {
            let span =
                row.payload().filter(|_| is_sound(&row, layout::row_at(index.offset, number)));
            let Some(span) = span.filter(|span| !payloads.is_tangled(*span)) else {
                run.is_all = false;
                continue;
            };
            let wanted = wanted.as_ref().and_then(|wanted| wanted.get(nth)).copied();
            let stated = statistics.zip(records.as_ref()).and_then(|(all, records)| {
                let id = usize::try_from(row.dataset_id).ok()?;
                Some((all, seen.datasets.get(id)?.dtype?, *records.get(nth)?))
            });
            let ask = RowRequirement { row: number, raw_len: row.raw_len, wanted, stated };
            if payloads.is_shared(span) {
                shared.push((span, row.codec, ask));
            } else {
                jobs.push(PayloadCheck {
                    span,
                    codec: Codec::from_tag(row.codec),
                    asks: vec![ask],
                });
            }
        }
        run.jobs(&jobs)?;
        start = end;
    }
    run.shared(shared)?;
    Ok((run.done, run.is_all))
}

type Page = (Vec<IndexRow>, Option<Vec<Digest>>);

fn read_rows(
    subject: &Subject<'_>,
    index: Index,
    digests: &Digests,
    rows: std::ops::Range<u64>,
) -> Result<Page> {
    let count = rows.end.saturating_sub(rows.start);
    let at = layout::row_at(index.offset, rows.start);
    let bytes = subject.source.read_vec(at, count.saturating_mul(ROW_LEN))?;
    // Digests that do not match their own say nothing of payloads.
    let block = digests.block.filter(|_| digests.are_sound);
    let wanted = block.map(|block| chunk_digests(subject.source, &block, rows)).transpose()?;
    Ok((bytes.as_chunks().0.iter().map(IndexRow::decode).collect(), wanted))
}

struct DeepCheck<'a> {
    subject: &'a Subject<'a>,
    pool: &'a Pool,
    progress: &'a Progress,
    out: &'a mut Collector,
    done: u64,
    decoded: u64,
    is_all: bool,
}

impl DeepCheck<'_> {
    fn jobs(&mut self, jobs: &[PayloadCheck]) -> Result<()> {
        let (source, progress) = (self.subject.source, self.progress);
        let lens = jobs.iter().map(|job| job.span.len());
        self.done = lens.fold(self.done, u64::saturating_add);
        let decoded_lens = jobs.iter().filter_map(|job| job.asks.first()).map(|ask| ask.raw_len);
        self.decoded = decoded_lens.fold(self.decoded, u64::saturating_add);
        let usual = || usual_decoded_max(source.len());
        let (wanted, limit) =
            (self.decoded, self.subject.options.decoded_max.unwrap_or_else(usual));
        if limit < wanted {
            return Err(Error::Expansion { wanted, limit });
        }
        let findings = self
            .pool
            .map(jobs, Scratch::default, |scratch, job| run_job(source, progress, job, scratch))?;
        for PayloadFinding { code, row, at, found, wanted } in findings.into_iter().flatten() {
            self.out.push(Entry { code, at, found, wanted, row: Some(row) });
        }
        Ok(())
    }

    /// Checks each payload that several rows share once.
    fn shared(&mut self, mut shared: Vec<(Span, u32, RowRequirement)>) -> Result<()> {
        shared.sort_unstable_by_key(|(span, codec, ask)| (*span, *codec, ask.row));
        let same = |a: &(Span, u32, RowRequirement), b: &(Span, u32, RowRequirement)| {
            (a.0, a.1) == (b.0, b.1)
        };
        let groups = shared.chunk_by(same).filter_map(|group| {
            let &(span, codec, _) = group.first()?;
            let asks = group.iter().map(|(_, _, ask)| *ask).collect();
            Some(PayloadCheck { span, codec: Codec::from_tag(codec), asks })
        });
        let jobs: Vec<PayloadCheck> = groups.collect();
        self.jobs(&jobs)
    }
}
