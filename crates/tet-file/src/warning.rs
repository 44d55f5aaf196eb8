//! Warnings about an opened file that can be read.

use std::fmt;

use tet_format::Note;

/// Something unusual or broken that does not prevent reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// A note that breaks no rule.
    Note(Note),
    /// A broken rule that affects no data, or only the part it names.
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
