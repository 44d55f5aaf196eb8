//! Elements read into memory of NumPy.

use pyo3::exceptions::{PyNotImplementedError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyNotImplemented;
use tet_format::{DType, Shape};
use tet_query::{Dataset, Execution, Hyperslab};

use crate::buffer::Memory;
use crate::key;
use crate::numpy;
use crate::run::{ProgressCallback, detached};
use crate::selected::Selected;

impl Selected {
    /// Reads what is selected into a new array, without axes that do not appear. A point is an array of one element.
    ///
    /// # Errors
    ///
    /// NumPy has no such type or no memory, or the elements cannot be read.
    pub(crate) fn read<'py>(
        &self,
        py: Python<'py>,
        slab: &Hyperslab,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let held = self.held()?;
        if held.dataset()?.is_text() {
            return self.read_texts(py, slab, progress);
        }
        let (memory_type, seen_type) = self.memory(py)?;
        let dataset = held.readable()?;
        let len = self.len(slab);
        check_len(py, &held.open.how, len)?;
        let array = numpy::empty(py, &at_least_one(slab), memory_type)?;
        let mut memory = Memory::from_object(&array)?;
        self.fill(py, &dataset, slab, &mut memory, progress)?;
        drop(memory);
        if memory_type.is(seen_type) {
            return Ok(array);
        }
        array.call_method1("view", (seen_type,))
    }

    /// Fills memory with what is selected.
    fn fill(
        &self,
        py: Python<'_>,
        dataset: &Dataset,
        slab: &Hyperslab,
        memory: &mut Memory,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (held, len) = (self.held()?, self.len(slab));
        let out = memory.bytes();
        if out.len() as u64 != len {
            let text = format!("out has {} bytes, and the selection {len}", out.len());
            return Err(PyValueError::new_err(text));
        }
        detached(py, &ProgressCallback::new(len, progress), |progress| {
            let how = held.open.how.with_progress(progress.begin(len));
            dataset.read_into(slab, &how, out)?;
            if dataset.dtype == Some(DType::Bool) {
                out.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
            }
            Ok::<(), tet_query::Error>(())
        })
    }

    fn read_texts<'py>(
        &self,
        py: Python<'py>,
        slab: &Hyperslab,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let held = self.held()?;
        let dataset = held.dataset()?;
        let texts = detached(py, &ProgressCallback::new(self.len(slab), progress), |progress| {
            dataset.read_texts(slab, &held.open.how.with_progress(progress))
        })?;
        let texts = texts.value.iter().map(|text| pyo3::types::PyString::new(py, text).into_any());
        numpy::of_objects(py, texts.collect(), &at_least_one(slab))
    }
}

/// The shape of what is read: that of a point has one axis. NumPy gives elements of such an array faster than those of
/// an array without axes, which has no shape in its buffer.
fn at_least_one(slab: &Hyperslab) -> Shape {
    let shape = slab.kept_shape();
    if shape.is_empty() { Shape::from(vec![1]) } else { shape }
}

/// Refuses a result over the limit before NumPy is asked for memory.
pub(crate) fn check_len(py: Python<'_>, how: &Execution, len: u64) -> PyResult<()> {
    if len <= how.result_max {
        return Ok(());
    }
    let (what, limit) = ("bytes of the result", how.result_max);
    let error = tet_query::Error::Limit { what, wanted: len, limit };
    Err(crate::error::raise(py, &error.into()))
}

/// The elements of a key of integers, slices, `...` and `None`; `NotImplemented` for any other.
#[pyfunction]
#[pyo3(signature = (selected, key, progress=None))]
pub(crate) fn get<'py>(
    py: Python<'py>,
    selected: &Selected,
    key: &Bound<'py, PyAny>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let unknown = || Ok(PyNotImplemented::get(py).to_owned().into_any());
    if !selected.picks().is_empty() {
        return unknown();
    }
    let Some(key) = key::parse(key, &selected.shown_shape())? else { return unknown() };
    let slab = selected.composed(&key.slices)?;
    key.seen(selected.read(py, &slab, progress)?)
}

/// Reads all that is selected into `out`, which has exactly its bytes.
#[pyfunction]
#[pyo3(signature = (selected, out, progress=None))]
pub(crate) fn read_into(
    py: Python<'_>,
    selected: &Selected,
    out: &Bound<'_, PyAny>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let held = selected.held()?;
    if held.dataset()?.is_text() {
        return Err(PyNotImplementedError::new_err("texts are not read into memory"));
    }
    if !selected.picks().is_empty() {
        return Err(PyNotImplementedError::new_err("picked positions are not read into memory"));
    }
    let mut memory = Memory::from_object(out)?;
    let dataset = held.readable()?;
    selected.fill(py, &dataset, selected.slab(), &mut memory, progress)
}
