//! Picked positions of axes: parts that are no even slices, and what is read of them.
//!
//! ```text
//!   dataset   0 1 2 3 4 5 6 7 8 9
//!   slab          2 3 4 5 6 7        the slice around the positions, which is planned
//!   picks         0       4   ...    positions of that slice, in any order, also several times
//! ```
//!
//! The engine reads each position once and in increasing order; NumPy then puts them where they belong.

use std::borrow::Cow;
use std::sync::Arc;

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tet_format::DType;
use tet_query::{Axis, AxisPicks, AxisPositions, AxisSlice, Choice, Hyperslab, LazyArray};

use crate::buffer::Memory;
use crate::numpy;
use crate::read::check_len;
use crate::run::{ProgressCallback, detached};
use crate::selected::{Selected, within};

/// Selection of an axis that appears.
enum Item {
    /// One position; the axis disappears.
    At(u64),
    /// Positions at equal distances.
    Even(AxisSlice),
    /// Positions in any order.
    Positions(Vec<u64>),
}

/// An integer, (start, count, step), or an array of `uint64`.
fn item(object: &Bound<'_, PyAny>) -> PyResult<Item> {
    if let Ok((start, count, step)) = object.extract::<(u64, u64, u64)>() {
        let span = count.checked_sub(1).map_or(Some(0), |it| it.checked_mul(step)?.checked_add(1));
        let stop = span.and_then(|span| span.checked_add(start)).ok_or_else(misfit)?;
        return Ok(Item::Even(AxisSlice { start, stop, step: step.max(1), axis: Axis::Kept }));
    }
    if let Ok(position) = object.extract::<u64>() {
        return Ok(Item::At(position));
    }
    Ok(Item::Positions(PyBuffer::<u64>::get(object)?.to_vec(object.py())?))
}

fn misfit() -> PyErr {
    PyValueError::new_err("the selection does not fit")
}

/// The positions of an axis in increasing order, each once, and where each of the picked ones is among them.
pub(crate) struct Sorted {
    pub(crate) positions: Arc<[u64]>,
    /// Nothing where the picked positions are in this order.
    pub(crate) places: Option<Vec<u64>>,
}

impl Sorted {
    pub(crate) fn new(picks: &Arc<[u64]>) -> Sorted {
        if picks.is_sorted_by(|a, b| a < b) {
            return Sorted { positions: Arc::clone(picks), places: None };
        }
        let mut positions = picks.to_vec();
        positions.sort_unstable();
        positions.dedup();
        let place = |pick: &u64| positions.partition_point(|it| it < pick) as u64;
        let places = picks.iter().map(place).collect();
        Sorted { positions: positions.into(), places: Some(places) }
    }
}

