//! A strip of elements into the cells of a state: long calls out of many axes.
//!
//! ```text
//!   axes --> parts with one way of finding cells --> loops, merged --> runs or lanes --> state
//!    a table of short stretches along the innermost axis --> columns or elements --------^
//! ```

mod table;

use std::ops::Range;

use self::table::Table;
use super::layout::{AxisCells, Layout};
use super::window::Windows;
use crate::buffer;
use crate::error::Result;
use crate::fetch::Block;
use crate::kernel::{At, KernelState, Lanes, Maker, Runs};
use crate::plan::piece::strides;
use crate::plan::touch::AxisBox;
use crate::reduction::AxisGroups;

/// One loop over a strip.
#[derive(Clone, Copy, Debug)]
struct Loop {
    count: usize,
    /// Elements between neighbors in the block, and in the chunk.
    distance: usize,
    held: u64,
    /// Cells between neighbors; 0 where they fold into the same one.
    cells: usize,
    /// Step of the index from one neighbor to the next.
    index: u64,
}

/// One element.
const UNIT: Loop = Loop { count: 1, distance: 1, held: 1, cells: 0, index: 1 };

/// Some neighboring positions of one axis of a strip whose cells are found in one way.
#[derive(Clone, Debug)]
struct AxisSegment {
    /// The first position, counted from the strip's first.
    first: u64,
    /// The cell it folds to, less those of other axes.
    cell: usize,
    /// Loops over the positions: one, or one over windows and one inside each.
    loops: [SegmentLoop; 2],
}

/// A loop over positions of one axis.
#[derive(Clone, Copy, Debug)]
struct SegmentLoop {
    count: u64,
    /// Positions between neighbors.
    step: u64,
    cells: usize,
}

impl AxisSegment {
    fn plain(first: u64, count: u64, cell: usize, cells: usize) -> AxisSegment {
        let once = SegmentLoop { count: 1, step: 0, cells: 0 };
        AxisSegment { first, cell, loops: [once, SegmentLoop { count, step: 1, cells }] }
    }
}

/// Folds a strip into its cells; elements have `size` bytes.
///
/// How axes merge into one loop is decided by where the elements lie in the chunk, never by where
/// the block holds them: so the same calls reach the kernel for every source.
pub(super) fn fold_strip(
    maker: &Maker,
    state: &mut dyn KernelState,
    block: &Block<'_>,
    boxes: &[AxisBox],
    layout: &Layout,
    size: usize,
) -> Result<()> {
    let is_indexed = maker.indexed;
    let table = Table::for_strip(block, boxes, layout)?;
    let parts = boxes.iter().zip(&layout.axes).enumerate();
    let parts = parts.map(|(axis, (axis_box, cells))| match table {
        Some(table) if table.axis == axis => Ok(vec![AxisSegment::plain(0, 1, 0, 0)]),
        _ => parts_of(axis_box, cells),
    });
    let parts: Vec<Vec<AxisSegment>> = parts.collect::<Result<_>>()?;
    if parts.iter().any(Vec::is_empty) {
        return Ok(());
    }
    let held = strides(boxes);
    let mut nth = vec![0; parts.len()];
    let mut loops = Vec::new();
    loop {
        let mut at = At::default();
        let mut first = 0;
        loops.clear();
        for (axis, parts) in parts.iter().enumerate() {
            let part = &parts[nth[axis]];
            at.cell += part.cell;
            at.index += (boxes[axis].at + part.first) * layout.index_strides[axis];
            first += buffer::len(part.first)? * block.strides[axis];
            for over in part.loops.iter().filter(|over| over.count > 1) {
                let this = Loop {
                    count: buffer::len(over.count)?,
                    distance: buffer::len(over.step)? * block.strides[axis],
                    held: over.step * boxes[axis].step * held[axis],
                    cells: over.cells,
                    index: over.step * layout.index_strides[axis],
                };
                push(&mut loops, this, is_indexed);
            }
        }
        let bytes = &block.bytes[first * size..];
        match table {
            Some(table) => table.fold(maker, state, bytes, &mut loops, at, size),
            None => fold_loops(maker, state, bytes, &mut loops, at, size),
        }
        let Some(axis) = (0..nth.len()).rev().find(|&axis| nth[axis] + 1 < parts[axis].len())
        else {
            return Ok(());
        };
        nth[axis] += 1;
        nth[axis + 1..].fill(0);
    }
}

/// The cell of the first element of a box; `None` where it has none.
pub(super) fn cell_of(boxes: &[AxisBox], layout: &Layout) -> Result<Option<usize>> {
    let mut cell = 0;
    for (axis_box, cells) in boxes.iter().zip(&layout.axes) {
        match parts_of(&axis_box.part(0..1), cells)?.first() {
            Some(part) => cell += part.cell,
            None => return Ok(None),
        }
    }
    Ok(Some(cell))
}

/// The parts of one axis of a strip.
fn parts_of(axis_box: &AxisBox, cells: &AxisCells) -> Result<Vec<AxisSegment>> {
    let positions = axis_box.at..axis_box.at + axis_box.count;
    match cells {
        AxisCells::One => Ok(vec![AxisSegment::plain(0, axis_box.count, 0, 0)]),
        AxisCells::Each { stride, first } => {
            let cell = buffer::len(positions.start - first)? * stride;
            Ok(vec![AxisSegment::plain(0, axis_box.count, cell, *stride)])
        }
        AxisCells::Map { stride, cell_of } => map_parts(&positions, cell_of, *stride),
        AxisCells::Windows { stride, windows, first } => {
            window_parts(&positions, windows, *first, *stride)
        }
    }
}

