//! A finding: what is wrong, where, and what to do about it.

use std::fmt;

pub use tet_format::Severity;
use tet_format::{Digits, ForeignRule, Rule, Shape};

use crate::code::Code;
use crate::collect::Coded;
use crate::level::Level;

/// A place in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The file name of the shard, if a container has several files: escape it for printing.
    pub shard: Option<String>,
    /// The name of the region in the format.
    pub region: &'static str,
    /// The field of the record, or the kind of bytes.
    pub field: &'static str,
    /// The offset of the field in the file.
    pub offset: u64,
    /// The line of a text that the offset is in, counted from 1.
    pub line: Option<u64>,
    /// Its length in bytes.
    pub len: u64,
    /// The position of the dataset in the catalog, if the finding has a dataset.
    pub dataset: Option<u64>,
    /// The dataset's name as stored: escape it for printing.
    pub dataset_name: Option<String>,
    /// The name of the attribute, if the finding is about one; empty where it cannot be read. Escape it for printing.
    pub attribute: Option<String>,
    /// The chunk's coordinate in the grid, if the finding has a chunk.
    pub chunk: Option<Vec<u64>>,
    /// The number of the message, in a container of messages.
    pub message: Option<usize>,
    /// The number of the object in that message.
    pub object: Option<usize>,
}

/// A broken rule or a note about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule or note.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// The level that finds it.
    pub level: Level,
    /// Where it is.
    pub place: Location,
    /// The value in the file, or one derived from it.
    pub found: u64,
    /// The value that the rule requires, or its limit.
    pub wanted: Option<u64>,
}

impl Finding {
    /// The rule of another container, if it is about one.
    #[must_use]
    pub const fn rule(&self) -> Option<&'static ForeignRule> {
        self.code.foreign()
    }

    /// The requirement, or the fact, as in the format specification.
    #[must_use]
    pub const fn text(&self) -> &'static str {
        self.code.text()
    }

    /// Advice; empty if unknown.
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
        match place.attribute.as_deref() {
            Some("") => f.write_str(", attributes")?,
            Some(attribute) => write!(f, ", attribute {attribute:?}")?,
            None => {}
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
        if let Some(line) = place.line {
            write!(f, ", line {line}")?;
        }
        let is_magic = matches!(code, Code::Rule(Rule::Magic | Rule::IndexMagic | Rule::TailMagic));
        if matches!(code, Code::Foreign(rule) if rule.digits == Digits::Hidden) {
            return Ok(());
        }
        match wanted {
            Some(wanted) if wanted == found => Ok(()),
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

/// Whether the values are digests or bit patterns rather than counts.
const fn is_hexadecimal(code: Code) -> bool {
    match code {
        Code::Foreign(rule) => matches!(rule.digits, Digits::Hexadecimal),
        Code::Rule(rule) => rule.is_digest(),
        Code::Note(_) => false,
    }
}
