//! Selects objects by their metadata: `mars.param=2t/10u, mars.type!=fc`.

use tet_cbor::Value;

use super::key::{Key, text_of};
use super::row::Row;
use crate::error::{Error, Result};

/// Conditions that must all hold. Without conditions, every object matches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    clauses: Vec<Clause>,
}

#[derive(Clone, Debug, PartialEq)]
struct Clause {
    key: Key,
    relation: Relation,
    values: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    /// The value is one of those listed.
    Is,
    /// The value is none of those listed, or missing.
    IsNot,
}

impl Filter {
    /// Parses `key=a/b` and `key!=a`, separated by commas. A quoted value may contain either.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Key`] for any other text.
    pub fn parse(text: &str) -> Result<Self> {
        let mut filter = Filter::default();
        for text in split_outside(text, ',') {
            let Some((key, values)) = text.split_once('=') else {
                let why = "write KEY=A/B or KEY!=A";
                return Err(Error::Key { key: text.into(), why });
            };
            let (key, relation) = match key.strip_suffix('!') {
                Some(key) => (key, Relation::IsNot),
                None => (key, Relation::Is),
            };
            let values = split_outside(values, '/').into_iter().map(unquoted).collect();
            filter.clauses.push(Clause { key: Key::parse(key.trim())?, relation, values });
        }
        Ok(filter)
    }

    /// A filter with the conditions of both.
    #[must_use]
    pub fn and(mut self, other: Filter) -> Self {
        self.clauses.extend(other.clauses);
        self
    }

    /// Whether there is no condition.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }

    /// Whether an object matches all conditions.
    #[must_use]
    pub fn matches(&self, row: &Row<'_>) -> bool {
        self.clauses.iter().all(|clause| {
            let value = row.value(&clause.key);
            let is =
                value.is_some_and(|value| clause.values.iter().any(|it| equals_text(&value, it)));
            is == (clause.relation == Relation::Is)
        })
    }
}

/// Whether a value equals a text; numbers are compared as numbers.
fn equals_text(value: &Value, text: &str) -> bool {
    let number = || text.parse::<f64>().ok();
    match value {
        Value::Float(found) => number() == Some(*found),
        Value::Int(found) => match text.parse::<i128>() {
            Ok(wanted) => wanted == *found,
            Err(_) => {
                let is_whole = |wanted: &f64| wanted.fract() == 0.0 && wanted.abs() < EXACT_MAX;
                number().filter(is_whole).is_some_and(|it| format!("{it:.0}") == found.to_string())
            }
        },
        value => text_of(value) == text,
    }
}

/// Whole doubles below this are exact.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

fn unquoted(text: &str) -> String {
    let text = text.trim();
    let inside = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inside.unwrap_or(text).to_owned()
}

/// Splits a text at separators that are neither in quotes nor in brackets.
#[must_use]
pub fn split_outside(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let (mut depth, mut is_quoted, mut is_escaped) = (0_usize, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '[' | '{' => depth = depth.saturating_add(1),
            ']' | '}' => depth = depth.saturating_sub(1),
            c if c == separator && depth == 0 => {
                parts.push(text.get(start..at).unwrap_or_default());
                start = at.saturating_add(c.len_utf8());
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}
