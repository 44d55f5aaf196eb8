//! The row of the history that says how a result was made.

use tet_file::metadata::HistoryRow;
use tet_query::{
    Axes, AxisSlice, Compare, Dataset, Filter, LazyArray, NanPolicy, Number, Transform,
};

use crate::write::options::Origin;

/// The step that made the dataset.
pub(super) fn of(lazy: &LazyArray, origin: Origin) -> HistoryRow {
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
