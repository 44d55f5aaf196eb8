//! The axis that neighbors lie along, when they fold to different cells by a table.
//!
//! ```text
//!   many rows   a state with a cell for each position; its cells are taken into those of the table
//!   few         element by element
//! ```

use super::{Loop, walk};
use crate::buffer;
use crate::error::Result;
use crate::fetch::Block;
use crate::kernel::{At, KernelState, Lanes, Maker, Scatter};
use crate::plan::piece::strides;
use crate::plan::touch::AxisBox;
use crate::reduce::layout::{AxisCells, Layout};
use crate::reduction::AxisGroups;

/// A table whose stretches of one cell are longer than this folds them as runs.
const STRETCH_MIN: usize = 16;
/// So many rows are worth a state of their positions.
const ROWS_MIN: usize = 8;

/// The table of a strip's innermost axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    /// Which axis it is.
    pub(super) axis: usize,
    scatter: Scatter<'a>,
    /// Whether its positions are neighbors in the chunk.
    dense: bool,
}

impl<'a> Table<'a> {
    /// The table of a strip, if it has one whose stretches are short.
    pub(super) fn for_strip(
        block: &Block<'_>,
        boxes: &[AxisBox],
        layout: &'a Layout,
    ) -> Result<Option<Self>> {
        let held = strides(boxes);
        let innermost = (0..boxes.len()).find(|&axis| held[axis] == 1 && boxes[axis].count > 1);
        let Some(axis) = innermost else { return Ok(None) };
        let AxisCells::Map { stride, cell_of } = &layout.axes[axis] else { return Ok(None) };
        let AxisBox { at, count, step, .. } = boxes[axis];
        let cells = &cell_of[buffer::len(at)?..buffer::len(at + count)?];
        let stretches = cells.chunk_by(|a, b| a == b).count();
        let (distance, index) = (block.strides[axis], layout.index_strides[axis]);
        let scatter = Scatter { cells, stride: *stride, distance, index };
        let table = Table { axis, scatter, dense: step == 1 };
        Ok((stretches * STRETCH_MIN > cells.len()).then_some(table))
    }

    /// Folds the axis in every turn of `loops`; `bytes` begin with the first element.
    pub(super) fn fold(
        &self,
        maker: &Maker,
        state: &mut dyn KernelState,
        bytes: &[u8],
        loops: &mut Vec<Loop>,
        first: At,
        size: usize,
    ) {
        let by_columns = self.dense && !maker.indexed && !maker.keeps && !maker.filters();
        let rows = loops.iter().rposition(|this| this.cells == 0 && this.count >= ROWS_MIN);
        match rows.filter(|_| by_columns) {
            Some(rows) => {
                let Loop { count: rows, distance, .. } = loops.remove(rows);
                let lanes = Lanes { count: self.scatter.cells.len(), rows, distance, index: 0 };
                let len = (rows - 1) * distance + lanes.count;
                walk(loops, first, |element, at| {
                    self.fold_columns(
                        maker,
                        state,
                        &bytes[element * size..][..len * size],
                        lanes,
                        at,
                    );
                });
            }
            None => {
                let len = (self.scatter.cells.len() - 1) * self.scatter.distance + 1;
                walk(loops, first, |element, at| {
                    state.fold_scattered(at, self.scatter, &bytes[element * size..][..len * size]);
                });
            }
        }
    }

    /// Folds rows into a cell for each position, and those into the cells of the table.
    fn fold_columns(
        &self,
        maker: &Maker,
        state: &mut dyn KernelState,
        bytes: &[u8],
        lanes: Lanes,
        at: At,
    ) {
        let mut columns = maker.make(lanes.count);
        columns.fold_lanes(At::default(), lanes, bytes);
        for (position, &cell) in self.scatter.cells.iter().enumerate() {
            if cell != AxisGroups::NONE {
                let cell = at.cell + cell as usize * self.scatter.stride;
                state.take(cell, columns.as_ref(), position, 1);
            }
        }
    }
}
