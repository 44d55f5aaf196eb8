//! The names and the attributes of results: those that still hold.

use std::collections::BTreeMap;

use serde_json::Value;
use tet_query::{Along, AttrText, Dataset, Details, LazyArray, Method, Op, Reduced};

use crate::Note;
use tet_container::model::attributes::{SCALAR_KEY, UNITS_KEY};

/// Attributes that speak of the stored values: none of them holds for others.
const ATTRS_OF_VALUES: [&str; 7] = [
    "_FillValue",
    "missing_value",
    "fill_value",
    "valid_min",
    "valid_max",
    "valid_range",
    "actual_range",
];
/// Attributes by which values are decoded.
const ATTRS_OF_PACKING: [&str; 3] = ["scale_factor", "add_offset", "_Unsigned"];
/// The attribute of CF that says of what a value is the mean, the maximum and so on.
const CELL_METHODS_KEY: &str = "cell_methods";

/// Numbers of a histogram that are attributes, at most: no container has long ones.
const LISTED_MAX: usize = 4096;
/// The attribute of the edges of bins.
const EDGES_KEY: &str = "bin_edges";

/// Attributes of a dataset.
type Attrs = BTreeMap<String, AttrText>;

/// The name of an array result.
pub(super) fn name_of_lazy(lazy: &LazyArray) -> String {
    let name = &lazy.dataset().name;
    lazy.transform().map_or(name.clone(), |it| legal(name, it.method.name()))
}

/// The name of the cells of a reduction: that of the dataset where the cells are of its quantity, as `cell_methods`
/// or the axis of quantiles says; else with the reduction behind it.
pub(super) fn name_of_reduced(dataset: &Dataset, op: Op) -> String {
    if is_of_quantity(op) { dataset.name.clone() } else { legal(&dataset.name, op.name()) }
}

/// A name and what was made of it, as CF and the attributes of Python have names.
fn legal(name: &str, made: &str) -> String {
    format!("{name}_{}", made.replace('-', "_"))
}

/// Whether cells are of the quantity of the dataset, or of its square.
fn is_of_quantity(op: Op) -> bool {
    cell_method(op).is_some() || op.plain() == Op::Quantile
}

/// The attributes of selected values, which may be transformed.
pub(super) fn of_values(dataset: &Dataset, method: Option<Method>) -> Attrs {
    held(dataset, |key| match method {
        None => true,
        Some(_) if ATTRS_OF_VALUES.contains(&key) => false,
        // Differences have the unit of what is compared, and its scale.
        Some(Method::Center) => key != "add_offset",
        Some(_) => key != UNITS_KEY && !ATTRS_OF_PACKING.contains(&key),
    })
}

/// The attributes of the cells of a reduction.
pub(super) fn of_reduced(dataset: &Dataset, reduced: &Reduced) -> Attrs {
    let is_packed = ATTRS_OF_PACKING.iter().any(|key| dataset.attrs.contains_key(*key));
    let has_unit = keeps_unit(reduced.op) && !is_packed;
    let mut attrs = held(dataset, |key| {
        let is_of_values = ATTRS_OF_VALUES.contains(&key) || ATTRS_OF_PACKING.contains(&key);
        !is_of_values && (key != UNITS_KEY || has_unit)
    });
    if let Details::Histogram { edges, below, above } = &reduced.details
        && edges.len() + below.len() + above.len() <= LISTED_MAX
    {
        attrs.extend(of_histogram(edges, below, above));
    }
    if let Some(method) = cell_method(reduced.op) {
        let folded = reduced.axes.iter().filter(|axis| !is_positions(&reduced.along, **axis));
        let names = folded.filter_map(|axis| dataset.dims.get(*axis));
        add_cell_method(&mut attrs, &names.map(String::as_str).collect::<Vec<_>>(), method);
    }
    let unit = dataset.attrs.get(UNITS_KEY).filter(|_| !is_packed);
    name_quantity(&mut attrs, unit, reduced.op);
    attrs
}

/// Adds that values are those of a method along axes, where that is not said yet.
fn add_cell_method(attrs: &mut Attrs, axes: &[&str], method: &str) {
    let before = match attrs.get(CELL_METHODS_KEY) {
        Some(AttrText::Text(before)) => before.as_str(),
        _ => "",
    };
    let axes: String = axes
        .iter()
        .filter(|axis| !has_method(before, axis, method))
        .map(|axis| format!("{axis}: "))
        .collect();
    if !axes.is_empty() {
        let space = if before.is_empty() { "" } else { " " };
        let methods = AttrText::Text(format!("{before}{space}{axes}{method}"));
        attrs.insert(CELL_METHODS_KEY.to_owned(), methods);
    }
}

