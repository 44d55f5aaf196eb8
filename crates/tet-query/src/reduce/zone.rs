//! What statistics tell about the chunks of a plan: which of them a pass need not read.
//!
//! ```text
//!   no element passes the filter                     skipped, whatever is selected of the chunk
//!   wholly selected, in one cell, the kernel knows   its statistics are folded, in the task of its first element
//!   otherwise                                        read
//! ```
//!
//! The cut into tasks stays as it is, so the same bits come out. Kernels that know what statistics do to them come to
//! the same state by them as by the elements, in whatever order.

use tet_file::StatisticsCheck;

use super::fold::cell_of;
use super::layout::Layout;
use super::role::Roles;
use crate::budget::{DigestPolicy, Execution, StatisticsPolicy};
use crate::catalog::Dataset;
use crate::error::Result;
use crate::kernel::{KnownChunk, Maker, State, Verdict};
use crate::plan::piece::{chunk_elements, element_count};
use crate::plan::touch::AxisBox;
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
    let may_know = !makers.is_empty() && makers.iter().all(|maker| maker.knows);
    let statistics = dataset.chunks.statistics().filter(|&(dtype, statistics)| {
        Some(dtype) == dataset.dtype && statistics.block_len() < plan.stored_len
    });
    let Some((_, statistics)) = statistics.filter(|_| may_know) else { return Ok(plan) };
    // States that only tell what becomes of a chunk.
    let mut states: Vec<Box<dyn State>> = makers.iter().map(|maker| maker.make(1)).collect();
    let mut cursor = plan.touch.cursor();
    let mut zones = Vec::with_capacity(plan.chunks().len());
    for read in plan.chunks() {
        let Some(boxes) = cursor.boxes() else { break };
        let zone = if read.place.is_absent() {
            Zone::Read
        } else {
            let statistics = statistics.of_row(read.place.row, check)?;
            let chunk = KnownChunk { count: chunk_elements(boxes), statistics };
            let is_one = element_count(boxes) == chunk.count && roles.is_one_cell(boxes);
            zone_of(&mut states, &chunk, is_one)
        };
        zones.push(zone);
        cursor.advance();
    }
    let is_read = zones.iter().all(|zone| *zone == Zone::Read);
    Ok(if is_read { plan } else { plan.with_zones(zones, check == StatisticsCheck::Compared) })
}

/// What becomes of a chunk; `is_one`: whether all of it is selected and in one cell.
fn zone_of(states: &mut [Box<dyn State>], chunk: &KnownChunk, is_one: bool) -> Zone {
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
    states: &mut [Box<dyn State>],
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
