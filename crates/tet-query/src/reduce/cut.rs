//! How a reduction is cut into tasks.
//!
//! ```text
//!   kept axes and windows -> tiles of cells; a task owns the cells of one tile
//!   folded axes, groups   -> parts; the states of a tile's parts merge in order
//! ```
//!
//! The cut depends on selection, grid, codecs and reduction only, never on threads; on the budget
//! only for kept elements, to which cuts are all the same.

use std::ops::Range;

use super::layout::Layout;
use super::role::{Role, Roles};
use super::window::Windows;
use crate::error::Result;
use crate::plan::ReadPlan;
use crate::plan::piece::Inside;
use crate::plan::tiling::Tiling;
use crate::plan::touch::Touch;
use crate::tuning::Tuning;

/// Elements of a task for each time that its state is as long as a usual one, and in all.
const HEAVY_ELEMENTS: u64 = 1 << 8;
const HEAVY_MAX: u64 = 1 << 22;

/// The tasks of a reduction.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tasks {
    tiles: Tiling,
    parts: Tiling,
    windows: Option<WindowCut>,
}

/// An axis whose windows are shared out among tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WindowCut {
    axis: usize,
    windows: Windows,
    /// Windows of a task.
    each: u64,
}

/// The share of one task.
#[derive(Debug)]
pub(super) struct FoldTask {
    pub tile: u64,
    pub part: u64,
    /// The selected positions it folds, axis by axis.
    pub rect: Vec<Range<u64>>,
    pub layout: Layout,
}

impl Tasks {
    /// Cuts the reduction of a plan; a cell takes `weight` times the usual room.
    pub(super) fn new(plan: &ReadPlan, roles: &Roles, weight: u64, tuning: &Tuning) -> Tasks {
        let (touch, inside) = (&plan.touch, plan.inside);
        let axes = |want: fn(&Role) -> bool| -> Vec<usize> {
            (0..roles.axes.len()).filter(|&axis| want(&roles.axes[axis])).collect()
        };
        let each = axes(|role| matches!(role, Role::Each));
        let mut folded = axes(|role| matches!(role, Role::Folded | Role::Map(_)));
        let windows = window_cut(touch, roles, &mut folded, tuning);
        if roles.shown().is_empty() {
            let tiles = Tiling::new(touch, &each, 1, inside);
            let limit =
                weight.saturating_mul(HEAVY_ELEMENTS).clamp(tuning.task_elements, HEAVY_MAX);
            return Tasks { tiles, parts: Tiling::new(touch, &folded, limit, inside), windows };
        }
        // The innermost axis is not cut short: it is lanes of cells or runs of elements in memory.
        let innermost = (0..touch.axes.len()).rev().find(|&axis| touch.axes[axis].count > 1);
        let has_lanes = innermost.is_some_and(|axis| each.contains(&axis));
        let (lanes_min, run_min) =
            if has_lanes { (tuning.row_min, 1) } else { (1, tuning.row_min) };
        let product = |axes: &[usize]| -> u64 {
            axes.iter().map(|&axis| touch.axes[axis].count).fold(1, u64::saturating_mul)
        };
        let (cells, positions) = (product(&each), product(&folded));
        let per_cell =
            weight.saturating_mul(cells_per_cell(roles, &folded, windows, tuning)).max(1);
        let most = (tuning.tile_cells / per_cell).max(1);
        let least = lanes_min.max(tuning.task_elements / positions.max(1)).min(most);
        let limit = (cells / tuning.tiles_min).clamp(least, most);
        // A chunk of cells may be more than states can be held for: then tasks share its decoding.
        let crowded = per_cell > 1 && chunk_cells(touch, &each) > most.saturating_mul(4);
        let inside = if crowded { Inside::Cut } else { inside };
        let tiles = Tiling::new(touch, &each, limit, inside);
        let tile_count = tiles.count().max(1).saturating_mul(windows.map_or(1, |cut| cut.count()));
        let tile_cells = (cells / tiles.count().max(1)).max(1);
        let least =
            run_min.max(tuning.part_positions_min).max(tuning.part_elements_min / tile_cells);
        let limit = positions.div_ceil(tuning.tiles_min.div_ceil(tile_count)).max(least);
        let parts = Tiling::new(touch, &folded, limit.max(1), plan.inside);
        Tasks { tiles, parts, windows }
    }

    /// How many parts a tile has.
    pub(super) fn part_count(&self) -> u64 {
        self.parts.count()
    }

    /// How many tiles there are, and shares of windows in each.
    pub(super) fn tile_counts(&self) -> (u64, u64) {
        (self.tiles.count(), self.windows.map_or(1, |cut| cut.count()))
    }

