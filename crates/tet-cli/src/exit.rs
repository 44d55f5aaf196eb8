//! Exit codes, failures, and how a failure is told.
//!
//! A failure says what, where, and what to do. People get lines on standard error, programs
//! (`--json`) one `tet.error/1` object.

use std::io::{self, Write};
use std::ops::{Deref, DerefMut};
use std::path::Path;

use serde::Serialize;

use crate::escape::Message;
use crate::render::json;

/// What the process tells its caller. The numbers are a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

    /// Tells people: the message, the lines that help, what to do.
    ///
    /// # Errors
    ///
    /// The stream does not take it.
    pub fn write_text(&self, err: &mut dyn Write, colored: bool) -> io::Result<()> {
        let (red, bold, cyan, end) = if colored {
            ("\x1b[1;31m", "\x1b[1m", "\x1b[36m", "\x1b[0m")
        } else {
            ("", "", "", "")
        };
        let message = self.message_with_file();
        writeln!(err, "{red}error:{end} {bold}{}{end}", Message(&message))?;
        for note in &self.notes {
            for line in note.lines().flat_map(wrapped) {
                writeln!(err, "  {}", Message(line))?;
            }
        }
        if let Some(hint) = &self.hint {
            for line in hint.lines() {
                writeln!(err, "  {cyan}{}{end}", Message(line))?;
            }
        }
        Ok(())
    }

    fn message_with_file(&self) -> String {
        match &self.file {
            Some(file) if self.message.contains(file.as_str()) => self.message.clone(),
            Some(file) if self.code == "no-such-dataset" => format!("{} in {file}", self.message),
            Some(file) => format!("{file}: {}", self.message),
            None => self.message.clone(),
        }
    }

    /// Tells programs: one `tet.error/1` object.
    ///
    /// # Errors
    ///
    /// The stream does not take it.
    pub fn write_json(&self, err: &mut dyn Write) -> io::Result<()> {
        let place = (self.place != Place::default()).then_some(&self.place);
        let told = Told {
            schema: "tet.error/1",
            kind: self.kind(),
            code: &self.code,
            message: &self.message,
            file: self.file.as_deref(),
            place,
            hint: self.hint.as_deref(),
        };
        json::write_line(err, &told)
    }
}

/// A long list of names in several lines; any other line as it is, for a caret may point into it.
fn wrapped(line: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = line;
    while rest.starts_with("allowed: ") || (!lines.is_empty() && !rest.is_empty()) {
        let cut = rest.char_indices().nth(LIST_WIDTH).map_or(rest.len(), |(at, _)| at);
        let end = rest.get(..cut).and_then(|head| head.rfind(", ")).map(|at| at + 2);
        let (Some(end), true) = (end, cut < rest.len()) else { break };
        let (head, tail) = rest.split_at(end);
        lines.push(head.trim_end());
        rest = tail;
    }
    lines.push(rest);
    lines
}

/// Letters of a line of names.
const LIST_WIDTH: usize = 96;

#[derive(Serialize)]
struct Told<'a> {
    schema: &'static str,
    kind: &'static str,
    code: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    place: Option<&'a Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

const BROKEN_PIPE: &str = "broken-pipe";

/// Errors of our own output; paths of inputs come with the libraries' errors.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::new(Exit::Done, BROKEN_PIPE, "the reader of the output has left");
        }
        let message = format!("cannot write the output: {error}");
        Failure::new(Exit::World, "io", message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(failure: &Failure) -> (String, String) {
        let (mut text, mut json) = (Vec::new(), Vec::new());
        failure.write_text(&mut text, false).expect("a vector takes all");
        failure.write_json(&mut json).expect("a vector takes all");
        (String::from_utf8(text).expect("text"), String::from_utf8(json).expect("text"))
    }

    #[test]
    fn a_failure_says_what_where_and_what_to_do() {
        let failure = Failure::usage("no-such-dataset", "no dataset \"tmp\"")
            .about(Path::new("climate.tet"))
            .note("datasets: temp, pressure")
            .hint("did you mean \"temp\"?");
        let (text, json) = told(&failure);
        assert_eq!(
            text,
            "error: no dataset \"tmp\" in climate.tet\n  datasets: temp, pressure\n  did you mean \"temp\"?\n"
        );
        assert_eq!(
            json,
            "{\"schema\":\"tet.error/1\",\"kind\":\"usage\",\"code\":\"no-such-dataset\",\
             \"message\":\"no dataset \\\"tmp\\\"\",\"file\":\"climate.tet\",\
             \"hint\":\"did you mean \\\"temp\\\"?\"}\n"
        );
    }

    #[test]
    fn long_lists_of_names_are_told_in_lines() {
        let list = format!("allowed: {}", ["one", "three"].repeat(20).join(", "));
        let lines = wrapped(&list);
        assert!(lines.len() > 1 && lines.iter().all(|line| line.len() <= LIST_WIDTH), "{lines:?}");
        assert_eq!(lines.join(" "), list);
        let excerpt = "x, ".repeat(60);
        assert_eq!(wrapped(&excerpt), [excerpt.as_str()]);
        assert_eq!(wrapped("allowed: a, b"), ["allowed: a, b"]);
        assert_eq!(wrapped(""), [""]);
    }

    #[test]
    fn h13_a_failure_never_speaks_raw() {
        let failure = Failure::usage("x", "no dataset \"\u{1b}]0;owned\u{7}\u{202e}\"")
            .note("datasets: \u{9b}2J")
            .hint("try \u{2028}");
        let (text, json) = told(&failure);
        for told in [text, json] {
            assert!(!told.chars().any(|c| c != '\n' && crate::escape::acts(c)), "{told:?}");
        }
    }

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
