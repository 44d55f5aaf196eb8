//! Labels and units of the positions and the values of a dataset.

use tet_query::{AttrText, AxisSlice, Dataset, LabelLookup, Labels, Moments};

/// At most this many labels of an axis are read; later positions are shown by number.
const LABELS_MAX: u64 = 1 << 20;

/// The attributes of packed values.
const PACKING: [&str; 2] = ["scale_factor", "add_offset"];

/// The unit of a dataset's values, from the attribute `units` or `unit`; empty without one, and for packed
/// values as they are stored, which have another.
#[must_use]
pub(crate) fn unit(dataset: &Dataset) -> String {
    // Decoded values have none of them.
    if is_packed(dataset) {
        return String::new();
    }
    match dataset.attrs.get("units").or_else(|| dataset.attrs.get("unit")) {
        Some(AttrText::Text(text)) => text.clone(),
        _ => String::new(),
    }
}

/// Whether a dataset's values are packed, and not decoded.
#[must_use]
pub(crate) fn is_packed(dataset: &Dataset) -> bool {
    PACKING.iter().any(|key| dataset.attrs.contains_key(*key))
}

/// Name of a dataset's values: its `long_name`, else its `standard_name`; empty without them.
#[must_use]
pub(crate) fn long_name(dataset: &Dataset) -> String {
    let text = |key: &&str| match dataset.attrs.get(*key) {
        Some(AttrText::Text(text)) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        _ => None,
    };
    ["long_name", "standard_name"].iter().find_map(text).unwrap_or_default()
}

/// The labels of the selected positions of an axis; empty without labels.
///
/// Labels that cannot be read are omitted without an error.
#[must_use]
pub(crate) fn of_axis(labels: &dyn LabelLookup, axis: usize, slice: &AxisSlice) -> Vec<String> {
    let Ok(Some(labels)) = labels.labels(axis) else { return Vec::new() };
    texts(&labels, slice)
}

/// The times of the selected positions of an axis; `None` for an axis of other labels, or of too many.
#[must_use]
pub(crate) fn moments(labels: &dyn LabelLookup, axis: usize, slice: &AxisSlice) -> Option<Moments> {
    let Ok(Some(labels @ Labels::Times { .. })) = labels.labels(axis) else { return None };
    let all = labels.moments().filter(|_| slice.count() <= LABELS_MAX)?;
    let at = |nth: u64| {
        let position = usize::try_from(slice.start + nth * slice.step).ok()?;
        all.nanoseconds.get(position).copied()
    };
    let nanoseconds = (0..slice.count()).map(at).collect::<Option<_>>()?;
    Some(Moments { calendar: all.calendar, nanoseconds })
}

fn texts(labels: &Labels<'_>, slice: &AxisSlice) -> Vec<String> {
    let text = |at: u64| {
        let position = usize::try_from(slice.start + at * slice.step).ok()?;
        labels.text(position)
    };
    (0..slice.count().min(LABELS_MAX)).map_while(text).collect()
}
