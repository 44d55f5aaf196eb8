//! All that was found in one file.

use tet_format::{ForeignRule, Severity};
use tet_io::Source;

use super::collect::Collector;
use super::{Level, VerifyOptions};
use crate::error::Fault;
use crate::message::Message;

/// One thing that is wrong with a file, or odd about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule, its severity, the place and the numbers.
    pub fault: Fault,
    /// The number of the message it is about, where one is meant.
    pub message: Option<usize>,
    /// The number of the object in that message, where one is meant.
    pub object: Option<usize>,
    /// How many bytes it is about, from its place on; 0 where nobody can tell.
    pub len: u64,
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
    pub level: Level,
    /// What was found, in the order of the file.
    pub findings: Vec<Finding>,
    /// How many findings of a rule are not among them.
    pub omitted: Vec<Omitted>,
    /// The file's length in bytes.
    pub file_len: u64,
    /// How many messages stand.
    pub message_count: u64,
    /// How many do not.
    pub damage_count: u64,
    /// How many objects the messages have.
    pub object_count: u64,
    /// How many of them have no hash.
    pub unverified_count: u64,
    /// Bytes that were compared with their hashes.
    pub checked_len: u64,
}

impl Report {
    pub(super) fn new(source: &Source, options: &VerifyOptions) -> Self {
        Report {
            level: options.level,
            findings: Vec::new(),
            omitted: Vec::new(),
            file_len: source.len(),
            message_count: 0,
            damage_count: 0,
            object_count: 0,
            unverified_count: 0,
            checked_len: 0,
        }
    }

    pub(super) fn with(mut self, out: Collector) -> Self {
        (self.findings, self.omitted) = out.into_parts();
        self
    }

    pub(super) fn count_message(&mut self, message: &Message) {
        let frames = (0..message.len()).filter_map(|number| message.object_frame(number));
        let bare = frames.filter(|frame| message.hash(frame).is_none()).count();
        self.object_count = self.object_count.saturating_add(message.len() as u64);
        self.unverified_count = self.unverified_count.saturating_add(bare as u64);
    }

    pub(super) fn add_checked(&mut self, len: u64) {
        self.checked_len = self.checked_len.saturating_add(len);
    }

    /// How many findings have this severity, told or not.
    #[must_use]
    pub fn count(&self, severity: Severity) -> u64 {
        let told = self.findings.iter().filter(|it| it.fault.rule.severity == severity);
        let rest = self.omitted.iter().filter(|it| it.rule.severity == severity);
        rest.fold(told.count() as u64, |sum, it| sum.saturating_add(it.count))
    }
}
