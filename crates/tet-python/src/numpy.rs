//! Arrays of NumPy, made by NumPy.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyTuple};

/// Functions that every read calls.
struct Calls {
    empty: Py<PyAny>,
    ndarray: Py<PyAny>,
}

static CALLS: PyOnceLock<Calls> = PyOnceLock::new();

fn calls(py: Python<'_>) -> PyResult<&'static Calls> {
    CALLS.get_or_try_init(py, || {
        let numpy = py.import("numpy")?;
        let get = |name: &str| numpy.getattr(name).map(Bound::unbind);
        Ok(Calls { empty: get("empty")?, ndarray: get("ndarray")? })
    })
}

/// An array whose elements are to be filled.
///
/// # Errors
///
/// There is no memory for it.
pub(crate) fn empty<'py>(
    py: Python<'py>,
    shape: &[u64],
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = PyTuple::new(py, shape)?;
    calls(py)?.empty.bind(py).call1((shape, dtype))
}

/// Whether an object is an array.
pub(crate) fn is_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    object.is_instance(calls(object.py())?.ndarray.bind(object.py()))
}

/// An array of these little-endian elements.
///
/// # Errors
///
/// There is no memory for it.
pub(crate) fn of_bytes<'py>(
    py: Python<'py>,
    bytes: &[u8],
    dtype: &str,
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    let numpy = py.import(intern!(py, "numpy"))?;
    let shape = PyTuple::new(py, shape)?;
    if bytes.is_empty() {
        return numpy.call_method1(intern!(py, "empty"), (shape, dtype));
    }
    let flat =
        numpy.call_method1(intern!(py, "frombuffer"), (PyByteArray::new(py, bytes), dtype))?;
    flat.call_method1(intern!(py, "reshape"), (shape,))
}

/// An array of objects, such as texts.
///
/// # Errors
///
/// There is no memory for it.
pub(crate) fn of_objects<'py>(
    py: Python<'py>,
    objects: Vec<Bound<'py, PyAny>>,
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    let numpy = py.import(intern!(py, "numpy"))?;
    let flat = numpy.call_method1(intern!(py, "empty"), (objects.len(), intern!(py, "object")))?;
    for (at, object) in objects.into_iter().enumerate() {
        flat.set_item(at, object)?;
    }
    flat.call_method1(intern!(py, "reshape"), (PyTuple::new(py, shape)?,))
}

/// An array of positions.
///
/// # Errors
///
/// There is no memory for it.
pub(crate) fn of_positions<'py>(py: Python<'py>, positions: &[u64]) -> PyResult<Bound<'py, PyAny>> {
    let bytes: Vec<u8> = positions.iter().flat_map(|it| it.to_le_bytes()).collect();
    of_bytes(py, &bytes, "uint64", &[positions.len() as u64])
}

/// The positions of an array along an axis, in the order that is asked for.
///
/// # Errors
///
/// There is no memory for it.
pub(crate) fn take<'py>(
    array: &Bound<'py, PyAny>,
    positions: &[u64],
    axis: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let positions = of_positions(py, positions)?;
    let positions = positions.call_method1(intern!(py, "astype"), (intern!(py, "intp"),))?;
    array.call_method1(intern!(py, "take"), (positions, axis))
}

/// The array of one element without its axis.
///
/// # Errors
///
/// It has more elements.
pub(crate) fn without_axes<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    array.call_method1(intern!(array.py(), "reshape"), (PyTuple::empty(array.py()),))
}