/// Stretches of neighbors that have one cell; those without a cell are left out.
fn map_parts(positions: &Range<u64>, cell_of: &[u32], stride: usize) -> Result<Vec<AxisSegment>> {
    let cells = &cell_of[buffer::len(positions.start)?..buffer::len(positions.end)?];
    let mut parts = Vec::new();
    let mut first = 0;
    let joins = |&a: &u32, &b: &u32| a == b;
    for stretch in cells.chunk_by(joins) {
        let count = stretch.len() as u64;
        if stretch[0] != AxisGroups::NONE {
            parts.push(AxisSegment::plain(first, count, stretch[0] as usize * stride, 0));
        }
        first += count;
    }
    Ok(parts)
}

/// The first window in part, whole windows, the last window in part.
fn window_parts(
    positions: &Range<u64>,
    windows: &Windows,
    first_window: u64,
    stride: usize,
) -> Result<Vec<AxisSegment>> {
    let mut parts = Vec::new();
    let mut at = positions.start;
    while at < positions.end {
        let (window, within) = windows.window_of(at);
        let left = positions.end - at;
        if windows.count <= window {
            break;
        }
        let cell = buffer::len(window - first_window)? * stride;
        let first = at - positions.start;
        let whole = (left / windows.pitch()).min(windows.count - window);
        if within == 0 && whole > 1 {
            let over = SegmentLoop { count: whole, step: windows.pitch(), cells: stride };
            let inside = SegmentLoop { count: windows.size, step: 1, cells: 0 };
            parts.push(AxisSegment { first, cell, loops: [over, inside] });
            at += whole * windows.pitch();
            continue;
        }
        let count = windows.size.saturating_sub(within).min(left);
        if count > 0 {
            parts.push(AxisSegment::plain(first, count, cell, 0));
        }
        at += (windows.pitch() - within).min(left);
    }
    Ok(parts)
}

/// Adds a loop inside those there are, as one with the last where they lie side by side.
fn push(loops: &mut Vec<Loop>, this: Loop, is_indexed: bool) {
    match loops.last_mut() {
        Some(outer)
            if outer.held == this.count as u64 * this.held
                && outer.cells == this.count * this.cells
                && (outer.cells == 0) == (this.cells == 0)
                && (!is_indexed || outer.index == this.count as u64 * this.index) =>
        {
            *outer = Loop { count: outer.count * this.count, ..this };
        }
        _ => loops.push(this),
    }
}

/// Folds what the loops go over; `bytes` begin with the first element.
fn fold_loops(
    maker: &Maker,
    state: &mut dyn KernelState,
    bytes: &[u8],
    loops: &mut Vec<Loop>,
    first: At,
    size: usize,
) {
    // The elements of a run count on by one and lanes share an index; where neighbors in memory do
    // not, each is a run.
    let fits = |last: &Loop| last.index == u64::from(last.cells == 0);
    if maker.indexed && !loops.last().is_none_or(fits) {
        loops.push(UNIT);
    }
    let inner = loops.pop().unwrap_or(UNIT);
    if inner.cells == 0 && inner.distance == 1 {
        let runs = loops.pop().unwrap_or(Loop { distance: 0, ..UNIT });
        let runs = Runs {
            count: runs.count,
            len: inner.count,
            distance: runs.distance,
            cells: runs.cells,
            index: runs.index,
        };
        let len = (runs.count - 1) * runs.distance + runs.len;
        return walk(loops, first, |element, at| {
            state.fold_runs(at, runs, &bytes[element * size..][..len * size]);
        });
    }
    // Lanes are neighbors in the result and in memory; where they are not, each is one.
    let count = if inner.cells == 1 && inner.distance == 1 { inner.count } else { 1 };
    if count == 1 {
        loops.push(inner);
    }
    let folded = loops.iter().rposition(|this| this.cells == 0);
    let rows = folded.map(|at| loops.remove(at));
    let rows = rows.unwrap_or(Loop { distance: count, ..UNIT });
    let lanes = Lanes { count, rows: rows.count, distance: rows.distance, index: rows.index };
    let len = (rows.count - 1) * rows.distance + count;
    walk(loops, first, |element, at| {
        state.fold_lanes(at, lanes, &bytes[element * size..][..len * size]);
    });
}

/// Calls `visit` with the first element and where it folds to, for every turn of the loops.
fn walk(loops: &[Loop], first: At, mut visit: impl FnMut(usize, At)) {
    let mut nth = vec![0; loops.len()];
    let (mut element, mut at) = (0, first);
    loop {
        visit(element, at);
        let mut axis = loops.len();
        loop {
            let Some(outer) = axis.checked_sub(1) else { return };
            axis = outer;
            let Loop { count, distance, cells, index, .. } = loops[axis];
            nth[axis] += 1;
            element += distance;
            at.cell += cells;
            at.index += index;
            if nth[axis] < count {
                break;
            }
            nth[axis] = 0;
            element -= count * distance;
            at.cell -= count * cells;
            at.index -= count as u64 * index;
        }
    }
}
