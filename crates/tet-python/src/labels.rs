//! Labels of axes: what they are, and where one is.

use pyo3::prelude::*;
use tet_query::{Axis, AxisRef, AxisSelection, CatalogLabels, LabelLookup, Labels, Selection};

use crate::numpy;
use crate::run::{Job, detached};
use crate::selected::Selected;

/// Labels that were read.
enum Owned {
    Texts(Vec<String>),
    Integers(Vec<i128>),
    Floats(Vec<f64>),
}

/// All labels of an axis of the dataset: texts, integers or floats in an array; `None` where it has none.
#[pyfunction]
pub(crate) fn labels<'py>(
    py: Python<'py>,
    selected: &Selected,
    axis: usize,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let held = selected.held()?;
    let (open, dataset) = (&held.open, held.dataset()?);
    let found = detached(py, &Job::long(None), |progress| {
        let how = open.how.with_progress(progress);
        let labels = CatalogLabels::new(&open.opened.catalog, dataset, &how);
        let labels = labels.labels(axis)?;
        Ok::<_, tet_query::Error>(labels.map(|labels| match labels {
            Labels::Text(texts) => Owned::Texts(texts.into_owned()),
            Labels::Integers(values) => Owned::Integers(values.into_owned()),
            Labels::Floats { values, .. } => Owned::Floats(values.into_owned()),
            _ => Owned::Texts(Vec::new()),
        }))
    })?;
    let Some(found) = found else { return Ok(None) };
    let array = match found {
        Owned::Texts(texts) => {
            let count = texts.len() as u64;
            let texts = texts.iter().map(|it| pyo3::types::PyString::new(py, it).into_any());
            numpy::of_objects(py, texts.collect(), &[count])?
        }
        Owned::Integers(values) => crate::cells::integers(py, &values, &[values.len() as u64])?,
        Owned::Floats(values) => {
            let bytes: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
            numpy::of_bytes(py, &bytes, "float64", &[values.len() as u64])?
        }
    };
    Ok(Some(array))
}

/// Where a label of an axis of the dataset is, or labels from one through another: start, stop, and whether the axis
/// appears.
///
/// `first` and `last` are texts; numbers among labels are found by value.
#[pyfunction]
#[pyo3(signature = (selected, axis, first, last=None, is_range=false))]
pub(crate) fn find_label(
    py: Python<'_>,
    selected: &Selected,
    axis: usize,
    first: Option<String>,
    last: Option<String>,
    is_range: bool,
) -> PyResult<(u64, u64, bool)> {
    let held = selected.held()?;
    let (open, dataset) = (&held.open, held.dataset()?);
    let asked = match (first, last, is_range) {
        (Some(label), _, false) => AxisSelection::point(label),
        (Some(first), Some(last), _) => AxisSelection::through(first, last),
        (Some(first), None, _) => AxisSelection::from(first),
        (None, Some(last), _) => {
            AxisSelection::Range { start: None, stop: tet_query::Stop::Through(last), step: 1 }
        }
        (None, None, _) => AxisSelection::all(),
    };
    let number = i64::try_from(axis).unwrap_or(i64::MAX);
    let selection = Selection::named([(AxisRef::Number(number), asked)]);
    let slab = detached(py, &Job::long(None), |progress| {
        let how = open.how.with_progress(progress);
        let labels = CatalogLabels::new(&open.opened.catalog, dataset, &how);
        selection.resolve(dataset, &labels)
    })?;
    let slice = slab.axes().get(axis).copied();
    let slice = slice.unwrap_or(tet_query::AxisSlice::whole(0));
    Ok((slice.start, slice.stop, slice.axis == Axis::Kept))
}
