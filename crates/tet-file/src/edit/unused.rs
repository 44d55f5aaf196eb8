//! Bytes of a file that belong to no structure.

use tet_format::Span;
use tet_format::index::{IndexRow, gaps};
use tet_io::Source;

use crate::error::{Error, Result};
use crate::rows::Index;

/// The sorted spans of all payloads, without those whose end overflows.
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

/// The spans inside `within` that no span of `used` covers and that are not all zero, each trimmed
/// to its first and last nonzero byte.
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

/// The first nonzero byte of a span.
///
/// # Errors
///
/// Returns an error when the bytes cannot be read.
pub fn first_nonzero(source: &Source, span: Span) -> Result<Option<u64>> {
    let mut first = None;
    source.for_windows(span.range(), &mut Vec::new(), |at, window| {
        let found = window.iter().position(|&byte| byte != 0);
        first = found.map(|found| at.saturating_add(found as u64));
        Ok::<_, Error>(first.is_none())
    })?;
    Ok(first)
}

fn last_nonzero(source: &Source, span: Span) -> Result<Option<u64>> {
    let mut last = None;
    source.for_windows(span.range(), &mut Vec::new(), |at, window| {
        let found = window.iter().rposition(|&byte| byte != 0);
        last = found.map(|found| at.saturating_add(found as u64)).or(last);
        Ok::<_, Error>(true)
    })?;
    Ok(last)
}
