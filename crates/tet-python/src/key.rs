//! Keys of integers, slices, `...` and `None`, as NumPy reads them.
//!
//! A slice with a negative step is read forward and turned around by NumPy, which only makes a view. Any other key is
//! left to the package, which knows what arrays mean.

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PySlice, PyTuple};
use tet_query::{Axis, AxisSlice};

use crate::numpy;

/// Treatment of an axis of the elements that were read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Whole,
    Turned,
    New,
}

/// A key that was understood.
pub(crate) struct Key {
    /// A slice for each axis.
    pub(crate) slices: Vec<AxisSlice>,
    after: Vec<After>,
    has_ellipsis: bool,
}

/// The key for an array of this shape; `None` for one that is left to the package.
///
/// # Errors
///
/// As NumPy: too many indices, a position out of range, a slice of something else than integers.
pub(crate) fn parse(key: &Bound<'_, PyAny>, shape: &[u64]) -> PyResult<Option<Key>> {
    match key.cast::<PyTuple>() {
        Ok(items) => of_items(&items.iter().collect::<Vec<_>>(), shape),
        Err(_) => of_items(std::slice::from_ref(key), shape),
    }
}

fn of_items(items: &[Bound<'_, PyAny>], shape: &[u64]) -> PyResult<Option<Key>> {
    let mut ellipses = 0_usize;
    let mut given = 0_usize;
    for item in items {
        if item.is_instance_of::<PyEllipsis>() {
            ellipses += 1;
        } else if !item.is_none() {
            if item.is_instance_of::<PyBool>() || !is_basic(item)? {
                return Ok(None);
            }
            given += 1;
        }
    }
    if 1 < ellipses {
        let text = "an index can only have a single ellipsis ('...')";
        return Err(PyIndexError::new_err(text));
    }
    let rank = shape.len();
    let Some(missing) = rank.checked_sub(given) else {
        let text = "too many indices for array: array is";
        return Err(PyIndexError::new_err(format!(
            "{text} {rank}-dimensional, but {given} were indexed"
        )));
    };
    let mut key = Key { slices: Vec::with_capacity(rank), after: Vec::new(), has_ellipsis: false };
    for item in items {
        if item.is_none() {
            key.after.push(After::New);
        } else if item.is_instance_of::<PyEllipsis>() {
            key.whole(missing, shape);
            key.has_ellipsis = true;
        } else {
            key.push(item, shape)?;
        }
    }
    key.whole(rank - key.slices.len(), shape);
    Ok(Some(key))
}

/// Whether an item is a slice or an integer.
fn is_basic(item: &Bound<'_, PyAny>) -> PyResult<bool> {
    if item.is_instance_of::<PySlice>() || item.is_exact_instance_of::<PyInt>() {
        return Ok(true);
    }
    // Scalars of NumPy; arrays of no axes are left to it.
    Ok(!numpy::is_array(item)? && item.extract::<i64>().is_ok())
}

impl Key {
    /// The next axes as they are.
    fn whole(&mut self, count: usize, shape: &[u64]) {
        for _ in 0..count {
            let extent = shape.get(self.slices.len()).copied().unwrap_or(0);
            self.slices.push(AxisSlice::whole(extent));
            self.after.push(After::Whole);
        }
    }

    /// The next axis by a slice or an integer.
    fn push(&mut self, item: &Bound<'_, PyAny>, shape: &[u64]) -> PyResult<()> {
        let axis = self.slices.len();
        let extent = shape.get(axis).copied().unwrap_or(0);
        if let Ok(slice) = item.cast::<PySlice>() {
            let len = isize::try_from(extent).map_err(|_| out_of_range("slice", axis, extent))?;
            let indices = slice.indices(len)?;
            let (slice, is_turned) = forward(indices.start, indices.step, indices.slicelength);
            self.slices.push(slice);
            self.after.push(if is_turned { After::Turned } else { After::Whole });
            return Ok(());
        }
        let Ok(asked) = item.extract::<i64>() else {
            return Err(PyIndexError::new_err("cannot fit 'int' into an index-sized integer"));
        };
        let position =
            if asked < 0 { i128::from(asked) + i128::from(extent) } else { asked.into() };
        let position = u64::try_from(position).ok().filter(|position| *position < extent);
        let start =
            position.ok_or_else(|| out_of_range(&format!("index {asked}"), axis, extent))?;
        self.slices.push(AxisSlice { start, stop: start + 1, step: 1, axis: Axis::Dropped });
        Ok(())
    }

    /// The elements that were read, as the key selects them.
    ///
    /// # Errors
    ///
    /// Those of NumPy.
    pub(crate) fn seen<'py>(&self, array: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = array.py();
        let is_point = self.slices.iter().all(|slice| slice.axis == Axis::Dropped);
        if is_point && self.after.is_empty() && !self.has_ellipsis {
            return array.get_item(0);
        }
        let array = if is_point { numpy::without_axes(&array)? } else { array };
        if self.after.iter().all(|after| *after == After::Whole) {
            return Ok(array);
        }
        let whole = PySlice::full(py).into_any();
        let item = |after: &After| match after {
            After::Whole => Ok(whole.clone()),
            After::Turned => py.get_type::<PySlice>().call1((py.None(), py.None(), -1)),
            After::New => Ok(py.None().into_bound(py)),
        };
        let items: PyResult<Vec<Bound<'_, PyAny>>> = self.after.iter().map(item).collect();
        array.get_item(PyTuple::new(py, items?)?)
    }
}

/// A slice as one with a positive step, and whether it is to be turned around.
fn forward(start: isize, step: isize, count: usize) -> (AxisSlice, bool) {
    let axis = Axis::Kept;
    let number = |number: isize| u64::try_from(number).unwrap_or(0);
    let (count, by) = (count as u64, step.unsigned_abs() as u64);
    if count == 0 {
        return (AxisSlice { start: 0, stop: 0, step: 1, axis }, false);
    }
    let span = (count - 1).saturating_mul(by);
    let first = number(start);
    let by = if count == 1 { 1 } else { by };
    if step < 0 {
        let low = first.saturating_sub(span);
        return (AxisSlice { start: low, stop: first + 1, step: by, axis }, true);
    }
    (AxisSlice { start: first, stop: first.saturating_add(span) + 1, step: by, axis }, false)
}

fn out_of_range(what: &str, axis: usize, extent: u64) -> PyErr {
    let text = format!("{what} is out of bounds for axis {axis} with size {extent}");
    PyIndexError::new_err(text)
}
