//! The model: what a document asks for.

mod execution;
mod parts;
mod reduction;
mod write;

use tet_query::{Filter, NanPolicy, Selection};

use super::origin::Origin;

pub use self::execution::QueryExecution;
pub use self::parts::{GroupBy, LabelFilter, Pad, QueryAlign, QueryWindow};
pub use self::reduction::{QueryReduction, QueryTransform};
pub use self::write::{Write, WriteBase, WriteTarget};

/// A query by names, as in a document: nothing has been looked up in a file yet.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Query {
    /// The dataset's name, or `#N` for the one at position N.
    pub dataset: String,
    /// The layout version the author had in mind; nothing depends on it.
    pub layout_version: Option<u32>,
    /// The selection.
    pub selection: Selection,
    /// The reduction; `None` requests the values themselves.
    pub reduction: Option<QueryReduction>,
    /// The transform of every element, in place of a reduction.
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
    /// Treatment of NaN, if the document sets it.
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

    /// Restricts the query to a selection.
    #[must_use]
    pub fn with_selection(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }

    /// Sets the reduction.
    #[must_use]
    pub fn with_reduction(mut self, reduction: QueryReduction) -> Self {
        self.reduction = Some(reduction);
        self
    }
}
