//! `tet.query/1`: the answer to a query.

use serde::Serialize;
use tet_query::StatisticsUse;

use crate::render::number::Number;
use crate::render::numbers::Numbers;

/// The answer to a query.
#[derive(Debug, Serialize)]
pub(crate) struct QueryAnswer {
    /// `tet.query/1`.
    pub(crate) schema: &'static str,
    /// The file, as the user wrote it.
    pub(crate) file: String,
    /// The container.
    pub(crate) format: &'static str,
    /// The dataset of the query.
    pub(crate) dataset: DatasetShape,
    /// The selected part of it.
    pub(crate) selection: SelectionShape,
    /// Chunks and bytes to read.
    pub(crate) plan: PlanShape,
    /// The answer.
    pub(crate) result: AnswerShape,
    /// The integrity state of the answer.
    pub(crate) integrity: &'static str,
    /// Warnings about the answer.
    pub(crate) warnings: Vec<String>,
}

/// The dataset of a query.
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
    /// How its values were decoded, where they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decoded: Option<DecodedShape>,
}

/// How packed and masked values were decoded.
#[derive(Debug, Serialize)]
pub(crate) struct DecodedShape {
    /// The dtype as stored.
    pub(crate) stored: &'static str,
    /// Factor of the values.
    pub(crate) scale: Option<f64>,
    /// Number that is added after the factor.
    pub(crate) offset: Option<f64>,
    /// The attributes that name masked values.
    pub(crate) masked: Vec<&'static str>,
}

/// A resolved selection.
#[derive(Debug, Serialize)]
pub(crate) struct SelectionShape {
    /// The first position of each axis.
    pub(crate) start: Vec<u64>,
    /// One past the last position of each axis.
    pub(crate) stop: Vec<u64>,
    /// The distance between selected positions of each axis; 1 where they are taken one by one.
    pub(crate) step: Vec<u64>,
    /// The number of selected positions of each axis.
    pub(crate) shape: Vec<u64>,
    /// Axes that do not appear in an array result.
    pub(crate) dropped_axes: Vec<usize>,
}

/// Chunks and bytes to read.
#[derive(Debug, Serialize)]
pub(crate) struct PlanShape {
    /// Chunks that are read.
    pub(crate) chunks: u64,
    /// Spans of the file that are needed.
    pub(crate) spans: u64,
    /// Ranges that one pass reads; a range ends where a task or its memory budget ends.
    pub(crate) runs: u64,
    /// Requests for these ranges, of a dataset on a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) requests: Option<u64>,
    /// Bytes that are read, gaps included.
    pub(crate) stored_len: u64,
    /// Bytes of these chunks after decoding.
    pub(crate) decoded_len: u64,
    /// Elements selected.
    pub(crate) elements: u64,
    /// Bytes of an array result.
    pub(crate) memory_len: u64,
    /// The chunks, with `--plan-chunks` of `tet explain`.
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
    /// The first run that reads a part of it.
    pub(crate) run: Option<u64>,
}

/// The result.
#[derive(Debug, Serialize)]
pub(crate) struct AnswerShape {
    /// The reduction, the transform, `values` or `align`.
    pub(crate) op: &'static str,
    /// The axes that were reduced or compared, that statistics were computed over, or along which
    /// `places` counts.
    pub(crate) axes: Vec<usize>,
    /// The names of the axes of the result, or none.
    pub(crate) dims: Vec<String>,
    /// The labels of each axis of the result, if they are known and all values are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) labels: Option<Vec<Option<Vec<String>>>>,
    /// The shape of the result.
    pub(crate) shape: Vec<u64>,
    /// The dtype of its values.
    pub(crate) dtype: String,
    /// One value, or all values in row-major order.
    pub(crate) values: ValuesShape,
    /// Whether there are more values than are shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) truncated: bool,
    /// Elements selected, before a filter or `nan: skip` removes some.
    pub(crate) count: u64,
    /// How many of the elements that passed the filter are NaN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) nan_count: Option<u64>,
    /// How NaN are treated.
    pub(crate) nan: &'static str,
    /// How many chunks were not read because of their statistics; absent if all were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) statistics: Option<StatisticsShape>,
    /// The quantiles along the first axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) quantiles: Option<Vec<Number>>,
    /// The edges of a histogram: of all cells, or of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) edges: Option<EdgesShape>,
    /// Elements below the first edge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) below: Option<OneOrMany<u64>>,
    /// Elements above the last edge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) above: Option<OneOrMany<u64>>,
    /// The groups along axes of the result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) groups: Vec<GroupShape>,
    /// The windows along an axis of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) windows: Option<WindowShape>,
    /// The positions of extrema: for each value one selected position for each of `axes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) places: Option<OneOrMany<Option<Vec<u64>>>>,
    /// How often a transform divided by zero: for the shown values, or for all if they are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) zero_denominators: Option<u64>,
    /// How the axes compare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) alignment: Option<AlignmentShape>,
    /// The file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) written: Option<WrittenShape>,
}

