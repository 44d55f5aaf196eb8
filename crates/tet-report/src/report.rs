//! All that was found in one file.

use std::collections::BTreeMap;

use tet_format::{ForeignRule, Integrity, NoteCode};

use crate::code::Code;
use crate::finding::{Finding, Severity};
use crate::level::Level;
use crate::options::{Strictness, VerifyOptions};

/// The integrity of a container whose checksums never cover all bytes: whether some break this rule,
/// and how many datasets of all have no checksum.
#[must_use]
pub fn integrity_of(
    counts: &BTreeMap<Code, u64>,
    checksum: &'static ForeignRule,
    (bare_count, dataset_count): (u64, u64),
) -> Integrity {
    if counts.contains_key(&Code::Foreign(checksum)) {
        Integrity::Mismatch
    } else if dataset_count <= bare_count {
        Integrity::Unprotected
    } else {
        Integrity::Unchecked
    }
}

/// All that was found in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// Bytes in no structure that were too many to be read.
    pub gap_len_left: u64,
    /// How many datasets have no checksum that is known here.
    pub unverified_count: u64,
    /// Bytes that were read and compared or decoded, those that datasets share more than once.
    pub checked_len: u64,
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
    /// A report of these findings, as strict as the options ask for; `counts` are of all findings, also
    /// those that are not listed. What else it says of the file is zero.
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

    /// How many findings have this severity, told or not.
    #[must_use]
    pub fn count(&self, severity: Severity) -> u64 {
        let told = self.findings.iter().filter(|it| it.severity == severity).count();
        let rest = self.omitted.iter().filter(|it| it.severity == severity);
        rest.fold(u64::try_from(told).unwrap_or(u64::MAX), |sum, it| sum.saturating_add(it.count))
    }
}

/// How bad a finding of this code is.
fn severity(code: Code, strictness: Strictness) -> Severity {
    match code.severity() {
        // `group_by` by labels is for axes that have them several times.
        Severity::Warning if code == Code::Note(NoteCode::LabelTwice) => Severity::Warning,
        Severity::Warning if strictness == Strictness::Strict => Severity::Error,
        severity => severity,
    }
}
