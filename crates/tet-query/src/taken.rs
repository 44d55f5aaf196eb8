//! Datasets that have only some positions of an axis, taken one by one.

use std::ops::Range;
use std::sync::Arc;

use tet_format::{DType, Grid, Shape};

use crate::array::Array;
use crate::budget::Execution;
use crate::catalog::{Dataset, Meaning, OneChunk, TextChunks, Texts, check_len};
use crate::element::{nearest_bf16, nearest_f16};
use crate::error::{Error, Result};
use crate::labels::TURN;
use crate::lazy::{Choice, Computed, Elements, LazyArray};
use crate::reduction::AxisPicks;
use crate::scalar::Scalar;
use crate::selection::{AxisSlice, Hyperslab};

/// Attributes about the range of values, which turned longitudes leave.
const RANGES: [&str; 4] = ["valid_min", "valid_max", "valid_range", "actual_range"];

/// Texts of a chunk of taken texts, about.
const TEXTS_OF_CHUNK: u64 = 1 << 16;

/// The positions that are taken of an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TakenAxis {
    pub positions: Arc<[u64]>,
    /// For each the full turns to add to its label; none at all without turns.
    pub turns: Arc<[i64]>,
}

impl TakenAxis {
    /// Whether labels become others.
    pub(crate) fn is_turned(&self) -> bool {
        self.turns.iter().any(|turns| *turns != 0)
    }

    /// The labels of the positions.
    fn labels(&self, labels: &[String]) -> Vec<String> {
        let label = |(nth, at): (usize, &u64)| {
            let label = usize::try_from(*at).ok().and_then(|at| labels.get(at));
            let label = label.cloned().unwrap_or_default();
            let turns = self.turns.get(nth).copied().filter(|turns| *turns != 0);
            turns.and_then(|turns| turned_text(&label, turns)).unwrap_or(label)
        };
        self.positions.iter().enumerate().map(label).collect()
    }
}

#[allow(clippy::cast_precision_loss, reason = "a few turns")]
fn turned_text(label: &str, turns: i64) -> Option<String> {
    let by = turns.checked_mul(i64::from(TURN))?;
    if let Ok(number) = label.parse::<i64>() {
        return number.checked_add(by).map(|it| it.to_string());
    }
    label.parse::<f64>().ok().map(|it| (it + by as f64).to_string())
}

/// The dataset with only the taken positions of its axes; unreadable where its elements are neither numbers nor texts.
pub(crate) fn taken(dataset: Dataset, axes: &[(usize, &TakenAxis)], how: &Execution) -> Dataset {
    let mut extents = dataset.shape().to_vec();
    let mut coords = dataset.coords.clone();
    for (axis, taken) in axes {
        extents[*axis] = taken.positions.len() as u64;
        if let Some(labels) = coords.get_mut(axis) {
            *labels = taken.labels(labels);
        }
    }
    let meaning = dataset.meaning.as_ref().map(|meaning| {
        let of = |dataset: &Arc<Dataset>| Arc::new(taken(Dataset::clone(dataset), axes, how));
        let (stored, times) = (of(&meaning.stored), meaning.times.as_ref().map(of));
        Arc::new(Meaning { stored, times, ..Meaning::clone(meaning) })
    });
    let view = if dataset.is_text() {
        axes.iter().fold(dataset.clone(), |dataset, (axis, taken)| texts(dataset, *axis, taken))
    } else {
        numbers(dataset.clone(), axes, how).unwrap_or_else(|fault| {
            let fault = dataset.fault.clone().unwrap_or_else(|| Arc::new(fault));
            let grid = grid_of(&extents, None);
            Dataset { fault: Some(fault), grid, ..dataset.clone() }
        })
    };
    Dataset { coords, meaning, ..view }
}

