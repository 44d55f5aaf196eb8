//! Exit codes, failures, and how a failure is told.
//!
//! A failure says what, where, and what to do. People get lines on standard error, programs
//! (`--json`) one `tet.error/1` object.

mod told;

use std::io;
use std::ops::{Deref, DerefMut};
use std::path::Path;

use serde::Serialize;

/// What the process tells its caller. The numbers are a promise; the larger one is the worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Exit {
    /// Done, a broken pipe included.
    Done = 0,
    /// The answer is no: `verify` found errors.
    No = 1,
    /// Wrong usage: flags, query document, names, selections, an output that exists.
    Usage = 2,
    /// The file is damaged, or of a version or codec this build does not read.
    Format = 3,
    /// A limit or the memory budget was reached, or an integer result overflowed.
    Limit = 4,
    /// The world: missing path, permission, input and output, a file that changed while read.
    World = 5,
    /// The user stopped it.
    Interrupted = 130,
}

impl Exit {
    /// The number the process exits with.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        std::process::ExitCode::from(exit.code())
    }
}

impl From<tet_io::Kind> for Exit {
    fn from(kind: tet_io::Kind) -> Self {
        match kind {
            tet_io::Kind::Format => Exit::Format,
            tet_io::Kind::Usage => Exit::Usage,
            tet_io::Kind::Limit => Exit::Limit,
            tet_io::Kind::Io => Exit::World,
        }
    }
}

/// Where in a file or a document something is wrong; absent members are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The shard that it is about, where a container is several files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// The region of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The field of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The byte, from the start of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// How many bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub len: Option<u64>,
    /// The dataset's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// The chunk's coordinate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk: Option<Vec<u64>>,
    /// The line of the document, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The column of the document, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// The path of the field in the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// Why a command did not do what was asked.
///
/// A pointer wide, so that results stay small; it derefs to its [`Facts`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    facts: Box<Facts>,
}

impl Deref for Failure {
    type Target = Facts;

    fn deref(&self) -> &Facts {
        &self.facts
    }
}

impl DerefMut for Failure {
    fn deref_mut(&mut self) -> &mut Facts {
        &mut self.facts
    }
}

/// What there is to tell about a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// What the process will exit with.
    pub exit: Exit,
    /// A stable word for programs: a rule id, or `no-such-dataset`.
    pub code: String,
    /// One sentence: what is wrong.
    pub message: String,
    /// Lines that help to see it: the names there are, the place in a document.
    pub notes: Vec<String>,
    /// The names of the datasets there are, when another one was asked for.
    pub datasets: Vec<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// The file in question, as the user wrote it.
    pub file: Option<String>,
    /// Where in it.
    pub place: Place,
}

/// What commands return.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure with a code and a message.
    pub fn new(exit: Exit, code: &str, message: impl Into<String>) -> Failure {
        let facts = Facts {
            exit,
            code: code.to_owned(),
            message: message.into(),
            notes: Vec::new(),
            datasets: Vec::new(),
            hint: None,
            file: None,
            place: Place::default(),
        };
        Failure { facts: Box::new(facts) }
    }

    /// Wrong usage.
    pub fn usage(code: &str, message: impl Into<String>) -> Failure {
        Failure::new(Exit::Usage, code, message)
    }

    /// The user stopped it.
    #[must_use]
    pub fn interrupted() -> Failure {
        Failure::new(Exit::Interrupted, "interrupted", "interrupted")
    }

    /// The same with a hint, when there is none yet.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        let hint = hint.into();
        if self.hint.is_none() && !hint.is_empty() {
            self.hint = Some(hint);
        }
        self
    }

    /// The same at this place.
    #[must_use]
    pub fn at(mut self, place: Place) -> Failure {
        self.place = place;
        self
    }

    /// The same in other words.
    #[must_use]
    pub fn saying(mut self, message: impl Into<String>) -> Failure {
        self.message = message.into();
        self
    }

    /// The same with one more line under the message.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Failure {
        self.notes.push(note.into());
        self
    }

    /// The same with the names of the datasets there are.
    #[must_use]
    pub fn among<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Failure {
        self.datasets = names.into_iter().map(str::to_owned).collect();
        let note = crate::failure::names(self.datasets.iter().map(String::as_str));
        self.note(note)
    }

    /// The same about a file, when it names none yet.
    #[must_use]
    pub fn about(mut self, path: &Path) -> Failure {
        if self.file.is_none() {
            self.file = Some(path.to_string_lossy().into_owned());
        }
        self
    }

    /// Whether the reader of our output has left: not a failure to speak of.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        self.code == BROKEN_PIPE
    }

    /// The word for who can act on it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.exit {
            Exit::Done | Exit::No | Exit::Usage => "usage",
            Exit::Format => "format",
            Exit::Limit => "limit",
            Exit::World => "io",
            Exit::Interrupted => "interrupted",
        }
    }
}

const BROKEN_PIPE: &str = "broken-pipe";
/// What helps when a disk is full.
pub(crate) const MAKE_ROOM: &str = "make room, then try again";

/// Errors of our own output; paths of inputs come with the libraries' errors.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::new(Exit::Done, BROKEN_PIPE, "the reader of the output has left");
        }
        let message = format!("cannot write the output: {error}");
        if error.kind() == io::ErrorKind::StorageFull {
            return Failure::new(Exit::World, "disk-full", message).hint(MAKE_ROOM);
        }
        Failure::new(Exit::World, "io", message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_of_the_manual() {
        let codes = [
            (Exit::Done, 0),
            (Exit::No, 1),
            (Exit::Usage, 2),
            (Exit::Format, 3),
            (Exit::Limit, 4),
            (Exit::World, 5),
            (Exit::Interrupted, 130),
        ];
        for (exit, code) in codes {
            assert_eq!(exit.code(), code);
        }
        assert_eq!(Exit::from(tet_io::Kind::Format), Exit::Format);
        assert_eq!(Exit::from(tet_io::Kind::Usage), Exit::Usage);
        assert_eq!(Exit::from(tet_io::Kind::Limit), Exit::Limit);
        assert_eq!(Exit::from(tet_io::Kind::Io), Exit::World);
    }

    #[test]
    fn a_broken_pipe_is_no_failure_to_speak_of() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(failure.is_broken_pipe());
        assert_eq!(failure.exit, Exit::Done);
    }
}
