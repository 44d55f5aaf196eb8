//! The metadata of a written dataset: names, labels, attributes, where it comes from. Pure.

use tet_file::metadata::{AttrValue, DatasetMetadata, Metadata};
use tet_query::{AttrText, LazyArray};

use tet_container::model::attributes::SCALAR_KEY;

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
    let attrs = dataset.attrs.iter().filter(|(key, _)| *key != SCALAR_KEY);
    about.attrs = attrs.map(|(key, value)| (key.clone(), attr_value(value))).collect();
    if is_scalar {
        about.attrs.insert(SCALAR_KEY.to_owned(), AttrValue::from("1"));
    }
    if !about.is_empty() {
        metadata.datasets.insert(dataset.name.clone(), about);
    }
}

/// An attribute of any container as one of `.tet`.
pub(super) fn attr_value(value: &AttrText) -> AttrValue {
    match value {
        AttrText::Text(text) => AttrValue::Text(text.clone()),
        AttrText::Json(json) | AttrText::Numbers { json, .. } => AttrValue::Json(json.clone()),
    }
}
