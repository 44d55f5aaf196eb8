//! Reads a selection of two axes for a heatmap, with its labels; a large one is subsampled.

use std::ops::Range;

use tet_query::{
    Answer, AttrText, AxisSlice, Catalog, CatalogLabels, Dataset, Execution, Hyperslab, Integrity,
    LabelLookup,
};

use crate::exit::{Failure, Result};
use crate::render::heatmap::Heatmap;
use crate::render::number::Number;
use crate::target::Target;

/// At most this many positions of an axis are read; a terminal shows fewer.
const POSITIONS_MAX: u64 = 1024;

/// At most this many labels of an axis are read; later positions are shown by number.
const LABELS_MAX: u64 = 1 << 20;

/// The attributes of packed values.
const PACKING: [&str; 2] = ["scale_factor", "add_offset"];

/// Reads a heatmap of the selection; also returns a note if it was subsampled, and its integrity.
///
/// # Errors
///
/// The selection does not have one or two axes, or cannot be read.
pub(crate) fn read(
    catalog: &Catalog,
    target: &Target<'_>,
    how: &Execution,
) -> Result<(Heatmap, Option<String>, Integrity)> {
    let dataset = target.dataset;
    let kept: Vec<usize> =
        (0..target.slab.axes().len()).filter(|&axis| target.slab.axes()[axis].is_kept()).collect();
    let (row_axis, column_axis) = match kept[..] {
        [column] => (None, column),
        [row, column] => (Some(row), column),
        _ => return Err(wrong_rank(target)),
    };
    let thinned = thin(&target.slab, dataset.shape());
    let slab = thinned.as_ref().unwrap_or(&target.slab);
    let Answer { value: array, integrity } = dataset.read(slab, how)?;
    let len = |axis: usize| usize::try_from(slab.axes()[axis].count()).unwrap_or(usize::MAX);
    let number = |at| array.get(at).map_or(f64::NAN, |value| Number::from(value).to_f64());
    let labels = CatalogLabels::new(catalog, dataset, how);
    let labels_of = |axis: usize| axis_labels(&labels, axis, &slab.axes()[axis]);
    let map = Heatmap {
        values: (0..array.len()).map(number).collect(),
        row_count: row_axis.map_or(1, len),
        column_count: len(column_axis),
        row_labels: row_axis.map(labels_of).unwrap_or_default(),
        column_labels: labels_of(column_axis),
        unit: unit(dataset),
    };
    let note =
        thinned.map(|_| "the heatmap shows only some positions, because the slice is large".into());
    Ok((map, note, integrity))
}

/// The unit of a dataset's values, from the attribute `units` or `unit`; empty without one, and for packed
/// values as they are stored, which have another.
#[must_use]
pub(crate) fn unit(dataset: &Dataset) -> String {
    let is_packed = PACKING.iter().any(|key| dataset.attrs.contains_key(*key));
    if is_packed && dataset.meaning.is_none() {
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
pub(crate) fn axis_labels(labels: &dyn LabelLookup, axis: usize, slice: &AxisSlice) -> Vec<String> {
    let Ok(Some(labels)) = labels.labels(axis) else { return Vec::new() };
    let text = |at: u64| {
        let position = usize::try_from(slice.start + at * slice.step).ok()?;
        labels.text(position)
    };
    (0..slice.count().min(LABELS_MAX)).map_while(text).collect()
}

/// A coarser selection if an axis is longer than a heatmap can show.
fn thin(slab: &Hyperslab, shape: &[u64]) -> Option<Hyperslab> {
    let large: Range<u64> = 0..POSITIONS_MAX + 1;
    if slab.counts().iter().all(|count| large.contains(count)) {
        return None;
    }
    let coarser = |slice: &AxisSlice| {
        let factor = slice.count().div_ceil(POSITIONS_MAX).max(1);
        AxisSlice { step: slice.step.saturating_mul(factor), ..*slice }
    };
    Hyperslab::new(slab.axes().iter().map(coarser).collect(), shape)
}

fn wrong_rank(target: &Target<'_>) -> Failure {
    let shape = target.slab.kept_shape();
    let text = format!("a heatmap shows two axes, and the slice has {} {shape}", shape.rank());
    Failure::usage("heatmap-axes", text)
        .hint("select one position of each other axis, as in 'temp[0]'")
}