    /// The most positions of a tile along an axis; `None` where tiles are not cut along it.
    pub(super) fn tile_extent(&self, axis: usize) -> Option<u64> {
        self.tiles.extent_max(axis)
    }

    /// The most positions of a part along an axis; `None` where parts are not cut along it.
    pub(super) fn part_extent(&self, axis: usize) -> Option<u64> {
        self.parts.extent_max(axis)
    }

    /// The most cells of one task, positions that slide included three times.
    pub(super) fn cells_max(&self, roles: &Roles) -> u64 {
        let each = |(axis, role): (usize, &Role)| match role {
            Role::Each => None,
            Role::Windows(windows) => match self.windows {
                Some(cut) if windows.overlap() => {
                    let positions = (cut.each * cut.windows.step).saturating_add(windows.size);
                    Some(positions.min(roles.counts[axis]).saturating_mul(3))
                }
                Some(cut) => Some(cut.each),
                None => Some(windows.count),
            },
            _ => Some(roles.extent(axis)),
        };
        let others = roles.axes.iter().enumerate().filter_map(each).fold(1, u64::saturating_mul);
        others.saturating_mul(self.tiles.positions_max())
    }

    /// The share of task number `index`.
    pub(super) fn task(&self, roles: &Roles, index: u64) -> Result<FoldTask> {
        let (tile, part) = (index / self.parts.count(), index % self.parts.count());
        let mut rect: Vec<Range<u64>> = roles.counts.iter().map(|&count| 0..count).collect();
        let window_count = self.windows.map_or(1, |cut| cut.count());
        self.tiles.place(self.tiles.by_chunk(tile / window_count), &mut rect);
        self.parts.place(part, &mut rect);
        let mut windows = 0..self.all_windows(roles);
        if let Some(cut) = &self.windows {
            let first = tile % window_count * cut.each;
            windows = first..cut.windows.count.min(first + cut.each);
            rect[cut.axis] = cut.windows.span(&windows);
        }
        let layout = Layout::new(roles, &rect, &windows)?;
        Ok(FoldTask { tile, part, rect, layout })
    }

    /// The windows of a task when they are not shared out: all there are.
    fn all_windows(&self, roles: &Roles) -> u64 {
        let count = |role: &Role| match role {
            Role::Windows(windows) => Some(windows.count),
            _ => None,
        };
        roles.axes.iter().find_map(count).unwrap_or(0)
    }
}

impl WindowCut {
    fn count(&self) -> u64 {
        self.windows.count.div_ceil(self.each)
    }
}

/// How windows are shared out; wide bins are not, and go with the folded axes.
fn window_cut(
    touch: &Touch,
    roles: &Roles,
    folded: &mut Vec<usize>,
    tuning: &Tuning,
) -> Option<WindowCut> {
    let of = |(axis, role): (usize, &Role)| match role {
        Role::Windows(windows) => Some((axis, *windows)),
        _ => None,
    };
    let (axis, windows) = roles.axes.iter().enumerate().find_map(of)?;
    if !windows.overlap() && windows.count <= tuning.wide_bins_max {
        folded.push(axis);
        folded.sort_unstable();
        return None;
    }
    let nominal = touch.axes[axis].nominal();
    let others = |(other, touch): (usize, &crate::plan::touch::AxisTouch)| {
        if other == axis { 1 } else { touch.count.max(1) }
    };
    let others = touch.axes.iter().enumerate().map(others).fold(1, u64::saturating_mul);
    let mut positions = nominal.max(tuning.task_elements / others).max(1);
    if windows.overlap() {
        positions = positions.max(windows.size.saturating_mul(4));
    }
    let each = (positions / windows.step).clamp(1, windows.count.max(1));
    Some(WindowCut { axis, windows, each })
}

/// How many cells of a task belong to each cell of its tile.
fn cells_per_cell(roles: &Roles, folded: &[usize], cut: Option<WindowCut>, tuning: &Tuning) -> u64 {
    let mapped = folded.iter().map(|&axis| roles.extent(axis)).fold(1, u64::saturating_mul);
    let windows = match cut {
        // States of all positions, and as many twice while they slide.
        Some(cut) if cut.windows.overlap() => {
            let positions = (cut.each * cut.windows.step).saturating_add(cut.windows.size);
            let positions = positions.min(roles.counts[cut.axis]);
            (positions * tuning.tile_cells).div_ceil(tuning.slide_cells)
        }
        Some(cut) => cut.each.min(tuning.tile_cells),
        None => 1,
    };
    mapped.saturating_mul(windows)
}

/// The cells of one chunk.
fn chunk_cells(touch: &Touch, each: &[usize]) -> u64 {
    each.iter().map(|&axis| touch.axes[axis].nominal()).fold(1, u64::saturating_mul)
}
