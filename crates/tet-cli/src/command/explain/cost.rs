//! The passes and the memory of a query, as the engine reports them, and what is read for one position
//! of each axis.

use tet_document::{Ask, Resolved};
use tet_format::DType;
use tet_query::{
    ChunkRead, Dataset, Execution, Hyperslab, LazyArray, Passes, ReadPlan, ReadRange, StatisticsUse,
};

use crate::command::query::plan::{Reads, counts, element_count};
use crate::context::Context;
use crate::exit::Result;
use crate::render::json::AxisCostShape;

/// The passes and the memory of a query.
#[derive(Debug)]
pub(super) struct Cost {
    /// The number of passes over the values.
    pub(super) passes: Passes,
    /// Whether some of them compare chunks with their digests.
    pub(super) is_compared: bool,
    /// Bytes of the selected elements.
    pub(super) selected_len: u64,
    /// The approximate memory of the query in bytes.
    pub(super) memory_len: u64,
    /// Bytes of chunks that are decoded whole, or bytes that are read.
    pub(super) handled_len: u64,
    /// The chunks that are not read.
    pub(super) statistics: StatisticsUse,
}

impl Cost {
    /// The cost of a query and its plan.
    ///
    /// # Errors
    ///
    /// The query cannot be executed.
    pub(super) fn new(resolved: &Resolved, reads: &Reads, how: &Execution) -> Result<Cost> {
        let (dataset, slab) = (&resolved.dataset, &resolved.slab);
        let lazy = |choice, transform| LazyArray::cost(dataset, slab, choice, transform, how);
        let cost = match &resolved.ask {
            Ask::Align(_) => tet_query::Cost::default(),
            Ask::Values(choice) => lazy(choice, None)?,
            Ask::Transform(choice, transform) => lazy(choice, Some(transform))?,
            Ask::Reduce(reduction) => dataset.reduce_cost(slab, reduction, how)?,
        };
        Ok(Cost {
            passes: cost.passes,
            is_compared: cost.is_compared,
            selected_len: element_count(&reads.plan, resolved)
                .saturating_mul(element_size(dataset)),
            memory_len: cost.memory_len,
            handled_len: reads.len.max(decoded_whole(dataset, &reads.plan)),
            statistics: cost.statistics,
        })
    }
}

/// Bytes of the chunks that are decoded whole.
fn decoded_whole(dataset: &Dataset, plan: &ReadPlan) -> u64 {
    let is_identity =
        |chunk: &ChunkRead| dataset.chunks.decoder(chunk.linear, &chunk.place).is_identity();
    let whole = plan.chunks().iter().filter(|chunk| !is_identity(chunk));
    whole.map(|chunk| chunk.place.decoded_len).fold(0, u64::saturating_add)
}

fn element_size(dataset: &Dataset) -> u64 {
    dataset.dtype.and_then(DType::size).unwrap_or(0)
}

/// Reads for one position of each axis that is not dropped: the plan for its first position.
///
/// # Errors
///
/// A chunk cannot be found.
pub(super) fn axes(
    resolved: &Resolved,
    how: &Execution,
    context: &Context<'_>,
) -> Result<Vec<AxisCostShape>> {
    let (dataset, slab) = (&resolved.dataset, &resolved.slab);
    let mut costs = Vec::new();
    if matches!(resolved.ask, Ask::Align(_)) || slab.is_empty() {
        return Ok(costs);
    }
    let counts = counts(resolved);
    let selected = counts.iter().copied().fold(element_size(dataset), u64::saturating_mul);
    for (axis, slice) in slab.axes().iter().enumerate().filter(|(_, slice)| slice.is_kept()) {
        let positions = counts.get(axis).copied().unwrap_or_else(|| slice.count());
        context.check_cancelled()?;
        let mut slices = slab.axes().to_vec();
        if let Some(one) = slices.get_mut(axis) {
            one.stop = one.start.saturating_add(1);
        }
        let Some(one) = Hyperslab::new(slices, dataset.shape()) else { continue };
        let plan = dataset.plan(&one, how)?;
        let mut read_len = 0_u64;
        let add = &mut |run: ReadRange| read_len = read_len.saturating_add(run.span.len());
        dataset.read_runs(&one, how, add)?;
        costs.push(AxisCostShape {
            axis,
            dim: dataset.dims.get(axis).cloned(),
            positions,
            chunks: u64::try_from(plan.chunks().len()).unwrap_or(u64::MAX),
            read_len,
            selected_len: selected.checked_div(positions).unwrap_or(0),
        });
    }
    Ok(costs)
}
