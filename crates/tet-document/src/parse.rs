//! Text -> query, and back.

use super::error::DocumentError;
use super::query::Query;
#[cfg(any(feature = "json", feature = "toml"))]
use super::read;
use super::{LEN_MAX, text};

impl Query {
    /// Reads a document: JSON if it starts with `{`, else TOML; a byte order mark is skipped.
    ///
    /// # Errors
    ///
    /// Text that is not a query, with the place of the error.
    pub fn parse(text: &str) -> Result<Query, Box<DocumentError>> {
        if text.trim_start_matches(['\u{feff}', ' ', '\t', '\n', '\r']).starts_with('{') {
            Query::from_json(text)
        } else {
            Query::from_toml(text)
        }
    }

    /// Reads a JSON document.
    ///
    /// # Errors
    ///
    /// Text that is not JSON or not a query, with the place of the error; any text in a build without
    /// the feature `json`.
    pub fn from_json(text: &str) -> Result<Query, Box<DocumentError>> {
        bounded(text)?;
        let text = unmarked(text);
        #[cfg(feature = "json")]
        return Ok(read::query(text, &super::json::read(text)?)?);
        #[cfg(not(feature = "json"))]
        Err(Box::new(DocumentError::at(text, &(0..0), "this build does not read JSON")))
    }

    /// Reads a TOML document.
    ///
    /// # Errors
    ///
    /// Text that is not TOML or not a query, with the place of the error; any text in a build without
    /// the feature `toml`.
    pub fn from_toml(text: &str) -> Result<Query, Box<DocumentError>> {
        bounded(text)?;
        let text = unmarked(text);
        #[cfg(feature = "toml")]
        return Ok(read::query(text, &super::toml::read(text)?)?);
        #[cfg(not(feature = "toml"))]
        Err(Box::new(DocumentError::at(text, &(0..0), "this build does not read TOML")))
    }

    /// The query as a JSON document of one line, which reads back as the same query.
    #[must_use]
    pub fn to_json(&self) -> String {
        text::json(self)
    }

    /// The query as a TOML document of a line for every key, which reads back as the same query.
    #[must_use]
    pub fn to_toml(&self) -> String {
        text::toml(self)
    }
}

/// The text without the byte order mark that some editors put first.
fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn bounded(text: &str) -> Result<(), DocumentError> {
    if LEN_MAX < text.len() {
        let message =
            format!("the document is {} bytes long, at most {LEN_MAX} are read", text.len());
        return Err(DocumentError::limit(message));
    }
    Ok(())
}
