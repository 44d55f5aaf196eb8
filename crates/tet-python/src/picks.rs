//! Picked positions of axes, read together: what is behind arrays as keys.

use std::borrow::Cow;
use std::sync::Arc;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tet_format::DType;
use tet_query::{AxisPicks, AxisSlice, Choice, Hyperslab, LazyArray};

use crate::buffer::Memory;
use crate::numpy;
use crate::read::check_len;
use crate::run::{Job, detached};
use crate::selected::Selected;

/// What is picked of an axis: an even slice, or positions in order.
enum Pick {
    Even(AxisSlice),
    Positions(Vec<u64>),
}

/// The pick of one axis: (start, count, step), or an array of `uint64` in increasing order.
fn pick(item: &Bound<'_, PyAny>) -> PyResult<Pick> {
    if let Ok((start, count, step)) = item.extract::<(u64, u64, u64)>() {
        let span = count.checked_sub(1).map_or(Some(0), |it| it.checked_mul(step)?.checked_add(1));
        let stop = span.and_then(|span| span.checked_add(start));
        let stop = stop.ok_or_else(|| PyValueError::new_err("a part is out of range"))?;
        let axis = tet_query::Axis::Kept;
        return Ok(Pick::Even(AxisSlice { start, stop, step: step.max(1), axis }));
    }
    Ok(Pick::Positions(PyBuffer::<u64>::get(item)?.to_vec(item.py())?))
}

/// The slice around the positions.
fn hull(positions: &[u64]) -> AxisSlice {
    let (first, last) = (positions.first(), positions.last());
    let (start, stop) =
        first.zip(last).map_or((0, 0), |(&first, &last)| (first, last.saturating_add(1)));
    AxisSlice { start, stop, step: 1, axis: tet_query::Axis::Kept }
}

/// The elements at picked positions of the axes that appear, each axis on its own: every item is (start, count,
/// step), or an array of `uint64` in increasing order.
#[pyfunction]
#[pyo3(signature = (selected, picks, progress=None))]
pub(crate) fn picked<'py>(
    py: Python<'py>,
    selected: &Selected,
    picks: Vec<Bound<'py, PyAny>>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let picks: PyResult<Vec<Pick>> = picks.iter().map(pick).collect();
    let picks = picks?;
    let slices = picks.iter().map(|pick| match pick {
        Pick::Even(slice) => *slice,
        Pick::Positions(positions) => hull(positions),
    });
    let slab = selected.composed(&slices.collect::<Vec<_>>())?;
    let mut chosen = Vec::new();
    for (axis, pick) in selected.kept().into_iter().zip(&picks) {
        if let Pick::Positions(positions) = pick {
            let first = positions.first().copied().unwrap_or(0);
            let inside: Option<Arc<[u64]>> =
                positions.iter().map(|position| position.checked_sub(first)).collect();
            let positions = inside.ok_or_else(|| PyValueError::new_err("not in order"))?;
            chosen.push(AxisPicks { axis, positions });
        }
    }
    selected.read_picked(py, &slab, chosen, progress)
}

impl Selected {
    fn read_picked<'py>(
        &self,
        py: Python<'py>,
        slab: &Hyperslab,
        picks: Vec<AxisPicks>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let held = self.held()?;
        let (memory_type, seen_type) = self.memory(py)?;
        let dataset: Cow<'_, _> = held.readable()?;
        let choice = Choice { filter: None, picks };
        let how = &held.open.how;
        // Looks up where the first chunk is, which may be to read.
        let job = Job::new(0, None);
        let lazy = detached(py, &job, |_| LazyArray::new(&dataset, slab, choice, None, how))?;
        let size = lazy.dtype().size().unwrap_or(1);
        let len = lazy.shape().element_count().unwrap_or(u64::MAX).saturating_mul(size);
        check_len(py, how, len)?;
        let array = numpy::empty(py, lazy.shape(), memory_type)?;
        let mut memory = Memory::of(&array)?;
        let out = memory.bytes();
        detached(py, &Job::new(len, progress), |progress| {
            let how = how.with_progress(progress.begin(len));
            lazy.read_into(&Hyperslab::whole(lazy.shape()), &how, out)?;
            if lazy.dtype() == DType::Bool {
                out.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
            }
            Ok::<(), tet_query::Error>(())
        })?;
        drop(memory);
        if memory_type.is(seen_type) { Ok(array) } else { array.call_method1("view", (seen_type,)) }
    }
}
