//! Chunk pruning: the chunks of a plan that a pass need not read, by their statistics.
//!
//! ```text
//!   no element passes the filter                     skipped, whatever is selected of the chunk
//!   wholly selected, in one cell, the kernel knows   its statistics are folded, in the task of its first element
//!   no element can beat what other chunks have       skipped: minima, maxima and their positions, in the same cells
//!   otherwise                                        read
//! ```
//!
//! The cut into tasks stays as it is, so the same bits come out. Kernels that know what statistics do to them come to
//! the same state by them as by the elements, in whatever order.

use std::collections::BTreeSet;

use tet_file::{Statistics, StatisticsCheck};
use tet_format::ChunkStatistics;

use super::fold::cell_of;
use super::layout::Layout;
use super::role::{Role, Roles};
use crate::budget::{DigestPolicy, Execution, StatisticsPolicy};
use crate::catalog::{ChunkPlace, Dataset};
use crate::error::Result;
use crate::kernel::{KernelState, KnownChunk, Maker, Share, Verdict};
use crate::plan::piece::{chunk_elements, element_count};
use crate::plan::touch::{AxisBox, Touch};
use crate::plan::{ReadPlan, Zone};

/// The plan with what becomes of each of its chunks in a pass of these kernels.
///
/// Statistics are read where their block is shorter than what the plan reads.
///
/// # Errors
///
/// Returns an error when they cannot be read, or differ from their digest.
pub(super) fn judged(
    dataset: &Dataset,
    plan: ReadPlan,
    roles: &Roles,
    makers: &[Maker],
    how: &Execution,
) -> Result<ReadPlan> {
    let check = match (how.statistics, how.digests) {
        (StatisticsPolicy::Never, _) | (_, DigestPolicy::Always) => return Ok(plan),
        (StatisticsPolicy::Verified, _) => StatisticsCheck::Compared,
        (StatisticsPolicy::Trust, _) => StatisticsCheck::Trusted,
    };
    let mut axes = plan.touch.axes.iter().zip(&roles.axes);
    let has_columns = axes.any(|(axis, role)| matches!(role, Role::Folded) && axis.touched > 1);
    let can_skip = has_columns && makers.iter().all(|maker| maker.can_skip);
    let may_know = can_skip || makers.iter().all(|maker| maker.knows);
    if !may_know || makers.is_empty() || !is_worth_reading(dataset, &plan) {
        return Ok(plan);
    }
    let record = |place: &ChunkPlace| {
        let statistics = statistics_of(dataset, place.object);
        Ok(statistics.map(|statistics| statistics.of_row(place.row, check)).transpose()?)
    };
    // States that only tell what becomes of a chunk.
    let states = |count| makers.iter().map(|maker| maker.make(count)).collect::<Vec<_>>();
    let mut zones = vec![Zone::Read; plan.chunks().len()];
    let mut judges = states(1);
    for_known(&plan, roles, record, |nth, chunk, is_one| {
        zones[nth] = zone_of(&mut judges, chunk, is_one);
    })?;
    if can_skip {
        skip_outdone(&plan, roles, record, states, &mut zones)?;
    }
    let is_read = zones.iter().all(|zone| *zone == Zone::Read);
    Ok(if is_read { plan } else { plan.with_zones(zones, check == StatisticsCheck::Compared) })
}

/// Skips the chunks of which no element can beat what other chunks have in the same cells.
fn skip_outdone(
    plan: &ReadPlan,
    roles: &Roles,
    record: impl Fn(&ChunkPlace) -> Result<Option<ChunkStatistics>> + Copy,
    states: impl Fn(usize) -> Vec<Box<dyn KernelState>>,
    zones: &mut [Zone],
) -> Result<()> {
    let columns = Columns::new(&plan.touch, roles);
    let (mut folded, mut noted) = (states(columns.count), states(columns.count));
    for_known(plan, roles, record, |nth, chunk, is_one| {
        let (column, share) = (columns.column(nth), if is_one { Share::All } else { Share::Some });
        match zones[nth] {
            Zone::Known(_) => folded.iter_mut().for_each(|state| {
                state.fold_known(column, chunk);
            }),
            Zone::Read => {
                noted.iter_mut().for_each(|state| state.note_bound(column, chunk, share));
            }
            Zone::Skip => {}
        }
    })?;
    for_known(plan, roles, record, |nth, chunk, _| {
        let column = columns.column(nth);
        let mut pairs = folded.iter().zip(&noted);
        let are_outdone = pairs
            .all(|(folded, noted)| folded.can_skip(column, chunk) || noted.can_skip(column, chunk));
        if zones[nth] == Zone::Read && are_outdone {
            zones[nth] = Zone::Skip;
        }
    })
}

