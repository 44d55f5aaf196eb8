//! A dataset, or a part of one, as Python holds it.

use std::borrow::Cow;
use std::sync::Arc;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use tet_format::DType;
use tet_query::{AxisPicks, AxisSlice, Dataset, Hyperslab};

use crate::attrs;
use crate::error::unsupported;
use crate::numpy;
use crate::state::{Open, OpenState};

/// A part of a dataset: all axes of the dataset, of which some are dropped and some have picked positions.
#[pyclass(frozen, module = "tetfile._tetfile")]
pub(crate) struct Selected {
    state: OpenState,
    /// Its number in the catalog.
    index: usize,
    /// The selected positions.
    slab: Hyperslab,
    /// Which of them are shown, along axes where not all are: in any order, also several times.
    picks: Vec<AxisPicks>,
    /// Full turns that the labels of picks get, where they are longitudes that were asked for past the ends of the axis.
    turns: Vec<AxisTurns>,
    /// How its elements are called.
    dtype_name: String,
    /// The type of the memory that elements are read into, and the type that is seen there; nothing where there is none.
    memory: Option<(Py<PyAny>, Py<PyAny>)>,
}

/// Full turns to add to the labels of the picks of an axis: the number of the axis in the dataset, and a number for each pick.
pub(crate) type AxisTurns = (usize, Arc<[i64]>);

/// The open file of a part, and the dataset in it.
pub(crate) struct OpenDataset {
    pub(crate) open: Arc<Open>,
    pub(crate) index: usize,
}

impl OpenDataset {
    /// The dataset.
    ///
    /// # Errors
    ///
    /// The catalog does not have it, which it had when the part was made.
    pub(crate) fn dataset(&self) -> PyResult<&Dataset> {
        let dataset = self.open.opened.catalog.at(self.index);
        dataset.ok_or_else(|| pyo3::exceptions::PyRuntimeError::new_err("the dataset is gone"))
    }

    /// The dataset as its elements are read: floats of eight bits as their bytes, which a type of `ml_dtypes` has.
    pub(crate) fn readable(&self) -> PyResult<Cow<'_, Dataset>> {
        let dataset = self.dataset()?.with_exact_times();
        Ok(bytes_of(dataset).map_or(Cow::Borrowed(dataset), Cow::Owned))
    }
}

/// The bytes of a dataset of which each is an element.
fn bytes_of(dataset: &Dataset) -> Option<Dataset> {
    tet_convert::as_bytes(dataset).filter(|bytes| bytes.shape() == dataset.shape())
}

/// Name of the elements of a dataset in memory: narrower floats than those of a byte, and quantized numbers, are
/// the numbers that they are decoded to.
fn type_in_memory(dataset: &Dataset) -> &str {
    match dataset.dtype.filter(|_| dataset.blocks().is_some() && bytes_of(dataset).is_none()) {
        _ if dataset.is_text() => "string",
        Some(dtype) => dtype.name(),
        None => &dataset.dtype_name,
    }
}

impl Selected {
    /// All of a dataset.
    ///
    /// # Errors
    ///
    /// Its types cannot be looked up.
    pub(crate) fn whole(
        py: Python<'_>,
        state: &OpenState,
        dataset: &Dataset,
    ) -> PyResult<Selected> {
        let slab = if tet_convert::is_scalar(dataset) { one() } else { None };
        let slab = slab.unwrap_or_else(|| Hyperslab::whole(dataset.shape()));
        let dataset = dataset.with_exact_times();
        let name = type_in_memory(dataset);
        let types = py.import("tetfile._types")?.call_method1("memory_of", (name,))?;
        let memory: Option<(Py<PyAny>, Py<PyAny>)> = types.extract()?;
        let (state, dtype_name, index) = (state.clone(), dataset.dtype_name.clone(), dataset.index);
        let (picks, turns) = (Vec::new(), Vec::new());
        Ok(Selected { state, index, slab, picks, turns, dtype_name, memory })
    }

    /// This dataset with another selection.
    pub(crate) fn with(
        &self,
        py: Python<'_>,
        slab: Hyperslab,
        picks: Vec<AxisPicks>,
        turns: Vec<AxisTurns>,
    ) -> Selected {
        let memory = self.memory.as_ref();
        let memory = memory.map(|(of, seen)| (of.clone_ref(py), seen.clone_ref(py)));
        let (state, dtype_name) = (self.state.clone(), self.dtype_name.clone());
        Selected { state, index: self.index, slab, picks, turns, dtype_name, memory }
    }

