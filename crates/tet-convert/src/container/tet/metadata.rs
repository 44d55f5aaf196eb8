//! The metadata of a written dataset: names, labels, attributes, where it comes from. Pure.

use std::collections::BTreeMap;

use tet_file::metadata::{AttrValue, DatasetMetadata, Metadata};
use tet_query::{AttrText, Dataset, LazyArray, Method};

use crate::model::attributes::SCALAR_KEY;

/// Attributes that speak of the stored values: none of them holds for transformed ones.
const ATTRS_OF_VALUES: [&str; 7] = [
    "_FillValue",
    "missing_value",
    "fill_value",
    "valid_min",
    "valid_max",
    "valid_range",
    "actual_range",
];

/// The name of the written dataset.
pub(crate) fn name(lazy: &LazyArray) -> String {
    let name = &lazy.dataset().name;
    lazy.transform().map_or(name.clone(), |it| format!("{name}-{}", it.method.name()))
}

/// The metadata of the dataset, added to `metadata`.
pub(crate) fn dataset(lazy: &LazyArray, is_scalar: bool, metadata: &mut Metadata) {
    let dataset = lazy.dataset();
    let mut about = DatasetMetadata::default();
    let rank = if is_scalar { 1 } else { lazy.shape().rank() };
    let names = lazy.axes().into_iter().map(|axis| dataset.dims.get(axis).cloned());
    if let Some(names) = names.collect::<Option<Vec<_>>>()
        && names.len() == rank
    {
        about.dim_names = names;
    }
    for (at, axis) in lazy.axes().into_iter().enumerate().filter(|_| !is_scalar) {
        let Some(labels) = dataset.coords.get(&axis) else { continue };
        let count = lazy.shape().get(at).copied().unwrap_or(0);
        let label = |nth| labels.get(usize::try_from(lazy.position(at, nth)?).ok()?).cloned();
        let labels = (0..count).map(label).collect::<Option<Vec<_>>>();
        let keys = about.dim_names.get(at).cloned().into_iter().chain([at.to_string()]);
        // A name of several axes means the first of them.
        let key = keys.into_iter().find(|key| about.axis(key, rank) == Some(at));
        if let (Some(labels), Some(key)) = (labels, key) {
            about.coords.insert(key, labels);
        }
    }
    about.attrs = attrs(dataset, lazy.transform().map(|transform| transform.method));
    if is_scalar {
        about.attrs.insert(SCALAR_KEY.to_owned(), AttrValue::from("1"));
    }
    if !about.is_empty() {
        metadata.datasets.insert(name(lazy), about);
    }
}

/// The attributes that still hold.
fn attrs(dataset: &Dataset, method: Option<Method>) -> BTreeMap<String, AttrValue> {
    let holds = |key: &str| match method {
        _ if key == SCALAR_KEY => false,
        None => true,
        Some(_) if ATTRS_OF_VALUES.contains(&key) => false,
        // Differences have the unit of what is compared, and its scale.
        Some(Method::Center) => key != "add_offset",
        Some(_) => !matches!(key, "units" | "add_offset" | "scale_factor"),
    };
    let held = dataset.attrs.iter().filter(|(key, _)| holds(key));
    held.map(|(key, it)| (key.clone(), attr_value(it))).collect()
}

/// An attribute of any container as one of `.tet`.
pub(super) fn attr_value(value: &AttrText) -> AttrValue {
    match value {
        AttrText::Text(text) => AttrValue::Text(text.clone()),
        AttrText::Json(json) | AttrText::Numbers { json, .. } => AttrValue::Json(json.clone()),
    }
}
