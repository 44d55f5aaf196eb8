//! Checks bytes that belong to no structure.

use tet_format::index::gaps;
use tet_format::{Error as Fault, Faults, Note, NoteCode, Rule, Span};
use tet_io::Progress;
use tet_report::{Level, Pool};

use super::footer::Bounds;
use super::integrity::Digests;
use super::subject::Subject;
use crate::collect::Collector;
use crate::error::{Error, Result};

/// A gap is read by several threads in pieces of this length.
const PIECE_LEN: u64 = 64 << 20;
/// The number of pieces that are distributed at once.
const PIECES_MAX: usize = 1024;

/// The bytes that belong neither to payloads nor to anything after them.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    spans: Vec<Span>,
    /// The number of bytes to check.
    pub(super) len: u64,
    /// The number of bytes that are too many to check.
    pub(super) len_left: u64,
}

/// Finds the gaps between the sorted payloads, and after them.
pub(super) fn find(
    subject: &Subject<'_>,
    payloads: &[Span],
    bounds: &Bounds,
    digests: &Digests,
) -> Gaps {
    let spills = bounds.spills.iter().filter_map(|spill| Span::new(spill.offset, spill.len));
    let behind = spills.chain(digests.spans.iter().copied()).chain(bounds.stale);
    let mut covered: Vec<Span> = payloads.iter().copied().chain(behind).collect();
    covered.sort_unstable();
    let within = Span::from_range(subject.superblock.index_end()..bounds.gap_end);
    let mut left = match subject.options.level {
        Level::Structure => subject.options.gap_len_max,
        _ => u64::MAX,
    };
    let mut found = Gaps::default();
    for gap in within.iter().flat_map(|&within| gaps(&covered, within)) {
        let len = gap.len().min(left);
        left = left.saturating_sub(len);
        found.len = found.len.saturating_add(len);
        found.len_left = found.len_left.saturating_add(gap.len().saturating_sub(len));
        found.spans.extend(Span::new(gap.start(), len).filter(|gap| !gap.is_empty()));
    }
    found
}

/// Searches each gap for its first nonzero byte: an error in a file with digests, otherwise a note.
pub(super) fn check(
    subject: &Subject<'_>,
    gaps: &Gaps,
    digests: &Digests,
    pool: &Pool,
    progress: &Progress,
    out: &mut Collector,
) -> Result<()> {
    let mut pieces = (0_usize..).zip(&gaps.spans).flat_map(|(gap, &span)| {
        let starts = span.range().step_by(usize::try_from(PIECE_LEN).unwrap_or(usize::MAX));
        starts.filter_map(move |start| {
            let end = span.end().min(start.saturating_add(PIECE_LEN));
            Some((gap, Span::from_range(start..end)?))
        })
    });
    let mut last = None;
    loop {
        let batch: Vec<(usize, Span)> = pieces.by_ref().take(PIECES_MAX).collect();
        if batch.is_empty() {
            return Ok(());
        }
        let found = pool.map(&batch, Vec::new, |piece, (gap, span)| {
            let mut first = None;
            progress.pieces::<Error>(subject.source, *span, piece, |at, bytes| {
                let odd = (at..).zip(bytes).find(|(_, byte)| **byte != 0);
                first = odd.map(|(at, &byte)| (*gap, at, byte));
                first.is_none()
            })?;
            Ok::<_, Error>(first)
        })?;
        for (gap, at, byte) in found.into_iter().flatten() {
            if last == Some(gap) {
                continue;
            }
            last = Some(gap);
            let found = byte.into();
            if digests.block.is_some() {
                let fault = Fault { rule: Rule::GapZero, at, found, wanted: 0 };
                out.fault(fault).map_err(tet_file::Error::from)?;
            } else {
                out.push(Note { code: NoteCode::BytesUnused, at, found }.into());
            }
        }
    }
}
