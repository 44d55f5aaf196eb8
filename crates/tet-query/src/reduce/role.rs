//! Role of each axis of a selection in a reduction: folded away, kept, grouped, windowed.

use std::sync::Arc;

use super::window::Windows;
use crate::catalog::Dataset;
use crate::error::{Error, Result};
use crate::plan::touch::AxisBox;
use crate::reduction::{Axes, AxisGroups, AxisPicks, Reduction};
use crate::selection::Hyperslab;
use crate::value::Along;

/// Role of one axis in a reduction.
#[derive(Clone, Debug)]
pub(super) enum Role {
    /// All positions fold into one cell.
    Folded,
    /// A cell for every position.
    Each,
    /// A cell for some positions.
    Map(Map),
    /// A cell for every window.
    Windows(Windows),
}

/// Cells of positions by a table.
#[derive(Clone, Debug)]
pub(super) struct Map {
    /// The cell of every selected position, or [`AxisGroups::NONE`].
    pub cell_of: Arc<[u32]>,
    /// How many cells there are.
    pub count: u64,
    /// The meaning of the cells; `None` when the axis is folded into one.
    pub along: Option<Along>,
}

/// Roles of all axes in a reduction.
#[derive(Clone, Debug)]
pub(super) struct Roles {
    /// One for each axis of the dataset.
    pub axes: Vec<Role>,
    /// The selected positions of each.
    pub counts: Vec<u64>,
}

impl Roles {
    /// The roles of the axes of a selection.
    pub(super) fn new(
        dataset: &Dataset,
        slab: &Hyperslab,
        reduction: &Reduction,
    ) -> Result<(Roles, Vec<usize>)> {
        let rank = dataset.grid.rank();
        if slab.axes().len() != rank {
            return Err(Error::misfit(dataset));
        }
        let counts = slab.counts();
        let mut folded = folded_axes(&reduction.axes, rank)?;
        let role = |axis: usize| {
            let fold = folded.contains(&axis) || !slab.axes()[axis].is_kept();
            let group = reduction.groups.iter().find(|groups| groups.axis == axis);
            let picks = reduction.picks.iter().find(|picks| picks.axis == axis);
            let window = reduction.window.as_ref().filter(|window| window.axis == axis);
            match (window, group, picks) {
                (Some(window), None, None) if reduction.groups.is_empty() => {
                    Ok(Role::Windows(Windows::new(window, counts[axis])))
                }
                (None, Some(groups), picks) => grouped(groups, picks, counts[axis]),
                (None, None, Some(picks)) => picked(picks, fold, counts[axis]),
                (None, None, None) => Ok(if fold { Role::Folded } else { Role::Each }),
                _ => Err(Error::Combined { axis }),
            }
        };
        let axes = (0..rank).map(role).collect::<Result<Vec<_>>>()?;
        folded.retain(|&axis| match &axes[axis] {
            Role::Folded => true,
            Role::Map(map) => map.along.is_none(),
            Role::Each | Role::Windows(_) => false,
        });
        Ok((Roles { axes, counts }, folded))
    }

    /// How many cells an axis has.
    pub(super) fn extent(&self, axis: usize) -> u64 {
        match &self.axes[axis] {
            Role::Folded => 1,
            Role::Each => self.counts[axis],
            Role::Map(map) => map.count,
            Role::Windows(windows) => windows.count,
        }
    }

    /// The axes that appear in the result.
    pub(super) fn shown(&self) -> Vec<usize> {
        (0..self.axes.len()).filter(|&axis| self.is_shown(axis)).collect()
    }

    /// Whether an element may lie in several windows.
    pub(super) fn windows_overlap(&self) -> bool {
        let overlap = |role: &Role| matches!(role, Role::Windows(windows) if windows.overlap());
        self.axes.iter().any(overlap)
    }

    /// Whether an axis appears in the result.
    pub(super) fn is_shown(&self, axis: usize) -> bool {
        match &self.axes[axis] {
            Role::Folded => false,
            Role::Map(map) => map.is_shown(),
            Role::Each | Role::Windows(_) => true,
        }
    }

