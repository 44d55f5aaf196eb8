//! The order in which the tasks of a pass are done, and the steps in which each is.
//!
//! ```text
//!   tiles in the file   0 1 2    of a local file   0 0 0 0, 1 1 1 1, 2 2 2 2     tile after tile
//!                       0 1 2    of a server's     0 1 2, 0 1 2, 0 1 2, 0 1 2    row after row, with the states held
//!                       0 1 2
//!                       0 1 2
//! ```
//!
//! Where the outermost axis is folded, what one tile reads lies between what the others read. A request costs as much as a
//! megabyte, so tiles of a server's file read what is next to each other at the same time. Each folds the same strips in the
//! same order as in one step, so that the bits are the same, and the budget may say how long steps are.

use std::ops::Range;

use super::cut::Tasks;
use super::role::{Role, Roles};
use crate::budget::Execution;
use crate::plan::ReadPlan;
use crate::plan::piece::{Inside, Stage};

/// The share of the budget that the states of tiles which are done together take.
const STATES_SHARE: u64 = 8;

/// The steps of a pass.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Steps {
    tiles: u64,
    /// How many groups of tiles are done one after the other.
    groups: u64,
    /// Windows and parts of a tile.
    windows: u64,
    parts: u64,
    /// The axis along which tasks are cut into steps, and the positions of one.
    axis: usize,
    len: u64,
    inside: Inside,
    /// Steps of a task.
    each: u64,
}

/// One step of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TaskStep {
    /// The number of the task.
    pub task: u64,
    pub nth: u64,
    /// Whether the task ends with it.
    pub is_last: bool,
}

impl Steps {
    /// The steps of tasks whose states take `states_len` bytes each.
    pub(super) fn new(
        plan: &ReadPlan,
        tasks: &Tasks,
        roles: &Roles,
        how: &Execution,
        states_len: u64,
    ) -> Steps {
        let (tiles, windows) = tasks.tile_counts();
        let parts = tasks.part_count();
        let inside = plan.inside;
        let whole =
            Steps { tiles, groups: tiles, windows, parts, axis: 0, len: u64::MAX, inside, each: 1 };
        let axis = folded_axis(plan, tasks, roles).filter(|_| how.access.is_remote() && tiles > 1);
        let Some(axis) = axis else { return whole };
        let together = (how.memory_budget / STATES_SHARE / states_len.max(1)).clamp(1, tiles);
        let together = Steps { axis, groups: tiles.div_ceil(together), ..whole };
        if windows > 1 || together.groups == tiles {
            return together;
        }
        let inside = inside_of(plan, roles, axis);
        let positions = plan.touch.axes[axis].count.max(1);
        let row_len = (plan.element_count / positions).saturating_mul(plan.element_size);
        let tile_len = (row_len / tiles).max(1);
        let rows = how.ahead_len() / 2 / tile_len.saturating_mul(tiles / together.groups).max(1);
        let strip_rows = how.tuning.tile_strip_elements * plan.element_size / tile_len;
        let len = rows_of_step(rows, strip_rows, plan.touch.axes[axis].nominal(), inside);
        let part_len = tasks.part_extent(axis).unwrap_or(positions);
        Steps { len, inside, each: part_len.div_ceil(len).max(1), ..together }
    }

    /// Whether tiles are done together, so that what is between the elements of one is needed by another.
    pub(super) fn are_shared(&self) -> bool {
        self.groups < self.tiles
    }

    /// How many steps there are; some may have nothing to do.
    pub(super) fn count(&self) -> u64 {
        let of_tile = self.windows.saturating_mul(self.parts).saturating_mul(self.each);
        self.tiles.saturating_mul(of_tile)
    }

    /// How many tiles are held between their steps, at most.
    pub(super) fn held(&self) -> u64 {
        if self.each > 1 { self.tiles.div_ceil(self.groups.max(1)) } else { 0 }
    }

    /// How many steps may be begun, counted from the first that has not ended: those before a step of the same task have then ended.
    pub(super) fn ahead_max(&self) -> u64 {
        if self.each > 1 { self.tiles / self.groups.max(1) } else { u64::MAX }
    }

    /// Step number `index`: for each group its parts, of these the windows, of these the steps, and of these the tiles.
    pub(super) fn step(&self, index: u64) -> TaskStep {
        let (small, large) = (self.tiles / self.groups, self.tiles % self.groups);
        let of_tile = self.windows.saturating_mul(self.parts).saturating_mul(self.each);
        let (of_small, of_large) =
            (small.saturating_mul(of_tile), (small + 1).saturating_mul(of_tile));
        let larger_count = large.saturating_mul(of_large);
        let (first, size, rest) = if index < larger_count {
            (index / of_large * (small + 1), small + 1, index % of_large)
        } else {
            let index = index - larger_count;
            let first = large * (small + 1) + index / of_small * small;
            (first, small, index % of_small)
        };
        let (tile, rest) = (first + rest % size, rest / size);
        let (nth, rest) = (rest % self.each, rest / self.each);
        let (window, part) = (rest % self.windows, rest / self.windows);
        let task = (tile * self.windows + window) * self.parts + part;
        TaskStep { task, nth, is_last: nth + 1 == self.each }
    }

