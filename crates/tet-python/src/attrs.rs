//! Attributes as values of Python.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
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
        match value {
            AttrText::Text(text) => dict.set_item(name, PyString::new(py, text))?,
            AttrText::Json(json) => dict.set_item(name, (py.None(), json))?,
            AttrText::Numbers { dtype, json } => dict.set_item(name, (dtype.name(), json))?,
        }
    }
    Ok(dict)
}
