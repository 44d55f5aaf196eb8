//! One pass over the selection: tasks fold, states merge, cells come out.

use std::ops::Range;

use tet_format::{DType, Span};

use super::assemble::Assembly;
use super::board::{Board, States};
use super::cut::{FoldTask, Tasks};
use super::fold::fold_strip;
use super::pad::Pads;
use super::role::{Role, Roles};
use super::slide::slide;
use super::steps::Steps;
use super::zone::fold_zone;
use crate::budget::Execution;
use crate::buffer;
use crate::catalog::{Dataset, ReadRange};
use crate::cost::Cost;
use crate::error::Result;
use crate::fetch::{self, Checks, Fetcher, Prefetch, Rows, Unverified, Uses};
use crate::kernel::{KernelState, Maker};
use crate::plan::piece::{Stage, Strips, element_count};
use crate::plan::{ChunkRead, ReadPlan, Zone};
use crate::reduction::Number;
use crate::tuning::Tuning;
use crate::value::Values;

/// Bytes of the state of a usual cell.
const CELL_LEN: u64 = 32;
/// The most bytes, and the largest share of the budget, of a tile whose elements are kept. What
/// becomes of kept elements does not depend on how they are cut, so the budget may say it.
const KEPT_LEN_MAX: u64 = 1 << 26;
const KEPT_SHARE: u64 = 8;
/// The memory of kept elements, relative to their bytes: as they came, with room to grow, and in order.
const KEPT_TIMES: u64 = 4;
/// Bytes that say the cell of a kept element, with room to grow.
const KEPT_BESIDE: u64 = 2 * size_of::<u32>() as u64;
/// The most bytes of states that wait for their turn to merge, unless these are two for each thread.
const WAITING_LEN: u64 = 1 << 20;

/// One pass over a selection, ready to run.
pub(super) struct ReductionPass<'a> {
    pub dataset: &'a Dataset,
    pub plan: &'a ReadPlan,
    pub how: &'a Execution,
    pub unverified: &'a Unverified,
    pub roles: &'a Roles,
    /// The kernels that fold the elements; all have the same cells and [`ReductionPass::cut`].
    pub makers: &'a [Maker],
    /// The number that windows are padded with.
    pub pad: Option<Number>,
}

