//! Cases: bytes, and the outcome that they must have.

use tet_format::{Limits, Rule};

/// A file that opens, with what it holds.
#[derive(Clone, Debug)]
pub struct Accept {
    /// The claim, in words.
    pub name: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
    /// Contents of each dataset, in file order.
    pub holds: Vec<Holds>,
}

/// Contents of one dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holds {
    /// Its name.
    pub name: String,
    /// Its element type's name, or nothing for a tag that has none.
    pub dtype: Option<&'static str>,
    /// Its shape.
    pub shape: Vec<u64>,
    /// Its elements, little-endian, row-major; nothing when they cannot be read.
    pub elements: Option<Vec<u8>>,
}

/// A file that breaks one rule.
#[derive(Clone, Debug)]
pub struct Reject {
    /// The claim, in words.
    pub name: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
    /// The rule.
    pub rule: Rule,
    /// The byte at which it is broken.
    pub at: u64,
    /// Limits of the reader.
    pub limits: Limits,
    /// Who notices.
    pub noticed: Noticed,
    /// This file without that one mistake, which every reader takes.
    pub twin: Twin,
}

/// Who notices a broken rule, from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Noticed {
    /// Opening the file fails.
    Open,
    /// The file opens; the dataset that is touched is an error.
    Dataset,
    /// The file opens; the chunk that is touched is an error.
    Chunk,
    /// Readers do not look there; `tet verify` does.
    Verify,
}

/// A neighbor of a rejected file that is accepted.
#[derive(Clone, Debug)]
pub enum Twin {
    /// One field of the file is different.
    Field(Vec<u8>),
    /// The twin differs in more than a field: in length, or in several places.
    Shape(Vec<u8>),
}

impl Reject {
    /// A file that fails to open, beside one that differs in a field.
    #[must_use]
    pub fn field(name: &'static str, bytes: Vec<u8>, rule: Rule, at: u64, twin: &[u8]) -> Self {
        let limits = Limits::default();
        let twin = Twin::Field(twin.to_vec());
        Self { name, bytes, rule, at, limits, noticed: Noticed::Open, twin }
    }

    /// A file that fails to open, beside one of another length or with several differences.
    #[must_use]
    pub fn shape(name: &'static str, bytes: Vec<u8>, rule: Rule, at: u64, twin: Vec<u8>) -> Self {
        let limits = Limits::default();
        Self { name, bytes, rule, at, limits, noticed: Noticed::Open, twin: Twin::Shape(twin) }
    }

    /// This case, noticed later.
    #[must_use]
    pub fn noticed(mut self, noticed: Noticed) -> Self {
        self.noticed = noticed;
        self
    }

    /// This case under other limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

/// A file that breaks no rule but is odd.
#[derive(Clone, Debug)]
pub struct Odd {
    /// The claim, in words.
    pub name: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
    /// Code of the note.
    pub code: tet_format::NoteCode,
    /// The byte at which it is.
    pub at: u64,
}

impl Twin {
    /// The accepted file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Twin::Field(bytes) | Twin::Shape(bytes) => bytes,
        }
    }
}
