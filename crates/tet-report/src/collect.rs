//! Collects findings: stores up to a number of findings per code and counts the rest.

use std::collections::BTreeMap;

use tet_format::{Error as Fault, Faults, ForeignRule, Note, Rule, Severity};

use crate::code::Code;

/// Something that has a code.
pub trait Coded {
    /// The code of its subject.
    fn code(&self) -> Code;
}

/// Collects findings. Its memory does not grow with their number.
#[derive(Debug)]
pub struct Collector<E> {
    entries: Vec<E>,
    counts: BTreeMap<Code, u64>,
    stored_max: u64,
}

impl<E: Coded> Collector<E> {
    /// An empty collector that stores at most this many entries of each code.
    #[must_use]
    pub fn new(stored_max: usize) -> Self {
        let stored_max = u64::try_from(stored_max).unwrap_or(u64::MAX);
        Collector { entries: Vec::new(), counts: BTreeMap::new(), stored_max }
    }

    /// An empty collector with the same limit, for another thread.
    #[must_use]
    pub fn sibling(&self) -> Self {
        Collector { entries: Vec::new(), counts: BTreeMap::new(), stored_max: self.stored_max }
    }

    /// Adds an entry.
    pub fn push(&mut self, entry: E) {
        let count = self.counts.entry(entry.code()).or_default();
        if *count < self.stored_max {
            self.entries.push(entry);
        }
        *count = count.saturating_add(1);
    }

    /// Counts entries that are not stored.
    pub fn count_more(&mut self, code: Code, count: u64) {
        let all = self.counts.entry(code).or_default();
        *all = all.saturating_add(count);
    }

    /// Adds the entries and counts of another collector.
    pub fn merge(&mut self, other: Self) {
        let (entries, mut counts) = other.into_parts();
        for entry in entries {
            counts.entry(entry.code()).and_modify(|count| *count = count.saturating_sub(1));
            self.push(entry);
        }
        counts.into_iter().for_each(|(code, count)| self.count_more(code, count));
    }

    /// The number of entries of each code so far, stored or not.
    #[must_use]
    pub fn counts(&self) -> &BTreeMap<Code, u64> {
        &self.counts
    }

    /// The number of times a rule of `.tet` was broken so far, stored or not.
    #[must_use]
    pub fn count(&self, rule: Rule) -> u64 {
        self.counts.get(&Code::Rule(rule)).copied().unwrap_or(0)
    }

    /// The number of times any rule of `.tet` was broken so far, stored or not.
    #[must_use]
    pub fn fault_count(&self) -> u64 {
        let faults = self.counts.iter().filter(|(code, _)| matches!(code, Code::Rule(_)));
        faults.map(|(_, count)| count).sum()
    }

    /// The first broken rule of another container, in the order of the rules.
    #[must_use]
    pub fn first_error(&self) -> Option<&'static ForeignRule> {
        let mut rules = self.counts.keys().filter_map(|code| code.foreign());
        rules.find(|rule| rule.severity == Severity::Error)
    }

    /// The stored entries in the order they were added, and the number of entries of each code.
    #[must_use]
    pub fn into_parts(self) -> (Vec<E>, BTreeMap<Code, u64>) {
        (self.entries, self.counts)
    }
}

impl<E: Coded + From<Note>> Collector<E> {
    /// Moves all notes out of a list.
    pub fn notes(&mut self, notes: &mut Vec<Note>) {
        notes.drain(..).for_each(|note| self.push(note.into()));
    }
}

impl<E: Coded + From<Fault>> Faults for Collector<E> {
    fn fault(&mut self, fault: Fault) -> tet_format::Result<()> {
        self.push(fault.into());
        Ok(())
    }
}