    /// The open file and the dataset.
    ///
    /// # Errors
    ///
    /// The file is closed.
    pub(crate) fn held(&self) -> PyResult<OpenDataset> {
        Ok(OpenDataset { open: self.state.get()?, index: self.index })
    }

    /// The file, open or closed.
    pub(crate) fn state(&self) -> &OpenState {
        &self.state
    }

    /// The selection, before picks.
    pub(crate) fn slab(&self) -> &Hyperslab {
        &self.slab
    }

    /// The picked positions.
    pub(crate) fn picks(&self) -> &[AxisPicks] {
        &self.picks
    }

    /// The picked positions of an axis of the dataset.
    pub(crate) fn picks_of(&self, axis: usize) -> Option<&Arc<[u64]>> {
        self.picks.iter().find(|picks| picks.axis == axis).map(|picks| &picks.positions)
    }

    /// The turns of the labels of the picks of an axis of the dataset.
    pub(crate) fn turns_of(&self, axis: usize) -> Option<&[i64]> {
        self.turns.iter().find(|(of, _)| *of == axis).map(|(_, turns)| &turns[..])
    }

    /// The extents of the axes that appear.
    pub(crate) fn shown_shape(&self) -> Vec<u64> {
        let axes = self.slab.axes().iter().enumerate().filter(|(_, slice)| slice.is_kept());
        let extent = |(axis, slice): (usize, &AxisSlice)| {
            self.picks_of(axis).map_or(slice.count(), |picks| picks.len() as u64)
        };
        axes.map(extent).collect()
    }

    /// The axes of the dataset that appear.
    pub(crate) fn kept(&self) -> Vec<usize> {
        let axes = self.slab.axes().iter().enumerate();
        axes.filter(|(_, slice)| slice.is_kept()).map(|(axis, _)| axis).collect()
    }

    /// The type of the memory that elements are read into, and the type that is seen there.
    ///
    /// # Errors
    ///
    /// NumPy has no such type.
    pub(crate) fn memory<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(&Bound<'py, PyAny>, &Bound<'py, PyAny>)> {
        let found = self.memory.as_ref();
        let found = found.map(|(memory, seen)| (memory.bind(py), seen.bind(py)));
        found.map_or_else(|| Err(self.no_type(py)), Ok)
    }

    /// Checks that the shape is known.
    ///
    /// # Errors
    ///
    /// It is not: why the dataset cannot be read.
    fn check_shape(&self, py: Python<'_>) -> PyResult<()> {
        let held = self.held()?;
        let dataset = held.dataset()?;
        match fault(dataset) {
            Some(error) if !dataset.has_shape => Err(crate::error::raise(py, &error.into())),
            _ => Ok(()),
        }
    }

    /// The exception of a type that NumPy lacks.
    fn no_type(&self, py: Python<'_>) -> PyErr {
        let name = self.held().and_then(|held| Ok(held.dataset()?.name.clone()));
        let held = self.held();
        if let Ok(held) = &held
            && let Ok(dataset) = held.dataset()
            && !tet_convert::is_opaque(dataset)
            && let Some(error) = fault(dataset)
        {
            return crate::error::raise(py, &error.into());
        }
        let dtype = &self.dtype_name;
        let message = format!(
            "elements of {dtype} have no type in NumPy alone: install the package ml_dtypes where it has one \
             (pip install ml-dtypes), or copy them unread with tetfile.convert"
        );
        unsupported(py, &name.unwrap_or_default(), &message)
    }

    /// Selected slices of the axes that appear, as slices of the dataset; other axes stay as they are.
    ///
    /// # Errors
    ///
    /// There are not as many as axes appear.
    pub(crate) fn composed(&self, parts: &[AxisSlice]) -> PyResult<Hyperslab> {
        let held = self.held()?;
        let mut parts = parts.iter();
        let axes = self.slab.axes().iter().map(|whole| {
            if !whole.is_kept() {
                return Some(*whole);
            }
            parts.next().and_then(|part| within(whole, part))
        });
        let axes: Option<Vec<AxisSlice>> = axes.collect();
        let slab = axes.and_then(|axes| Hyperslab::new(axes, held.dataset().ok()?.shape()));
        slab.ok_or_else(|| pyo3::exceptions::PyValueError::new_err("the selection does not fit"))
    }