/// The statistics of an object, where they are of the elements of the dataset.
fn statistics_of(dataset: &Dataset, object: u32) -> Option<&Statistics> {
    let (dtype, statistics) = dataset.chunks.statistics(object)?;
    (Some(dtype) == dataset.dtype).then_some(statistics)
}

/// Whether there are statistics of chunks of a plan, and their blocks are shorter than what the plan reads.
fn is_worth_reading(dataset: &Dataset, plan: &ReadPlan) -> bool {
    let objects = plan.chunks().chunk_by(|a, b| a.place.object == b.place.object);
    let objects: BTreeSet<u32> = objects.map(|neighbors| neighbors[0].place.object).collect();
    let lens = objects.into_iter().filter_map(|object| statistics_of(dataset, object));
    let len = lens.map(Statistics::block_len).fold(0, u64::saturating_add);
    0 < len && len < plan.stored_len
}

/// Chunks by the cells that their elements are in: those of a column, which differ along folded axes alone, have the
/// same cells, and each has an element of every one of them.
struct Columns {
    /// For each axis, the last first, how many chunks are touched, and by how many columns neighbors are apart.
    axes: Vec<(usize, usize)>,
    count: usize,
}

impl Columns {
    fn new(touch: &Touch, roles: &Roles) -> Columns {
        let mut count = 1;
        let mut axes: Vec<(usize, usize)> = Vec::new();
        for (axis, role) in touch.axes.iter().zip(&roles.axes).rev() {
            // Together not more than the chunks of the plan, which are in memory.
            let touched = usize::try_from(axis.touched).unwrap_or(usize::MAX);
            let is_folded = matches!(role, Role::Folded);
            axes.push((touched, if is_folded { 0 } else { count }));
            count *= if is_folded { 1 } else { touched };
        }
        Columns { axes, count }
    }

    /// The column of a chunk of the plan.
    fn column(&self, nth: usize) -> usize {
        let (mut rest, mut column) = (nth, 0);
        for &(touched, step) in &self.axes {
            column += rest % touched * step;
            rest /= touched;
        }
        column
    }
}

/// Calls `visit` with the number of each chunk of a plan that has a record, what is known of the chunk, and whether all
/// of it is selected and in one cell.
fn for_known(
    plan: &ReadPlan,
    roles: &Roles,
    record: impl Fn(&ChunkPlace) -> Result<Option<ChunkStatistics>>,
    mut visit: impl FnMut(usize, &KnownChunk, bool),
) -> Result<()> {
    let mut cursor = plan.touch.cursor();
    for (nth, read) in plan.chunks().iter().enumerate() {
        let Some(boxes) = cursor.boxes() else { break };
        let is_absent = read.place.is_absent();
        if let Some(statistics) = if is_absent { None } else { record(&read.place)? } {
            let count = chunk_elements(boxes);
            let is_one = element_count(boxes) == count && roles.is_one_cell(boxes);
            visit(nth, &KnownChunk { count, statistics }, is_one);
        }
        cursor.advance();
    }
    Ok(())
}

/// The decision for a chunk; `is_one`: whether all of it is selected and in one cell.
fn zone_of(states: &mut [Box<dyn KernelState>], chunk: &KnownChunk, is_one: bool) -> Zone {
    let mut zone = Zone::Skip;
    for state in states {
        match state.fold_known(0, chunk) {
            Verdict::Skip => {}
            Verdict::Folded if is_one => zone = Zone::Known(chunk.statistics),
            Verdict::Folded | Verdict::Read => return Zone::Read,
        }
    }
    zone
}

/// Folds a chunk that is not read into the states of a task that has its first element; `boxes` are what the task has
/// of it.
pub(super) fn fold_zone(
    zone: Zone,
    boxes: &[AxisBox],
    layout: &Layout,
    states: &mut [Box<dyn KernelState>],
) -> Result<()> {
    let Zone::Known(statistics) = zone else { return Ok(()) };
    if boxes.iter().any(|part| part.first != 0) {
        return Ok(());
    }
    let chunk = KnownChunk { count: chunk_elements(boxes), statistics };
    if let Some(cell) = cell_of(boxes, layout)? {
        states.iter_mut().for_each(|state| {
            state.fold_known(cell, &chunk);
        });
    }
    Ok(())
}
