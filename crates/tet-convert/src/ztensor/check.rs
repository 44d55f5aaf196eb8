//! What is wrong with a zTensor file, all of it, as findings.

use tet_format::ForeignFault;
use tet_io::Source;
use tet_verify::{
    Finding, ForeignFindings, ForeignFound, ForeignSeen, Level, Report, VerifyOptions,
};
use tet_ztensor::{Depth, Fault, Severity, Tensor, rule};

use crate::Result;

/// Looks a file over.
pub(crate) fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut how = tet_ztensor::VerifyOptions::default();
    how.depth = if options.level == Level::Deep { Depth::Deep } else { Depth::Structure };
    how.findings_max = options.findings_max;
    how.threads = options.threads;
    how.memory_budget = options.memory_budget;
    how.decoded_max = options.decoded_max;
    how.cancel.clone_from(&options.cancel);
    how.progress.clone_from(&options.progress);
    let seen = tet_ztensor::verify(source, &how)?;
    let mut findings = ForeignFindings::new(options);
    for it in &seen.findings {
        let name = it.tensor_name.clone().unwrap_or_default();
        let position = it.tensor.map(|at| u64::try_from(at).unwrap_or(u64::MAX));
        findings.take(ForeignFound {
            fault: ForeignFault { rule: it.rule, at: it.at, found: it.found, wanted: it.wanted },
            field: if it.field.is_empty() { stretch(it.rule.region) } else { it.field },
            len: it.len,
            dataset: position.map(|position| (position, name)),
        });
    }
    for omitted in &seen.omitted {
        findings.leave_out(omitted.rule, omitted.count);
    }
    // The index has no checksum.
    let bare_count = seen.unverified_count.saturating_add(seen.damaged_count);
    let integrity = findings.integrity(&rule::BLOB_CHECKSUM, (bare_count, seen.tensor_count));
    Ok(findings.report(&ForeignSeen {
        file_len: seen.file_len,
        integrity,
        dataset_count: seen.tensor_count,
        chunk_count: seen.tensor_count,
        stored_len: seen.stored_len,
        decoded_len: seen.decoded_len,
        // Gaps are looked at beside them.
        payload_len: seen.checked_len.min(seen.stored_len),
    }))
}

/// What a stretch is called that is no field.
fn stretch(region: &'static str) -> &'static str {
    match region {
        "index" => "array",
        "footer" => "length",
        "blob" | "gap" => "bytes",
        region => region,
    }
}

/// A fault of an entry as a finding.
pub(super) fn found(tensor: &Tensor<'_>, fault: Fault) -> ForeignFound {
    debug_assert_eq!(fault.rule.severity, Severity::Error);
    let position = u64::try_from(tensor.position()).unwrap_or(u64::MAX);
    let dataset = Some((position, tensor.name().to_owned()));
    ForeignFound { fault: fault.into(), field: "entry", len: 1, dataset }
}

/// A fault of a file as a finding.
#[must_use]
pub fn finding(fault: Fault) -> Finding {
    let field = stretch(fault.rule.region);
    ForeignFound { fault: fault.into(), field, len: 0, dataset: None }.into()
}
