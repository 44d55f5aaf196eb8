//! Operations of a query: a reduction or a transform, over axes by name or number.

use tet_query::{AxisRef, Method, Op, Params};

/// A reduction over axes by name or number.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryReduction {
    /// The operation.
    pub op: Op,
    /// Over which axes; none means all, and with a window only within each window.
    pub axes: Vec<AxisRef>,
    /// The numbers of the operation.
    pub params: Params,
}

impl QueryReduction {
    /// A reduction over these axes; none means all.
    pub fn new<A: Into<AxisRef>>(op: Op, axes: impl IntoIterator<Item = A>) -> Self {
        let axes = axes.into_iter().map(Into::into).collect();
        QueryReduction { op, axes, params: Params::for_op(op) }
    }

    /// Sets the parameters.
    #[must_use]
    pub fn with_params(self, params: Params) -> Self {
        QueryReduction { params, ..self }
    }
}

/// A transform along axes by name or number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryTransform {
    /// The operation.
    pub method: Method,
    /// The axes whose elements share their statistics; none means the whole selection.
    pub axes: Vec<AxisRef>,
}