    /// Bytes of all selected elements.
    pub(crate) fn len(&self, slab: &Hyperslab) -> u64 {
        let size = self.held().ok().and_then(|held| {
            let dataset = held.readable().ok()?;
            dataset.dtype.map_or(Some(1), DType::size)
        });
        slab.element_count().unwrap_or(u64::MAX).saturating_mul(size.unwrap_or(1))
    }
}

/// A slice of the positions that another one selects.
pub(crate) fn within(whole: &AxisSlice, part: &AxisSlice) -> Option<AxisSlice> {
    let start = part.start.checked_mul(whole.step)?.checked_add(whole.start)?;
    let count = part.count();
    if count == 0 {
        let start = start.min(whole.stop);
        return Some(AxisSlice { start, stop: start, step: 1, axis: part.axis });
    }
    let step = if count == 1 { 1 } else { part.step.checked_mul(whole.step)? };
    let last = step.checked_mul(count - 1)?.checked_add(start)?;
    Some(AxisSlice { start, stop: last.checked_add(1)?, step, axis: part.axis })
}

#[pymethods]
impl Selected {
    /// The name of the dataset.
    #[getter]
    fn name(&self) -> PyResult<String> {
        Ok(self.held()?.dataset()?.name.clone())
    }

    /// The name by which the dataset is found in the file: `#N`, its position, where others have the same name.
    #[getter]
    fn key(&self) -> PyResult<String> {
        let held = self.held()?;
        Ok(crate::file::key(&held.open.opened.catalog, held.dataset()?))
    }

    /// How its elements are called in the file.
    #[getter]
    fn dtype_name(&self) -> &str {
        &self.dtype_name
    }

