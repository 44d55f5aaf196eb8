//! Exit codes, failures, and how a failure is reported.
//!
//! A failure contains what happened, where, and what to do. It is printed to standard error as text, or
//! with `--json` as one `tet.error/1` object.

mod report;

use std::io;
use std::ops::{Deref, DerefMut};
use std::path::Path;

use serde::Serialize;

/// The exit code of the process. The numbers are stable; a larger number is a worse result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Exit {
    /// Success; also if the output is a broken pipe.
    Done = 0,
    /// The answer is no: `verify` found errors.
    No = 1,
    /// Wrong usage: options, query document, names, selections, an output that exists.
    Usage = 2,
    /// The file is damaged, or of a version that this build does not read.
    Format = 3,
    /// A limit or the memory budget was reached, or an integer result overflowed.
    Limit = 4,
    /// Environment error: file not found, permission denied, I/O error, file changed during the read.
    Environment = 5,
    /// The file is of a format, or the dataset of a type or codec, that this build does not read.
    Unsupported = 6,
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
            tet_io::Kind::Io => Exit::Environment,
        }
    }
}

/// The place of an error in a file or a document; JSON omits absent members.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The shard, if the container is several files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// The region of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The field of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The offset in bytes from the start of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The length in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub len: Option<u64>,
    /// The dataset's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// The attribute's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
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

/// Why a command failed.
///
/// It is one pointer, so that results stay small, and dereferences to its [`Facts`].
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

/// The contents of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The exit code of the process.
    pub exit: Exit,
    /// A stable code for programs: a rule id, or `no-such-dataset`.
    pub code: String,
    /// One sentence: what happened.
    pub message: String,
    /// Additional lines: the existing names, the excerpt of a document.
    pub notes: Vec<String>,
    /// The names of the existing datasets, if the requested one does not exist.
    pub datasets: Vec<String>,
    /// Advice on how to continue.
    pub hint: Option<String>,
    /// The file, as the user wrote it.
    pub file: Option<String>,
    /// The place in the file.
    pub place: Place,
}

/// The result of a command.
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

    /// Adds a hint, unless there is one.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        let hint = hint.into();
        if self.hint.is_none() && !hint.is_empty() {
            self.hint = Some(hint);
        }
        self
    }

    /// Sets the place.
    #[must_use]
    pub fn at(mut self, place: Place) -> Failure {
        self.place = place;
        self
    }

    /// Replaces the message.
    #[must_use]
    pub fn saying(mut self, message: impl Into<String>) -> Failure {
        self.message = message.into();
        self
    }

    /// Adds a line under the message.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Failure {
        self.notes.push(note.into());
        self
    }

    /// Adds the names of the existing datasets.
    #[must_use]
    pub fn among<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Failure {
        self.datasets = names.into_iter().map(str::to_owned).collect();
        let note = crate::failure::names(self.datasets.iter().map(String::as_str));
        self.note(note)
    }

    /// Sets the file, unless there is one.
    #[must_use]
    pub fn about(mut self, path: &Path) -> Failure {
        if self.file.is_none() {
            self.file = Some(tet_io::without_secrets(path).into_owned());
        }
        self
    }

    /// Whether the output is a broken pipe, which is not reported.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        self.code == BROKEN_PIPE
    }

    /// The kind of the failure, by who can act on it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.exit {
            Exit::Done | Exit::No | Exit::Usage => "usage",
            Exit::Format => "format",
            Exit::Limit => "limit",
            Exit::Environment => "io",
            Exit::Unsupported => "unsupported",
            Exit::Interrupted => "interrupted",
        }
    }
}

const BROKEN_PIPE: &str = "broken-pipe";
/// The hint if a disk is full.
pub(crate) const MAKE_ROOM: &str = "free some space, then try again";

/// Errors of standard output; errors of files come from the libraries.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::new(Exit::Done, BROKEN_PIPE, "broken pipe");
        }
        let message = format!("cannot write the output: {error}");
        if error.kind() == io::ErrorKind::StorageFull {
            return Failure::new(Exit::Environment, "disk-full", message).hint(MAKE_ROOM);
        }
        Failure::new(Exit::Environment, "io", message)
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
            (Exit::Environment, 5),
            (Exit::Unsupported, 6),
            (Exit::Interrupted, 130),
        ];
        for (exit, code) in codes {
            assert_eq!(exit.code(), code);
        }
        assert_eq!(Exit::from(tet_io::Kind::Format), Exit::Format);
        assert_eq!(Exit::from(tet_io::Kind::Usage), Exit::Usage);
        assert_eq!(Exit::from(tet_io::Kind::Limit), Exit::Limit);
        assert_eq!(Exit::from(tet_io::Kind::Io), Exit::Environment);
    }

    #[test]
    fn a_broken_pipe_is_no_failure_to_speak_of() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(failure.is_broken_pipe());
        assert_eq!(failure.exit, Exit::Done);
    }
}