    /// The stage of a step in a task that owns these positions; `None` where it covers the task.
    pub(super) fn stage(&self, step: TaskStep, rect: &[Range<u64>]) -> Option<Stage> {
        let of = rect.get(self.axis).filter(|_| self.each > 1)?;
        let start = of.start.saturating_add(step.nth.saturating_mul(self.len));
        let positions = start.min(of.end)..start.saturating_add(self.len).min(of.end);
        Some(Stage { axis: self.axis, positions, inside: self.inside })
    }
}

/// The axis along which tiles are between each other: the first of which a task has several positions, if it is folded.
fn folded_axis(plan: &ReadPlan, tasks: &Tasks, roles: &Roles) -> Option<usize> {
    let is_several = |axis: &usize| {
        let count = plan.touch.axes[*axis].count;
        tasks.tile_extent(*axis).unwrap_or(count) > 1
    };
    let axis = (0..plan.touch.axes.len()).find(is_several)?;
    (!matches!(roles.axes[axis], Role::Each)).then_some(axis)
}

/// Whether steps may end inside a chunk: not where chunks are decoded whole, nor where elements of several chunks fold into a
/// cell, which are those of one chunk after those of the other.
fn inside_of(plan: &ReadPlan, roles: &Roles, axis: usize) -> Inside {
    let mut axes = plan.touch.axes.iter().zip(&roles.axes).enumerate();
    let is_split = axes.any(|(other, (touch, role))| {
        other != axis && touch.touched > 1 && !matches!(role, Role::Each)
    });
    if is_split { Inside::Whole } else { plan.inside }
}

/// Positions of a step: about `rows`, whole chunks or whole strips of `strip_rows` inside one of `chunk_rows`.
fn rows_of_step(rows: u64, strip_rows: u64, chunk_rows: u64, inside: Inside) -> u64 {
    let whole = |unit: u64| (rows / unit.max(1)).max(1).saturating_mul(unit.max(1));
    if chunk_rows <= rows || inside == Inside::Whole {
        return whole(chunk_rows);
    }
    whole(strip_rows).min(chunk_rows).max(1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Every step of every task comes once, in order, and not before the one before it has ended.
    #[test]
    fn steps_come_once_and_in_order() {
        for (tiles, groups) in [(1, 1), (2, 1), (5, 1), (5, 2), (7, 3), (6, 3), (4, 4)] {
            for (windows, parts, each) in [(1, 1, 1), (1, 1, 3), (1, 2, 3), (4, 1, 1), (3, 2, 1)] {
                let (axis, len, inside) = (0, 10, Inside::Cut);
                let steps = Steps { tiles, groups, windows, parts, axis, len, inside, each };
                let mut seen: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
                for index in 0..steps.count() {
                    let step = steps.step(index);
                    assert_eq!(step.is_last, step.nth + 1 == each);
                    let of_task = seen.entry(step.task).or_default();
                    assert_eq!(step.nth, of_task.len() as u64, "{steps:?}");
                    if let Some(before) = of_task.last() {
                        assert!(steps.ahead_max() <= index - before, "{steps:?}");
                    }
                    of_task.push(index);
                }
                let tasks: Vec<u64> = seen.into_keys().collect();
                assert_eq!(tasks, (0..tiles * windows * parts).collect::<Vec<_>>(), "{steps:?}");
            }
        }
    }

    #[test]
    fn stages_cover_what_a_task_owns() {
        let (inside, each) = (Inside::Cut, 3);
        let steps =
            Steps { tiles: 2, groups: 1, windows: 1, parts: 1, axis: 1, len: 4, inside, each };
        for (owned, expected) in [(10..20, [10..14, 14..18, 18..20]), (0..5, [0..4, 4..5, 5..5])] {
            let stages = (0..3).map(|nth| {
                let step = TaskStep { task: 0, nth, is_last: nth == 2 };
                steps.stage(step, &[0..9, owned.clone()]).unwrap().positions
            });
            assert_eq!(stages.collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn steps_are_whole_chunks_or_whole_strips() {
        for (rows, strip_rows, chunk_rows, inside, expected) in [
            (100, 3, 16, Inside::Cut, 96),
            (10, 3, 16, Inside::Cut, 9),
            (2, 3, 16, Inside::Cut, 3),
            (2, 30, 16, Inside::Cut, 16),
            (10, 3, 16, Inside::Whole, 16),
            (0, 0, 1, Inside::Cut, 1),
            (0, 0, 5, Inside::Cut, 1),
        ] {
            assert_eq!(rows_of_step(rows, strip_rows, chunk_rows, inside), expected);
        }
    }
}
