//! What a written dataset says about itself: names, labels, attributes, where it comes from. Pure.

use std::collections::BTreeMap;

use tet_file::metadata::{AttrValue, DatasetMetadata, HistoryRow, Metadata};
use tet_query::{
    AttrText, Axes, AxisSlice, Compare, Dataset, Filter, LazyArray, Method, NanPolicy, Number,
    Transform,
};

use crate::attributes::SCALAR_KEY;
use crate::options::Origin;

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
pub(super) fn name(lazy: &LazyArray) -> String {
    let name = &lazy.dataset().name;
    lazy.transform().map_or(name.clone(), |it| format!("{name}-{}", it.method.name()))
}

/// What the file says about the dataset, added to `metadata`.
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
        // A name that several axes have stands for the first of them.
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
    let value = |value: &AttrText| match value {
        AttrText::Text(text) => AttrValue::Text(text.clone()),
        AttrText::Json(json) => AttrValue::Json(json.clone()),
    };
    let held = dataset.attrs.iter().filter(|(key, _)| holds(key));
    held.map(|(key, it)| (key.clone(), value(it))).collect()
}

/// The step that made the dataset.
pub(super) fn history(lazy: &LazyArray, origin: Origin) -> HistoryRow {
    let path = lazy.dataset().listed_in.as_ref().unwrap_or(&lazy.dataset().source).path();
    let source = path.and_then(|path| path.file_name()).unwrap_or_default().to_string_lossy();
    let op = if lazy.transform().is_some() { "transform" } else { "select" };
    let mut row = HistoryRow::new(op, &source, &origin.at.to_string());
    let mut say = |key: &str, value: String| row.params.insert(key.to_owned(), value);
    say("dataset", lazy.dataset().name.clone());
    say("selection", selection(lazy));
    if let Some(filter) = &lazy.choice().filter {
        say("filter", of_filter(filter));
    }
    if let Some(Transform { method, axes, nan }) = lazy.transform() {
        say("method", method.name().to_owned());
        say("axes", of_axes(lazy.dataset(), axes));
        if *nan == NanPolicy::Skip {
            say("nan", "skip".to_owned());
        }
    }
    row
}

/// The selection as text, axis by axis.
fn selection(lazy: &LazyArray) -> String {
    let picks = &lazy.choice().picks;
    let axis = |(axis, slice): (usize, &AxisSlice)| {
        let AxisSlice { start, stop, step, .. } = *slice;
        let range = match step {
            _ if !slice.is_kept() => start.to_string(),
            1 => format!("{start}:{stop}"),
            _ => format!("{start}:{stop}:{step}"),
        };
        match picks.iter().find(|picks| picks.axis == axis) {
            Some(picks) => format!("{range} ({} picked)", picks.positions.len()),
            None => range,
        }
    };
    lazy.slab().axes().iter().enumerate().map(axis).collect::<Vec<_>>().join(", ")
}

fn of_axes(dataset: &Dataset, axes: &Axes) -> String {
    let name = |&axis: &usize| dataset.dims.get(axis).cloned().unwrap_or(axis.to_string());
    match axes {
        Axes::Some(axes) if !axes.is_empty() => {
            axes.iter().map(name).collect::<Vec<_>>().join(", ")
        }
        _ => "all".to_owned(),
    }
}

fn of_filter(filter: &Filter) -> String {
    let number = |number: &Number| match number {
        Number::Int(integer) => integer.to_string(),
        Number::Float(float) => format!("{float:?}"),
    };
    let test = |(compare, to): &(Compare, Number)| format!("{} {}", compare.name(), number(to));
    let nulls = [("is_null", filter.is_null), ("is_not_null", filter.is_not_null)];
    let nulls = nulls.into_iter().filter(|(_, asked)| *asked).map(|(name, _)| name.to_owned());
    filter.tests.iter().map(test).chain(nulls).collect::<Vec<_>>().join(", ")
}
