//! One change of a file: what it repairs, why it is right, what it loses.

use std::fmt;

use tet_format::ForeignRule;
use tet_report::Code;

/// One change of a file.
pub type Edit = tet_report::Edit<Action, Loss>;

/// An edit of bytes from an offset on, which corrects a broken rule.
pub(super) fn new_edit(rule: &'static ForeignRule, place: (u64, u64), action: Action) -> Edit {
    Edit::new(Code::Foreign(rule), action.region(), place.0, place.1, action)
}

/// What an edit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Rewrites preamble and postamble.
    WriteEnds,
    /// Flips bits of a frame back.
    RepairFrame,
    /// Clears a bit of the padding between frames.
    ClearPadding,
    /// Rewrites metadata from what can be read of it.
    WriteMetadata,
    /// Rewrites the message from its intact frames.
    WriteMessage,
    /// Drops bytes that are no intact frame.
    DropBytes,
    /// Removes damaged objects from a message.
    DropObjects,
    /// Drops the rest of a message without an intact object.
    DropMessage,
}

impl Action {
    /// The part of the file that it changes.
    const fn region(self) -> &'static str {
        match self {
            Action::WriteEnds => "preamble",
            Action::RepairFrame | Action::DropObjects => "frame",
            Action::WriteMetadata => "metadata",
            Action::DropBytes => "gap",
            Action::ClearPadding => "padding",
            Action::WriteMessage | Action::DropMessage => "message",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Action::WriteEnds => "rewrite preamble and postamble",
            Action::RepairFrame => "flip bits of a frame back",
            Action::ClearPadding => "write zeros between frames",
            Action::WriteMetadata => "rewrite metadata from what can be read",
            Action::WriteMessage => "rewrite the message from its intact frames",
            Action::DropBytes => "drop bytes that are no intact frame",
            Action::DropObjects => "remove damaged objects from the message",
            Action::DropMessage => "drop a message without an intact object",
        })
    }
}

/// Something that the repaired file no longer has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// Bytes that could not be interpreted.
    Bytes {
        /// Their offset.
        offset: u64,
        /// Their number.
        len: u64,
    },
    /// An object.
    Object {
        /// The offset of its frame in the old file.
        offset: u64,
        /// The rule that it breaks.
        rule: &'static ForeignRule,
        /// Its name, if metadata has one: escape it for printing.
        name: Option<String>,
    },
    /// An object that metadata names and whose frame was not found.
    Missing {
        /// Its number in the message.
        number: usize,
        /// Its name: escape it for printing.
        name: String,
    },
    /// Metadata of a message or an object.
    Metadata {
        /// Its offset in the old file.
        offset: u64,
        /// The rule that it breaks.
        rule: &'static ForeignRule,
    },
    /// Metadata of objects that cannot be matched to the remaining objects.
    Entries {
        /// The number of objects that have no metadata now.
        count: u64,
    },
    /// A message that was not repaired.
    Message {
        /// Its offset.
        offset: u64,
        /// The rule that it breaks, or the limit.
        rule: &'static ForeignRule,
    },
}

impl fmt::Display for Loss {
    /// One line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::Bytes { offset, len } => {
                write!(f, "{len} bytes at byte {offset} that are no intact frame")
            }
            Loss::Object { offset, rule, name: Some(name) } => {
                write!(f, "object {name:?} at byte {offset} ({})", rule.id)
            }
            Loss::Object { offset, rule, name: None } => {
                write!(f, "object at byte {offset} ({})", rule.id)
            }
            Loss::Missing { number, name } => write!(f, "object {number}, {name:?}"),
            Loss::Metadata { offset, rule } => {
                write!(f, "metadata at byte {offset} ({})", rule.id)
            }
            Loss::Entries { count: 1 } => f.write_str("metadata of 1 object"),
            Loss::Entries { count } => write!(f, "metadata of {count} objects"),
            Loss::Message { offset, rule } => write!(f, "message at byte {offset} ({})", rule.id),
        }
    }
}
