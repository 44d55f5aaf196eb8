//! `tet.explain/1`: what a query would read, and what that costs.

use serde::Serialize;

use super::query::{DatasetShape, PlanShape, SelectionShape};

/// What a query would read, and what that costs.
#[derive(Debug, Serialize)]
pub(crate) struct Explained {
    /// `tet.explain/1`.
    pub(crate) schema: &'static str,
    /// The file, as the user wrote it.
    pub(crate) file: String,
    /// The container.
    pub(crate) format: &'static str,
    /// What is asked about.
    pub(crate) dataset: DatasetShape,
    /// What part of it.
    pub(crate) selection: SelectionShape,
    /// The reduction, the transform, `values` or `align`.
    pub(crate) op: &'static str,
    /// What is read for it.
    pub(crate) plan: PlanShape,
    /// Chunks of the dataset.
    pub(crate) chunks_of: u64,
    /// How often the values are read, at most.
    pub(crate) passes: u64,
    /// How often they are read at least: it depends on the values where the two differ.
    pub(crate) passes_min: u64,
    /// Bytes of the selected elements.
    pub(crate) selected_len: u64,
    /// Bytes held at once while it runs, about: buffers, chunks and the result.
    pub(crate) memory_len: u64,
    /// The most bytes that may be held at once.
    pub(crate) memory_budget: u64,
    /// What one position of each axis costs.
    pub(crate) axes: Vec<AxisCostShape>,
    /// What would make it cheaper.
    pub(crate) advice: Vec<AdviceShape>,
}

/// What one position of an axis costs.
#[derive(Debug, Serialize)]
pub(crate) struct AxisCostShape {
    /// The axis of the dataset.
    pub(crate) axis: usize,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dim: Option<String>,
    /// Selected positions.
    pub(crate) positions: u64,
    /// Chunks one position touches.
    pub(crate) chunks: u64,
    /// Bytes read for one position.
    pub(crate) read_len: u64,
    /// Bytes of the elements at one position.
    pub(crate) selected_len: u64,
}

/// What would make a query cheaper.
#[derive(Debug, Serialize)]
pub(crate) struct AdviceShape {
    /// A stable word for programs.
    pub(crate) code: &'static str,
    /// The same for people.
    pub(crate) text: String,
}