    /// Whether the selected positions of a chunk all fold into one cell, and each once.
    pub(super) fn is_one_cell(&self, boxes: &[AxisBox]) -> bool {
        self.axes.iter().zip(boxes).all(|(role, part)| match role {
            Role::Folded => true,
            Role::Each => part.count == 1,
            Role::Map(map) => {
                let range = usize::try_from(part.at).ok().zip(usize::try_from(part.count).ok());
                let cells = range.and_then(|(at, count)| map.cell_of.get(at..)?.get(..count));
                let first =
                    cells.and_then(<[u32]>::first).filter(|&&cell| cell != AxisGroups::NONE);
                first.is_some_and(|first| {
                    cells.is_some_and(|cells| cells.iter().all(|it| it == first))
                })
            }
            Role::Windows(windows) => windows.is_in_one(part.at..part.at + part.count),
        })
    }

    /// The extents of the result.
    pub(super) fn shape(&self) -> Vec<u64> {
        self.shown().into_iter().map(|axis| self.extent(axis)).collect()
    }

    /// The meaning of the axes of the result.
    pub(super) fn along(&self) -> Vec<Along> {
        let along = |axis: usize| match &self.axes[axis] {
            Role::Map(Map { along: Some(along), .. }) => along.clone(),
            Role::Windows(windows) => Along::Windows {
                axis,
                first: windows.first,
                step: windows.step,
                size: windows.size,
            },
            _ => Along::Axis(axis),
        };
        self.shown().into_iter().map(along).collect()
    }

    /// Whether positions along an axis distinguish the elements of one cell.
    pub(super) fn is_indexed(&self, axis: usize) -> bool {
        match &self.axes[axis] {
            Role::Each => false,
            Role::Map(map) => !matches!(map.along, Some(Along::Picks(_))),
            Role::Folded | Role::Windows(_) => true,
        }
    }

    /// How many elements each cell has, by arithmetic alone; padded windows are full.
    pub(super) fn element_counts(&self, padded: bool) -> Vec<u64> {
        if self.shape().contains(&0) {
            return Vec::new();
        }
        let mut cells = vec![1_u64];
        for (axis, role) in self.axes.iter().enumerate() {
            let counts: Vec<u64> = match role {
                Role::Folded => vec![self.counts[axis]],
                Role::Each => {
                    let extent = usize::try_from(self.counts[axis]).unwrap_or(usize::MAX);
                    repeat(&mut cells, extent);
                    continue;
                }
                Role::Map(map) => map.sizes(),
                Role::Windows(windows) if padded => {
                    (0..windows.count).map(|_| windows.size).collect()
                }
                Role::Windows(windows) => (0..windows.count)
                    .map(|window| windows.positions(window))
                    .map(|positions| positions.end - positions.start)
                    .collect(),
            };
            let each = |&cell: &u64| counts.iter().map(move |&count| cell.saturating_mul(count));
            cells = cells.iter().flat_map(each).collect();
        }
        cells
    }

    /// The most elements of one cell.
    pub(super) fn cell_elements(&self) -> u64 {
        let of = |(role, &count): (&Role, &u64)| match role {
            Role::Folded => count,
            Role::Each => 1,
            Role::Map(map) => map.sizes().into_iter().max().unwrap_or(0),
            Role::Windows(windows) => windows.size.min(count),
        };
        self.axes.iter().zip(&self.counts).map(of).fold(1, u64::saturating_mul)
    }

    /// How often each selected element is passed over, about, when every cell is sought in by itself:
    /// groups pick from all positions.
    pub(super) fn turns(&self) -> u64 {
        let of = |role: &Role| match role {
            Role::Map(map) => map.count,
            _ => 1,
        };
        self.axes.iter().map(of).map(|turns| turns.max(1)).fold(1, u64::saturating_mul)
    }

