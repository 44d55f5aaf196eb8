//! Labels of axes, and the datasets that they come from.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tet_query::{CatalogLabels, Hyperslab, LabelLookup, Labels, Selection};

use crate::numpy;
use crate::run::{ProgressCallback, detached};
use crate::selected::Selected;

/// Bytes that are read for a label, about.
const LABEL_LEN: u64 = 8;

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
    let count = dataset.shape().get(axis).copied().unwrap_or(0);
    let job = ProgressCallback::new(count.saturating_mul(LABEL_LEN), None);
    let found = detached(py, &job, |progress| {
        let how = open.how.with_progress(progress);
        let labels = CatalogLabels::new(&open.opened.catalog, dataset, &how);
        let labels = labels.labels(axis)?;
        // Times are decoded in Python, which has types for them.
        Ok::<_, tet_query::Error>(labels.map(|labels| match labels.stored() {
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

/// The part of a whole dataset that a selection in text means, and what it took for granted.
#[pyfunction]
pub(crate) fn select_text(
    py: Python<'_>,
    selected: &Selected,
    text: &str,
) -> PyResult<(Selected, Vec<String>)> {
    let held = selected.held()?;
    let (open, dataset) = (&held.open, held.dataset()?);
    if !selected.picks().is_empty() || *selected.slab() != Hyperslab::whole(dataset.shape()) {
        let message = "text selects of a whole dataset, and this is a part: use isel and sel";
        return Err(PyValueError::new_err(message));
    }
    let (positions, notes) = detached(py, &ProgressCallback::new(0, None), |progress| {
        let how = open.how.with_progress(progress);
        let selection = Selection::parse(text).map_err(tet_query::Error::from)?;
        let labels = CatalogLabels::new(&open.opened.catalog, dataset, &how);
        let positions = selection.positions(dataset.shape(), &dataset.dims, &labels)?;
        let notes = selection.notes(dataset, &labels, &positions)?;
        Ok::<_, tet_query::Error>((positions, notes))
    })?;
    let notes = notes.iter().map(ToString::to_string).collect();
    Ok((selected.with_positions(py, &positions)?, notes))
}

/// The dataset whose elements are the labels of an axis of the dataset; `None` where the dataset has them itself, or
/// the axis has none.
#[pyfunction]
pub(crate) fn coordinate(
    py: Python<'_>,
    selected: &Selected,
    axis: usize,
) -> PyResult<Option<Selected>> {
    let held = selected.held()?;
    let (open, dataset) = (&held.open, held.dataset()?);
    if dataset.coords.get(&axis).is_some_and(|labels| !labels.is_empty()) {
        return Ok(None);
    }
    let labels = CatalogLabels::new(&open.opened.catalog, dataset, &open.how);
    let found = labels.coordinate_dataset(axis);
    found.map(|found| Selected::whole(py, selected.state(), found)).transpose()
}
