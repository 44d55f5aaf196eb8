//! An error that points into the document: line, column, caret, path, and what is allowed there.

use std::fmt;
use std::ops::Range;

use tet_io::Kind;
use tet_query::SelectionError;

/// The widest excerpt of a line, in characters.
const EXCERPT_MAX: usize = 96;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A query that has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The document is wrong, or does not fit the file.
    #[error(transparent)]
    Document(#[from] Box<DocumentError>),
    /// The catalog has no answer.
    #[error(transparent)]
    Query(#[from] tet_query::Error),
}

impl Error {
    /// Who can act on the error.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Error::Document(error) => error.kind(),
            Error::Query(error) => error.kind(),
        }
    }
}

impl From<SelectionError> for Error {
    fn from(error: SelectionError) -> Self {
        Error::Query(error.into())
    }
}

/// A query document that cannot be used, and the place of the error.
///
/// It shows as the message, the line with a caret under the place, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentError {
    pub(crate) message: String,
    pub(crate) kind: Kind,
    pub(crate) place: Option<Box<TextPosition>>,
    pub(crate) path: String,
    pub(crate) allowed: Vec<String>,
    pub(crate) hint: Option<String>,
}

/// A place in the text, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextPosition {
    line: usize,
    column: usize,
    excerpt: String,
    caret: Range<usize>,
}

impl DocumentError {
    /// The fault, in one line.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Who can act: the caller, or a limit was reached.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The line, counted from 1, where there is one to point at.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.place.as_ref().map(|place| place.line)
    }

    /// The column, counted from 1 in characters.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        self.place.as_ref().map(|place| place.column)
    }

    /// The path of the key or value, such as `selection[0].start`; empty at the top.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The keys or values that are allowed at the place, if that is the question.
    #[must_use]
    pub fn allowed(&self) -> &[String] {
        &self.allowed
    }

    /// Advice, if there is any.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The lines that show the place: where it is, the text, the caret, what is allowed.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(TextPosition { line, column, excerpt, caret }) = self.place.as_deref() {
            let path = if self.path.is_empty() { "" } else { ", at " };
            notes.push(format!("line {line}, column {column}{path}{}", self.path));
            notes.push(format!("  {excerpt}"));
            notes.push(format!("  {}{}", " ".repeat(caret.start), "^".repeat(caret.len())));
        }
        if !self.allowed.is_empty() {
            notes.push(format!("allowed: {}", self.allowed.join(", ")));
        }
        notes
    }

    /// An error of usage at a place of `text`.
    pub(crate) fn at(text: &str, span: &Range<usize>, message: impl Into<String>) -> Self {
        let place = Some(Box::new(TextPosition::new(text, span)));
        DocumentError { place, ..DocumentError::usage(message) }
    }

    /// An error of usage in a query that was not read from a text.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        DocumentError {
            message: message.into(),
            kind: Kind::Usage,
            place: None,
            path: String::new(),
            allowed: Vec::new(),
            hint: None,
        }
    }

    /// A limit that the document as a whole exceeds.
    pub(crate) fn limit(message: impl Into<String>) -> Self {
        DocumentError { kind: Kind::Limit, ..DocumentError::usage(message) }
    }

    pub(crate) fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    pub(crate) fn with_allowed(mut self, allowed: &[&str]) -> Self {
        self.allowed = allowed.iter().map(|&word| word.to_owned()).collect();
        self
    }

    pub(crate) fn with_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    pub(crate) fn advise(self, hint: impl Into<String>) -> Self {
        self.with_hint(Some(hint.into()))
    }
}

impl TextPosition {
    fn new(text: &str, span: &Range<usize>) -> TextPosition {
        let start = floor(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find(['\n', '\r']).map_or(text.len(), |at| start + at);
        let column = text[line_start..start].chars().count();
        let end = floor(text, span.end).clamp(start, line_end);
        let width = text[start..end].chars().count().max(1);
        // Long lines show only the part around the caret.
        let skipped = column.saturating_sub(EXCERPT_MAX / 2);
        let excerpt: String =
            text[line_start..line_end].chars().skip(skipped).take(EXCERPT_MAX).map(shown).collect();
        let caret_start = column - skipped;
        let caret_end = (caret_start + width).min(EXCERPT_MAX.max(caret_start + 1));
        TextPosition {
            line: text[..line_start].matches('\n').count() + 1,
            column: column + 1,
            excerpt,
            caret: caret_start..caret_end,
        }
    }
}

/// The closest character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// A character as it may stand in an excerpt: nothing that moves or colors the terminal.
fn shown(next: char) -> char {
    match next {
        '\t' => ' ',
        '"' | '\'' | '\\' => next,
        _ if next.escape_debug().count() == 1 => next,
        _ => char::REPLACEMENT_CHARACTER,
    }
}

impl std::error::Error for DocumentError {}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for note in self.notes().into_iter().chain(self.hint.clone()) {
            write!(f, "\n  {note}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_place() {
        let text = "a = 1\r\n\u{e9}\tb = \u{1b}[2J \"x\"\n";
        let start = text.find('b').unwrap();
        let error = DocumentError::at(text, &(start..start + 1), "wrong").with_path("b");
        assert_eq!(
            error.to_string(),
            "wrong\n  line 2, column 3, at b\n    \u{e9} b = \u{fffd}[2J \"x\"\n      ^"
        );
        let end = DocumentError::at(text, &(text.len()..text.len()), "wrong");
        assert_eq!((end.line(), end.column()), (Some(3), Some(1)));
        assert_eq!(end.to_string(), "wrong\n  line 3, column 1\n    \n    ^");
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("{}key{}", " ".repeat(5000), "x".repeat(5000));
        let error = DocumentError::at(&text, &(5000..5003), "wrong");
        assert_eq!(error.column(), Some(5001));
        let shown = error.to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[2].len() <= EXCERPT_MAX + 4, "{shown}");
        assert_eq!(lines[2].find("key"), lines[3].find("^^^"), "{shown}");
        let wide = DocumentError::at(&text, &(0..10_000), "wrong");
        assert!(wide.to_string().len() < 400);
    }

    #[test]
    fn any_span_is_shown_without_a_panic() {
        let text = "\u{e9}\n\u{1f600}x\r\n";
        for start in 0..=text.len() + 2 {
            for end in 0..=text.len() + 2 {
                let _ = DocumentError::at(text, &(start..end), "wrong").to_string();
            }
        }
    }
}