    /// How many elements one position of a window has in a cell: those of the folded axes.
    pub(super) fn folded_elements(&self) -> u64 {
        let of = |(role, &count): (&Role, &u64)| match role {
            Role::Folded => count,
            Role::Map(map) if map.along.is_none() => map.sizes().first().copied().unwrap_or(0),
            _ => 1,
        };
        self.axes.iter().zip(&self.counts).map(of).fold(1, u64::saturating_mul)
    }
}

/// Every cell `count` times.
fn repeat(cells: &mut Vec<u64>, count: usize) {
    *cells = cells.iter().flat_map(|&cell| std::iter::repeat_n(cell, count)).collect();
}

impl Map {
    /// Whether its cells appear in the result.
    pub(super) fn is_shown(&self) -> bool {
        self.along.is_some()
    }

    /// How many positions each cell has.
    fn sizes(&self) -> Vec<u64> {
        let mut sizes = vec![0; usize::try_from(self.count).unwrap_or(usize::MAX)];
        for &cell in self.cell_of.iter().filter(|&&cell| cell != AxisGroups::NONE) {
            sizes[cell as usize] += 1;
        }
        sizes
    }
}

/// The axes that are folded, in order.
fn folded_axes(axes: &Axes, rank: usize) -> Result<Vec<usize>> {
    let Axes::Some(asked) = axes else { return Ok((0..rank).collect()) };
    let mut sorted = asked.clone();
    sorted.sort_unstable();
    let twice = sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
    let past = sorted.last().copied().filter(|&axis| rank <= axis);
    match twice.or(past) {
        Some(axis) => Err(Error::Axis { axis, rank }),
        None => Ok(sorted),
    }
}

/// A cell for every group, of the picked positions if some are picked.
fn grouped(groups: &AxisGroups, picks: Option<&AxisPicks>, count: u64) -> Result<Role> {
    let axis = groups.axis;
    let group_count = groups.labels.len();
    let fits = |&group: &u32| group == AxisGroups::NONE || (group as usize) < group_count;
    if groups.group_of.len() as u64 != count || !groups.group_of.iter().all(fits) {
        return Err(Error::Combined { axis });
    }
    let mut cell_of = Arc::clone(&groups.group_of);
    if let Some(picks) = picks {
        let kept = table(picks, count)?;
        let both =
            |(&group, &pick): (&u32, &u32)| if pick == AxisGroups::NONE { pick } else { group };
        cell_of = cell_of.iter().zip(&kept).map(both).collect();
    }
    let along = Some(Along::Groups(groups.clone()));
    Ok(Role::Map(Map { cell_of, count: group_count as u64, along }))
}

/// A cell for every picked position, or one for all.
fn picked(picks: &AxisPicks, fold: bool, count: u64) -> Result<Role> {
    let mut cell_of = table(picks, count)?;
    if !fold {
        let along = Some(Along::Picks(picks.clone()));
        let count = picks.positions.len() as u64;
        return Ok(Role::Map(Map { cell_of: cell_of.into(), count, along }));
    }
    cell_of.iter_mut().filter(|cell| **cell != AxisGroups::NONE).for_each(|cell| *cell = 0);
    Ok(Role::Map(Map { cell_of: cell_of.into(), count: 1, along: None }))
}

/// For every selected position its number among the picked ones.
fn table(picks: &AxisPicks, count: u64) -> Result<Vec<u32>> {
    let wrong = || Error::Combined { axis: picks.axis };
    let len = usize::try_from(count).map_err(|_| wrong())?;
    let ascending = picks.positions.is_sorted_by(|a, b| a < b);
    if !ascending || picks.positions.last().is_some_and(|&last| count <= last) {
        return Err(wrong());
    }
    let mut cell_of = vec![AxisGroups::NONE; len];
    for (number, &position) in picks.positions.iter().enumerate() {
        let position = usize::try_from(position).map_err(|_| wrong())?;
        cell_of[position] = u32::try_from(number).map_err(|_| wrong())?;
    }
    Ok(cell_of)
}
