//! Folding a selection into values: tasks, states, a fixed order of merging.
//!
//! ```text
//!   kept axes   -> tiles of cells; a task owns one tile and folds its chunks in plan order
//!   folded axes -> parts; the states of a tile's parts merge in order
//! ```
//!
//! Both cuts depend on selection, grid and codecs only, so the same bits come out whatever the
//! threads, the budget, the coalescing and the source.

mod assemble;
mod board;
mod fold;

use tet_io::Source;

use self::assemble::Assembly;
use self::board::Board;
use self::fold::fold_strip;
use crate::budget::Execution;
use crate::catalog::Dataset;
use crate::decode;
use crate::error::{Error, Result};
use crate::fetch::{self, Fetcher, Rows};
use crate::kernel::{CellCount, Maker, Setup, State, maker};
use crate::op::{NanPolicy, Op};
use crate::plan::piece::{Strips, element_count};
use crate::plan::tiling::{Inside, Tiling};
use crate::plan::{ReadPlan, plan};
use crate::reduction::{Axes, Reduction};
use crate::selection::Hyperslab;
use crate::value::{Along, Cells, Details, Reduced, Values};

/// Elements of a task that folds into one cell, about.
const TASK_ELEMENTS: u64 = if cfg!(test) { 6 } else { 1 << 18 };
/// Elements of a strip that is folded into one cell: as many as stay in the nearest caches.
const STRIP_ELEMENTS: u64 = if cfg!(test) { 4 } else { 1 << 16 };
/// Cells of a tile, about: their states stay in the nearest caches.
const TILE_CELLS: u64 = if cfg!(test) { 4 } else { 1 << 14 };
/// Elements of a strip that is folded into many cells.
const TILE_STRIP_ELEMENTS: u64 = if cfg!(test) { 8 } else { 1 << 18 };
/// With fewer tiles than this the folded axes are cut too.
const TILES_MIN: u64 = if cfg!(test) { 4 } else { 64 };
/// A part of the folded axes has at least so many positions: merging costs as much as one.
const PART_POSITIONS_MIN: u64 = if cfg!(test) { 2 } else { 16 };
/// A part of the folded axes has at least so many elements.
const PART_ELEMENTS_MIN: u64 = if cfg!(test) { 4 } else { 1 << 20 };
/// A tile or a part has at least so many elements side by side.
const ROW_MIN: u64 = if cfg!(test) { 2 } else { 1 << 10 };
/// Bytes of the state of one cell, at most.
const STATE_LEN: u64 = 32;

/// Reduces a selection.
pub(crate) fn reduce(
    source: &Source,
    dataset: &Dataset,
    slab: &Hyperslab,
    reduction: &Reduction,
    how: &Execution,
) -> Result<Reduced> {
    let rank = dataset.grid.rank();
    let axes = axes_of(&reduction.axes, rank)?;
    let dtype = dataset.dtype.ok_or_else(|| Error::unknown_dtype(dataset))?;
    if slab.axes().len() != rank {
        return Err(Error::misfit(dataset));
    }
    let keeps = |axis: &usize| slab.axes()[*axis].is_kept() && !axes.contains(axis);
    let (kept, folded): (Vec<usize>, Vec<usize>) = (0..rank).partition(keeps);
    let shape: Vec<u64> = kept.iter().map(|&axis| slab.axes()[axis].count()).collect();
    let cells = tet_format::Shape::from(shape.as_slice()).element_count();
    how.check_result(cells.and_then(|cells| cells.checked_mul(STATE_LEN)))?;
    let cells = decode::len(cells.unwrap_or(u64::MAX))?;
    let count = slab.element_count().ok_or_else(|| Error::misfit(dataset))?;
    let skips = reduction.nan == NanPolicy::Skip && dtype.is_float();
    let (values, nan_count) = if reduction.op == Op::Count && !skips {
        if let Some(cause) = &dataset.fault {
            return Err(Error::Unreadable { dataset: dataset.name.clone(), cause: cause.clone() });
        }
        let each = if count == 0 { 0 } else { count / cells as u64 };
        (Values::new(Cells::Count(vec![each; cells])), None)
    } else {
        let plan = plan(dataset, slab, how.coalesce)?;
        let cell_count = if kept.is_empty() { CellCount::One } else { CellCount::Many };
        let undefined = || Error::Undefined { op: reduction.op.name(), dtype };
        let setup = Setup { nan: reduction.nan, ..Setup::default() };
        let maker = maker(dtype, reduction.op, cell_count, setup, None).ok_or_else(undefined)?;
        let align = decode::len(dtype.size().unwrap_or(1))?;
        Job { source, dataset, plan: &plan, how, kept, folded, cells, maker, align }.run()?
    };
    let values = match values.cells {
        Cells::Element(array) => {
            let array =
                array.with_dtype(dtype).and_then(|array| array.with_shape(shape.clone().into()));
            let cells = Cells::Element(array.ok_or_else(|| Error::misfit(dataset))?);
            Values { cells, ..values }
        }
        cells => Values { cells, ..values },
    };
    let along = (0..rank).filter(|axis| keeps(axis)).map(Along::Axis).collect();
    let details = Details::None;
    Ok(Reduced { op: reduction.op, axes, shape, along, values, count, nan_count, details })
}