impl Selected {
    /// The part of what is selected that has these items, one for each axis that appears.
    ///
    /// # Errors
    ///
    /// A position is out of range, or there are not as many items as axes.
    pub(crate) fn select(&self, py: Python<'_>, items: &[Bound<'_, PyAny>]) -> PyResult<Selected> {
        let mut items = items.iter().map(item);
        let mut slices = self.slab().axes().to_vec();
        let (mut picks, mut turns) = (Vec::new(), Vec::new());
        for (axis, slice) in slices.iter_mut().enumerate() {
            if !slice.is_kept() {
                continue;
            }
            let item = items.next().ok_or_else(misfit)??;
            if let Some(known) = self.turns_of(axis)
                && !matches!(item, Item::At(_))
            {
                turns.push((axis, chosen_of(known, &item).ok_or_else(misfit)?.into()));
            }
            let chosen = match self.picks_of(axis) {
                Some(known) => of_picks(known, &item).ok_or_else(misfit)?,
                None => item,
            };
            *slice = match chosen {
                Item::At(start) => {
                    let stop = start.checked_add(1).ok_or_else(misfit)?;
                    let one = AxisSlice { start, stop, step: 1, axis: Axis::Dropped };
                    part_of(slice, &one)?
                }
                Item::Even(even) => part_of(slice, &even)?,
                Item::Positions(positions) => {
                    let around = hull(&positions);
                    let inside = positions.iter().map(|it| it - around.start).collect();
                    picks.push(AxisPicks { axis, positions: inside });
                    part_of(slice, &around)?
                }
            };
        }
        if items.next().is_some() {
            return Err(misfit());
        }
        let slab = Hyperslab::new(slices, self.held()?.dataset()?.shape()).ok_or_else(misfit)?;
        Ok(self.with(py, slab, picks, turns))
    }

    /// The part of a whole dataset that has these positions along its axes.
    ///
    /// # Errors
    ///
    /// A position is out of range, or there are not as many axes.
    pub(crate) fn with_positions(
        &self,
        py: Python<'_>,
        axes: &[AxisPositions],
    ) -> PyResult<Selected> {
        let (mut picks, mut turned) = (Vec::new(), Vec::new());
        let slice = |(axis, positions): (usize, &AxisPositions)| match positions {
            AxisPositions::Slice(slice) => *slice,
            AxisPositions::Each { positions, turns } => {
                if turns.iter().any(|turns| *turns != 0) {
                    turned.push((axis, Arc::clone(turns)));
                }
                let around = hull(positions);
                let inside = positions.iter().map(|it| it - around.start).collect();
                picks.push(AxisPicks { axis, positions: inside });
                around
            }
        };
        let slices = axes.iter().enumerate().map(slice).collect();
        let slab = Hyperslab::new(slices, self.held()?.dataset()?.shape()).ok_or_else(misfit)?;
        Ok(self.with(py, slab, picks, turned))
    }

    /// Reads all that is selected, by picks if some are picked.
    ///
    /// # Errors
    ///
    /// As [`Selected::read`].
    pub(crate) fn read_all<'py>(
        &self,
        py: Python<'py>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.picks().is_empty() {
            let array = self.read(py, self.slab(), progress)?;
            let is_point = self.kept().is_empty();
            return if is_point { numpy::without_axes(&array) } else { Ok(array) };
        }
        if self.held()?.dataset()?.is_text() {
            // Texts are read around the positions.
            let mut texts = self.read(py, self.slab(), progress)?;
            for picks in self.picks() {
                texts = numpy::take(&texts, &picks.positions, self.shown(picks.axis))?;
            }
            return Ok(texts);
        }
        self.read_picked(py, progress)
    }

    fn read_picked<'py>(
        &self,
        py: Python<'py>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let held = self.held()?;
        let (memory_type, seen_type) = self.memory(py)?;
        let dataset: Cow<'_, _> = held.readable()?;
        let sorted: Vec<_> = self.picks().iter().map(|it| Sorted::new(&it.positions)).collect();
        let picks = self.picks().iter().zip(&sorted).map(|(it, sorted)| AxisPicks {
            axis: it.axis,
            positions: Arc::clone(&sorted.positions),
        });
        let choice = Choice { filter: None, picks: picks.collect() };
        let how = &held.open.how;
        // Looks up where the first chunk is, which may be to read.
        let job = ProgressCallback::new(0, None);
        let slab = self.slab();
        let lazy = detached(py, &job, |_| LazyArray::new(&dataset, slab, choice, None, how))?;
        let size = lazy.dtype().size().unwrap_or(1);
        let len = lazy.shape().element_count().unwrap_or(u64::MAX).saturating_mul(size);
        check_len(py, how, len)?;
        let array = numpy::empty(py, lazy.shape(), memory_type)?;
        let mut memory = Memory::from_object(&array)?;
        let out = memory.bytes();
        detached(py, &ProgressCallback::new(len, progress), |progress| {
            let how = how.with_progress(progress.begin(len));
            lazy.read_into(&Hyperslab::whole(lazy.shape()), &how, out)?;
            if lazy.dtype() == DType::Bool {
                out.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
            }
            Ok::<(), tet_query::Error>(())
        })?;
        drop(memory);
        let mut array = if memory_type.is(seen_type) {
            array
        } else {
            array.call_method1("view", (seen_type,))?
        };
        for (picks, sorted) in self.picks().iter().zip(&sorted) {
            if let Some(places) = &sorted.places {
                array = numpy::take(&array, places, self.shown(picks.axis))?;
            }
        }
        Ok(array)
    }
}

/// The picked positions that an item means; `None` where one is out of range.
fn of_picks(picks: &[u64], item: &Item) -> Option<Item> {
    Some(match item {
        Item::At(position) => Item::At(*picks.get(usize::try_from(*position).ok()?)?),
        item => Item::Positions(chosen_of(picks, item)?),
    })
}

/// Those of picks, or of what they have, that an item means; `None` where one is out of range.
fn chosen_of<T: Copy>(known: &[T], item: &Item) -> Option<Vec<T>> {
    let at = |at: &u64| known.get(usize::try_from(*at).ok()?).copied();
    match item {
        Item::At(position) => Some(vec![at(position)?]),
        Item::Even(AxisSlice { start, stop, step, .. }) => {
            let [start, stop, step] = [start, stop, step].map(|it| usize::try_from(*it).ok());
            Some(known.get(start?..stop?)?.iter().copied().step_by(step?).collect())
        }
        Item::Positions(positions) => positions.iter().map(at).collect(),
    }
}

/// The slice around the positions.
fn hull(positions: &[u64]) -> AxisSlice {
    let ends = positions.iter().min().zip(positions.iter().max());
    let (start, stop) = ends.map_or((0, 0), |(&first, &last)| (first, last.saturating_add(1)));
    AxisSlice { start, stop, step: 1, axis: Axis::Kept }
}

/// A slice of the positions that another one selects.
fn part_of(whole: &AxisSlice, part: &AxisSlice) -> PyResult<AxisSlice> {
    within(whole, part).filter(|_| part.stop <= whole.count()).ok_or_else(misfit)
}

/// The part that has these items, one for each axis that appears: an integer drops its axis, (start, count, step) takes
/// positions at equal distances, an array of `uint64` positions in any order. Nothing is read.
#[pyfunction]
pub(crate) fn select(
    py: Python<'_>,
    selected: &Selected,
    items: Vec<Bound<'_, PyAny>>,
) -> PyResult<Selected> {
    selected.select(py, &items)
}

/// The elements of all that is selected.
#[pyfunction]
#[pyo3(signature = (selected, progress=None))]
pub(crate) fn read<'py>(
    py: Python<'py>,
    selected: &Selected,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    selected.read_all(py, progress)
}

impl Selected {
    /// Which axis of the result an axis of the dataset is.
    pub(crate) fn shown(&self, axis: usize) -> usize {
        self.slab().axes()[..axis].iter().filter(|slice| slice.is_kept()).count()
    }
}
