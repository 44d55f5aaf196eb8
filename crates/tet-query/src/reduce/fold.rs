//! A strip of elements into the cells of a kernel: long calls out of many axes.

use std::ops::Range;

use crate::decode;
use crate::error::Result;
use crate::fetch::Block;
use crate::kernel::{At, Lanes, Runs, State};
use crate::plan::piece::strides;
use crate::plan::touch::AxisBox;

/// One loop over a strip.
#[derive(Clone, Copy, Debug)]
struct Loop {
    count: usize,
    /// Elements between neighbors in the block.
    distance: usize,
    /// Cells between neighbors; 0 where they fold into the same one.
    cells: usize,
}

/// Folds a strip into its cells.
///
/// How axes merge into one loop is decided by where the elements lie in the chunk, never by where
/// the block holds them: so the same calls reach the kernel for every source.
pub(super) fn fold_strip(
    state: &mut dyn State,
    block: &Block<'_>,
    boxes: &[AxisBox],
    cell_strides: &[usize],
    rect: &[Range<u64>],
    size: usize,
) -> Result<()> {
    let mut first_cell = 0;
    for ((part, range), stride) in boxes.iter().zip(rect).zip(cell_strides) {
        first_cell += decode::len(part.at - range.start)? * stride;
    }
    let mut loops = loops_of(block, boxes, cell_strides)?;
    let inner = loops.pop().unwrap_or(Loop { count: 1, distance: 1, cells: 0 });
    if inner.cells == 0 {
        walk(&loops, |element, cell| {
            let at = At { cell: first_cell + cell, index: 0 };
            let runs = Runs { count: 1, len: inner.count, distance: 0, cells: 0, index: 0 };
            state.fold_runs(at, runs, &block.bytes[element * size..][..inner.count * size]);
        });
        return Ok(());
    }
    // Lanes are neighbors in the result; where the tile has other cells between them, each is one.
    let lanes = if inner.cells == 1 { inner.count } else { 1 };
    if lanes == 1 {
        loops.push(inner);
    }
    let folded = loops.iter().rposition(|this| this.cells == 0);
    let rows = folded.map(|at| loops.remove(at));
    let rows = rows.unwrap_or(Loop { count: 1, distance: lanes, cells: 0 });
    let len = (rows.count - 1) * rows.distance + lanes;
    walk(&loops, |element, cell| {
        let at = At { cell: first_cell + cell, index: 0 };
        let lanes = Lanes { count: lanes, rows: rows.count, distance: rows.distance, index: 0 };
        state.fold_lanes(at, lanes, &block.bytes[element * size..][..len * size]);
    });
    Ok(())
}

/// The loops over a strip, outermost first, neighbors merged where they lie side by side.
fn loops_of(block: &Block<'_>, boxes: &[AxisBox], cell_strides: &[usize]) -> Result<Vec<Loop>> {
    let mut loops: Vec<Loop> = Vec::with_capacity(boxes.len());
    let mut outer_held = 0;
    for (axis, held) in strides(boxes).into_iter().enumerate() {
        let part = &boxes[axis];
        if part.count == 1 {
            continue;
        }
        let (count, cells) = (decode::len(part.count)?, cell_strides[axis]);
        let this = Loop { count, distance: block.strides[axis], cells };
        let held = part.step * held;
        match loops.last_mut() {
            Some(outer)
                if outer_held == part.count * held
                    && outer.cells == count * cells
                    && (outer.cells == 0) == (cells == 0) =>
            {
                *outer = Loop { count: outer.count * count, ..this };
            }
            _ => loops.push(this),
        }
        outer_held = held;
    }
    Ok(loops)
}

/// Calls `visit` with the first element and the first cell of every turn of the loops.
fn walk(loops: &[Loop], mut visit: impl FnMut(usize, usize)) {
    let mut at = vec![0; loops.len()];
    let (mut element, mut cell) = (0, 0);
    loop {
        visit(element, cell);
        let mut axis = loops.len();
        loop {
            let Some(outer) = axis.checked_sub(1) else { return };
            axis = outer;
            let Loop { count, distance, cells } = loops[axis];
            at[axis] += 1;
            element += distance;
            cell += cells;
            if at[axis] < count {
                break;
            }
            at[axis] = 0;
            element -= count * distance;
            cell -= count * cells;
        }
    }
}
