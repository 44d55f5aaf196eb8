//! All that was found in one file.

use tet_format::{ForeignRule, Severity};
use tet_io::Source;

use super::collect::{Collector, Found};
use super::{Depth, VerifyOptions};
use crate::index::Index;
use crate::rule;

/// One thing that is wrong with a file, or odd about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that is broken, or what was seen.
    pub rule: &'static ForeignRule,
    /// How bad it is.
    pub severity: Severity,
    /// The position of the tensor it is about, where one is meant.
    pub tensor: Option<usize>,
    /// The tensor's name, as it stands in the file: print it escaped.
    pub tensor_name: Option<String>,
    /// The key of the field it is about; empty where none is meant.
    pub field: &'static str,
    /// Where it is, in bytes from the file's start.
    pub at: u64,
    /// How many bytes it is about, from there on; 0 where nobody can tell.
    pub len: u64,
    /// What the file says there, or what follows from it.
    pub found: u64,
    /// What the rule asks for, or the limit it sets.
    pub wanted: u64,
}

/// Findings that are counted and not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Omitted {
    /// What they are about.
    pub rule: &'static ForeignRule,
    /// How many there are beside those that are told.
    pub count: u64,
}

/// All that was found in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// How closely the file was looked at.
    pub depth: Depth,
    /// What was found, in the order in which a reader meets it.
    pub findings: Vec<Finding>,
    /// How many findings of a rule are not among them.
    pub omitted: Vec<Omitted>,
    /// The file's length in bytes.
    pub file_len: u64,
    /// How many tensors the index has.
    pub tensor_count: u64,
    /// How many of them have an entry that breaks a rule.
    pub damaged_count: u64,
    /// How many of the others have no checksum that is known here.
    pub unverified_count: u64,
    /// Bytes in the blobs of tensors, those that tensors share more than once.
    pub stored_len: u64,
    /// Bytes of all their elements.
    pub decoded_len: u64,
    /// Bytes of blobs and gaps that were looked at.
    pub checked_len: u64,
}

impl Report {
    /// Whether there is no error: every tensor can be read.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.count(Severity::Error) == 0
    }

    /// How many findings have this severity, told or not.
    #[must_use]
    pub fn count(&self, severity: Severity) -> u64 {
        let told = self.findings.iter().filter(|it| it.severity == severity).count() as u64;
        let rest = self.omitted.iter().filter(|it| it.rule.severity == severity);
        rest.fold(told, |sum, it| sum.saturating_add(it.count))
    }

    /// Whether the bytes are not those of a file of this version at all.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        let foreign = [&rule::MAGIC, &rule::OTHER_VERSION, &rule::TRUNCATED];
        self.findings.first().is_some_and(|finding| foreign.contains(&finding.rule))
    }
}

/// Names the place of everything that was collected.
pub(super) fn report(
    source: &Source,
    options: &VerifyOptions,
    index: Option<&Index>,
    collector: Collector,
    checked_len: u64,
) -> Report {
    let (found, omitted) = collector.into_parts();
    let findings = found.into_iter().map(|found| finding(index, found)).collect();
    let tensors = || index.into_iter().flat_map(Index::tensors);
    let unverified = tensors().filter(|tensor| {
        tensor.fault().is_none() && !tensor.checksum().is_some_and(|checksum| checksum.is_known())
    });
    let stored = tensors().filter_map(|tensor| tensor.stored());
    let decoded = tensors().filter_map(|tensor| tensor.decoded_len());
    Report {
        depth: options.depth,
        findings,
        omitted,
        file_len: source.len(),
        tensor_count: tensors().count() as u64,
        damaged_count: tensors().filter(|tensor| tensor.fault().is_some()).count() as u64,
        unverified_count: unverified.count() as u64,
        stored_len: stored.fold(0_u64, |sum, span| sum.saturating_add(span.len())),
        decoded_len: decoded.fold(0, u64::saturating_add),
        checked_len,
    }
}

fn finding(index: Option<&Index>, Found { fault, position, field }: Found) -> Finding {
    let crate::Fault { rule, at, found, wanted } = fault;
    let tensor = index.zip(position).and_then(|(index, position)| index.tensor(position));
    let in_index = index.and_then(|index| index.item_len(at));
    let in_blob = || Some(tensor?.stored()?.end().saturating_sub(at));
    // No item starts inside of text, nor in a gap.
    let is_byte = [&rule::NAME_TEXT, &rule::GAP_BYTES].contains(&rule);
    let len = if is_byte { Some(1) } else { in_index.or_else(in_blob) };
    Finding {
        rule,
        severity: rule.severity,
        tensor: position,
        tensor_name: tensor.map(|tensor| tensor.name().to_owned()),
        field,
        at,
        len: len.unwrap_or(0),
        found,
        wanted,
    }
}
