//! `tet.stats/1`: what the values of datasets are like.

use serde::Serialize;

use crate::render::number::Number;

/// What the values of a file's datasets are like.
#[derive(Debug, Serialize)]
pub(crate) struct Stats {
    /// `tet.stats/1`.
    pub(crate) schema: &'static str,
    /// The file, as the user wrote it.
    pub(crate) file: String,
    /// The container.
    pub(crate) format: &'static str,
    /// The datasets, in file order.
    pub(crate) datasets: Vec<DatasetStats>,
    /// How far digests stand behind the values.
    pub(crate) integrity: &'static str,
    /// What should be known about the answer.
    pub(crate) warnings: Vec<String>,
}

/// What the values of a dataset are like; members that do not apply are left out.
#[derive(Debug, Serialize)]
pub(crate) struct DatasetStats {
    /// Its position in the catalog.
    pub(crate) index: usize,
    /// Its name.
    pub(crate) name: String,
    /// Its dtype.
    pub(crate) dtype: String,
    /// The shape of what was looked at.
    pub(crate) shape: Vec<u64>,
    /// Whether there are statistics.
    pub(crate) readable: bool,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    /// How many elements there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<u64>,
    /// How many are NaN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) nan_count: Option<u64>,
    /// How many are infinite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) inf_count: Option<u64>,
    /// The smallest, NaN left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) min: Option<Number>,
    /// The largest, NaN left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max: Option<Number>,
    /// The mean, NaN left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mean: Option<Number>,
    /// The standard deviation, NaN left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) std: Option<Number>,
    /// The quartiles, NaN left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) quartiles: Option<QuartilesShape>,
    /// How many finite elements lie in each of some bins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) histogram: Option<BinsShape>,
}

/// Quartiles.
#[derive(Debug, Serialize)]
pub(crate) struct QuartilesShape {
    /// A quarter lies below.
    pub(crate) q25: Number,
    /// The median.
    pub(crate) q50: Number,
    /// A quarter lies above.
    pub(crate) q75: Number,
}

/// Counts between edges.
#[derive(Debug, Serialize)]
pub(crate) struct BinsShape {
    /// One more than there are counts.
    pub(crate) edges: Vec<Number>,
    /// The counts.
    pub(crate) counts: Vec<u64>,
}
