//! Findings about other containers, in the same report.
//!
//! Whoever knows the container looks at the file and hands over what it finds; how many findings of
//! a code are told, and how strictly, is decided here as it is for `.tet`.

use tet_format::{ForeignFault, Integrity, Limits, Severity};

use crate::code::Code;
use crate::collect::Collector;
use crate::finding::{Finding, Place};
use crate::options::VerifyOptions;
use crate::report::Report;

/// One thing that was found, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignFound {
    /// The rule, the byte, the numbers.
    pub fault: ForeignFault,
    /// What the bytes are, in a word.
    pub field: &'static str,
    /// How many bytes it takes.
    pub len: u64,
    /// The dataset's position in the catalog and its name, where one is meant.
    pub dataset: Option<(u64, String)>,
}

impl From<ForeignFound> for Finding {
    /// As it is told by itself: as a warning where it is one, and of the file that is looked over.
    fn from(ForeignFound { fault, field, len, dataset }: ForeignFound) -> Self {
        let code = Code::Foreign(fault.rule);
        let (dataset, dataset_name) = dataset.unzip();
        let (region, offset) = (code.region(), fault.at);
        let place = Place { region, field, offset, len, dataset, dataset_name, ..Place::default() };
        Finding {
            code,
            severity: code.severity(),
            level: code.level(),
            place,
            found: fault.found,
            // An oddity asks for nothing.
            wanted: Some(fault.wanted).filter(|_| code.severity() == Severity::Error),
        }
    }
}

/// What was looked at beside the findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForeignSeen {
    /// The file's length in bytes.
    pub file_len: u64,
    /// Whether the file's bytes are those that were written.
    pub integrity: Integrity,
    /// How many datasets were looked at.
    pub dataset_count: u64,
    /// How many chunks these have.
    pub chunk_count: u64,
    /// Bytes in payloads, those that datasets share once.
    pub stored_len: u64,
    /// Bytes that all payloads decode to.
    pub decoded_len: u64,
    /// Bytes of payloads that were looked at.
    pub payload_len: u64,
}

/// Takes findings. Its memory does not grow with their number.
#[derive(Debug)]
pub struct ForeignFindings<'a> {
    options: &'a VerifyOptions<Limits>,
    findings: Collector<Finding>,
}

impl<'a> ForeignFindings<'a> {
    /// No findings yet.
    #[must_use]
    pub fn new(options: &'a VerifyOptions<Limits>) -> Self {
        ForeignFindings { options, findings: Collector::new(options.findings_max) }
    }

    /// Takes one.
    pub fn take(&mut self, found: ForeignFound) {
        self.findings.push(found.into());
    }

    /// Takes one of another file than the one that is checked, by its name among several.
    pub fn take_in(&mut self, shard: &str, found: ForeignFound) {
        let mut finding = Finding::from(found);
        finding.place.shard = Some(shard.to_owned());
        self.findings.push(finding);
    }

    /// Whether none is an error.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.findings.first_error().is_none()
    }

    /// All that was found.
    #[must_use]
    pub fn report(self, seen: &ForeignSeen) -> Report {
        let (findings, counts) = self.findings.into_parts();
        Report {
            integrity: seen.integrity,
            file_len: seen.file_len,
            dataset_count: seen.dataset_count,
            row_count: seen.chunk_count,
            stored_len: seen.stored_len,
            decoded_len: seen.decoded_len,
            payload_len: seen.payload_len,
            checked_len: seen.payload_len,
            ..Report::new(self.options, findings, &counts)
        }
    }
}

#[cfg(test)]
mod tests {
    use tet_format::{Digits, ForeignRule, Reach};

    use super::*;
    use crate::level::Level;
    use crate::options::Strictness;

    const RULE: ForeignRule = ForeignRule {
        id: "X-1",
        region: "header",
        text: "the header must be short",
        hint: "shorten it",
        severity: Severity::Error,
        reach: Reach::Structure,
        digits: Digits::Decimal,
    };
    static MUST: ForeignRule = RULE;
    static ODD: ForeignRule = ForeignRule {
        id: "X-N1",
        severity: Severity::Warning,
        reach: Reach::Elements,
        digits: Digits::Hexadecimal,
        ..RULE
    };

    fn found(rule: &'static ForeignRule, dataset: Option<(u64, String)>) -> ForeignFound {
        let fault = ForeignFault { rule, at: 8, found: 17, wanted: 16 };
        ForeignFound { fault, field: "length", len: 8, dataset }
    }

    #[test]
    fn findings_are_told_as_those_of_tet_are() {
        let options = VerifyOptions { findings_max: 2, ..VerifyOptions::default() };
        let mut findings = ForeignFindings::new(&options);
        findings.take(found(&ODD, Some((3, "w\n".to_owned()))));
        assert!(findings.is_sound());
        (0..5).for_each(|_| findings.take(found(&MUST, None)));
        assert!(!findings.is_sound());
        let report = findings.report(&ForeignSeen { file_len: 99, ..ForeignSeen::default() });
        assert!(!report.is_ok());
        assert_eq!((report.count(Severity::Error), report.findings.len()), (5, 3));
        let told: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
        assert_eq!(
            told[..2],
            [
                "warning X-N1: the header must be short, dataset \"w\\n\", header length at byte 8: found 17",
                "error X-1: the header must be short, header length at byte 8: found 17, wanted 16",
            ]
        );
        assert_eq!(report.findings[0].level, Level::Deep);
        assert_eq!(report.findings[1].advice(), "shorten it");
        assert_eq!(report.omitted[0].count, 3);
    }

    #[test]
    fn a_digest_that_differs_counts_though_it_is_not_reported() {
        let mut findings: Collector<Finding> = Collector::new(0);
        let state = |findings: &Collector<Finding>, bare_count| {
            crate::integrity_of(findings.counts(), &MUST, (bare_count, 2))
        };
        findings.push(found(&ODD, None).into());
        assert_eq!(state(&findings, 1), Integrity::Unchecked);
        assert_eq!(state(&findings, 2), Integrity::Unprotected);
        findings.push(found(&MUST, None).into());
        assert_eq!(state(&findings, 2), Integrity::Mismatch);
    }

    #[test]
    fn strictly_a_warning_is_an_error() {
        let options = VerifyOptions { strictness: Strictness::Strict, ..VerifyOptions::default() };
        let mut findings = ForeignFindings::new(&options);
        findings.take(found(&ODD, None));
        assert!(!findings.report(&ForeignSeen::default()).is_ok());
    }
}
