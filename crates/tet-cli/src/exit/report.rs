//! Prints a failure as text, or as one `tet.error/1` object.

use std::io::{self, Write};

use serde::Serialize;

use super::{Failure, Place};
use crate::escape::Message;
use crate::render::json;

/// The most characters of a line of names.
const LIST_WIDTH: usize = 96;

impl Failure {
    /// Prints the message, the notes and the hint as text.
    ///
    /// # Errors
    ///
    /// Writing to the stream fails.
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
        match self.file.as_ref().map(|file| tet_io::shown(file.as_ref())) {
            Some(file) if self.message.contains(&file) => self.message.clone(),
            Some(file) if self.code == "no-such-dataset" => format!("{} in {file}", self.message),
            Some(file) => format!("{file}: {}", self.message),
            None => self.message.clone(),
        }
    }

    /// Prints one `tet.error/1` object.
    ///
    /// # Errors
    ///
    /// Writing to the stream fails.
    pub fn write_json(&self, err: &mut dyn Write) -> io::Result<()> {
        let place = (self.place != Place::default()).then_some(&self.place);
        let object = ErrorShape {
            schema: "tet.error/1",
            kind: self.kind(),
            code: &self.code,
            message: &self.message,
            file: self.file.as_deref(),
            place,
            datasets: &self.datasets,
            hint: self.hint.as_deref(),
        };
        json::write_line(err, &object)
    }
}

/// Wraps a long list of names. Other lines are unchanged, because a caret may point into them.
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

#[derive(Serialize)]
struct ErrorShape<'a> {
    schema: &'static str,
    kind: &'static str,
    code: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    place: Option<&'a Place>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    datasets: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn printed(failure: &Failure) -> (String, String) {
        let (mut text, mut json) = (Vec::new(), Vec::new());
        failure.write_text(&mut text, false).expect("a vector takes all");
        failure.write_json(&mut json).expect("a vector takes all");
        (String::from_utf8(text).expect("text"), String::from_utf8(json).expect("text"))
    }

    #[test]
    fn a_failure_contains_what_where_and_what_to_do() {
        let failure = Failure::usage("no-such-dataset", "no dataset \"tmp\"")
            .about(Path::new("climate.tet"))
            .among(["temp", "pressure"])
            .hint("did you mean \"temp\"?");
        let (text, json) = printed(&failure);
        assert_eq!(
            text,
            "error: no dataset \"tmp\" in climate.tet\n  datasets: temp, pressure\n  did you mean \"temp\"?\n"
        );
        assert_eq!(
            json,
            "{\"schema\":\"tet.error/1\",\"kind\":\"usage\",\"code\":\"no-such-dataset\",\
             \"message\":\"no dataset \\\"tmp\\\"\",\"file\":\"climate.tet\",\
             \"datasets\":[\"temp\",\"pressure\"],\
             \"hint\":\"did you mean \\\"temp\\\"?\"}\n"
        );
    }

    #[test]
    fn long_lists_of_names_are_wrapped() {
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
    fn h13_a_failure_is_printed_escaped() {
        let failure = Failure::usage("x", "no dataset \"\u{1b}]0;owned\u{7}\u{202e}\"")
            .note("datasets: \u{9b}2J")
            .hint("try \u{2028}");
        let (text, json) = printed(&failure);
        for output in [text, json] {
            assert!(!output.chars().any(|c| c != '\n' && crate::escape::acts(c)), "{output:?}");
        }
    }
}
