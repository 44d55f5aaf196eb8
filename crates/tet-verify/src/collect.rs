//! The findings of the checks, before they are mapped to the file.

use tet_format::{Error as Fault, Note};
use tet_report::{Code, Coded};

/// A fault or a note as found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) code: Code,
    pub(crate) at: u64,
    pub(crate) found: u64,
    pub(crate) wanted: Option<u64>,
    /// The row of its payload.
    pub(crate) row: Option<u64>,
}

/// The sink of all checks.
pub(crate) type Collector = tet_report::Collector<Entry>;

impl Coded for Entry {
    fn code(&self) -> Code {
        self.code
    }
}

impl From<Fault> for Entry {
    fn from(Fault { rule, at, found, wanted }: Fault) -> Self {
        Entry { code: Code::Rule(rule), at, found, wanted: Some(wanted), row: None }
    }
}

impl From<Note> for Entry {
    fn from(Note { code, at, found }: Note) -> Self {
        Entry { code: Code::Note(code), at, found, wanted: None, row: None }
    }
}

#[cfg(test)]
mod tests {
    use tet_format::{Faults, NoteCode, Rule};

    use super::*;

    #[test]
    fn one_loud_code_does_not_hide_the_others() {
        let mut collector = Collector::new(3);
        for at in 0..1_000_000 {
            collector.fault(Fault { rule: Rule::RowCoord, at, found: 0, wanted: 0 }).unwrap();
        }
        collector.fault(Fault { rule: Rule::RowCodec, at: 7, found: 0, wanted: 0 }).unwrap();
        collector.notes(&mut vec![Note { code: NoteCode::RowOrder, at: 8, found: 0 }]);
        assert_eq!(collector.fault_count(), 1_000_001);
        let (entries, counts) = collector.into_parts();
        let places: Vec<u64> = entries.iter().map(|entry| entry.at).collect();
        assert_eq!(places, [0, 1, 2, 7, 8]);
        assert_eq!(counts[&Code::Rule(Rule::RowCoord)], 1_000_000);
    }
}