fn numbers(dataset: Dataset, axes: &[(usize, &TakenAxis)], how: &Execution) -> Result<Dataset> {
    let pick = |(axis, taken): &(usize, &TakenAxis)| AxisPicks {
        axis: *axis,
        positions: Arc::clone(&taken.positions),
    };
    let choice = Choice { filter: None, picks: axes.iter().map(pick).collect() };
    let whole = Hyperslab::whole(dataset.shape());
    let lazy = LazyArray::new(&dataset, &whole, choice, None, how)?;
    let numbers: Vec<usize> = axes.iter().map(|(axis, _)| *axis).collect();
    let elements = Elements::new(Arc::new(lazy));
    let view = Computed::longer_along(elements, &numbers, how).dataset(String::new());
    Ok(Dataset { grid: view.grid, chunks: view.chunks, source: view.source, ..dataset })
}

/// The dataset of texts with only the taken positions of an axis.
fn texts(dataset: Dataset, axis: usize, taken: &TakenAxis) -> Dataset {
    let mut extents = dataset.shape().to_vec();
    extents[axis] = taken.positions.len() as u64;
    let grid = grid_of(&extents, Some((axis, TEXTS_OF_CHUNK)));
    let (of, positions) = (dataset.clone(), Arc::clone(&taken.positions));
    let chunks = TakenTexts { of, axis, positions, grid: grid.clone() };
    Dataset { grid, text: Some(Texts::Chunks(Arc::new(chunks))), ..dataset }
}

/// Texts at positions of an axis.
struct TakenTexts {
    of: Dataset,
    axis: usize,
    positions: Arc<[u64]>,
    grid: Grid,
}

impl TextChunks for TakenTexts {
    fn texts(&self, linear: u64, len_max: u64) -> Result<Vec<String>> {
        let misfit = || Error::misfit(&self.of);
        let part = Hyperslab::of_chunk(&self.grid, linear).ok_or_else(misfit)?;
        let counts = part.counts();
        let inner: u64 = counts[self.axis + 1..].iter().product();
        let (inner, count) = (len(inner)?, len(counts[self.axis])?);
        let all = len(part.element_count().unwrap_or(u64::MAX))?;
        let mut texts = Vec::new();
        let too_many = |_| Error::Limit { what: "texts", wanted: all as u64, limit: len_max };
        texts.try_reserve_exact(all).map_err(too_many)?;
        texts.resize(all, String::new());
        let mut slices = part.axes().to_vec();
        let first = len(slices[self.axis].start)?;
        let positions = self.positions.get(first..first.saturating_add(count)).unwrap_or(&[]);
        let mut left = len_max;
        for run in runs(positions) {
            let start = positions[run.start];
            let stop = start.saturating_add(run.len() as u64);
            slices[self.axis] = AxisSlice { start, stop, ..slices[self.axis] };
            let slab = Hyperslab::new(slices.clone(), self.of.shape()).ok_or_else(misfit)?;
            let how = Execution { threads: 1, memory_budget: left, ..Execution::default() };
            let read = self.of.read_texts(&slab, &how)?.value;
            let read_len = read.iter().map(|text| text.len() as u64).sum();
            check_len(read_len, left)?;
            left -= read_len;
            let row = run.len() * inner;
            for (outer, read) in read.chunks(row.max(1)).enumerate() {
                let to = (outer * count + run.start) * inner;
                if let Some(place) = texts.get_mut(to..to + read.len()) {
                    place.clone_from_slice(read);
                }
            }
        }
        Ok(texts)
    }
}

/// Positions that follow one another.
fn runs(positions: &[u64]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (nth, at) in positions.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if positions[nth - 1].checked_add(1) == Some(*at) => run.end = nth + 1,
            _ => runs.push(nth..nth + 1),
        }
    }
    runs
}

fn len(count: u64) -> Result<usize> {
    crate::buffer::len(count)
}