/// How far an answer rests on statistics of chunks.
#[derive(Debug, Serialize)]
pub(crate) struct StatisticsShape {
    /// Chunks whose statistics went into the answer instead of their elements.
    pub(crate) answered: u64,
    /// Chunks that were skipped, because none of their elements matters.
    pub(crate) skipped: u64,
    /// Whether the statistics were compared with their checksum.
    pub(crate) checked: bool,
}

impl StatisticsShape {
    /// The statistics as JSON, if any chunk was not read.
    pub(crate) fn from_use(used: StatisticsUse) -> Option<StatisticsShape> {
        let StatisticsUse { answered, skipped, is_checked: checked } = used;
        (!used.is_none()).then_some(StatisticsShape { answered, skipped, checked })
    }
}

/// One value, or a list.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum ValuesShape {
    /// One value.
    One(Number),
    /// Row-major.
    Many(Numbers),
}

/// Additional data of one value, or of each value.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum OneOrMany<T> {
    /// For one value.
    One(T),
    /// For each value, row-major.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// The first element if there is one value, else all.
    pub(crate) fn new(mut all: Vec<T>, one: bool) -> Self {
        match all.len() {
            1 if one => OneOrMany::One(all.remove(0)),
            _ => OneOrMany::Many(all),
        }
    }
}

/// Edges of bins.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum EdgesShape {
    /// One value for all cells.
    One(Vec<Number>),
    /// A list for each cell.
    Many(Vec<Vec<Number>>),
}

/// Groups of positions.
#[derive(Debug, Serialize)]
pub(crate) struct GroupShape {
    /// The axis of the dataset.
    pub(crate) axis: usize,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dim: Option<String>,
    /// The groups, in order of their first position.
    pub(crate) labels: Vec<String>,
}

/// Windows over an axis.
#[derive(Debug, Serialize)]
pub(crate) struct WindowShape {
    /// The axis of the dataset.
    pub(crate) axis: usize,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dim: Option<String>,
    /// The start of the first window, in selected positions.
    pub(crate) first: i64,
    /// The distance between the starts of two windows, in positions.
    pub(crate) step: u64,
    /// The number of positions of a window.
    pub(crate) size: u64,
}

/// A file that was written.
#[derive(Debug, Serialize)]
pub(crate) struct WrittenShape {
    /// Its path.
    pub(crate) path: String,
    /// Its format.
    pub(crate) format: &'static str,
    /// Its length.
    pub(crate) bytes: u64,
}

impl WrittenShape {
    /// The written file as text.
    pub(crate) fn text(&self) -> String {
        let path = crate::escape::Escaped(&self.path);
        format!("wrote {} of {} to {path}", crate::size::Size(self.bytes), self.format)
    }
}

/// The comparison of the axes of two datasets.
#[derive(Debug, Serialize)]
pub(crate) struct AlignmentShape {
    /// The other dataset.
    pub(crate) with: String,
    /// Whether every pair of axes agrees.
    pub(crate) agrees: bool,
    /// The pairs.
    pub(crate) axes: Vec<AxisPairShape>,
}

/// One axis of each dataset.
#[derive(Debug, Serialize)]
pub(crate) struct AxisPairShape {
    /// The two axes.
    pub(crate) axes: [usize; 2],
    /// Whether extent, name and labels agree.
    pub(crate) agrees: bool,
    /// Their extents.
    pub(crate) extents: [u64; 2],
    /// Their names; null without a name.
    pub(crate) names: [Option<String>; 2],
    /// `absent`, `equal`, `one-sided` or `differ`.
    pub(crate) labels: &'static str,
    /// The first position whose labels differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) position: Option<u64>,
    /// The labels there; null past the end of an axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) found: Option<[Option<String>; 2]>,
    /// Which of the two has labels, if only one has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) labeled: Option<[bool; 2]>,
}