    /// The extents of the axes that appear.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.check_shape(py)?;
        PyTuple::new(py, self.shown_shape())
    }

    /// Whether the shape is known, which it may not be of a dataset that cannot be read.
    #[getter]
    fn has_shape(&self) -> PyResult<bool> {
        Ok(self.held()?.dataset()?.has_shape)
    }

    /// The type that elements have in NumPy.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.memory(py)?.1.clone())
    }

    /// The type of NumPy's memory that elements are read into.
    #[getter]
    fn memory_dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.memory(py)?.0.clone())
    }

    /// The names of the axes that appear, or `None` where the file has none.
    #[getter]
    fn dims<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let held = self.held()?;
        let dims = &held.dataset()?.dims;
        if !held.dataset()?.has_shape || dims.is_empty() && !self.slab.axes().is_empty() {
            return Ok(None);
        }
        let names = self.kept().into_iter().filter_map(|axis| dims.get(axis));
        Ok(Some(PyTuple::new(py, names.collect::<Vec<_>>())?))
    }

    /// The extents of a chunk along the axes that appear.
    #[getter]
    fn chunks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.check_shape(py)?;
        let held = self.held()?;
        let chunk = held.dataset()?.grid.chunk_shape().to_vec();
        let kept = self.kept().into_iter().filter_map(|axis| chunk.get(axis).copied());
        PyTuple::new(py, kept.collect::<Vec<_>>())
    }

    /// Whether the file has chunks of this shape; otherwise it stores the array in one piece.
    #[getter]
    fn is_chunked(&self) -> PyResult<bool> {
        Ok(self.held()?.dataset()?.chunks.is_chunked())
    }

    /// For each axis of the dataset: start, stop, step, and whether it appears.
    #[getter]
    fn slices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let of = |it: &AxisSlice| (it.start, it.stop, it.step, it.is_kept()).into_py_any(py);
        let slices: PyResult<Vec<Py<PyAny>>> = self.slab.axes().iter().map(of).collect();
        PyTuple::new(py, slices?)
    }

    /// For each axis with picked positions: its number in the dataset, and the positions of its slice.
    #[getter]
    #[pyo3(name = "picks")]
    fn picked<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let pair = |picks: &AxisPicks| {
            let positions = numpy::of_positions(py, &picks.positions)?;
            (picks.axis, positions).into_pyobject(py)
        };
        let pairs: PyResult<Vec<_>> = self.picks.iter().map(pair).collect();
        PyTuple::new(py, pairs?)
    }

    /// For each axis whose labels get full turns: its number in the dataset, and the turns of each pick.
    #[getter]
    fn turns(&self) -> Vec<(usize, Vec<i64>)> {
        self.turns.iter().map(|(axis, turns)| (*axis, turns.to_vec())).collect()
    }

    /// This part, with these turns added to its labels.
    fn with_turns(&self, py: Python<'_>, turns: Vec<(usize, Vec<i64>)>) -> PyResult<Selected> {
        let fits = |(axis, turns): &(usize, Vec<i64>)| {
            self.picks_of(*axis).is_some_and(|picks| picks.len() == turns.len())
        };
        if !turns.iter().all(fits) {
            return Err(pyo3::exceptions::PyValueError::new_err("the turns do not fit"));
        }
        let turns = turns.into_iter().map(|(axis, turns)| (axis, turns.into())).collect();
        Ok(self.with(py, self.slab.clone(), self.picks.clone(), turns))
    }

    /// The attributes of the dataset.
    fn attrs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let held = self.held()?;
        let dict = attrs::dict(py, &held.dataset()?.attrs)?;
        if tet_convert::is_scalar(held.dataset()?) {
            dict.del_item(tet_convert::SCALAR_KEY)?;
        }
        Ok(dict)
    }

    /// The bytes of the element that stands for those that are not stored, where the file sets one.
    #[getter]
    fn fill_value<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let held = self.held()?;
        Ok(held.dataset()?.fill.as_ref().map(|fill| PyBytes::new(py, fill)))
    }

    /// Whether the file lets the axes that appear grow.
    #[getter]
    fn unlimited<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let held = self.held()?;
        let unlimited = &held.dataset()?.unlimited;
        let kept =
            self.kept().into_iter().map(|axis| unlimited.get(axis).copied().unwrap_or(false));
        PyTuple::new(py, kept.collect::<Vec<_>>())
    }

    /// Whether elements are texts.
    #[getter]
    fn is_text(&self) -> PyResult<bool> {
        Ok(self.held()?.dataset()?.is_text())
    }

    /// Whether elements are numbers that reductions compute with.
    #[getter]
    fn is_number(&self) -> PyResult<bool> {
        let held = self.held()?;
        let dataset = held.dataset()?;
        Ok(dataset.dtype.is_some() && dataset.fault.is_none())
    }

    /// Whether elements are computed from those that are stored: unpacked, or NaN where they are masked.
    #[getter]
    fn is_computed(&self) -> PyResult<bool> {
        Ok(self.held()?.dataset()?.meaning.is_some())
    }

    /// Whether the file was opened so that packed and masked values are decoded.
    #[getter]
    fn is_decoded(&self) -> PyResult<bool> {
        Ok(self.held()?.open.is_decoded)
    }

    /// Whether masked elements are NaN here, which reductions skip.
    #[getter]
    fn is_masked(&self) -> PyResult<bool> {
        Ok(self.held()?.dataset()?.is_masked())
    }

    /// Why the dataset cannot be read, or `None`.
    #[getter]
    fn fault(&self) -> PyResult<Option<String>> {
        let held = self.held()?;
        let dataset = held.dataset()?;
        Ok(dataset.why().filter(|_| !tet_convert::is_opaque(dataset)).map(ToString::to_string))
    }

    /// This dataset with other slices, each (start, stop, step, whether it appears), and with no picks.
    fn with_slices(
        &self,
        py: Python<'_>,
        slices: Vec<(u64, u64, u64, bool)>,
    ) -> PyResult<Selected> {
        let axis = |is_kept| if is_kept { tet_query::Axis::Kept } else { tet_query::Axis::Dropped };
        let slices = slices.into_iter().map(|(start, stop, step, is_kept)| AxisSlice {
            start,
            stop,
            step,
            axis: axis(is_kept),
        });
        let held = self.held()?;
        let slab = Hyperslab::new(slices.collect(), held.dataset()?.shape());
        let misfit = || pyo3::exceptions::PyValueError::new_err("the selection does not fit");
        Ok(self.with(py, slab.ok_or_else(misfit)?, Vec::new(), Vec::new()))
    }
}

/// Why a dataset cannot be read.
fn fault(dataset: &Dataset) -> Option<tet_query::Error> {
    let (name, cause) = (dataset.name.clone(), dataset.fault.clone()?);
    Some(tet_query::Error::Unreadable { dataset: name, cause })
}

/// The element of a scalar that is stored along an axis.
fn one() -> Option<Hyperslab> {
    let first = AxisSlice { start: 0, stop: 1, step: 1, axis: tet_query::Axis::Dropped };
    Hyperslab::new(vec![first], &[1])
}