impl ReductionPass<'_> {
    /// For every kernel the values of all cells, and how many NaN were met.
    pub(super) fn run(&self) -> Result<Vec<(Values, Option<u64>)>> {
        let shape = self.roles.shape();
        let cells = shape.iter().copied().fold(1, u64::saturating_mul);
        if self.plan.element_count == 0 || cells == 0 {
            let cell_len = self.makers.iter().map(|maker| self.cell_len(maker)).max();
            self.how.workers(cells.saturating_mul(cell_len.unwrap_or(0)))?;
            let nothing = |maker: &Maker| {
                let state = maker.make(buffer::len(cells)?);
                let nan_count = state.nan_count();
                Ok((state.finish()?, nan_count))
            };
            return self.makers.iter().map(nothing).collect();
        }
        let (tasks, steps, states_len) = self.steps();
        let cells = buffer::len(cells)?;
        let assembly = |maker: &Maker| Assembly::new(shape.clone(), cells, maker.width);
        let board = Board::new(tasks.part_count(), self.makers.iter().map(assembly));
        let workers = self.how.workers(self.thread_len(states_len))?;
        let ahead = (2 * workers as u64).max(WAITING_LEN / states_len.max(1));
        let ahead = ahead.min(steps.ahead_max());
        let align = buffer::len(self.plan.element_size)?;
        let rows = match self.dataset.dtype {
            Some(DType::Bool) => Rows::Truths,
            _ => Rows::Aligned(align),
        };
        self.unverified.note_statistics(self.plan.statistics_use());
        let checks =
            Checks::new(self.dataset, self.plan, self.how, self.unverified, self.uses(), None)?;
        let runs =
            |index, visit: &mut dyn FnMut(ReadRange)| self.step_runs(&tasks, &steps, index, visit);
        let prefetch = Prefetch::new(self.dataset, self.how, steps.count(), runs);
        let fetcher = || Fetcher::new(&checks, self.plan, self.how, rows, &prefetch);
        let task = |fetcher: &mut Fetcher<'_>, index| {
            let step = steps.step(index);
            let task = tasks.task(self.roles, step.task)?;
            let stage = steps.stage(step, &task.rect);
            let states = if step.nth == 0 { self.states(&task) } else { board.take(step.task) };
            let folded = self.fold(fetcher, index, &task, stage, states, align);
            fetcher.end();
            let (states, done) = folded?;
            if !step.is_last {
                board.keep(step.task, states);
                return Ok(done);
            }
            let states = board.merge(task.tile, task.part, states).unwrap_or_default();
            for (nth, (maker, state)) in self.makers.iter().zip(states).enumerate() {
                let nan_count = state.nan_count();
                let values = self.complete(maker, state, &task)?.finish()?;
                board.put(nth, values, nan_count, &task.layout.rect)?;
            }
            Ok(done)
        };
        prefetch.during(|| fetch::run(workers, ahead, steps.count(), self.how, fetcher, task))?;
        checks.finish()?;
        Ok(board.finish())
    }

    /// Calls `visit` with every run that the pass reads, in the order of tasks; of a server's file, with every request.
    pub(super) fn runs(&self, visit: &mut dyn FnMut(ReadRange)) -> Result<()> {
        let shape = self.roles.shape();
        if self.plan.element_count == 0 || shape.contains(&0) {
            return Ok(());
        }
        if self.how.access.is_remote() {
            self.compared_runs(visit);
        }
        let (tasks, steps, _) = self.steps();
        let runs_of =
            |index, visit: &mut dyn FnMut(ReadRange)| self.step_runs(&tasks, &steps, index, visit);
        fetch::each_request(self.how, steps.count(), runs_of, visit)
    }

    /// Calls `visit` with what is read to compare chunks with their digests before parts of them are used.
    fn compared_runs(&self, visit: &mut dyn FnMut(ReadRange)) {
        let len = self.how.access.request_len.max(1);
        for ChunkRead { place, .. } in self.compared_ahead() {
            let (object, stored) = (place.object, place.stored);
            let piece = |nth| {
                let start = stored.start() + nth * len;
                Span::from_range(start..stored.end().min(start.saturating_add(len)))
            };
            let pieces = (0..stored.len().div_ceil(len)).filter_map(piece);
            pieces.for_each(|span| visit(ReadRange { object, span }));
        }
    }

    /// Calls `visit` with every run that a step of a task reads.
    fn step_runs(
        &self,
        tasks: &Tasks,
        steps: &Steps,
        index: u64,
        visit: &mut dyn FnMut(ReadRange),
    ) -> Result<()> {
        let step = steps.step(index);
        let rect = tasks.task(self.roles, step.task)?.rect;
        if !rect.iter().any(Range::is_empty) {
            let (stage, window_len) = (steps.stage(step, &rect), self.how.window_len());
            self.plan.for_task_runs(&rect, stage, self.strip_elements(), window_len, None, visit);
        }
        Ok(())
    }

    /// The cost of the pass.
    pub(super) fn cost(&self) -> Result<Cost> {
        let cells = self.roles.shape().into_iter().fold(1, u64::saturating_mul);
        if cells == 0 {
            return Ok(Cost::default());
        }
        let (_, steps, states_len) = self.steps();
        let width = self.makers.iter().map(|maker| maker.width as u64).sum();
        let values = cells.saturating_mul(width);
        let pass = Cost::pass(self.plan, self.how, self.thread_len(states_len), steps.count())?;
        let pass = pass.with_held(steps.held().saturating_mul(states_len));
        let is_compared = self.compared_ahead().next().is_some();
        let times = if is_compared { 2 } else { 1 };
        Ok(Cost { passes: pass.passes.times(times), is_compared, ..pass }.with_values(values))
    }

    /// How often the tasks use an element.
    fn uses(&self) -> Uses {
        if self.roles.windows_overlap() { Uses::Repeated } else { Uses::Once }
    }

    /// The chunks that are read once to be compared with their digests, and once to be folded.
    fn compared_ahead(&self) -> impl Iterator<Item = &ChunkRead> {
        let (uses, digests) = (self.uses(), self.how.digests);
        let may_be = self.dataset.chunks.has_digests() && uses.compare_ahead(digests, || true);
        let chunks = if may_be { self.plan.chunks() } else { &[] };
        let is_compared = move |&(nth, read): &(u64, &ChunkRead)| {
            !read.place.is_absent()
                && self.plan.zone(nth) == Zone::Read
                && self.plan.is_ranged(read)
                && uses.compare_ahead(digests, || self.plan.is_whole(nth))
        };
        (0..).zip(chunks).filter(is_compared).map(|(_, read)| read)
    }

    /// Bytes a thread holds besides its windows.
    fn thread_len(&self, states_len: u64) -> u64 {
        self.plan.whole_len_max.saturating_add(states_len)
    }

    /// How the pass is cut: on it depends in what order states merge.
    pub(super) fn cut(&self) -> Tasks {
        self.tasks().0
    }

    /// The tasks, and the bytes of the states of one.
    fn tasks(&self) -> (Tasks, u64) {
        // Several kernels are cut alike, by the heaviest of them.
        let weight = |maker| self.cell_len(maker).div_ceil(self.usual_len(maker)).max(1);
        let weight = self.makers.iter().map(weight).max().unwrap_or(1);
        let tasks = Tasks::new(self.plan, self.roles, weight, &self.how.tuning);
        let cell_len = self.makers.iter().map(|maker| self.cell_len(maker));
        let cell_len = cell_len.fold(0, u64::saturating_add);
        let states_len = tasks.cells_max(self.roles).saturating_mul(cell_len);
        (tasks, states_len)
    }

    /// The tasks, the steps in which they are done, and the bytes of the states of one.
    fn steps(&self) -> (Tasks, Steps, u64) {
        let (tasks, states_len) = self.tasks();
        let steps = Steps::new(self.plan, &tasks, self.roles, self.how, states_len);
        (tasks, steps, states_len)
    }

    /// Whether tasks interleave: the gaps of one are bytes of another, so reading through them is not waste.
    pub(super) fn shares_rows(&self) -> bool {
        self.steps().1.are_shared()
    }

    #[cfg(test)]
    pub(super) fn step_count(&self) -> u64 {
        self.steps().1.count()
    }

    /// Bytes of the state of one cell, those of its elements included where they are kept.
    fn cell_len(&self, maker: &Maker) -> u64 {
        let elements = if maker.keeps { self.roles.cell_elements() } else { 0 };
        let kept_len = self.plan.element_size.saturating_mul(KEPT_TIMES) + KEPT_BESIDE;
        maker.cell_len.saturating_add(elements.saturating_mul(kept_len))
    }

    /// Bytes that a cell may take before tiles become smaller.
    fn usual_len(&self, maker: &Maker) -> u64 {
        let tile = KEPT_LEN_MAX.min(self.how.memory_budget / KEPT_SHARE);
        if maker.keeps { (tile / self.how.tuning.tile_cells).max(1) } else { CELL_LEN }
    }

    /// New states for a task; `None` for an empty task.
    fn states(&self, task: &FoldTask) -> Option<States> {
        let make = |maker: &Maker| maker.make(task.layout.cell_count);
        let is_empty = task.rect.iter().any(Range::is_empty);
        (!is_empty).then(|| self.makers.iter().map(make).collect())
    }

    /// Folds the elements of a stage of a task. Also returns the selected bytes.
    fn fold(
        &self,
        fetcher: &mut Fetcher<'_>,
        index: u64,
        task: &FoldTask,
        stage: Option<Stage>,
        states: Option<States>,
        size: usize,
    ) -> Result<(Option<States>, u64)> {
        let Some(mut states) = states else { return Ok((None, 0)) };
        let touch = self.plan.touch.narrowed(&task.rect);
        let mut strips = Strips::of_stage(&touch, self.strip_elements(), stage);
        let mut reads = fetcher.begin(index, &strips, None);
        let mut done = 0;
        while let Some(boxes) = strips.boxes() {
            let zone = self.plan.zone(strips.ordinal());
            if zone != Zone::Read {
                let boxes = strips.chunk_boxes().unwrap_or(boxes);
                if strips.is_first() {
                    fold_zone(zone, boxes, &task.layout, &mut states)?;
                    done += element_count(boxes) * self.plan.element_size;
                }
                strips.skip_chunk();
                continue;
            }
            let block = fetcher.block(&mut reads, &strips, boxes)?;
            for (state, maker) in states.iter_mut().zip(self.makers) {
                fold_strip(maker, state.as_mut(), &block, boxes, &task.layout, size)?;
            }
            done += element_count(boxes) * self.plan.element_size;
            strips.advance();
        }
        Ok((Some(states), done))
    }

    /// Elements of a strip.
    fn strip_elements(&self) -> u64 {
        let Tuning { strip_elements, tile_strip_elements, .. } = self.how.tuning;
        if self.roles.shown().is_empty() { strip_elements } else { tile_strip_elements }
    }

    /// Finishes a tile once all its parts have merged: windows slide and are padded.
    fn complete(
        &self,
        maker: &Maker,
        mut state: Box<dyn KernelState>,
        task: &FoldTask,
    ) -> Result<Box<dyn KernelState>> {
        let layout = &task.layout;
        if let Some(sliding) = &layout.slide {
            state = slide(maker, state.as_ref(), layout, sliding)?;
        }
        let Some(pad) = self.pad else { return Ok(state) };
        let mut pads = Pads::new(maker, pad, self.how.tuning.pads_max);
        let folded = self.roles.folded_elements();
        let mut shown = 0;
        let extents: Vec<u64> = layout.rect.iter().map(|cells| cells.end - cells.start).collect();
        for (axis, role) in self.roles.axes.iter().enumerate() {
            let Role::Windows(windows) = role else {
                shown += usize::from(self.roles.is_shown(axis));
                continue;
            };
            let inner: u64 = extents[shown + 1..].iter().product();
            let outer: u64 = extents[..shown].iter().product();
            for (number, window) in layout.rect[shown].clone().enumerate() {
                let covered = windows.positions(window);
                let missing = windows.size - (covered.end - covered.start);
                if missing == 0 {
                    continue;
                }
                let copies = pads.state(missing.saturating_mul(folded));
                for (line, lane) in (0..outer).flat_map(|line| (0..inner).map(move |it| (line, it)))
                {
                    let cell = (line * extents[shown] + number as u64) * inner + lane;
                    state.take(buffer::len(cell)?, copies, 0, 1);
                }
            }
            shown += 1;
        }
        Ok(state)
    }
}
