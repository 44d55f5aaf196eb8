//! `tet.diff/1`: what differs between two files.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Attr;
use crate::render::number::Number;

/// Differences between two files.
#[derive(Debug, Serialize)]
pub(crate) struct DiffReport {
    /// `tet.diff/1`.
    pub(crate) schema: &'static str,
    /// The files, as the user wrote them.
    pub(crate) files: [String; 2],
    /// The containers.
    pub(crate) formats: [&'static str; 2],
    /// Whether nothing differs; `null` where nothing does that was compared, and something was not.
    pub(crate) same: Option<bool>,
    /// Whether values were compared.
    pub(crate) values_compared: bool,
    /// The datasets that both files have.
    pub(crate) compared: u64,
    /// The names of the datasets that only the first file has, and those that only the second one has.
    pub(crate) only: [Vec<String>; 2],
    /// The attributes of the files that differ.
    pub(crate) attrs: Vec<DifferingAttr>,
    /// The datasets that differ, in the order of the first file; with `--sort change` the largest change first.
    pub(crate) datasets: Vec<DatasetDiffShape>,
    /// The other datasets whose values were to be compared, and were not.
    pub(crate) not_compared: Vec<NotCompared>,
    /// The integrity state of the values; absent when none were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) integrity: Option<&'static str>,
    /// Warnings about the answer.
    pub(crate) warnings: Vec<String>,
}

/// A dataset whose values were not compared.
#[derive(Debug, Serialize)]
pub(crate) struct NotCompared {
    /// The name.
    pub(crate) name: String,
    /// Why.
    pub(crate) why: String,
}

/// Differences between two datasets; members without a difference are omitted.
#[derive(Debug, Serialize)]
pub(crate) struct DatasetDiffShape {
    /// The name.
    pub(crate) name: String,
    /// The name in the second file; absent where it is the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) other: Option<String>,
    /// The dtypes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dtype: Option<[String; 2]>,
    /// The shapes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shape: Option<[Vec<u64>; 2]>,
    /// The names of the axes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dims: Option<[Vec<String>; 2]>,
    /// The axes whose labels differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) labels: Vec<DifferingLabels>,
    /// The attributes that differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) attrs: Vec<DifferingAttr>,
    /// Differences between the values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) values: Option<ElementDiffShape>,
    /// Why values were not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
}

/// An attribute that differs; `null` where a file does not have it.
#[derive(Debug, Serialize)]
pub(crate) struct DifferingAttr {
    /// The name.
    pub(crate) name: String,
    /// The values.
    pub(crate) values: [Option<Attr>; 2],
}

/// Labels of an axis that differ.
#[derive(Debug, Serialize)]
pub(crate) struct DifferingLabels {
    /// The axis, from 0.
    pub(crate) axis: usize,
    /// Its name, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dim: Option<String>,
    /// The first position where they differ; absent if only one file has labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) position: Option<u64>,
    /// The labels there; `null` where a file has none.
    pub(crate) labels: [Option<String>; 2],
}

/// Differences between the values of two datasets.
#[derive(Debug, Serialize)]
pub(crate) struct ElementDiffShape {
    /// The values of each.
    pub(crate) count: u64,
    /// Those that differ.
    pub(crate) differing: u64,
    /// Those of which one alone is NaN.
    pub(crate) nan_count: u64,
    /// Values that were not read, because their chunks have the same digest.
    pub(crate) skipped: u64,
    /// The largest |A - B|; `null` if none is finite.
    pub(crate) max_abs: Option<Number>,
    /// The largest |A - B| / |B|.
    pub(crate) max_rel: Option<Number>,
    /// How far all values are apart; absent for texts and blocks, and where values were skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) change: Option<ChangeShape>,
    /// The first place.
    pub(crate) first: Option<DifferingPlace>,
    /// The first place of the largest difference.
    pub(crate) worst: Option<DifferingPlace>,
    /// The blocks that were compared as bytes: `differing` is their number; absent where values were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) block: Option<DiffBlockShape>,
}

/// How far the values of two datasets are apart, over the pairs of finite values.
#[derive(Debug, Serialize)]
pub(crate) struct ChangeShape {
    /// The pairs of finite values.
    pub(crate) count: u64,
    /// Other pairs that differ: a value is NaN, infinite or missing.
    pub(crate) unmeasured: u64,
    /// The root of the mean of the square of A - B; `null` without pairs.
    pub(crate) rms: Option<Number>,
    /// The norm of A - B divided by that of B; `null` where both are 0.
    pub(crate) relative_l2: Option<Number>,
    /// The cosine of the angle between A and B; `null` where one of them is 0.
    pub(crate) cosine: Option<Number>,
}

/// Values that are stored together.
#[derive(Debug, Serialize)]
pub(crate) struct DiffBlockShape {
    /// Values of a block.
    pub(crate) count: u64,
    /// Bytes of a block.
    pub(crate) len: u64,
}

/// A place where values differ.
#[derive(Debug, Serialize)]
pub(crate) struct DifferingPlace {
    /// The position along each axis of the first dataset.
    pub(crate) position: Vec<u64>,
    /// The labels there, by name or number of the axis.
    pub(crate) labels: BTreeMap<String, String>,
    /// The values.
    pub(crate) values: [DifferingValue; 2],
}

/// A value that differs.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum DifferingValue {
    /// A number or a truth.
    Number(Number),
    /// A string.
    Text(String),
    /// The bytes of a block.
    Bytes {
        /// As hexadecimal digits.
        bytes: String,
    },
}
