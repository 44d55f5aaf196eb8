//! Finds a complete index at the end of a file whose footer is wrong or truncated.

use super::context::{RepairContext, index_head};
use crate::container::FOOTER_LEN;
use crate::error::Result;
use crate::index::Index;

/// Finds the index that ends at the footer or at a truncated footer.
pub(super) fn find(context: &mut RepairContext<'_>) -> Result<Option<Index>> {
    let (bytes, base) = context.tail()?;
    // The file has only the magic and an empty array.
    if base == 8 && bytes.first() == Some(&0x80) && bytes.len() as u64 <= 1 + FOOTER_LEN {
        return Ok(context.own_index(&[0x80], base));
    }
    for at in (0..bytes.len()).rev() {
        if bytes.get(at..).and_then(index_head).is_none() {
            continue;
        }
        let mut reader = context.reader(&bytes, at, base);
        let is_item = reader.skip(0).is_ok();
        if context.spend(reader.at().saturating_sub(at) as u64).is_none() {
            break;
        }
        let left = bytes.len().saturating_sub(reader.at()) as u64;
        if is_item && left <= FOOTER_LEN {
            let start = base.saturating_add(at as u64);
            let index = context.own_index(reader.since(at), start);
            if index.as_ref().is_some_and(|index| !index.is_empty()) {
                return Ok(index);
            }
        }
    }
    Ok(None)
}
