//! The sink of all checks: findings are stored up to a number of each code, the rest are counted.

use std::collections::BTreeMap;

use tet_format::{Error as Fault, Faults, ForeignRule, Note, Rule, Severity};

use crate::code::Code;

/// Something that has a code.
pub trait Coded {
    /// What it is about.
    fn code(&self) -> Code;
}

/// Takes everything that is found. Its memory does not grow with the number of findings.
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

    /// An empty collector of the same size, for two that fill at the same time.
    #[must_use]
    pub fn sibling(&self) -> Self {
        Collector { entries: Vec::new(), counts: BTreeMap::new(), stored_max: self.stored_max }
    }

    /// Takes an entry.
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

    /// Takes over what another one collected.
    pub fn merge(&mut self, other: Self) {
        let (entries, mut counts) = other.into_parts();
        for entry in entries {
            counts.entry(entry.code()).and_modify(|count| *count = count.saturating_sub(1));
            self.push(entry);
        }
        counts.into_iter().for_each(|(code, count)| self.count_more(code, count));
    }

    /// How many entries of each code there are so far, stored or not.
    #[must_use]
    pub fn counts(&self) -> &BTreeMap<Code, u64> {
        &self.counts
    }

    /// How many breaches of a rule of `.tet` there are so far, stored or not.
    #[must_use]
    pub fn count(&self, rule: Rule) -> u64 {
        self.counts.get(&Code::Rule(rule)).copied().unwrap_or(0)
    }

    /// How many breaches of rules of `.tet` there are so far, stored or not.
    #[must_use]
    pub fn fault_count(&self) -> u64 {
        let faults = self.counts.iter().filter(|(code, _)| matches!(code, Code::Rule(_)));
        faults.map(|(_, count)| count).sum()
    }

    /// The first rule of another container, in the order of the rules, that is broken.
    #[must_use]
    pub fn first_error(&self) -> Option<&'static ForeignRule> {
        let mut rules = self.counts.keys().filter_map(|code| code.foreign());
        rules.find(|rule| rule.severity == Severity::Error)
    }

    /// What was stored, in the order in which it was found, and how many of each code there were.
    #[must_use]
    pub fn into_parts(self) -> (Vec<E>, BTreeMap<Code, u64>) {
        (self.entries, self.counts)
    }
}

impl<E: Coded + From<Note>> Collector<E> {
    /// Takes all notes out of a list, which is empty again.
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
