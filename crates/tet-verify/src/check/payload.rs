//! Where payloads lie: inside the file, clear of the structure and of each other; and the bytes
//! between them.

use tet_format::footer::check_spills;
use tet_format::index::{check_payloads, gaps};
use tet_format::{Note, NoteCode, Span};
use tet_io::Source;

use super::footer::Bounds;
use super::index::Index;
use super::{Seen, Subject};
use crate::collect::Collector;
use crate::error::Result;

/// Gaps are read in pieces of this many bytes.
const PIECE_LEN: u64 = 1 << 20;

/// Checks the places of all payloads, the spills behind them and the bytes in no structure.
pub(super) fn check(
    subject: &Subject<'_>,
    index: Index,
    bounds: &Bounds,
    seen: &mut Seen,
    out: &mut Collector,
) -> Result<()> {
    let Subject { source, options, superblock } = subject;
    let index_end = superblock.index_end();
    let before = out.fault_count();
    let mut odd = Vec::new();
    let mut rows = index.rows(source);
    let spans = check_payloads(rows.by_ref(), index_end, bounds.payload_end, out, &mut odd)
        .map_err(tet_file::Error::from)?;
    rows.finish()?;
    out.notes(&mut odd);
    if before != out.fault_count() {
        return Ok(());
    }
    let mut covered = spans;
    if let Some((tail, footer)) = &bounds.footer {
        let last = covered.iter().map(|span| span.end()).max().unwrap_or(index_end);
        let (spills, json_at) = (&footer.json.spills, footer.json_at);
        check_spills(spills, tail.version, last, json_at, out).map_err(tet_file::Error::from)?;
        let spans = spills.present(tail.version);
        covered.extend(spans.filter_map(|(_, spill)| Span::new(spill.offset, spill.len)));
        covered.sort_unstable();
    }
    // Beside a broken structure there are always bytes that it does not account for.
    let within = Span::from_range(index_end..bounds.gap_end).filter(|_| out.fault_count() == 0);
    let mut left = options.gap_len_max;
    for gap in within.iter().flat_map(|&within| gaps(&covered, within)) {
        check_gap(source, gap, &mut left, seen, out)?;
    }
    Ok(())
}

/// Notes the first byte of a gap that is not zero, as far as `left` bytes go.
fn check_gap(
    source: &Source,
    gap: Span,
    left: &mut u64,
    seen: &mut Seen,
    out: &mut Collector,
) -> Result<()> {
    let looked_at = gap.len().min(*left);
    *left = left.saturating_sub(looked_at);
    seen.gap_len_left = seen.gap_len_left.saturating_add(gap.len().saturating_sub(looked_at));
    let end = gap.start().saturating_add(looked_at);
    let mut at = gap.start();
    let mut piece = Vec::new();
    while at < end {
        let len = PIECE_LEN.min(end.saturating_sub(at));
        piece.resize(usize::try_from(len).unwrap_or(0), 0);
        source.read_exact_at(at, &mut piece)?;
        if let Some(first) = piece.iter().position(|&byte| byte != 0) {
            let at = at.saturating_add(u64::try_from(first).unwrap_or(0));
            let found = piece.get(first).copied().unwrap_or(0).into();
            out.note(Note { code: NoteCode::BytesUnused, at, found });
            return Ok(());
        }
        at = at.saturating_add(len);
    }
    Ok(())
}
