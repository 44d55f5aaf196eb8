//! What an opened file should be asked about, though it can be read.

use std::fmt;

use tet_format::Note;

/// Something odd or broken that does not stop a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// An oddity that breaks no rule.
    Note(Note),
    /// A broken rule that costs a reader nothing, or only the part it names.
    Fault(tet_format::Error),
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Note(note) => note.fmt(f),
            Self::Fault(fault) => fault.fmt(f),
        }
    }
}
