//! An older index, with its footer, before the end of the file.

use tet_format::Span;

use super::context::{INDEX_START_LEN, RepairContext, index_head};
use crate::container::{FOOTER_LEN, MAGIC_LEN};
use crate::error::Result;
use crate::index::Index;

/// Bytes are looked at in windows of this many.
const WINDOW_LEN: u64 = 1 << 20;
/// What it costs to read a few bytes somewhere else.
const SEEK_COST: u64 = 512;

/// Finds the last index whose length stands behind it, with bytes behind that.
pub(super) fn find(context: &mut RepairContext<'_>) -> Result<Option<Index>> {
    let file_len = context.source.len();
    let mut end = file_len;
    while MAGIC_LEN < end {
        let start = end.saturating_sub(WINDOW_LEN).max(MAGIC_LEN);
        // A footer may begin in one window and end in the next.
        let len = end.saturating_add(FOOTER_LEN).min(file_len).saturating_sub(start);
        let window = context.source.read_vec(start, len)?;
        if context.pay(len).is_none() {
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
            match look(context, span, &window, start)? {
                Look::Found(index) => return Ok(Some(*index)),
                Look::Nothing => {}
                Look::Enough => return Ok(None),
            }
        }
        end = start;
    }
    Ok(None)
}

enum Look {
    Found(Box<Index>),
    Nothing,
    Enough,
}

/// Looks whether a span is an index.
fn look(
    context: &mut RepairContext<'_>,
    span: Span,
    window: &[u8],
    window_at: u64,
) -> Result<Look> {
    if context.limits.index_len_max < span.len() {
        return Ok(Look::Nothing);
    }
    let near = span.start().checked_sub(window_at).and_then(|at| usize::try_from(at).ok());
    let may_be = match near.and_then(|at| window.get(at..)) {
        Some(bytes) => may_be(bytes),
        None if context.pay(SEEK_COST).is_none() => return Ok(Look::Enough),
        None => may_be(&context.source.read_vec(span.start(), INDEX_START_LEN.min(span.len()))?),
    };
    if !may_be {
        return Ok(Look::Nothing);
    }
    if context.pay(span.len()).is_none() {
        return Ok(Look::Enough);
    }
    let bytes = context.source.read_vec(span.start(), span.len())?;
    let found = context.own_index(&bytes, span.start());
    Ok(found.map_or(Look::Nothing, |index| Look::Found(Box::new(index))))
}

/// Whether an index may start with these bytes, which may be one without entries here.
fn may_be(bytes: &[u8]) -> bool {
    bytes.first() == Some(&0x80) || index_head(bytes).is_some()
}
