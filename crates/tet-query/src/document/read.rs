//! The tree -> the model, key by key, strict at every level.

mod axes;
mod execution;
mod selection;

use std::ops::Range;

use super::error::DocumentError;
use super::keys;
use super::query::{Origin, Query};
use super::tree::{Entry, Node, Value};
use crate::op::NanPolicy;

pub(crate) type Result<T> = std::result::Result<T, DocumentError>;

/// Reads the query that is the whole document.
pub(crate) fn query(text: &str, root: &Node) -> Result<Query> {
    let top = Cursor { text, node: root, path: String::new() };
    let entries = top.table("a query document")?;
    let mut query =
        Query { origin: Origin { text: text.into(), ..Origin::default() }, ..Query::default() };
    let mut reduced_by: Option<&Entry> = None;
    let mut named = false;
    for entry in entries {
        let at = top.child(entry);
        match entry.key.as_str() {
            "dataset" => {
                query.dataset = at.text("a dataset's name")?.to_owned();
                named = true;
            }
            "layout_version" => query.layout_version = Some(at.integer(0, u32::MAX.into())?),
            "selection" => {
                query.selection = selection::read(&at, &mut query.origin)?;
            }
            "nan" => query.nan = Some(nan(&at)?),
            "execution" => query.execution = execution::read(&at)?,
            key => {
                let Some(op) = keys::op(key) else {
                    return Err(top.unknown_key(entry, &keys::top()));
                };
                if let Some(first) = reduced_by.replace(entry) {
                    let message = format!(
                        "{key:?} is a second reduction beside {:?}; a query has at most one",
                        first.key
                    );
                    return Err(at.wrong_at(&entry.key_span, message));
                }
                query.reduction = Some(axes::reduction(&at, op, &mut query.origin)?);
                query.origin.reduction = Some((entry.key_span.clone(), key.to_owned()));
            }
        }
    }
    if !named {
        let start = root.span.start;
        return Err(top.wrong_at(&(start..start), "the key \"dataset\" is missing"));
    }
    Ok(query)
}

fn nan(at: &Cursor<'_>) -> Result<NanPolicy> {
    match &at.node.value {
        Value::Text(word) if word == "propagate" => Ok(NanPolicy::Propagate),
        Value::Text(word) if word == "skip" => Ok(NanPolicy::Skip),
        _ => Err(at.wanted("\"propagate\" or \"skip\"").with_allowed(&["propagate", "skip"])),
    }
}

/// A place in the tree with the way that led there.
pub(crate) struct Cursor<'a> {
    pub(crate) text: &'a str,
    pub(crate) node: &'a Node,
    pub(crate) path: String,
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

    pub(crate) fn unknown_key(&self, entry: &Entry, allowed: &[&str]) -> DocumentError {
        let path = self.child(entry).path;
        keys::unknown(self.text, &entry.key_span, &entry.key, &path, allowed)
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

    pub(crate) fn item(&self, at: usize, node: &'a Node) -> Cursor<'a> {
        Cursor { text: self.text, node, path: format!("{}[{at}]", self.path) }
    }

    pub(crate) fn table(&self, wanted: &str) -> Result<&'a [Entry]> {
        match &self.node.value {
            Value::Table(entries) => Ok(entries),
            _ => Err(self.wanted(&format!("{wanted}, an object,"))),
        }
    }

    pub(crate) fn text(&self, wanted: &str) -> Result<&'a str> {
        match &self.node.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.wanted(wanted)),
        }
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

    pub(crate) fn boolean(&self) -> Result<bool> {
        match self.node.value {
            Value::Bool(truth) => Ok(truth),
            _ => Err(self.wanted("`true` or `false`")),
        }
    }
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