/// The axes that are folded, in order.
fn axes_of(axes: &Axes, rank: usize) -> Result<Vec<usize>> {
    let asked = match axes {
        Axes::Some(asked) if !asked.is_empty() => asked.clone(),
        _ => return Ok((0..rank).collect()),
    };
    let mut sorted = asked;
    sorted.sort_unstable();
    let twice = sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
    let past = sorted.last().copied().filter(|&axis| rank <= axis);
    match twice.or(past) {
        Some(axis) => Err(Error::Axis { axis, rank }),
        None => Ok(sorted),
    }
}

/// A reduction that is ready to run once its types are known.
struct Job<'a> {
    source: &'a Source,
    dataset: &'a Dataset,
    plan: &'a ReadPlan,
    how: &'a Execution,
    kept: Vec<usize>,
    folded: Vec<usize>,
    cells: usize,
    maker: Maker,
    align: usize,
}

impl Job<'_> {
    fn run(self) -> Result<(Values, Option<u64>)> {
        if self.plan.element_count == 0 {
            let state = self.maker.make(self.cells);
            let nan_count = state.nan_count();
            return Ok((state.finish()?, nan_count));
        }
        let (tiles, parts) = self.cut();
        let tasks = tiles.count().saturating_mul(parts.count());
        let board = Board::new(parts.count(), Assembly::new(self.shape(), self.cells));
        let held = self.plan.whole_len_max.saturating_add(self.tile_cells() * STATE_LEN);
        let workers = self.how.workers(held)?;
        let rows = Rows::Aligned(self.align);
        let state = || Fetcher::new(self.source, self.dataset, self.plan, self.how, rows);
        fetch::run(workers, tasks, self.how, state, |fetcher, index| {
            let (tile, part) = (index / parts.count(), index % parts.count());
            let mut rect = vec![0..0; self.plan.touch.axes.len()];
            tiles.place(tile, &mut rect);
            let cells: Vec<_> = self.kept.iter().map(|&axis| rect[axis].clone()).collect();
            parts.place(part, &mut rect);
            fetcher.begin();
            let state = self.fold(fetcher, &rect);
            fetcher.end();
            let (state, done) = state?;
            board.put(tile, part, state, &cells)?;
            Ok(done)
        })?;
        board.finish()
    }
}

impl Job<'_> {
    /// The tiles of the kept axes and the parts of the folded ones.
    fn cut(&self) -> (Tiling, Tiling) {
        let (touch, inside) = (&self.plan.touch, self.plan.inside);
        if self.kept.is_empty() {
            let tiles = Tiling::new(touch, &self.kept, 1, inside);
            return (tiles, Tiling::new(touch, &self.folded, TASK_ELEMENTS, inside));
        }
        // What runs along the rows in memory is not cut short: lanes of cells or runs of elements.
        let innermost = (0..touch.axes.len()).rev().find(|&axis| touch.axes[axis].count > 1);
        let has_lanes = innermost.is_some_and(|axis| self.kept.contains(&axis));
        let (lanes_min, run_min) = if has_lanes { (ROW_MIN, 1) } else { (1, ROW_MIN) };
        let cells = self.cells as u64;
        let positions: u64 = self.folded.iter().map(|&axis| touch.axes[axis].count).product();
        let least = lanes_min.max(TASK_ELEMENTS / positions).min(TILE_CELLS);
        let limit = (cells / TILES_MIN).clamp(least, TILE_CELLS);
        let tiles = Tiling::new(touch, &self.kept, limit, inside);
        let tile_cells = (cells / tiles.count().max(1)).max(1);
        let least = run_min.max(PART_POSITIONS_MIN).max(PART_ELEMENTS_MIN / tile_cells);
        let limit = positions.div_ceil(TILES_MIN.div_ceil(tiles.count().max(1))).max(least);
        (tiles, Tiling::new(touch, &self.folded, limit, inside))
    }

    /// The extents of the kept axes.
    fn shape(&self) -> Vec<u64> {
        self.kept.iter().map(|&axis| self.plan.touch.axes[axis].count).collect()
    }

    /// The most cells of one tile.
    fn tile_cells(&self) -> u64 {
        let held = |&axis: &usize| self.plan.touch.axes[axis].nominal();
        let chunk: u64 = self.kept.iter().map(held).fold(1, u64::saturating_mul);
        let whole = if self.plan.inside == Inside::Whole { chunk } else { 1 };
        TILE_CELLS.max(whole).min(self.cells as u64)
    }

    /// Folds what lies in a rectangle; `None` when nothing does. Gives the selected bytes too.
    fn fold(
        &self,
        fetcher: &mut Fetcher<'_>,
        rect: &[std::ops::Range<u64>],
    ) -> Result<(Option<Box<dyn State>>, u64)> {
        if rect.iter().any(|range| range.is_empty()) {
            return Ok((None, 0));
        }
        let mut cell_strides = vec![0; rect.len()];
        let mut cells = 1;
        for &axis in self.kept.iter().rev() {
            cell_strides[axis] = cells;
            cells *= decode::len(rect[axis].end - rect[axis].start)?;
        }
        let mut state = self.maker.make(cells);
        let touch = self.plan.touch.narrowed(rect);
        let limit = if self.kept.is_empty() { STRIP_ELEMENTS } else { TILE_STRIP_ELEMENTS };
        let mut strips = Strips::new(&touch, limit);
        let mut done = 0;
        while let Some(boxes) = strips.boxes() {
            let block = fetcher.block(&strips, boxes)?;
            fold_strip(state.as_mut(), &block, boxes, &cell_strides, rect, self.align)?;
            done += element_count(boxes) * self.plan.element_size;
            strips.advance();
        }
        Ok((Some(state), done))
    }
}

#[cfg(test)]
mod tests;
