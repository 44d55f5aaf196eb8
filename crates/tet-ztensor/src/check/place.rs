//! Checks where blobs are: whether they overlap, and what is between them.

use tet_format::Span;
use tet_io::{Progress, Source};

use super::collect::{Collector, FieldFault};
use crate::entry::Field;
use crate::error::{Error, Fault, Result};
use crate::footer::MAGIC_LEN;
use crate::index::Index;
use crate::rule;

/// Notes blobs that share bytes, and returns the gaps between blobs.
///
/// Returns no gap if the position of a blob is unknown: the gap may be part of it.
pub(super) fn check(index: &Index, out: &mut Collector) -> Vec<Span> {
    let mut blobs: Vec<(Span, usize)> = index
        .tensors()
        .filter_map(|tensor| Some((tensor.stored()?, tensor.position())))
        .filter(|(span, _)| !span.is_empty())
        .collect();
    blobs.sort_unstable();
    let (mut covered_end, mut before) = (MAGIC_LEN, None);
    let (mut gaps, mut shared) = (Vec::new(), Vec::new());
    for (span, position) in blobs {
        let rule = match before {
            Some(before) if before == span => Some(&rule::BLOB_SHARED),
            _ if span.start() < covered_end => Some(&rule::OVERLAP),
            _ => None,
        };
        shared.extend(rule.map(|rule| (position, rule, span, covered_end)));
        gaps.extend(Span::from_range(covered_end..span.start()));
        covered_end = covered_end.max(span.end());
        before = Some(span);
    }
    // An index may start past the last blob, so bytes before it may belong to no tensor.
    let index_start = index.span().map_or(0, Span::start);
    gaps.extend(Span::from_range(covered_end..index_start));
    gaps.retain(|gap| !gap.is_empty());
    shared.sort_unstable_by_key(|(position, ..)| *position);
    for (position, rule, span, covered_end) in shared {
        let tensor = index.tensor(position);
        let at = tensor.and_then(|tensor| tensor.field_at(Field::Offset.key()));
        let at = at.unwrap_or(index_start);
        let fault = Fault { rule, at, found: span.start(), wanted: covered_end };
        out.push(FieldFault { fault, position: Some(position), field: Field::Offset.key() });
    }
    let all_known = index.tensors().all(|tensor| tensor.stored().is_some());
    if all_known { gaps } else { Vec::new() }
}

/// The first byte of a gap that is not zero.
pub(super) fn check_gap(source: &Source, gap: Span, progress: &Progress) -> Result<Option<Fault>> {
    let mut first = None;
    progress.pieces::<Error>(source, gap, &mut Vec::new(), |at, bytes| {
        let odd = (at..).zip(bytes).find(|(_, byte)| **byte != 0);
        first = odd.map(|(at, byte)| {
            let found = (*byte).into();
            Fault { rule: &rule::GAP_BYTES, at, found, wanted: 0 }
        });
        first.is_none()
    })?;
    Ok(first)
}
