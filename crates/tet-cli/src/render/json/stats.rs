//! `tet.stats/1`: statistics of the values of datasets.

use serde::Serialize;

use crate::render::number::Number;

/// Statistics of the datasets of a file.
#[derive(Debug, Serialize)]
pub(crate) struct Stats {
    /// `tet.stats/1`.
    pub(crate) schema: &'static str,
    /// The file, as the user wrote it.
    pub(crate) file: String,
    /// The container.
    pub(crate) format: &'static str,
    /// The kinds of values that were looked for; absent where all datasets are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) only: Option<OnlyShape>,
    /// The datasets, in file order.
    pub(crate) datasets: Vec<DatasetStats>,
    /// The integrity state of the values.
    pub(crate) integrity: &'static str,
    /// Warnings about the answer.
    pub(crate) warnings: Vec<String>,
}

/// A choice of datasets by their values.
#[derive(Debug, Serialize)]
pub(crate) struct OnlyShape {
    /// The kinds of values.
    pub(crate) kinds: Vec<&'static str>,
    /// Datasets whose values were looked at.
    pub(crate) looked_at: u64,
    /// Those of them that have such values.
    pub(crate) found: u64,
}

/// Statistics of a dataset; members that do not apply are omitted.
#[derive(Debug, Serialize)]
pub(crate) struct DatasetStats {
    /// Its position in the catalog.
    pub(crate) index: usize,
    /// Its name.
    pub(crate) name: String,
    /// Its dtype.
    pub(crate) dtype: String,
    /// The shape of the selection.
    pub(crate) shape: Vec<u64>,
    /// Whether there are statistics.
    pub(crate) readable: bool,
    /// Why there are no statistics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    /// The number of elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<u64>,
    /// The number of NaN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) nan_count: Option<u64>,
    /// The number of infinite elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) inf_count: Option<u64>,
    /// With `--only nan`, the position of the first NaN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_nan: Option<Vec<u64>>,
    /// With `--only inf`, the position of the first infinite element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_inf: Option<Vec<u64>>,
    /// The smallest value, without NaN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) min: Option<Number>,
    /// The largest value, without NaN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max: Option<Number>,
    /// The mean, without NaN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mean: Option<Number>,
    /// The standard deviation, without NaN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) std: Option<Number>,
    /// The quartiles, without NaN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) quartiles: Option<QuartilesShape>,
    /// A histogram of the finite elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) histogram: Option<BinsShape>,
    /// The histogram on one line, for tables.
    #[serde(skip)]
    pub(crate) sparkline: String,
}

/// Quartiles.
#[derive(Debug, Serialize)]
pub(crate) struct QuartilesShape {
    /// The first quartile.
    pub(crate) q25: Number,
    /// The median.
    pub(crate) q50: Number,
    /// The third quartile.
    pub(crate) q75: Number,
}

/// A histogram.
#[derive(Debug, Serialize)]
pub(crate) struct BinsShape {
    /// The edges of the bins: one more than counts.
    pub(crate) edges: Vec<Number>,
    /// The counts.
    pub(crate) counts: Vec<u64>,
}
