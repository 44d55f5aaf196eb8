//! Finds an older index, with its footer, before the end of the file.

use tet_format::Span;

use super::context::{INDEX_START_LEN, RepairContext, index_head};
use crate::container::{FOOTER_LEN, MAGIC_LEN};
use crate::error::Result;
use crate::index::Index;

/// The file is searched in windows of this number of bytes.
const WINDOW_LEN: u64 = 1 << 20;
/// The cost of reading a few bytes elsewhere.
const SEEK_COST: u64 = 512;

/// Finds the last index that is followed by its length and by other bytes.
pub(super) fn find(context: &mut RepairContext<'_>) -> Result<Option<Index>> {
    let file_len = context.source.len();
    let mut end = file_len;
    while MAGIC_LEN < end {
        let start = end.saturating_sub(WINDOW_LEN).max(MAGIC_LEN);
        // A footer may start in one window and end in the next.
        let len = end.saturating_add(FOOTER_LEN).min(file_len).saturating_sub(start);
        let window = context.source.read_vec(start, len)?;
        if context.spend(len).is_none() {
            break;
        }
        let footers = window.windows(8).enumerate().rev();
        for (at, footer) in footers {
            let index_len = footer.first_chunk().copied().map_or(0, u64::from_le_bytes);
            let index_end = start.saturating_add(at as u64);
            let is_last = index_end.saturating_add(FOOTER_LEN) == file_len;
            if index_len == 0 || is_last || end <= index_end {
                continue;
            }
            let index_start = index_end.checked_sub(index_len).filter(|it| MAGIC_LEN <= *it);
            let Some(span) = index_start.and_then(|it| Span::from_range(it..index_end)) else {
                continue;
            };
            match check_span(context, span, &window, start)? {
                Candidate::Found(index) => return Ok(Some(*index)),
                Candidate::Nothing => {}
                Candidate::Enough => return Ok(None),
            }
        }
        end = start;
    }
    Ok(None)
}

enum Candidate {
    Found(Box<Index>),
    Nothing,
    Enough,
}

/// Checks whether a span is an index.
fn check_span(
    context: &mut RepairContext<'_>,
    span: Span,
    window: &[u8],
    window_at: u64,
) -> Result<Candidate> {
    if context.limits.index_len_max < span.len() {
        return Ok(Candidate::Nothing);
    }
    let near = span.start().checked_sub(window_at).and_then(|at| usize::try_from(at).ok());
    let may_be = match near.and_then(|at| window.get(at..)) {
        Some(bytes) => may_be(bytes),
        None if context.spend(SEEK_COST).is_none() => return Ok(Candidate::Enough),
        None => may_be(&context.source.read_vec(span.start(), INDEX_START_LEN.min(span.len()))?),
    };
    if !may_be {
        return Ok(Candidate::Nothing);
    }
    if context.spend(span.len()).is_none() {
        return Ok(Candidate::Enough);
    }
    let bytes = context.source.read_vec(span.start(), span.len())?;
    let found = context.own_index(&bytes, span.start());
    Ok(found.map_or(Candidate::Nothing, |index| Candidate::Found(Box::new(index))))
}

/// Whether an index may start with these bytes; it may be empty here.
fn may_be(bytes: &[u8]) -> bool {
    bytes.first() == Some(&0x80) || index_head(bytes).is_some()
}
