//! Attributes that say what a container has no word for, and those that the caller gives.

use std::collections::BTreeMap;

use tet_file::metadata::DatasetMetadata;
use tet_format::DType;
use tet_query::{AttrText, Dataset};

use crate::write::options::ImportOptions;

/// The attribute, of value `1`, of a dataset of one element that stands for an array without axes.
pub const SCALAR_KEY: &str = "tet:scalar";
/// The attribute of the unit of times.
pub const UNITS_KEY: &str = "units";
/// The attribute of the value that means a missing one.
pub const FILL_KEY: &str = "_FillValue";

/// Attributes whose numbers are of the type of their dataset.
pub const OF_VARIABLE: [&str; 6] =
    [FILL_KEY, "missing_value", "valid_min", "valid_max", "valid_range", "actual_range"];

/// The value of [`FILL_KEY`] of times as NumPy has them: its "not a time".
pub fn not_a_time() -> AttrText {
    AttrText::number(DType::Int64, &i64::MIN.to_le_bytes())
}

/// Whether a dataset is a scalar that a container without them has as one element.
#[must_use]
pub fn is_scalar(dataset: &Dataset) -> bool {
    let value = dataset.attrs.get(SCALAR_KEY);
    dataset.shape() == [1] && matches!(value, Some(AttrText::Text(text)) if text == "1")
}

/// A shape as the text of an attribute.
pub fn shape_text(shape: &[u64]) -> AttrText {
    AttrText::Json(serde_json::Value::from(shape).to_string())
}

/// The shape that the text of an attribute is; some containers have no lists of one number.
pub fn shape_of_text(text: &str) -> Option<Vec<u64>> {
    let one = || Some(vec![text.parse().ok()?]);
    serde_json::from_str(text).ok().or_else(one)
}

/// The dimension names and attributes that the caller gives a dataset; those for it alone come after
/// those for all.
pub fn given(name: &str, rank: usize, options: &ImportOptions) -> DatasetMetadata {
    let mut given = DatasetMetadata::default();
    let mut attrs = BTreeMap::new();
    for is_named in [false, true] {
        let applies = |dataset: &Option<String>| match dataset {
            Some(dataset) => is_named && dataset == name,
            None => !is_named,
        };
        for dims in options.dims.iter().filter(|dims| applies(&dims.dataset)) {
            if dims.names.len() == rank {
                given.dim_names.clone_from(&dims.names);
            }
        }
        for attr in options.attrs.iter().filter(|attr| applies(&attr.dataset)) {
            attrs.insert(attr.key.clone(), attr.value.clone());
        }
    }
    given.attrs = attrs.into_iter().collect();
    given
}

/// The name of a dataset that only holds metadata of its file: zTensor has no other place for them.
pub const METADATA_NAME: &str = "__metadata__";

/// Whether a dataset only holds metadata of its file, which are among the attributes of the catalog.
pub fn is_metadata(dataset: &Dataset) -> bool {
    dataset.name == METADATA_NAME && dataset.shape() == [0]
}
