//! Output names with keys in brackets: `by_param/[mars.param]_[index].tgm`.

use super::key::{Key, text_of};
use super::row::Row;
use crate::error::{Error, Result};

/// A template for output names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Key(Key),
    /// The number of the output, from 0.
    Index,
}

/// Replaces a key that is missing.
const MISSING: &str = "unknown";

impl Template {
    /// Parses a name with keys in brackets.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Key`] for brackets without a key.
    pub fn parse(text: &str) -> Result<Self> {
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some((before, behind)) = rest.split_once('[') {
            let Some((key, behind)) = behind.split_once(']') else { break };
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            parts.push(if key == "index" { Part::Index } else { Part::Key(Key::parse(key)?) });
            rest = behind;
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Ok(Template { parts })
    }

    /// The name, if it has no key.
    pub(super) fn text(&self) -> String {
        let text = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Key(_) | Part::Index => String::new(),
        };
        self.parts.iter().map(text).collect()
    }

    /// Whether it has no key, so that there is only one output.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Text(_)))
    }

    /// The same template with `_[index]` before the suffix, unless it has a key.
    #[must_use]
    pub fn numbered(mut self) -> Self {
        let [Part::Text(text)] = self.parts.as_mut_slice() else { return self };
        let name_at = text.rfind('/').map_or(0, |at| at.saturating_add(1));
        let is_suffix = |at: &usize| name_at < *at;
        let at = text.rfind('.').filter(is_suffix).unwrap_or(text.len());
        let suffix = text.split_off(at);
        text.push('_');
        self.parts.push(Part::Index);
        self.parts.push(Part::Text(suffix));
        self
    }

    /// The output name for an object.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Key`] when a value cannot be part of a file name.
    pub fn fill(&self, row: &Row<'_>, index: usize) -> Result<String> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Index => out.push_str(&format!("{index:04}")),
                Part::Key(key) => {
                    let text = row.value(key).map(|value| text_of(&value));
                    let text = text.unwrap_or_else(|| MISSING.to_owned());
                    check(key, &text)?;
                    out.push_str(&text);
                }
            }
        }
        Ok(out)
    }
}

/// Whether a character controls a terminal, changes the text direction, or is invisible.
fn is_hidden(c: char) -> bool {
    // `Debug` escapes these, and quotes and backslashes besides.
    c.is_control() || c != '\'' && c != '"' && c.escape_debug().len() != 1
}

/// A value from a file must not be a path.
fn check(key: &Key, text: &str) -> Result<()> {
    let why = if text.is_empty() || text.starts_with('.') {
        "its value is empty or starts with a dot: it cannot be part of a file name"
    } else if text.contains(['/', '\\']) || text.chars().any(is_hidden) {
        "its value has characters that cannot be part of a file name"
    } else {
        return Ok(());
    };
    Err(Error::Key { key: key.text().into(), why })
}
