//! Attributes as values of Python.

use std::collections::BTreeMap;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tet_query::AttrText;

/// The attributes as a dict of text and of `(dtype, JSON)`, which the package makes numbers of.
///
/// # Errors
///
/// Python has no memory.
pub(crate) fn dict<'py>(
    py: Python<'py>,
    attrs: &BTreeMap<String, AttrText>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in attrs {
        dict.set_item(name, stored(py, value)?)?;
    }
    Ok(dict)
}

/// One of them.
///
/// # Errors
///
/// Python has no memory.
pub(crate) fn stored<'py>(py: Python<'py>, value: &AttrText) -> PyResult<Bound<'py, PyAny>> {
    match value {
        AttrText::Text(text) => text.into_bound_py_any(py),
        AttrText::Json(json) => (py.None(), json).into_bound_py_any(py),
        AttrText::Numbers { dtype, json } => (dtype.name(), json).into_bound_py_any(py),
    }
}
