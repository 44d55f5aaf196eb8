//! Checks of a whole NetCDF classic file.

use tet_format::{ForeignFault, Span};
use tet_io::Source;
use tet_verify::{
    ForeignFindings, ForeignFound, ForeignSeen, Integrity, Level, Report, VerifyOptions,
};

use super::header::{self, Header, Variable};
use super::rule;
use tet_container::{Error, Result};

/// Checks a file. Nothing shows whether its elements are those that were written: they are read, so
/// that a disk that cannot read them is noticed.
pub(super) fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut findings = ForeignFindings::new(options);
    let header = header::read(source, &mut |found| findings.take(found))?;
    let mut seen = ForeignSeen {
        file_len: source.len(),
        integrity: Integrity::Unprotected,
        ..ForeignSeen::default()
    };
    match header {
        Err(fault) => {
            findings.take(ForeignFound { fault, field: fault.rule.region, len: 0, dataset: None });
        }
        Ok(header) => {
            let count = u64::try_from(header.variables.len()).unwrap_or(u64::MAX);
            (seen.dataset_count, seen.chunk_count) = (count, count);
            let len = source.len().saturating_sub(header.len);
            (seen.stored_len, seen.decoded_len) = (len, len);
            variables(&header, &mut |found| findings.take(found));
        }
    }
    if let (Level::Deep, Some(all)) = (options.level, Span::new(0, source.len())) {
        let progress = options.progress.begin(all.len());
        progress.pieces::<Error>(source, all, &mut Vec::new(), |_, _| true)?;
        seen.payload_len = seen.stored_len;
    }
    source.check_unchanged()?;
    Ok(findings.report(&seen))
}

/// The faults of variables, and those that overlap others.
fn variables(header: &Header, found: &mut dyn FnMut(ForeignFound)) {
    let mut report = |fault: ForeignFault, number: u64, variable: &Variable| {
        let dataset = Some((number, variable.name.clone()));
        found(ForeignFound { fault, field: fault.rule.region, len: 0, dataset });
    };
    let mut spans: Vec<(u64, u64, u64, &Variable)> = Vec::new();
    let mut later: Option<(u64, u64, u64, &Variable)> = None;
    for (variable, number) in header.variables.iter().zip(0..) {
        let end = match (variable.fault, header.end_of(variable)) {
            (Some(fault), _) => {
                report(fault, number, variable);
                continue;
            }
            (None, Some(end)) if !variable.shape.contains(&0) => end,
            (None, _) => continue,
        };
        if !variable.is_record {
            spans.push((variable.begin, end, number, variable));
            continue;
        }
        // The parts of the first record show whether those of others overlap.
        spans.push((
            variable.begin,
            variable.begin.saturating_add(variable.part_len),
            number,
            variable,
        ));
        let next = variable.begin.saturating_add(header.record_len.unwrap_or_default());
        if 1 < header.record_count {
            let (begin, until) = later.map_or((next, end), |(begin, until, ..)| (begin, until));
            later = Some((begin.min(next), until.max(end), number, variable));
        }
    }
    spans.extend(later);
    spans.sort_unstable_by_key(|&(begin, end, number, _)| (begin, end, number));
    let mut reached = 0;
    for (begin, end, number, variable) in spans {
        if begin < reached {
            let rule = &rule::DATA_OVERLAP;
            report(
                ForeignFault { rule, at: begin, found: begin, wanted: reached },
                number,
                variable,
            );
        }
        reached = reached.max(end);
    }
}
