//! One change of a file: what it heals, why it is right, what it costs.

use std::fmt;

use tet_format::ForeignRule;
use tet_report::Code;

/// One change of a file.
pub type Edit = tet_report::Edit<Action, Loss>;

/// An edit of bytes from an offset on, which ends a breach of a rule.
pub(super) fn new_edit(rule: &'static ForeignRule, place: (u64, u64), action: Action) -> Edit {
    Edit::new(Code::Foreign(rule), action.region(), place, action)
}

/// What an edit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Writes preamble and postamble anew.
    WriteEnds,
    /// Flips bits of a frame back.
    MendFrame,
    /// Clears a bit of the padding between frames.
    ClearPadding,
    /// Writes metadata anew, of what can be read of it.
    WriteMetadata,
    /// Writes the message anew, of its whole frames.
    WriteMessage,
    /// Leaves bytes out that are no whole frame.
    DropBytes,
    /// Takes damaged objects out of a message.
    DropObjects,
    /// Leaves out what is left of a message without a whole object.
    DropMessage,
}

impl Action {
    /// The part of the file that it changes.
    const fn region(self) -> &'static str {
        match self {
            Action::WriteEnds => "preamble",
            Action::MendFrame | Action::DropObjects => "frame",
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
            Action::WriteEnds => "write preamble and postamble anew",
            Action::MendFrame => "flip bits of a frame back",
            Action::ClearPadding => "write zeros between frames",
            Action::WriteMetadata => "write metadata anew, of what can be read",
            Action::WriteMessage => "write the message anew, of its whole frames",
            Action::DropBytes => "leave out bytes that are no whole frame",
            Action::DropObjects => "take damaged objects out of the message",
            Action::DropMessage => "leave out a message without a whole object",
        })
    }
}

/// Something that a file had and has no longer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// Bytes that cannot be made sense of.
    Bytes {
        /// Where they start.
        offset: u64,
        /// How many there are.
        len: u64,
    },
    /// An object.
    Object {
        /// Where its frame starts in the old file.
        offset: u64,
        /// The rule that it breaks.
        rule: &'static ForeignRule,
        /// Its name, if metadata has one: print it escaped.
        name: Option<String>,
    },
    /// An object that metadata names and whose frame is not found.
    Missing {
        /// Its number in the message.
        number: usize,
        /// Its name: print it escaped.
        name: String,
    },
    /// What was said of a message or an object.
    Metadata {
        /// Where it stands in the old file.
        offset: u64,
        /// The rule that it breaks.
        rule: &'static ForeignRule,
    },
    /// What was said of some objects, which nobody can tell from those that are gone.
    Entries {
        /// How many objects have none now.
        count: u64,
    },
    /// A message that is not looked into.
    Message {
        /// Where it starts.
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
                write!(f, "{len} bytes at byte {offset} that are no whole frame")
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
            Loss::Entries { count: 1 } => f.write_str("what was said of 1 object"),
            Loss::Entries { count } => write!(f, "what was said of {count} objects"),
            Loss::Message { offset, rule } => write!(f, "message at byte {offset} ({})", rule.id),
        }
    }
}
