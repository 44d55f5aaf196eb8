//! `tet.explain/1`: what a query would read, and its passes and memory.

use serde::Serialize;

use super::query::{DatasetShape, PlanShape, SelectionShape, StatisticsShape};

/// Reads of a query, with its passes and memory.
#[derive(Debug, Serialize)]
pub(crate) struct Explained {
    /// `tet.explain/1`.
    pub(crate) schema: &'static str,
    /// The file, as the user wrote it.
    pub(crate) file: String,
    /// The container.
    pub(crate) format: &'static str,
    /// The dataset of the query.
    pub(crate) dataset: DatasetShape,
    /// The selected part of it.
    pub(crate) selection: SelectionShape,
    /// The reduction, the transform, `values` or `align`.
    pub(crate) op: &'static str,
    /// Chunks and bytes to read.
    pub(crate) plan: PlanShape,
    /// Chunks of the dataset.
    pub(crate) chunks_of: u64,
    /// The most passes over the values.
    pub(crate) passes: u64,
    /// The fewest passes; if the two differ, the number depends on the values.
    pub(crate) passes_min: u64,
    /// Bytes of the selected elements.
    pub(crate) selected_len: u64,
    /// The approximate memory of the query in bytes: buffers, chunks and the result.
    pub(crate) memory_len: u64,
    /// The memory budget in bytes.
    pub(crate) memory_budget: u64,
    /// How many chunks are not read because of their statistics; absent if all are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) statistics: Option<StatisticsShape>,
    /// Reads for one position of each axis.
    pub(crate) axes: Vec<AxisCostShape>,
    /// How to read less or need less memory.
    pub(crate) advice: Vec<AdviceShape>,
}

/// Reads for one position of an axis.
#[derive(Debug, Serialize)]
pub(crate) struct AxisCostShape {
    /// The axis of the dataset.
    pub(crate) axis: usize,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dim: Option<String>,
    /// Selected positions.
    pub(crate) positions: u64,
    /// Chunks that one position needs.
    pub(crate) chunks: u64,
    /// Bytes read for one position.
    pub(crate) read_len: u64,
    /// Bytes of the elements at one position.
    pub(crate) selected_len: u64,
}

/// How to read less or need less memory.
#[derive(Debug, Serialize)]
pub(crate) struct AdviceShape {
    /// A stable code for programs.
    pub(crate) code: &'static str,
    /// The advice as text.
    pub(crate) text: String,
}
