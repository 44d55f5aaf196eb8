//! The sink of the rules: what is found is kept, up to so many of one code, and the rest counted.

use std::collections::BTreeMap;

use tet_format::{Error as Fault, Faults, Note, Rule};

use crate::code::Code;

/// A fault or a note, as it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) code: Code,
    pub(crate) at: u64,
    pub(crate) found: u64,
    pub(crate) wanted: Option<u64>,
    /// The row whose payload it is about.
    pub(crate) row: Option<u64>,
}

/// Takes every fault and every note. Its memory does not grow with their number.
#[derive(Debug)]
pub(crate) struct Collector {
    entries: Vec<Entry>,
    counts: BTreeMap<Code, u64>,
    kept_max: u64,
}

impl Collector {
    pub(crate) fn new(kept_max: usize) -> Self {
        Collector {
            entries: Vec::new(),
            counts: BTreeMap::new(),
            kept_max: u64::try_from(kept_max).unwrap_or(u64::MAX),
        }
    }

    /// An empty collector of the same size, for two that fill at the same time.
    pub(crate) fn beside(&self) -> Self {
        Collector { entries: Vec::new(), counts: BTreeMap::new(), kept_max: self.kept_max }
    }

    /// Takes over what another one collected.
    pub(crate) fn merge(&mut self, other: Collector) {
        let (entries, mut counts) = other.into_parts();
        for entry in entries {
            self.take(entry);
            counts.entry(entry.code).and_modify(|count| *count = count.saturating_sub(1));
        }
        for (code, uncounted) in counts {
            let count = self.counts.entry(code).or_default();
            *count = count.saturating_add(uncounted);
        }
    }

    /// How many faults have been found so far, kept or not.
    pub(crate) fn fault_count(&self) -> u64 {
        let faults = self.counts.iter().filter(|(code, _)| matches!(code, Code::Rule(_)));
        faults.map(|(_, count)| count).sum()
    }

    /// How many breaches of a rule have been found so far, kept or not.
    pub(crate) fn count(&self, rule: Rule) -> u64 {
        self.counts.get(&Code::Rule(rule)).copied().unwrap_or(0)
    }

    pub(crate) fn note(&mut self, note: Note) {
        let Note { code, at, found } = note;
        self.take(Entry { code: Code::Note(code), at, found, wanted: None, row: None });
    }

    /// Takes all notes out of a list, which is empty again.
    pub(crate) fn notes(&mut self, notes: &mut Vec<Note>) {
        notes.drain(..).for_each(|note| self.note(note));
    }

    pub(crate) fn take(&mut self, entry: Entry) {
        let count = self.counts.entry(entry.code).or_default();
        if *count < self.kept_max {
            self.entries.push(entry);
        }
        *count = count.saturating_add(1);
    }

    /// What was kept, in the order it was found, and how many of each code there were.
    pub(crate) fn into_parts(self) -> (Vec<Entry>, BTreeMap<Code, u64>) {
        (self.entries, self.counts)
    }
}

impl Faults for Collector {
    fn fault(&mut self, fault: Fault) -> tet_format::Result<()> {
        let Fault { rule, at, found, wanted } = fault;
        self.take(Entry { code: Code::Rule(rule), at, found, wanted: Some(wanted), row: None });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tet_format::NoteCode;

    #[test]
    fn one_loud_code_does_not_hide_the_others() {
        let mut collector = Collector::new(3);
        for at in 0..1_000_000 {
            collector.fault(Fault { rule: Rule::RowCoord, at, found: 0, wanted: 0 }).unwrap();
        }
        collector.fault(Fault { rule: Rule::RowCodec, at: 7, found: 0, wanted: 0 }).unwrap();
        collector.note(Note { code: NoteCode::RowOrder, at: 8, found: 0 });
        assert_eq!(collector.fault_count(), 1_000_001);
        let (entries, counts) = collector.into_parts();
        let places: Vec<u64> = entries.iter().map(|entry| entry.at).collect();
        assert_eq!(places, [0, 1, 2, 7, 8]);
        assert_eq!(counts[&Code::Rule(Rule::RowCoord)], 1_000_000);
    }
}
