//! Results of reductions as arrays of NumPy.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use tet_query::{Along, Array, Cells, Details, Reduced, Values};

use crate::numpy;

/// The result as a dict: `values`, `nulls`, `along`, `count`, `nan_count` and more where an operation has more.
///
/// # Errors
///
/// NumPy has no memory.
pub(crate) fn reduced<'py>(py: Python<'py>, reduced: &Reduced) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("op", reduced.op.name())?;
    dict.set_item("values", values(py, &reduced.values, &reduced.shape)?)?;
    dict.set_item("nulls", nulls(py, &reduced.values, &reduced.shape)?)?;
    dict.set_item("axes", PyTuple::new(py, &reduced.axes)?)?;
    let along: PyResult<Vec<Py<PyAny>>> = reduced.along.iter().map(|it| along(py, it)).collect();
    dict.set_item("along", along?)?;
    dict.set_item("count", reduced.count)?;
    dict.set_item("nan_count", reduced.nan_count)?;
    match &reduced.details {
        Details::Histogram { edges, below, above } => {
            dict.set_item("edges", edges.clone())?;
            dict.set_item("below", below.clone())?;
            dict.set_item("above", above.clone())?;
        }
        Details::Places(places) => dict.set_item("places", places.clone())?,
        Details::None => {}
    }
    Ok(dict)
}

fn values<'py>(py: Python<'py>, values: &Values, shape: &[u64]) -> PyResult<Bound<'py, PyAny>> {
    match &values.cells {
        Cells::Count(counts) => {
            let counts: Vec<i128> = counts.iter().map(|&count| count.into()).collect();
            integers(py, &counts, shape)
        }
        Cells::Truth(truths) => {
            let bytes: Vec<u8> = truths.iter().map(|&truth| truth.into()).collect();
            numpy::of_bytes(py, &bytes, "bool", shape)
        }
        Cells::Int(values) => integers(py, values, shape),
        Cells::Float(floats) => {
            let bytes: Vec<u8> = floats.iter().flat_map(|float| float.to_le_bytes()).collect();
            numpy::of_bytes(py, &bytes, "float64", shape)
        }
        Cells::Element(elements) => array(py, elements, shape),
    }
}

/// Elements of a dataset's own type.
///
/// # Errors
///
/// NumPy has no such type or no memory.
pub(crate) fn array<'py>(
    py: Python<'py>,
    elements: &Array,
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    let types = py.import("tetfile._types")?;
    let found = types.call_method1("memory_of", (elements.dtype().name(),))?;
    let found: Option<(Py<PyAny>, Py<PyAny>)> = found.extract()?;
    let Some((memory, seen)) = found else {
        let name = elements.dtype().name();
        let text = format!("elements of {name} have no type in NumPy alone: install ml_dtypes");
        return Err(crate::error::unsupported(py, "", &text));
    };
    let name = memory.bind(py).getattr("name")?.extract::<String>()?;
    let flat = numpy::of_bytes(py, elements.bytes(), &name, shape)?;
    if memory.is(&seen) { Ok(flat) } else { flat.call_method1("view", (seen,)) }
}

/// Integers as `int64`, else as `uint64`, else as objects.
///
/// # Errors
///
/// NumPy has no memory.
pub(crate) fn integers<'py>(
    py: Python<'py>,
    values: &[i128],
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    let signed: Option<Vec<u8>> =
        flat(values.iter().map(|&it| Some(i64::try_from(it).ok()?.to_le_bytes())));
    if let Some(bytes) = signed {
        return numpy::of_bytes(py, &bytes, "int64", shape);
    }
    let unsigned: Option<Vec<u8>> =
        flat(values.iter().map(|&it| Some(u64::try_from(it).ok()?.to_le_bytes())));
    if let Some(bytes) = unsigned {
        return numpy::of_bytes(py, &bytes, "uint64", shape);
    }
    let objects: PyResult<Vec<_>> = values.iter().map(|it| it.into_bound_py_any(py)).collect();
    numpy::of_objects(py, objects?, shape)
}

/// Numbers of 64 bits as bytes; `None` where one is not of the type.
fn flat(numbers: impl Iterator<Item = Option<[u8; 8]>>) -> Option<Vec<u8>> {
    let numbers: Option<Vec<[u8; 8]>> = numbers.collect();
    Some(numbers?.concat())
}

fn nulls<'py>(
    py: Python<'py>,
    values: &Values,
    shape: &[u64],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(nulls) = &values.nulls else { return Ok(None) };
    let bytes: Vec<u8> = nulls.iter().map(|&null| null.into()).collect();
    Ok(Some(numpy::of_bytes(py, &bytes, "bool", shape)?))
}

/// An axis of a result: its kind, and its labels or bounds.
fn along(py: Python<'_>, along: &Along) -> PyResult<Py<PyAny>> {
    match along {
        Along::Axis(axis) => ("axis", *axis).into_py_any(py),
        Along::Picks(picks) => ("picks", picks.axis, picks.positions.to_vec()).into_py_any(py),
        Along::Groups(groups) => ("groups", groups.axis, groups.labels.to_vec()).into_py_any(py),
        Along::Windows { axis, first, step, size } => {
            ("windows", *axis, *first, *step, *size).into_py_any(py)
        }
        Along::Quantiles(q) => ("quantiles", q.clone()).into_py_any(py),
        Along::Bins => ("bins",).into_py_any(py),
        Along::Variables(axis) => ("variables", *axis).into_py_any(py),
    }
}
