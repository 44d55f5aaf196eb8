//! Bytes of a file that belong to no structure.

use tet_format::index::{IndexRow, gaps};
use tet_format::{Result as Ruled, Span};
use tet_io::Source;

use crate::error::Result;
use crate::rows::Index;

/// Bytes are read in windows of this many.
const WINDOW_LEN: u64 = 1 << 20;

/// The spans of all payloads, sorted; those whose end does not fit in 64 bits are left out.
///
/// # Errors
///
/// Returns an error when the rows cannot be read.
pub fn payload_spans(index: &Index) -> Result<Vec<Span>> {
    let mut spans = Vec::new();
    index.for_blocks(0..index.row_count(), |_, rows| {
        let payloads = rows.iter().filter_map(|row| IndexRow::decode(row).payload());
        spans.extend(payloads.filter(|span| !span.is_empty()));
    })?;
    spans.sort_unstable();
    Ok(spans)
}

/// The stretches of `within` that none of the `used` spans covers and that are not zero throughout,
/// each from its first such byte to its last.
///
/// # Errors
///
/// Returns an error when the bytes cannot be read.
pub fn unused_spans(source: &Source, used: &mut [Span], within: Span) -> Result<Vec<Span>> {
    used.sort_unstable();
    let mut found = Vec::new();
    for gap in gaps(used, within) {
        let Some(first) = first_nonzero(source, gap)? else { continue };
        let last = last_nonzero(source, gap)?.unwrap_or(first);
        found.extend(Span::from_range(first..last.saturating_add(1)));
    }
    Ok(found)
}

/// The first byte of a span that is not zero.
///
/// # Errors
///
/// Returns an error when the bytes cannot be read.
pub fn first_nonzero(source: &Source, span: Span) -> Result<Option<u64>> {
    let mut first = None;
    windows(source, span, |at, window| {
        let found = window.iter().position(|&byte| byte != 0);
        first = found.map(|found| at.saturating_add(found as u64));
        Ok(first.is_none())
    })?;
    Ok(first)
}

fn last_nonzero(source: &Source, span: Span) -> Result<Option<u64>> {
    let mut last = None;
    windows(source, span, |at, window| {
        let found = window.iter().rposition(|&byte| byte != 0);
        last = found.map(|found| at.saturating_add(found as u64)).or(last);
        Ok(true)
    })?;
    Ok(last)
}

/// Gives the bytes of a span to `visit`, window by window, until it says that that is enough.
fn windows(
    source: &Source,
    span: Span,
    mut visit: impl FnMut(u64, &[u8]) -> Ruled<bool>,
) -> Result<()> {
    let mut window = Vec::new();
    let mut at = span.start();
    while at < span.end() {
        let len = WINDOW_LEN.min(span.end().saturating_sub(at));
        window.resize(usize::try_from(len).unwrap_or(0), 0);
        source.read_exact_at(at, &mut window)?;
        if !visit(at, &window)? {
            break;
        }
        at = at.saturating_add(len);
    }
    Ok(())
}
