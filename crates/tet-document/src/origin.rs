//! Where the parts of a query stand in the document it was read from.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::error::DocumentError;

/// The places of a query's parts; none for a query that was built by hand.
///
/// Queries are equal wherever they came from, so all origins are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    text: Arc<str>,
    places: BTreeMap<QueryPart, (Range<usize>, String)>,
}

/// A part of a query that may turn out to be wrong later than when it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum QueryPart {
    /// A key at the top that is no reduction.
    Key(&'static str),
    /// The key of the reduction.
    Op,
    /// An entry of the selection.
    Entry(usize),
    /// An axis of the reduction or the transform.
    Axis(usize),
    /// A number of the reduction.
    Param(&'static str),
    /// An axis of `group_by`.
    GroupAxis(usize),
    /// A key of `window`, `label_filter`, `align` or `write`, which comes first.
    Member(&'static str, &'static str),
    /// An axis of `align`.
    AlignAxis(usize),
}

impl Origin {
    pub(crate) fn new(text: &str) -> Self {
        Origin { text: text.into(), places: BTreeMap::new() }
    }

    pub(crate) fn mark(&mut self, part: QueryPart, span: &Range<usize>, path: &str) {
        self.places.insert(part, (span.clone(), path.to_owned()));
    }

    pub(crate) fn has(&self, part: QueryPart) -> bool {
        self.places.contains_key(&part)
    }

    /// An error at the place of a part, or without a place when the part was not read.
    pub(crate) fn wrong(&self, part: QueryPart, message: impl Into<String>) -> DocumentError {
        match self.places.get(&part) {
            Some((span, path)) => {
                DocumentError::at(&self.text, span, message).with_path(path.clone())
            }
            None => DocumentError::usage(message),
        }
    }
}

impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
