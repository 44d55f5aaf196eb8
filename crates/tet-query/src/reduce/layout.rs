//! How the cells of a task lie in its state.

use std::ops::Range;
use std::sync::Arc;

use super::role::{Role, Roles};
use super::window::Windows;
use crate::buffer;
use crate::error::Result;

/// Where positions of one axis fold to.
#[derive(Clone, Debug)]
pub(super) enum AxisCells {
    /// All into one cell.
    One,
    /// A cell for each, from the first position on.
    Each { stride: usize, first: u64 },
    /// A cell for each window, from the first window on; windows do not overlap.
    Windows { stride: usize, windows: Windows, first: u64 },
    /// A cell for some, by a table.
    Map { stride: usize, cell_of: Arc<[u32]> },
}

/// The cells of a task: row-major over the axes that have any.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub axes: Vec<AxisCells>,
    /// Step of the index along each axis; 0 where it has none.
    pub index_strides: Vec<u64>,
    pub cell_count: usize,
    /// The cells along each shown axis, where they lie in the result.
    pub rect: Vec<Range<u64>>,
    /// The axis whose windows overlap: its cells are positions until they slide.
    pub slide: Option<Slide>,
}

/// An axis whose cells are positions that become windows.
#[derive(Clone, Debug)]
pub(super) struct Slide {
    pub windows: Windows,
    /// The windows of the task.
    pub range: Range<u64>,
    /// The positions of the task.
    pub positions: Range<u64>,
    /// Cells between neighbors along the axis.
    pub stride: usize,
}

impl Layout {
    /// The cells of the task that owns `rect` positions, and `windows` of the axis that has them.
    pub(super) fn new(roles: &Roles, rect: &[Range<u64>], windows: &Range<u64>) -> Result<Layout> {
        let rank = rect.len();
        let mut layout = Layout {
            axes: vec![AxisCells::One; rank],
            index_strides: vec![0; rank],
            cell_count: 1,
            rect: Vec::new(),
            slide: None,
        };
        let mut index_stride = 1_u64;
        for axis in (0..rank).rev() {
            if roles.is_indexed(axis) {
                layout.index_strides[axis] = index_stride;
                index_stride = index_stride.saturating_mul(roles.counts[axis]);
            }
            layout.add(roles, axis, &rect[axis], windows)?;
        }
        layout.rect.reverse();
        Ok(layout)
    }

    fn add(
        &mut self,
        roles: &Roles,
        axis: usize,
        positions: &Range<u64>,
        windows: &Range<u64>,
    ) -> Result<()> {
        let stride = self.cell_count;
        let (cells, shown, extent) = match &roles.axes[axis] {
            Role::Folded => return Ok(()),
            Role::Each => {
                let cells = AxisCells::Each { stride, first: positions.start };
                (cells, Some(positions.clone()), positions.end - positions.start)
            }
            Role::Map(map) => {
                let cells = AxisCells::Map { stride, cell_of: Arc::clone(&map.cell_of) };
                let shown = map.is_shown().then_some(0..map.count);
                (cells, shown, map.count)
            }
            Role::Windows(all) if all.overlap() => {
                let positions = all.span(windows);
                let first = positions.start;
                let extent = positions.end - positions.start;
                let range = windows.clone();
                self.slide = Some(Slide { windows: *all, range, positions, stride });
                (AxisCells::Each { stride, first }, Some(windows.clone()), extent)
            }
            Role::Windows(all) => {
                let cells = AxisCells::Windows { stride, windows: *all, first: windows.start };
                (cells, Some(windows.clone()), windows.end - windows.start)
            }
        };
        self.axes[axis] = cells;
        self.rect.extend(shown);
        self.cell_count = self.cell_count.saturating_mul(buffer::len(extent)?);
        Ok(())
    }
}
