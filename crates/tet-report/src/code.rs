//! What a finding is about: a rule of the format, or an oddity that breaks none.

use tet_format::{ForeignRule, NoteCode, Reach, Rule, Severity};

use crate::level::Level;

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// A rule is broken, or a limit of the reader passed.
    Rule(Rule),
    /// Something odd that breaks no rule.
    Note(NoteCode),
    /// A rule of another container than `.tet`, or an oddity of it.
    Foreign(&'static ForeignRule),
}

impl Code {
    /// The rule of another container, if it is one.
    #[must_use]
    pub const fn foreign(self) -> Option<&'static ForeignRule> {
        match self {
            Code::Foreign(rule) => Some(rule),
            _ => None,
        }
    }

    /// The stable id, the same as in the format's document.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Code::Rule(rule) => rule.id(),
            Code::Note(note) => note.id(),
            Code::Foreign(rule) => rule.id,
        }
    }

    /// What the rule asks for, or what was seen.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Code::Rule(rule) => rule.text(),
            Code::Note(note) => note.text(),
            Code::Foreign(rule) => rule.text,
        }
    }

    /// How bad it is.
    ///
    /// A broken rule is an error, and so is a limit: what lies behind it was not looked at. So are
    /// digests that cannot be used: whoever checks a protected file must learn that nothing was
    /// compared.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Code::Rule(_) | Code::Note(NoteCode::DigestsStale | NoteCode::DigestsUnknown) => {
                Severity::Error
            }
            Code::Note(NoteCode::ExtentZero | NoteCode::RowOrder | NoteCode::PayloadHole) => {
                Severity::Note
            }
            Code::Note(_) => Severity::Warning,
            Code::Foreign(rule) => rule.severity,
        }
    }

    /// The first level that finds it.
    #[must_use]
    pub const fn level(self) -> Level {
        match self {
            Code::Rule(Rule::ZstdLen | Rule::ZstdFrames | Rule::ZstdWindow | Rule::ChunkDigest)
            | Code::Note(NoteCode::ZstdSkippable | NoteCode::PayloadHole)
            | Code::Foreign(ForeignRule { reach: Reach::Elements, .. }) => Level::Deep,
            _ => Level::Structure,
        }
    }

    /// What to do about it; empty when nothing better is known.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Code::Rule(rule) => rule.hint(),
            Code::Foreign(rule) => rule.hint,
            Code::Note(NoteCode::UndeclaredTail) => {
                "a footer may have lost its flag: without it the metadata is not read"
            }
            Code::Note(NoteCode::NameTwice | NoteCode::NameEmpty) => {
                "ask for the dataset as #N, its position in the catalog"
            }
            Code::Note(NoteCode::NameUnprintable | NoteCode::NamePath) => {
                "do not use the name as it is in a terminal or as a path"
            }
            Code::Note(NoteCode::BytesUnused) => "no reader looks at these bytes",
            Code::Note(NoteCode::DigestsStale) => {
                "a program that does not know digests wrote the footer: `tet digest add` protects the file anew"
            }
            Code::Note(NoteCode::DigestsUnknown) => "a newer program can compare them",
            Code::Note(NoteCode::PayloadShared) => {
                "sound if it is meant; a small file can be read as a large one"
            }
            Code::Note(NoteCode::MemoryHint) => "a hint never raises a limit",
            Code::Note(NoteCode::ZstdSkippable) => "no reader looks at these bytes",
            Code::Note(NoteCode::LabelTwice | NoteCode::DimNameTwice) => {
                "a name that stands twice means the first: ask by position"
            }
            Code::Note(NoteCode::PayloadHole) => {
                "zeros that a program left out, or bytes that the disk has lost: digests tell"
            }
            Code::Note(_) => "",
        }
    }

    /// What `tet repair` does about it; empty when it does nothing by this code.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        use NoteCode as N;
        use Rule as R;
        match self {
            Code::Rule(
                R::Magic
                | R::LayoutVersion
                | R::IndexOffset
                | R::RecordCount
                | R::RecordsLen
                | R::IndexMagic
                | R::IndexVersion
                | R::IndexLen,
            ) => "sets the field to what the rest of the file says",
            Code::Rule(R::RowDataset | R::RowCoord | R::RowUnique | R::RowRawLen) => {
                "sets the row to what its place says"
            }
            Code::Rule(R::PayloadBounds | R::ZstdLen | R::ZstdFrames | R::ZstdWindow) => {
                "takes the payload from another file (`--from`), or fills what is lost (`--salvage`)"
            }
            Code::Rule(R::TailRoom | R::JsonSyntax) => "makes a footer of what is left",
            Code::Rule(R::TailMagic) => {
                "writes the tail anew, cuts off what follows it, or clears the flag"
            }
            Code::Rule(R::FooterVersion | R::JsonBounds) => {
                "writes the tail anew, or makes a footer of what is left"
            }
            Code::Rule(R::SelfDigest | R::SpillDigest) => "flips a bit back",
            Code::Rule(R::HeadDigest) => "flips a bit back, or makes digests anew",
            Code::Rule(R::PageDigest) => "flips a bit back, or sets the row to what its place says",
            Code::Rule(R::ChunkDigest) => {
                "flips a bit back, takes the payload from another file, or fills what is lost"
            }
            Code::Rule(R::PagesDigest | R::ChunksDigest) => {
                "sets the digest to that of bytes which are proven"
            }
            Code::Rule(R::DigestBlock) => "sets the field to what the rest of the file says",
            Code::Rule(R::GapZero)
            | Code::Note(
                N::RecordReserved
                | N::NamePadding
                | N::IndexReserved
                | N::RowReserved
                | N::RowSlots,
            ) => "writes zeros",
            Code::Rule(R::FlagCleared) | Code::Note(N::UndeclaredTail) => "sets the flag",
            Code::Note(N::BytesUnused) => "cuts off what follows the last payload",
            Code::Note(N::DigestsStale) => "makes digests anew",
            _ => "",
        }
    }

    /// The region it is about, as its format calls it.
    #[must_use]
    pub const fn region(self) -> &'static str {
        match self {
            Code::Rule(rule) => rule.region().name(),
            Code::Note(note) => note.region().name(),
            Code::Foreign(rule) => rule.region,
        }
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.id())
    }
}
