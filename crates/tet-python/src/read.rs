//! Elements read into memory of NumPy.

use pyo3::exceptions::{PyNotImplementedError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyNotImplemented;
use tet_format::DType;
use tet_query::{AxisSlice, Dataset, Execution, Hyperslab};

use crate::buffer::Memory;
use crate::key;
use crate::numpy;
use crate::run::{Job, detached};
use crate::selected::Selected;

impl Selected {
    /// Reads what is selected into a new array, without axes that do not appear.
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
        let array = numpy::empty(py, &slab.kept_shape(), memory_type)?;
        let mut memory = Memory::of(&array)?;
        self.fill(py, (&dataset, &held.open.how), slab, &mut memory, progress)?;
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
        (dataset, how): (&Dataset, &Execution),
        slab: &Hyperslab,
        memory: &mut Memory,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let len = self.len(slab);
        let out = memory.bytes();
        if out.len() as u64 != len {
            let text = format!("out has {} bytes, and the selection {len}", out.len());
            return Err(PyValueError::new_err(text));
        }
        detached(py, &Job::new(len, progress), |progress| {
            let how = how.with_progress(progress.begin(len));
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
        let texts = detached(py, &Job::new(self.len(slab), progress), |progress| {
            dataset.read_texts(slab, &held.open.how.with_progress(progress))
        })?;
        let texts = texts.value.iter().map(|text| pyo3::types::PyString::new(py, text).into_any());
        numpy::of_objects(py, texts.collect(), &slab.kept_shape())
    }
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
    let shape = selected.slab().kept_shape();
    let Some(key) = key::parse(key, &shape)? else {
        return Ok(PyNotImplemented::get(py).to_owned().into_any());
    };
    let slab = selected.composed(&key.slices)?;
    key.seen(selected.read(py, &slab, progress)?)
}

/// The part that a key of integers and slices selects, unread; `None` for a key that is no such part.
#[pyfunction]
pub(crate) fn part(
    py: Python<'_>,
    selected: &Selected,
    key: &Bound<'_, PyAny>,
) -> PyResult<Option<Selected>> {
    let shape = selected.slab().kept_shape();
    let Some(key) = key::parse(key, &shape)?.filter(key::Key::is_plain) else {
        return Ok(None);
    };
    let slab = selected.composed(&key.slices)?;
    Ok(Some(selected.with(py, slab)))
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
    let mut memory = Memory::of(out)?;
    let dataset = held.readable()?;
    selected.fill(py, (&dataset, &held.open.how), selected.slab(), &mut memory, progress)
}

/// The elements of parts of the axes that appear: each (start, count, step).
#[pyfunction]
#[pyo3(signature = (selected, parts, progress=None))]
pub(crate) fn block<'py>(
    py: Python<'py>,
    selected: &Selected,
    parts: Vec<(u64, u64, u64)>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let slice = |(start, count, step): (u64, u64, u64)| {
        let span = count.checked_sub(1).map_or(Some(0), |it| it.checked_mul(step)?.checked_add(1));
        let stop = start.checked_add(span?)?;
        Some(AxisSlice { start, stop, step, axis: tet_query::Axis::Kept })
    };
    let slices: Option<Vec<AxisSlice>> = parts.into_iter().map(slice).collect();
    let slices = slices.ok_or_else(|| PyValueError::new_err("a part is out of range"))?;
    selected.read(py, &selected.composed(&slices)?, progress)
}
