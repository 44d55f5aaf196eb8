//! The totals of a check.

use tet_format::Integrity;
use tet_report::{Collector, Finding, Level, Report, integrity_of};

use super::super::container::Version;
use super::super::file::ObjectFile;
use super::super::object::ManifestObject;
use super::super::rule;
use crate::check::VerifyOptions;

/// The report of all findings.
pub(super) fn report(
    file: &ObjectFile,
    options: &VerifyOptions,
    out: Collector<Finding>,
    checked_len: u64,
) -> Report {
    let is_sound = out.first_error().is_none();
    let (findings, counts) = out.into_parts();
    let objects = file.objects();
    let is_bare = |object: &&ManifestObject| {
        let is_known =
            |it: &super::super::part::ObjectPart| it.digest.is_some_and(|it| it.is_known());
        object.fault.is_some() || !object.parts.iter().all(is_known)
    };
    let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let bare_count = count(objects.iter().filter(is_bare).count());
    let dataset_count = count(objects.len());
    let usual = integrity_of(&counts, &rule::BLOB_DIGEST, bare_count, dataset_count);
    // The manifest of version 2 has a hash, and the footer holds nothing that is not checked.
    let is_all = file.version() == Version::Two && options.level >= Level::Checksums;
    let is_covered = is_all && is_sound && bare_count == 0 && dataset_count != 0;
    let integrity = if is_covered { Integrity::Verified } else { usual };
    let mut spans: Vec<_> = objects
        .iter()
        .flat_map(|object| &object.parts)
        .map(|part| (part.shard, part.stored.start(), part.stored.len()))
        .collect();
    spans.sort_unstable();
    spans.dedup();
    let stored_len = spans.iter().fold(0_u64, |sum, (.., len)| sum.saturating_add(*len));
    let decoded = objects.iter().filter_map(|object| {
        let element = object.values()?.element?;
        element.byte_len(object.element_count()?)
    });
    let shards = file.shards().iter().filter(|shard| shard.source.is_some());
    let file_len = shards.fold(file.source().len(), |len, it| len.saturating_add(it.size));
    Report {
        integrity,
        file_len,
        dataset_count,
        row_count: dataset_count,
        stored_len,
        decoded_len: decoded.fold(0, u64::saturating_add),
        payload_len: checked_len.min(stored_len),
        unverified_count: bare_count,
        checked_len,
        ..Report::new(options, findings, &counts)
    }
}
