//! The subject of a finding: a rule of the format, or a note that breaks none.

use tet_format::{ForeignRule, NoteCode, Reach, Rule, Severity};

use crate::level::Level;

/// The subject of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// A broken rule, or an exceeded limit of the reader.
    Rule(Rule),
    /// Something unusual that breaks no rule.
    Note(NoteCode),
    /// A rule or note of another container than `.tet`.
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

    /// The requirement, or the fact.
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
    /// A broken rule is an error, and so is a limit: the data after it was not checked. Unusable
    /// digests are errors too, since nothing of a protected file could be compared.
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
            Code::Rule(
                Rule::ZstdLen
                | Rule::ZstdFrames
                | Rule::ZstdWindow
                | Rule::ChunkDigest
                | Rule::StatisticsRecord,
            )
            | Code::Note(NoteCode::ZstdSkippable | NoteCode::PayloadHole)
            | Code::Foreign(ForeignRule { reach: Reach::Elements, .. }) => Level::Deep,
            _ => Level::Structure,
        }
    }

    /// Advice; empty if unknown.
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
                "a program without support for digests wrote the footer: `tet edit repack --digests` computes new digests"
            }
            Code::Note(NoteCode::DigestsUnknown) => "a newer program can compare them",
            Code::Note(NoteCode::StatisticsStale) => {
                "queries read the chunks instead: `tet edit repack --digests` computes new statistics"
            }
            Code::Note(NoteCode::PayloadShared) => {
                "valid if intended; a small file can decode to a large one"
            }
            Code::Note(NoteCode::MemoryHint) => "a hint never raises a limit",
            Code::Note(NoteCode::ZstdSkippable) => "no reader looks at these bytes",
            Code::Note(NoteCode::LabelTwice | NoteCode::DimNameTwice) => {
                "a repeated name is refused where one position is asked for: select by position"
            }
            Code::Note(NoteCode::PayloadHole) => {
                "zeros that a program did not write, or bytes lost by the disk: only digests can show which"
            }
            Code::Note(_) => "",
        }
    }

    /// The action of `tet repair`; empty if none.
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
            ) => "sets the field from the rest of the file",
            Code::Rule(R::RowDataset | R::RowCoord | R::RowUnique | R::RowRawLen) => {
                "sets the row from its position"
            }
            Code::Rule(R::PayloadBounds | R::ZstdLen | R::ZstdFrames | R::ZstdWindow) => {
                "copies the payload from another file (`--from`), or fills lost elements (`--salvage`)"
            }
            Code::Rule(R::TailRoom | R::JsonSyntax) => "builds a footer from the readable parts",
            Code::Rule(R::TailMagic) => {
                "rewrites the tail, cuts off what follows it, or clears the flag"
            }
            Code::Rule(R::FooterVersion | R::JsonBounds) => {
                "rewrites the tail, or builds a footer from the readable parts"
            }
            Code::Rule(R::SelfDigest | R::SpillDigest) => "flips a bit back",
            Code::Rule(R::HeadDigest) => "flips a bit back, or recomputes the digests",
            Code::Rule(R::PageDigest) => "flips a bit back, or sets the row from its position",
            Code::Rule(R::ChunkDigest) => {
                "flips a bit back, copies the payload from another file, or fills lost elements"
            }
            Code::Rule(R::PagesDigest | R::ChunksDigest) => {
                "sets the digest to that of the proven bytes"
            }
            Code::Rule(R::DigestBlock) => "sets the field from the rest of the file",
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
            Code::Note(N::DigestsStale) => "recomputes the digests",
            _ => "",
        }
    }

    /// The name of its region in the format.
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
