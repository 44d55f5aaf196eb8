//! Maps findings to their place in the file.

use tet_io::Source;
use tet_report::{Finding, ForeignFound, Report, integrity_of};

use super::VerifyOptions;
use super::collect::{Collector, FieldFault};
use crate::index::Index;
use crate::rule;

/// Adds the place of each collected finding.
pub(super) fn report(
    source: &Source,
    options: &VerifyOptions,
    index: Option<&Index>,
    collector: Collector,
    checked_len: u64,
) -> Report {
    let (found, counts) = collector.into_parts();
    let findings = found.into_iter().map(|found| finding(index, found)).collect();
    let tensors = || index.into_iter().flat_map(Index::tensors);
    let unverified = tensors().filter(|tensor| {
        tensor.fault().is_none() && !tensor.checksum().is_some_and(|checksum| checksum.is_known())
    });
    let unverified_count = unverified.count() as u64;
    let damaged_count = tensors().filter(|tensor| tensor.fault().is_some()).count() as u64;
    let stored = tensors().filter_map(|tensor| tensor.stored());
    let stored_len = stored.fold(0_u64, |sum, span| sum.saturating_add(span.len()));
    let decoded = tensors().filter_map(|tensor| tensor.decoded_len());
    let tensor_count = tensors().count() as u64;
    let bare_count = unverified_count.saturating_add(damaged_count);
    Report {
        // The index has no checksum.
        integrity: integrity_of(&counts, &rule::BLOB_CHECKSUM, bare_count, tensor_count),
        file_len: source.len(),
        dataset_count: tensor_count,
        row_count: tensor_count,
        stored_len,
        decoded_len: decoded.fold(0, u64::saturating_add),
        // Gaps are read too.
        payload_len: checked_len.min(stored_len),
        unverified_count,
        checked_len,
        ..Report::new(options, findings, &counts)
    }
}

fn finding(index: Option<&Index>, FieldFault { fault, position, field }: FieldFault) -> Finding {
    let (rule, at) = (fault.rule, fault.at);
    let tensor = index.zip(position).and_then(|(index, position)| index.tensor(position));
    let in_index = index.and_then(|index| index.item_len(at));
    let in_blob = || Some(tensor?.stored()?.end().saturating_sub(at));
    // In text and in gaps the offset is that of a single byte, not of an item.
    let is_byte = [&rule::NAME_TEXT, &rule::GAP_BYTES].contains(&rule);
    let len = if is_byte { Some(1) } else { in_index.or_else(in_blob) };
    let name = || tensor.map(|tensor| tensor.name().to_owned()).unwrap_or_default();
    let dataset = position.map(|position| (position as u64, name()));
    let field = if field.is_empty() { stretch(rule.region) } else { field };
    ForeignFound { fault: fault.into(), field, len: len.unwrap_or(0), dataset }.into()
}

/// The name of a region without fields.
fn stretch(region: &'static str) -> &'static str {
    match region {
        "index" => "array",
        "footer" => "length",
        "blob" | "gap" => "bytes",
        region => region,
    }
}
