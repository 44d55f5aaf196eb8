//! Findings about other containers, reported like those about `.tet` files.
//!
//! The crate of the container checks the file and adds its findings. The limit of findings per code
//! and the strictness are applied here, as for `.tet`.

use std::collections::{BTreeMap, BTreeSet};

use tet_format::{ForeignFault, Integrity, Limits, Severity};

use crate::code::Code;
use crate::collect::Collector;
use crate::finding::{Finding, Location};
use crate::options::VerifyOptions;
use crate::report::Report;

/// A finding of another container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignFound {
    /// The rule, the offset and the values.
    pub fault: ForeignFault,
    /// The kind of bytes, in one word.
    pub field: &'static str,
    /// The length of the bytes.
    pub len: u64,
    /// The dataset's position in the catalog and its name, if the finding has a dataset.
    pub dataset: Option<(u64, String)>,
}

impl From<ForeignFound> for Finding {
    /// The finding with its own severity, in the file that is checked.
    fn from(ForeignFound { fault, field, len, dataset }: ForeignFound) -> Self {
        let code = Code::Foreign(fault.rule);
        let (dataset, dataset_name) = dataset.unzip();
        let (region, offset) = (code.region(), fault.at);
        let place =
            Location { region, field, offset, len, dataset, dataset_name, ..Location::default() };
        Finding {
            code,
            severity: code.severity(),
            level: code.level(),
            place,
            found: fault.found,
            // A note requires no value.
            wanted: Some(fault.wanted).filter(|_| code.severity() == Severity::Error),
        }
    }
}

/// The totals of a check, apart from the findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForeignSeen {
    /// The file's length in bytes.
    pub file_len: u64,
    /// The integrity state.
    pub integrity: Integrity,
    /// The number of datasets checked.
    pub dataset_count: u64,
    /// The number of their chunks.
    pub chunk_count: u64,
    /// The length of all payloads; shared ones count once.
    pub stored_len: u64,
    /// The decoded length of all payloads.
    pub decoded_len: u64,
    /// The number of payload bytes checked.
    pub payload_len: u64,
    /// The number of bytes that belong to no dataset and to no metadata: what they are is not known.
    pub gap_len: u64,
}

impl ForeignSeen {
    /// Adds the chunks and the bytes of a file that is one of several; its datasets may be those of others.
    pub fn add_lengths(&mut self, report: &Report) {
        let sums = [
            (&mut self.file_len, report.file_len),
            (&mut self.chunk_count, report.row_count),
            (&mut self.stored_len, report.stored_len),
            (&mut self.decoded_len, report.decoded_len),
            (&mut self.payload_len, report.payload_len),
        ];
        for (sum, more) in sums {
            *sum = sum.saturating_add(more);
        }
    }
}