/// Whether the text of `cell_methods` has an entry of this method for an axis.
fn has_method(text: &str, axis: &str, method: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    // An entry is some axes, a method and words about it.
    let entries = words.chunk_by(|before, next| before.ends_with(':') || !next.ends_with(':'));
    entries.into_iter().any(|entry| {
        let is_axis = |word: &&&str| word.ends_with(':');
        let mut axes = entry.iter().take_while(is_axis).map(|word| word.trim_end_matches(':'));
        let of_entry = entry.iter().find(|word| !is_axis(word));
        of_entry == Some(&method) && axes.any(|it| it == axis)
    })
}

/// Sets what the cells are called, and their unit, where they are not of the quantity of the dataset.
fn name_quantity(attrs: &mut Attrs, unit: Option<&AttrText>, op: Op) {
    let unit = match unit {
        Some(AttrText::Text(unit)) => Some(unit.as_str()),
        _ => None,
    };
    match op.plain() {
        Op::Var => {
            let squared = unit.and_then(squared).map(AttrText::Text);
            attrs.extend(squared.map(|unit| (UNITS_KEY.to_owned(), unit)));
        }
        _ if is_of_quantity(op) => {}
        plain => {
            attrs.remove("standard_name");
            attrs.remove("calendar");
            if let Some(AttrText::Text(name)) = attrs.get_mut("long_name") {
                *name = format!("{} of {name}", op.name().replace(['-', '_'], " "));
            }
            if is_count(plain) && unit.is_some() {
                attrs.insert(UNITS_KEY.to_owned(), AttrText::Text("1".to_owned()));
            }
        }
    }
}

/// The square of a unit, as UDUNITS has it; `None` for the unit of a time since a date, or of a logarithm.
fn squared(unit: &str) -> Option<String> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, ' ' | '-' | '.' | '/');
    let is_product = unit.chars().all(is_plain) && !unit.to_ascii_lowercase().contains(" since ");
    match unit {
        "1" | "" => Some(unit.to_owned()),
        _ if unit.chars().all(|it| it.is_ascii_alphabetic()) => Some(format!("{unit}2")),
        _ => is_product.then(|| format!("({unit})2")),
    }
}

/// Whether cells count elements.
fn is_count(op: Op) -> bool {
    use Op::{Count, Histogram, InfCount, NanCount, NullCount};
    [Count, Histogram, InfCount, NanCount, NullCount].contains(&op)
}

/// The attributes of the counts of a histogram: the edges of the bins of all cells, or of one cell after the other, and
/// how many elements lie outside.
fn of_histogram(edges: &[f64], below: &[u64], above: &[u64]) -> Attrs {
    let lists = [
        (EDGES_KEY, Value::from(edges)),
        ("below", Value::from(below)),
        ("above", Value::from(above)),
    ];
    let attr = |(key, list): (&str, Value)| (key.to_owned(), AttrText::Json(list.to_string()));
    lists.map(attr).into()
}

/// The note of edges and counts of histograms that are too many for attributes.
pub(super) fn too_long(name: &str, reduced: &Reduced) -> Option<Note> {
    let Details::Histogram { edges, below, above } = &reduced.details else { return None };
    let count = edges.len() + below.len() + above.len();
    let is_long = LISTED_MAX < count;
    Note::left_behind(name, "edges of bins, and counts outside of them", count).filter(|_| is_long)
}

/// The attributes that hold, for values as they were read.
fn held(dataset: &Dataset, holds: impl Fn(&str) -> bool) -> Attrs {
    let is_held = |key: &str| key != SCALAR_KEY && holds(key);
    let attrs = dataset.attrs.iter().filter(|(key, _)| is_held(key));
    attrs.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Whether an axis is one of the result, position by position.
fn is_positions(along: &[Along], axis: usize) -> bool {
    along.contains(&Along::Axis(axis))
}

/// Whether a result has the unit of the values.
fn keeps_unit(op: Op) -> bool {
    use Op::{Max, Mean, Median, Min, NormL1, NormL2, Quantile, Std, Sum};
    [Max, Mean, Median, Min, NormL1, NormL2, Quantile, Std, Sum].contains(&op.plain())
}

/// The word of CF for a reduction (appendix E).
fn cell_method(op: Op) -> Option<&'static str> {
    Some(match op.plain() {
        Op::Mean => "mean",
        Op::Min => "minimum",
        Op::Max => "maximum",
        Op::Sum => "sum",
        Op::Std => "standard_deviation",
        Op::Var => "variance",
        Op::Median => "median",
        _ => return None,
    })
}
