//! The model: what a document asks for.

mod execution;
mod parts;
mod reduction;
mod write;

use super::error::DocumentError;
use super::origin::Origin;
use super::{LEN_MAX, read, text};
use crate::op::NanPolicy;
use crate::reduction::Filter;
use crate::selection::Selection;

pub use self::execution::QueryExecution;
pub use self::parts::{GroupBy, LabelFilter, Pad, QueryAlign, QueryWindow};
pub use self::reduction::{QueryReduction, QueryTransform};
pub use self::write::{Write, WriteBase, WriteTarget};

/// What a document asks for, by names: nothing has been looked up in a file yet.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Query {
    /// The dataset's name, or `#N` for the one at position N.
    pub dataset: String,
    /// The layout version the author had in mind; nothing depends on it.
    pub layout_version: Option<u32>,
    /// What is selected.
    pub selection: Selection,
    /// What is made of it; `None` asks for the values themselves.
    pub reduction: Option<QueryReduction>,
    /// What is made of every element, in place of a reduction.
    pub transform: Option<QueryTransform>,
    /// Which elements count; the fill value is not looked up yet.
    pub filter: Option<Filter>,
    /// Along which axes a reduction keeps cells of its own.
    pub group_by: Option<GroupBy>,
    /// Windows that a reduction folds.
    pub window: Option<QueryWindow>,
    /// Which positions count, by label.
    pub label_filter: Option<LabelFilter>,
    /// A comparison of axes with another dataset, in place of everything else.
    pub align: Option<QueryAlign>,
    /// What happens with NaN, if the document says it.
    pub nan: Option<NanPolicy>,
    /// Where an array result goes.
    pub write: Option<Write>,
    /// How it is to be carried out.
    pub execution: QueryExecution,
    pub(crate) origin: Origin,
}

impl Query {
    /// A query for all values of a dataset.
    pub fn new(dataset: impl Into<String>) -> Self {
        Query { dataset: dataset.into(), ..Query::default() }
    }

    /// The same query for these values only.
    #[must_use]
    pub fn with_selection(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }

    /// The same query, reduced.
    #[must_use]
    pub fn with_reduction(mut self, reduction: QueryReduction) -> Self {
        self.reduction = Some(reduction);
        self
    }

    /// Reads a document: JSON if it starts with `{`, else TOML; a byte order mark is skipped.
    ///
    /// # Errors
    ///
    /// Text that is not a query, with the place to mend.
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
    /// Text that is not JSON or not a query, with the place to mend; any text in a build without
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
    /// Text that is not TOML or not a query, with the place to mend; any text in a build without
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
