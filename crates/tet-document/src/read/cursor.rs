//! A place in the tree with the way that led there, and the values it may hold.

use std::ops::Range;

use tet_query::Number;

use super::super::error::DocumentError;
use super::super::keys;
use super::super::tree::{Entry, Node, Value};

pub(crate) type Result<T> = std::result::Result<T, DocumentError>;

/// A place in the tree with the way that led there.
pub(crate) struct Cursor<'a> {
    pub(crate) text: &'a str,
    pub(crate) node: &'a Node,
    pub(crate) path: String,
}

/// One member of an object, its key known to be allowed.
pub(crate) struct Member<'a> {
    pub(crate) key: &'static str,
    pub(crate) key_span: &'a Range<usize>,
    pub(crate) value: Cursor<'a>,
}

impl Member<'_> {
    /// An error at the key.
    pub(crate) fn wrong(&self, message: impl Into<String>) -> DocumentError {
        self.value.wrong_at(self.key_span, message)
    }
}

impl<'a> Cursor<'a> {
    pub(crate) fn wrong(&self, message: impl Into<String>) -> DocumentError {
        self.wrong_at(&self.node.span, message)
    }

    pub(crate) fn wrong_at(
        &self,
        span: &Range<usize>,
        message: impl Into<String>,
    ) -> DocumentError {
        DocumentError::at(self.text, span, message).with_path(self.path.clone())
    }

    pub(crate) fn wanted(&self, wanted: &str) -> DocumentError {
        self.wrong(format!("{wanted} is wanted, not {}", shown(&self.node.value)))
    }

    pub(crate) fn missing(&self, key: &str) -> DocumentError {
        self.wrong(format!("the key {key:?} is missing"))
    }

    pub(crate) fn unknown_key(&self, entry: &Entry, allowed: &[&str]) -> DocumentError {
        let at = self.child(entry);
        if self.path.is_empty() {
            keys::unknown_at_top(at.text, &entry.key_span, &entry.key, allowed)
        } else {
            keys::unknown(at.text, &entry.key_span, &entry.key, allowed)
        }
        .with_path(at.path)
    }

    pub(crate) fn child(&self, entry: &'a Entry) -> Cursor<'a> {
        let plain = |next: char| next.is_alphanumeric() || next == '_' || next == '-';
        let bare = !entry.key.is_empty() && entry.key.chars().all(plain);
        let path = match (self.path.is_empty(), bare) {
            (true, true) => entry.key.clone(),
            (false, true) => format!("{}.{}", self.path, entry.key),
            (_, false) => format!("{}[{:?}]", self.path, entry.key),
        };
        Cursor { text: self.text, node: &entry.node, path }
    }

    pub(crate) fn items(&self, items: &'a [Node]) -> impl Iterator<Item = Cursor<'a>> {
        let (text, path) = (self.text, self.path.clone());
        items.iter().enumerate().map(move |(at, node)| {
            let path = format!("{path}[{at}]");
            Cursor { text, node, path }
        })
    }

    pub(crate) fn table(&self, wanted: &str) -> Result<&'a [Entry]> {
        match &self.node.value {
            Value::Table(entries) => Ok(entries),
            _ => Err(self.wanted(&format!("{wanted}, an object,"))),
        }
    }

    /// The members of an object that has these keys only.
    pub(crate) fn members(
        &self,
        wanted: &str,
        allowed: &[&'static str],
    ) -> Result<Vec<Member<'a>>> {
        let member = |entry: &'a Entry| {
            let known = allowed.iter().find(|&&key| key == entry.key);
            let key = *known.ok_or_else(|| self.unknown_key(entry, allowed))?;
            Ok(Member { key, key_span: &entry.key_span, value: self.child(entry) })
        };
        self.table(wanted)?.iter().map(member).collect()
    }

    pub(crate) fn text(&self, wanted: &str) -> Result<&'a str> {
        match &self.node.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.wanted(wanted)),
        }
    }

    /// Text that is not empty.
    pub(crate) fn named(&self, wanted: &str) -> Result<String> {
        match self.text(wanted)? {
            "" => Err(self.wanted(wanted)),
            text => Ok(text.to_owned()),
        }
    }

    /// The meaning of one of these words.
    pub(crate) fn word<T: Copy>(&self, words: &[(&'static str, T)]) -> Result<T> {
        let given = match &self.node.value {
            Value::Text(given) => given.as_str(),
            _ => "",
        };
        if let Some((_, meant)) = words.iter().find(|(word, _)| *word == given) {
            return Ok(*meant);
        }
        let allowed: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let wanted = keys::either(&allowed);
        Err(self.wanted(&wanted).with_allowed(&allowed).with_hint(keys::meant(given, &allowed)))
    }

    /// A whole number from `least` to `most`, in whatever type holds that range.
    pub(crate) fn integer<T: TryFrom<i128>>(&self, least: i128, most: i128) -> Result<T> {
        let Value::Integer(integer) = self.node.value else {
            return Err(self.wanted("a whole number"));
        };
        let inside = (least..=most).contains(&integer).then_some(integer);
        inside.and_then(|integer| T::try_from(integer).ok()).ok_or_else(|| {
            self.wrong(format!("a whole number from {least} to {most} is wanted, not {integer}"))
        })
    }

    /// Any number; those that are not finite are words, as in results.
    pub(crate) fn number(&self) -> Result<Number> {
        Ok(match &self.node.value {
            Value::Integer(integer) => Number::Int(*integer),
            Value::Float(float) => Number::Float(*float),
            Value::Text(word) => match keys::NOT_FINITE.iter().find(|(known, _)| known == word) {
                Some((_, float)) => Number::Float(*float),
                None => return Err(self.wanted("a number").with_hint(unquoted(word))),
            },
            _ => return Err(self.wanted("a number")),
        })
    }

    /// A number that is finite.
    pub(crate) fn finite(&self) -> Result<f64> {
        let number = self.number()?.to_f64();
        if number.is_finite() { Ok(number) } else { Err(self.wanted("a finite number")) }
    }

    pub(crate) fn boolean(&self) -> Result<bool> {
        match self.node.value {
            Value::Bool(truth) => Ok(truth),
            _ => Err(self.wanted("`true` or `false`")),
        }
    }
}

/// The advice for a number in quotes.
fn unquoted(word: &str) -> Option<String> {
    let number = word.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    number.map(|number| format!("write {number} without quotes"))
}

/// How a message shows a value that is not wanted.
fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) if text.len() <= 40 => format!("{text:?}"),
        Value::Bool(truth) => truth.to_string(),
        Value::Integer(integer) => integer.to_string(),
        Value::Float(float) => float.to_string(),
        value => value.sort().to_owned(),
    }
}
