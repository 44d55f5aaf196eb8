//! What is wrong with a Tensogram file, all of it, as findings.

use tet_io::Source;
use tet_tensogram::{Error as Theirs, Fault, Level as Closeness, rule};
use tet_verify::{
    ForeignFindings, ForeignFound, ForeignSeen, Integrity, Level, Report, VerifyOptions,
};

use crate::{Error, Result};

/// What is there of a part of the file; what it breaks is told.
pub(super) fn taken<T>(
    part: Result<T, Theirs>,
    tell: &mut dyn FnMut(Fault),
) -> Result<Option<T>, Theirs> {
    match part {
        Ok(part) => Ok(Some(part)),
        Err(Theirs::Format(fault)) => {
            tell(fault);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Looks a file over.
pub(crate) fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut how = tet_tensogram::VerifyOptions::default();
    how.level = match options.level {
        Level::Deep => Closeness::Integrity,
        _ => Closeness::Metadata,
    };
    how.findings_max = options.findings_max;
    how.threads = options.threads;
    how.cancel.clone_from(&options.cancel);
    how.progress.clone_from(&options.progress);
    let seen = tet_tensogram::verify(source, &how).map_err(|error| match error {
        Theirs::Io(error) => Error::Io(error),
        Theirs::Canceled => Error::Canceled,
        other => Error::Tensogram(other),
    })?;
    let mut findings = ForeignFindings::new(options);
    let is_mismatched = seen.findings.iter().any(|it| it.fault.rule == &rule::HASH);
    for it in &seen.findings {
        let dataset = it.message.zip(it.object).map(|(message, object)| {
            (u64::try_from(object).unwrap_or(u64::MAX), format!("m{message}_o{object}"))
        });
        findings.take(ForeignFound {
            fault: it.fault,
            field: it.fault.rule.region,
            len: it.len,
            dataset,
        });
    }
    for omitted in &seen.omitted {
        findings.leave_out(omitted.rule, omitted.count);
    }
    let is_unprotected = seen.unverified_count >= seen.object_count;
    Ok(findings.report(&ForeignSeen {
        file_len: seen.file_len,
        integrity: match (is_mismatched, is_unprotected) {
            (true, _) => Integrity::Mismatch,
            (false, true) => Integrity::Unprotected,
            (false, false) => Integrity::Unchecked,
        },
        dataset_count: seen.object_count,
        chunk_count: seen.object_count,
        stored_len: seen.file_len,
        decoded_len: seen.file_len,
        payload_len: seen.checked_len.min(seen.file_len),
    }))
}