/// The grid of a shape: in one chunk, or in chunks of about so many elements along an axis.
fn grid_of(extents: &[u64], cut: Option<(usize, u64)>) -> Grid {
    let whole = || extents.iter().map(|&extent| extent.max(1)).collect::<Vec<u64>>();
    let mut chunk = whole();
    if let Some((axis, count)) = cut {
        let others = chunk.iter().enumerate().filter(|(at, _)| *at != axis);
        let others = others.fold(1_u64, |product, (_, extent)| product.saturating_mul(*extent));
        chunk[axis] = chunk[axis].min((count / others).max(1));
    }
    let grid = Grid::new(Shape::from(extents), Shape::from(chunk));
    let grid = grid.or_else(|| Grid::new(Shape::from(extents), Shape::from(whole())));
    grid.unwrap_or_else(Grid::of_scalar)
}

/// A dataset of longitudes with full turns added to those along an axis; in memory.
pub(crate) fn coordinates_turned(
    dataset: Dataset,
    axis: usize,
    taken: &TakenAxis,
    how: &Execution,
) -> Result<Dataset> {
    let Some(dtype) = dataset.dtype.filter(|it| it.is_float() || it.is_integer()) else {
        return Ok(dataset);
    };
    let values = dataset.read(&Hyperslab::whole(dataset.shape()), how)?.value;
    let inner: u64 = dataset.shape()[axis + 1..].iter().product();
    let extent = dataset.shape()[axis].max(1);
    let turns = |at: usize| {
        let along = (at as u64 / inner.max(1)) % extent;
        usize::try_from(along).ok().and_then(|at| taken.turns.get(at)).copied().unwrap_or(0)
    };
    let (dtype, bytes) = turned(&values, dtype, turns);
    let (source, chunks) = OneChunk::new(bytes).ok_or_else(|| Error::misfit(&dataset))?;
    let grid = grid_of(dataset.shape(), None);
    let dtype_name = dtype.name().to_owned();
    let mut view = Dataset { dtype: Some(dtype), dtype_name, grid, chunks, source, ..dataset };
    (view.meaning, view.fill) = (None, None);
    view.attrs.retain(|key, _| !RANGES.contains(&key.as_str()));
    Ok(view)
}

/// Numbers with full turns added, and their type: the same one, but for integers that it does not have.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a few turns; rounding is wanted"
)]
fn turned(values: &Array, dtype: DType, turns: impl Fn(usize) -> i64) -> (DType, Vec<u8>) {
    let by = |at: usize| turns(at).saturating_mul(i64::from(TURN));
    let all = || (0..values.len()).map(|at| (values.get(at).unwrap_or(Scalar::Null), by(at)));
    if dtype.is_float() {
        let float = |(value, by): (Scalar, i64)| value.to_f64().unwrap_or(f64::NAN) + by as f64;
        let floats = all().map(float);
        let bytes = match dtype {
            DType::Float64 => floats.flat_map(f64::to_le_bytes).collect(),
            DType::Float16 => floats.flat_map(|it| nearest_f16(it).to_le_bytes()).collect(),
            DType::BFloat16 => floats.flat_map(|it| nearest_bf16(it).to_le_bytes()).collect(),
            _ => floats.flat_map(|it| (it as f32).to_le_bytes()).collect(),
        };
        return (dtype, bytes);
    }
    let integer = |(value, by): (Scalar, i64)| match value {
        Scalar::Int(integer) => integer.saturating_add(i128::from(by)),
        _ => 0,
    };
    let size = dtype.size().unwrap_or(8).min(8);
    let is_unsigned = [DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64].contains(&dtype);
    let bits = 8 * size;
    let fits = |it: i128| match is_unsigned {
        true => (0..1_i128 << bits).contains(&it),
        false => (-(1_i128 << (bits - 1))..1_i128 << (bits - 1)).contains(&it),
    };
    let (dtype, size) =
        if all().map(integer).all(fits) { (dtype, size) } else { (DType::Int64, 8) };
    let size = usize::try_from(size).unwrap_or(8);
    let bytes = |it: i128| it.to_le_bytes().into_iter().take(size);
    (dtype, all().map(integer).flat_map(bytes).collect())
}

#[cfg(test)]
mod tests;
