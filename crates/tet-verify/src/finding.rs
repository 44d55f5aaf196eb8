//! What was found, where, and what to do about it.

use std::fmt;

use tet_format::{Region, Rule};

use crate::code::Code;
use crate::level::Level;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Odd: readers ignore it, careful writers do not do it.
    Warning,
    /// A rule is broken.
    Error,
}

impl Severity {
    /// The severity's name, as printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Where in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The region.
    pub region: Region,
    /// The field of the record, or what the stretch is.
    pub field: &'static str,
    /// Where the field or stretch starts, in bytes from the file's start.
    pub offset: u64,
    /// How many bytes it takes.
    pub len: u64,
    /// The position of the dataset in the catalog, where one is meant.
    pub dataset: Option<u64>,
    /// The dataset's name, as it stands in the file: print it escaped.
    pub dataset_name: Option<String>,
    /// The chunk's place in the grid, where one is meant.
    pub chunk: Option<Vec<u64>>,
}

/// One thing that is wrong with a file, or odd about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is about.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// The level that finds it.
    pub level: Level,
    /// Where it is.
    pub place: Place,
    /// What the file says there, or what follows from it.
    pub found: u64,
    /// What the rule asks for, or the limit it sets.
    pub wanted: Option<u64>,
}

impl Finding {
    /// What the rule asks for, or what was seen, in the words of the format document.
    #[must_use]
    pub const fn text(&self) -> &'static str {
        self.code.text()
    }

    /// What to do about it; empty when nothing better is known.
    #[must_use]
    pub const fn advice(&self) -> &'static str {
        self.code.advice()
    }
}

impl fmt::Display for Finding {
    /// One line. Names are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { code, severity, place, found, wanted, .. } = self;
        write!(f, "{severity} {code}: {}", code.text())?;
        match (&place.dataset_name, place.dataset) {
            (Some(name), _) => write!(f, ", dataset {name:?}")?,
            (None, Some(dataset)) => write!(f, ", dataset #{dataset}")?,
            (None, None) => {}
        }
        if let Some(chunk) = &place.chunk {
            write!(f, ", chunk {chunk:?}")?;
        }
        write!(f, ", {} {} at byte {}", place.region, place.field, place.offset)?;
        let is_magic = matches!(code, Code::Rule(Rule::Magic | Rule::IndexMagic | Rule::TailMagic));
        match wanted {
            Some(wanted) if is_magic => {
                write!(f, ": found {found:#010x}, wanted {wanted:#010x}")
            }
            Some(wanted) if is_digest(*code) => {
                write!(f, ": found {found:#x}, wanted {wanted:#x}")
            }
            Some(wanted) => write!(f, ": found {found}, wanted {wanted}"),
            None => write!(f, ": found {found}"),
        }
    }
}

/// Whether what was found and wanted are halves of digests.
const fn is_digest(code: Code) -> bool {
    matches!(
        code,
        Code::Rule(
            Rule::SelfDigest
                | Rule::HeadDigest
                | Rule::PageDigest
                | Rule::PagesDigest
                | Rule::ChunkDigest
                | Rule::ChunksDigest
                | Rule::SpillDigest
        )
    )
}
