//! `tet.query/1`: the answer to a query.

use serde::Serialize;

use crate::render::number::Number;

/// The answer to a query.
#[derive(Debug, Serialize)]
pub(crate) struct QueryAnswer {
    /// `tet.query/1`.
    pub(crate) schema: &'static str,
    /// The file, as the user wrote it.
    pub(crate) file: String,
    /// The container.
    pub(crate) format: &'static str,
    /// What was asked about.
    pub(crate) dataset: DatasetShape,
    /// What part of it.
    pub(crate) selection: SelectionShape,
    /// What is read for it.
    pub(crate) plan: PlanShape,
    /// The answer; absent when only the plan was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<AnswerShape>,
    /// How far digests stand behind the answer.
    pub(crate) integrity: &'static str,
    /// What should be known about the answer.
    pub(crate) warnings: Vec<String>,
}

/// A dataset, as queries see it.
#[derive(Debug, Serialize)]
pub(crate) struct DatasetShape {
    /// Its name.
    pub(crate) name: String,
    /// Its dtype.
    pub(crate) dtype: String,
    /// Its shape.
    pub(crate) shape: Vec<u64>,
    /// Its chunk shape.
    pub(crate) chunk_shape: Vec<u64>,
    /// The names of its axes, or none.
    pub(crate) dims: Vec<String>,
}

/// A resolved selection.
#[derive(Debug, Serialize)]
pub(crate) struct SelectionShape {
    /// The first position of each axis.
    pub(crate) start: Vec<u64>,
    /// One past the last.
    pub(crate) stop: Vec<u64>,
    /// The distance between positions.
    pub(crate) step: Vec<u64>,
    /// How many positions each axis has.
    pub(crate) shape: Vec<u64>,
    /// Axes that do not appear in an array result.
    pub(crate) dropped_axes: Vec<usize>,
}

/// What is read.
#[derive(Debug, Serialize)]
pub(crate) struct PlanShape {
    /// Chunks that are touched.
    pub(crate) chunks: u64,
    /// Stretches of the file that are needed.
    pub(crate) spans: u64,
    /// Stretches that are read.
    pub(crate) runs: u64,
    /// Bytes that are read, gaps included.
    pub(crate) stored_len: u64,
    /// Bytes of the touched chunks after decoding.
    pub(crate) decoded_len: u64,
    /// Elements selected.
    pub(crate) elements: u64,
    /// Bytes of an array result.
    pub(crate) memory_len: u64,
    /// The chunks, with `--plan-chunks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chunk_list: Option<Vec<ChunkPlan>>,
}

/// One chunk of a plan.
#[derive(Debug, Serialize)]
pub(crate) struct ChunkPlan {
    /// Its coordinate in the grid.
    pub(crate) coord: Vec<u64>,
    /// Where it starts in the file.
    pub(crate) offset: u64,
    /// Bytes in the file.
    pub(crate) stored_len: u64,
    /// How it is stored.
    pub(crate) codec: String,
    /// The first run that reads of it.
    pub(crate) run: Option<usize>,
}

/// The result.
#[derive(Debug, Serialize)]
pub(crate) struct AnswerShape {
    /// The reduction, or `values`.
    pub(crate) op: &'static str,
    /// The axes that were folded away.
    pub(crate) axes: Vec<usize>,
    /// The names of the axes of the result, or none.
    pub(crate) dims: Vec<String>,
    /// The shape of the result.
    pub(crate) shape: Vec<u64>,
    /// The dtype of its values.
    pub(crate) dtype: String,
    /// One value, or all of them row-major.
    pub(crate) values: ValuesShape,
    /// Whether there are more values than are shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) truncated: bool,
    /// Elements the result rests on.
    pub(crate) count: u64,
    /// How many of them were NaN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) nan_count: Option<u64>,
    /// What a NaN does.
    pub(crate) nan: &'static str,
}

/// One value, or a list.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum ValuesShape {
    /// One value.
    One(Number),
    /// Row-major.
    Many(Vec<Number>),
}