/// Collects findings. Its memory does not grow with their number.
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

    /// Adds a finding.
    pub fn take(&mut self, found: ForeignFound) {
        self.findings.push(found.into());
    }

    /// Adds a finding about a line of a text, counted from 1.
    pub fn take_in_line(&mut self, line: u64, found: ForeignFound) {
        let mut finding = Finding::from(found);
        finding.place.line = Some(line);
        self.findings.push(finding);
    }

    /// Adds a finding about an attribute of a dataset, or of the file.
    pub fn take_attribute(&mut self, name: Option<String>, found: ForeignFound) {
        let mut finding = Finding::from(found);
        finding.place.attribute = name;
        self.findings.push(finding);
    }

    /// Adds a finding about the chunk of a dataset at a coordinate of its grid.
    pub fn take_chunk(&mut self, coord: Vec<u64>, found: ForeignFound) {
        let mut finding = Finding::from(found);
        finding.place.chunk = Some(coord);
        self.findings.push(finding);
    }

    /// Adds a finding about another shard than the main file.
    pub fn take_in(&mut self, shard: &str, found: ForeignFound) {
        let mut finding = Finding::from(found);
        finding.place.shard = Some(shard.to_owned());
        self.findings.push(finding);
    }

    /// Adds the findings of a report about a shard that is a container of its own.
    pub fn take_report(&mut self, shard: &str, report: Report) {
        for mut finding in report.findings {
            finding.place.shard = Some(shard.to_owned());
            self.findings.push(finding);
        }
        for omitted in report.omitted {
            self.findings.count_more(omitted.code, omitted.count);
        }
    }

    /// Whether no finding is an error.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.findings.first_error().is_none()
    }

    /// The report of all findings.
    #[must_use]
    pub fn report(self, seen: &ForeignSeen) -> Report {
        let (findings, mut counts) = self.findings.into_parts();
        let findings = each_once(findings, &mut counts);
        Report {
            integrity: seen.integrity,
            file_len: seen.file_len,
            dataset_count: seen.dataset_count,
            row_count: seen.chunk_count,
            stored_len: seen.stored_len,
            decoded_len: seen.decoded_len,
            payload_len: seen.payload_len,
            checked_len: seen.payload_len,
            gap_len_left: seen.gap_len,
            ..Report::new(self.options, findings, &counts)
        }
    }
}

/// The findings, each once: several parts of a check meet the same bytes. One that names a chunk stands for those that do not.
fn each_once(findings: Vec<Finding>, counts: &mut BTreeMap<Code, u64>) -> Vec<Finding> {
    let key = |it: &Finding, chunk: Option<Vec<u64>>| {
        let Location { shard, offset, dataset_name, attribute, line, .. } = it.place.clone();
        (it.code, (shard, offset, line), (dataset_name, attribute), chunk)
    };
    let of_chunks: BTreeSet<_> =
        findings.iter().filter(|it| it.place.chunk.is_some()).map(|it| key(it, None)).collect();
    let mut seen = BTreeSet::new();
    let is_new = |it: &Finding| {
        let is_repeated = it.place.chunk.is_none() && of_chunks.contains(&key(it, None));
        let is_new = !is_repeated && seen.insert(key(it, it.place.chunk.clone()));
        if let (false, Some(count)) = (is_new, counts.get_mut(&it.code)) {
            *count = count.saturating_sub(1);
        }
        is_new
    };
    findings.into_iter().filter(is_new).collect()
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
    fn what_is_found_several_times_is_one_finding() {
        let options = VerifyOptions::default();
        let mut findings = ForeignFindings::new(&options);
        let of = || found(&MUST, Some((1, "w".to_owned())));
        (0..3).for_each(|_| findings.take(of()));
        findings.take_chunk(vec![2, 0], of());
        findings.take_chunk(vec![3, 0], of());
        findings.take_chunk(vec![3, 0], of());
        let report = findings.report(&ForeignSeen::default());
        let chunks: Vec<_> = report.findings.iter().map(|it| it.place.chunk.clone()).collect();
        assert_eq!(chunks, [Some(vec![2, 0]), Some(vec![3, 0])]);
        assert_eq!(report.count(Severity::Error), 2);
    }

    #[test]
    fn findings_read_like_those_of_tet() {
        let options = VerifyOptions { findings_max: 2, ..VerifyOptions::default() };
        let mut findings = ForeignFindings::new(&options);
        findings.take(found(&ODD, Some((3, "w\n".to_owned()))));
        assert!(findings.is_sound());
        for at in 8..13 {
            let mut of_file = found(&MUST, None);
            of_file.fault.at = at;
            findings.take(of_file);
        }
        assert!(!findings.is_sound());
        let report = findings.report(&ForeignSeen { file_len: 99, ..ForeignSeen::default() });
        assert!(!report.is_ok());
        assert_eq!((report.count(Severity::Error), report.findings.len()), (5, 3));
        let lines: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines[..2],
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
            crate::integrity_of(findings.counts(), &MUST, bare_count, 2)
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
