//! What is known of the positions and the values of a dataset for those who look at them: labels and units.

use tet_query::{AttrText, AxisSlice, Dataset, LabelLookup, Labels};

/// At most this many labels of an axis are read; later positions are shown by number.
const LABELS_MAX: u64 = 1 << 20;

/// The attributes of packed values.
const PACKING: [&str; 2] = ["scale_factor", "add_offset"];

/// The unit of a dataset's values, from the attribute `units` or `unit`; empty without one, and for packed
/// values as they are stored, which have another.
#[must_use]
pub(crate) fn unit(dataset: &Dataset) -> String {
    // Decoded values have none of them.
    if PACKING.iter().any(|key| dataset.attrs.contains_key(*key)) {
        return String::new();
    }
    match dataset.attrs.get("units").or_else(|| dataset.attrs.get("unit")) {
        Some(AttrText::Text(text)) => text.clone(),
        _ => String::new(),
    }
}

/// The labels of the selected positions of an axis; empty without labels.
///
/// Labels that cannot be read are omitted without an error.
#[must_use]
pub(crate) fn of_axis(labels: &dyn LabelLookup, axis: usize, slice: &AxisSlice) -> Vec<String> {
    let Ok(Some(labels)) = labels.labels(axis) else { return Vec::new() };
    texts(&labels, slice)
}

/// The numbers of the selected positions of a time axis, as they are stored; empty for other axes.
#[must_use]
pub(crate) fn numbers_of_times(
    labels: &dyn LabelLookup,
    axis: usize,
    slice: &AxisSlice,
) -> Vec<String> {
    match labels.labels(axis) {
        Ok(Some(labels @ Labels::Times { .. })) => texts(&labels.stored(), slice),
        _ => Vec::new(),
    }
}

fn texts(labels: &Labels<'_>, slice: &AxisSlice) -> Vec<String> {
    let text = |at: u64| {
        let position = usize::try_from(slice.start + at * slice.step).ok()?;
        labels.text(position)
    };
    (0..slice.count().min(LABELS_MAX)).map_while(text).collect()
}
