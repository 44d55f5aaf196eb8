//! The report of a check.

use std::collections::BTreeMap;

use tet_format::{ForeignRule, Integrity, NoteCode};

use crate::code::Code;
use crate::finding::{Finding, Severity};
use crate::level::Level;
use crate::options::{Strictness, VerifyOptions};

/// The integrity of a container whose checksums never cover all bytes, from the counts of findings,
/// the rule for wrong checksums, and the number of datasets without a checksum, of all.
#[must_use]
pub fn integrity_of(
    counts: &BTreeMap<Code, u64>,
    checksum: &'static ForeignRule,
    bare_count: u64,
    dataset_count: u64,
) -> Integrity {
    if counts.contains_key(&Code::Foreign(checksum)) {
        Integrity::Mismatch
    } else if dataset_count <= bare_count {
        Integrity::Unprotected
    } else {
        Integrity::Unchecked
    }
}

/// The report of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How thoroughly the file was checked.
    pub level: Level,
    /// The integrity state.
    pub integrity: Integrity,
    /// The findings, in the order in which a reader reads the file.
    pub findings: Vec<Finding>,
    /// The number of findings of each code that are not listed.
    pub omitted: Vec<Omitted>,
    /// The file's length in bytes.
    pub file_len: u64,
    /// The number of datasets checked.
    pub dataset_count: u64,
    /// The number of index rows checked.
    pub row_count: u64,
    /// The length of all payloads; shared ones count once.
    pub stored_len: u64,
    /// The decoded length of all payloads, according to their rows.
    pub decoded_len: u64,
    /// The number of payload bytes that were read and decoded.
    pub payload_len: u64,
    /// The number of bytes outside structures that were too many to read.
    pub gap_len_left: u64,
    /// The number of datasets without a supported checksum.
    pub unverified_count: u64,
    /// The number of bytes compared or decoded; those that datasets share count repeatedly.
    pub checked_len: u64,
}

/// Findings of one code that are not listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Omitted {
    /// Their code.
    pub code: Code,
    /// Their severity.
    pub severity: Severity,
    /// Their number.
    pub count: u64,
}

impl Report {
    /// A report of these findings, with the strictness of the options; `counts` are of all
    /// findings, listed or not. All other fields are zero.
    #[must_use]
    pub fn new<L>(
        options: &VerifyOptions<L>,
        mut findings: Vec<Finding>,
        counts: &BTreeMap<Code, u64>,
    ) -> Self {
        let mut left = counts.clone();
        for finding in &mut findings {
            finding.severity = severity(finding.code, options.strictness);
            left.entry(finding.code).and_modify(|count| *count = count.saturating_sub(1));
        }
        let omitted = left.into_iter().filter(|(_, count)| *count != 0).map(|(code, count)| {
            Omitted { code, severity: severity(code, options.strictness), count }
        });
        let (level, omitted) = (options.level, omitted.collect());
        Report { level, findings, omitted, ..Report::default() }
    }

    /// Whether there is no error: the file can be queried.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.count(Severity::Error) == 0
    }

    /// The number of findings with this severity, listed or not.
    #[must_use]
    pub fn count(&self, severity: Severity) -> u64 {
        let listed = self.findings.iter().filter(|it| it.severity == severity).count();
        let rest = self.omitted.iter().filter(|it| it.severity == severity);
        rest.fold(u64::try_from(listed).unwrap_or(u64::MAX), |sum, it| sum.saturating_add(it.count))
    }
}

/// The severity of a finding with this code.
fn severity(code: Code, strictness: Strictness) -> Severity {
    match code.severity() {
        // A repeated label is normal on an axis for `group_by`.
        Severity::Warning if code == Code::Note(NoteCode::LabelTwice) => Severity::Warning,
        Severity::Warning if strictness == Strictness::Strict => Severity::Error,
        severity => severity,
    }
}
