//! The model: what a document asks for.

use std::ops::Range;
use std::sync::Arc;

use super::error::DocumentError;
use super::{LEN_MAX, read, text};
use crate::budget::Execution;
use crate::op::{NanPolicy, Op};
use crate::selection::{AxisRef, Selection};

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
    /// What happens with NaN, if the document says it.
    pub nan: Option<NanPolicy>,
    /// How it is to be carried out.
    pub execution: QueryExecution,
    pub(crate) origin: Origin,
}

/// A reduction over axes by name or number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QueryReduction {
    /// What is computed.
    pub op: Op,
    /// Over which axes; none means all.
    pub axes: Vec<AxisRef>,
}

impl QueryReduction {
    /// A reduction over these axes; none means all.
    pub fn new<A: Into<AxisRef>>(op: Op, axes: impl IntoIterator<Item = A>) -> Self {
        QueryReduction { op, axes: axes.into_iter().map(Into::into).collect() }
    }
}

/// How a document wants to be carried out. Results do not depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryExecution {
    /// Bytes that may be held at once.
    pub memory_budget_bytes: Option<u64>,
    /// The same as a share of the machine's memory, in hundredths of a percent.
    pub memory_budget_percent_bps: Option<u16>,
    /// Threads to use; 0 means all there are.
    pub threads: Option<usize>,
    /// `false` asks for one thread.
    pub fold_parallel: Option<bool>,
    /// Which device the author had in mind. The answer comes from the CPU.
    pub device: Option<String>,
}

impl QueryExecution {
    /// `base` with what the document asks for; `memory_len` is the machine's memory in bytes.
    #[must_use]
    pub fn over(&self, base: &Execution, memory_len: u64) -> Execution {
        let mut execution = base.clone();
        let share = |bps: u16| {
            let bytes = u128::from(memory_len) * u128::from(bps) / 10_000;
            u64::try_from(bytes).unwrap_or(u64::MAX)
        };
        let asked = self.memory_budget_bytes.or(self.memory_budget_percent_bps.map(share));
        // Zero stands for "not said", as in the file's own hint.
        if let Some(budget) = asked.filter(|&budget| budget != 0) {
            execution.memory_budget = budget;
        }
        if self.fold_parallel == Some(false) {
            execution.threads = 1;
        }
        if let Some(threads) = self.threads {
            execution.threads = threads;
        }
        execution
    }

    /// What the user should know about how the document is carried out.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let elsewhere =
            self.device.iter().filter(|device| !matches!(device.as_str(), "cpu" | "auto"));
        elsewhere.map(|device| format!("device {device:?} is answered by the cpu")).collect()
    }
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

    /// Reads a document: JSON if it starts with `{`, else TOML.
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
}

fn bounded(text: &str) -> Result<(), DocumentError> {
    if LEN_MAX < text.len() {
        let message =
            format!("the document is {} bytes long, at most {LEN_MAX} are read", text.len());
        return Err(DocumentError::limit(message));
    }
    Ok(())
}

/// Where the parts of a query stand in the document it was read from.
///
/// Two queries that ask for the same are equal wherever they came from, so all origins are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    pub(crate) text: Arc<str>,
    pub(crate) selection: Option<Range<usize>>,
    /// The entries of the selection with their paths, when it is not one string.
    pub(crate) entries: Vec<(Range<usize>, String)>,
    pub(crate) reduction: Option<(Range<usize>, String)>,
    pub(crate) axes: Vec<(Range<usize>, String)>,
}

impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
