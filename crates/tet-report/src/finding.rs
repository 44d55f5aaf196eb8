//! What was found, where, and what to do about it.

use std::fmt;

pub use tet_format::Severity;
use tet_format::{Digits, ForeignRule, Rule, Shape};

use crate::code::Code;
use crate::collect::Coded;
use crate::level::Level;

/// Where in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The shard that it is about, where a container is several files: print it escaped.
    pub shard: Option<String>,
    /// The region, as its format calls it.
    pub region: &'static str,
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
    /// The number of the message, in a container of messages.
    pub message: Option<usize>,
    /// The number of the object in that message.
    pub object: Option<usize>,
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
    /// The rule of another container, if it is about one.
    #[must_use]
    pub const fn rule(&self) -> Option<&'static ForeignRule> {
        self.code.foreign()
    }

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

impl Coded for Finding {
    fn code(&self) -> Code {
        self.code
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
            write!(f, ", chunk {}", Shape::from(chunk.as_slice()))?;
        }
        if let Some(shard) = &place.shard {
            write!(f, ", in {shard:?}")?;
        }
        write!(f, ", {} ", place.region)?;
        if place.field != place.region {
            write!(f, "{} ", place.field)?;
        }
        write!(f, "at byte {}", place.offset)?;
        let is_magic = matches!(code, Code::Rule(Rule::Magic | Rule::IndexMagic | Rule::TailMagic));
        if matches!(code, Code::Foreign(rule) if rule.digits == Digits::Hidden) {
            return Ok(());
        }
        match wanted {
            Some(wanted) if is_magic => {
                write!(f, ": found {found:#010x}, wanted {wanted:#010x}")
            }
            Some(wanted) if is_hexadecimal(*code) => {
                write!(f, ": found {found:#x}, wanted {wanted:#x}")
            }
            Some(wanted) => write!(f, ": found {found}, wanted {wanted}"),
            None => write!(f, ": found {found}"),
        }
    }
}

/// Whether what was found and wanted are halves of digests, or otherwise no counts.
const fn is_hexadecimal(code: Code) -> bool {
    match code {
        Code::Foreign(rule) => matches!(rule.digits, Digits::Hexadecimal),
        Code::Rule(rule) => rule.is_digest(),
        Code::Note(_) => false,
    }
}
