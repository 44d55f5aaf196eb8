//! All that was found in one file.

use std::collections::BTreeMap;

use tet_format::{NoteCode, Rule};
use tet_io::Source;

use crate::check::Seen;
use crate::code::Code;
use crate::collect::{Collector, Entry};
use crate::error::Result;
use crate::finding::{Finding, Severity};
use crate::integrity::Integrity;
use crate::level::Level;
use crate::options::{Strictness, VerifyOptions};
use crate::place::Places;

/// All that was found in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// How closely the file was looked at.
    pub level: Level,
    /// Whether the file's bytes are those that were written.
    pub integrity: Integrity,
    /// What was found, in the order in which a reader meets it.
    pub findings: Vec<Finding>,
    /// How many findings of a code are not among them.
    pub omitted: Vec<Omitted>,
    /// The file's length in bytes.
    pub file_len: u64,
    /// How many datasets were looked at.
    pub dataset_count: u64,
    /// How many index rows were looked at.
    pub row_count: u64,
    /// Bytes in payloads, those that rows share once.
    pub stored_len: u64,
    /// Bytes that all payloads decode to, by what their rows say.
    pub decoded_len: u64,
    /// Bytes of payloads that were read and decoded.
    pub payload_len: u64,
    /// Bytes in no structure that were too many to be looked at.
    pub gap_len_left: u64,
}

/// Findings that are counted and not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Omitted {
    /// What they are about.
    pub code: Code,
    /// How bad they are.
    pub severity: Severity,
    /// How many there are beside those that are told.
    pub count: u64,
}

impl Report {
    /// Whether there is no error: the file can be queried.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.count(Severity::Error) == 0
    }

    /// How many findings have this severity, told or not.
    #[must_use]
    pub fn count(&self, severity: Severity) -> u64 {
        let told = self.findings.iter().filter(|it| it.severity == severity).count();
        let rest = self.omitted.iter().filter(|it| it.severity == severity);
        rest.fold(u64::try_from(told).unwrap_or(u64::MAX), |sum, it| sum.saturating_add(it.count))
    }

    /// Whether the bytes are not those of a `.tet` file at all.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        let first = self.findings.first().map(|finding| finding.code);
        matches!(first, Some(Code::Rule(Rule::Magic | Rule::Truncated)))
    }
}

/// Finds the place of everything that was collected.
pub(crate) fn report(
    source: &Source,
    options: &VerifyOptions,
    seen: &Seen,
    collector: Collector,
) -> Result<Report> {
    let (entries, counts) = collector.into_parts();
    let places = Places::new(source, seen);
    let mut told: BTreeMap<Code, u64> = BTreeMap::new();
    let mut findings = Vec::with_capacity(entries.len());
    for entry in entries {
        *told.entry(entry.code).or_default() += 1;
        let place = places.of(&entry)?;
        let Entry { code, found, wanted, .. } = entry;
        let (severity, level) = (severity(code, options.strictness), code.level());
        findings.push(Finding { code, severity, level, place, found, wanted });
    }
    let omitted = counts.into_iter().filter_map(|(code, count)| {
        let count = count.saturating_sub(told.get(&code).copied().unwrap_or(0));
        let severity = severity(code, options.strictness);
        (count != 0).then_some(Omitted { code, severity, count })
    });
    Ok(Report {
        level: options.level,
        integrity: seen.integrity,
        findings,
        omitted: omitted.collect(),
        file_len: source.len(),
        dataset_count: u64::try_from(seen.datasets.len()).unwrap_or(u64::MAX),
        row_count: seen.row_count,
        stored_len: seen.stored_len,
        decoded_len: seen.decoded_len,
        payload_len: seen.payload_len,
        gap_len_left: seen.gap_len_left,
    })
}

pub(crate) fn severity(code: Code, strictness: Strictness) -> Severity {
    match code.severity() {
        // `group_by` by labels is for axes that have them several times.
        Severity::Warning if code == Code::Note(NoteCode::LabelTwice) => Severity::Warning,
        Severity::Warning if strictness == Strictness::Strict => Severity::Error,
        severity => severity,
    }
}
