//! What a question costs beside bytes: passes, memory, and the price of each axis.

use tet_format::DType;
use tet_query::document::{Ask, Resolved};
use tet_query::{
    AxisSlice, Coalesce, Dataset, Execution, Hyperslab, Method, Op, ReadPlan, Reduction,
};

use crate::context::Context;
use crate::exit::Result;
use crate::render::json::AxisCostShape;

/// What is read in one go at most, in bytes.
const WINDOW_LEN_MAX: u64 = 1 << 20;
/// Bytes a cell of a result takes while it is computed, about.
const CELL_LEN: u64 = 64;

/// What a question costs beside bytes.
#[derive(Debug)]
pub(super) struct Cost {
    /// How often the values are read.
    pub(super) passes: u64,
    /// Bytes of the selected elements.
    pub(super) selected_len: u64,
    /// Bytes held at once, about.
    pub(super) memory_len: u64,
    /// Bytes of chunks that are decoded whole, or read at all.
    pub(super) handled_len: u64,
    /// The most bytes one chunk takes that is decoded whole: stored and decoded.
    pub(super) chunk_len_max: u64,
}

impl Cost {
    /// The cost of a plan.
    pub(super) fn of(resolved: &Resolved<'_>, plan: &ReadPlan, how: &Execution) -> Cost {
        let dataset = resolved.dataset;
        let selected_len = plan.element_count.saturating_mul(element_size(dataset));
        let (mut decoded_whole, mut chunk_len_max) = (0_u64, 0_u64);
        for chunk in plan.chunks() {
            let codec = dataset.codecs().get(usize::from(chunk.place.codec));
            if codec.is_some_and(|codec| !codec.is_identity()) {
                let decoded_len = chunk.place.decoded_len;
                decoded_whole = decoded_whole.saturating_add(decoded_len);
                let held = chunk.place.stored.len().saturating_add(decoded_len);
                chunk_len_max = chunk_len_max.max(held);
            }
        }
        Cost {
            passes: passes(resolved, selected_len, how),
            selected_len,
            memory_len: memory_len(resolved, plan, chunk_len_max, how),
            handled_len: plan.read_len.max(decoded_whole),
            chunk_len_max,
        }
    }
}

fn element_size(dataset: &Dataset) -> u64 {
    dataset.dtype.and_then(DType::size).unwrap_or(0)
}

/// How often the values are read for an answer.
fn passes(resolved: &Resolved<'_>, selected_len: u64, how: &Execution) -> u64 {
    match &resolved.ask {
        Ask::Align(_) => 0,
        Ask::Values(_) => 1,
        Ask::Reduce(reduction) => match reduction.op {
            Op::Median | Op::Quantile if how.memory_budget < selected_len => {
                // Two bytes of every element are settled in a pass.
                element_size(resolved.dataset).div_ceil(2).max(1)
            }
            Op::Histogram if reduction.params.range.is_none() => 2,
            _ => 1,
        },
        Ask::Transform(_, transform) => match transform.method {
            Method::Log1p | Method::Sqrt => 1,
            Method::Softmax => 3,
            _ => 2,
        },
    }
}

/// Bytes held at once: windows and chunks of every thread, and the result.
fn memory_len(
    resolved: &Resolved<'_>,
    plan: &ReadPlan,
    chunk_len_max: u64,
    how: &Execution,
) -> u64 {
    let threads = match how.threads {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        threads => threads,
    };
    let threads = u64::try_from(threads).unwrap_or(u64::MAX);
    let window = (how.memory_budget / 8).clamp(1 << 12, WINDOW_LEN_MAX);
    let each = chunk_len_max.saturating_add(2 * window);
    let workers = (how.memory_budget / each).clamp(1, threads.max(1));
    let all = plan.read_len.saturating_add(plan.decoded_len);
    let result = match &resolved.ask {
        Ask::Reduce(reduction) => cells(resolved, reduction).saturating_mul(CELL_LEN),
        _ => 0,
    };
    workers.saturating_mul(each).min(all).saturating_add(result)
}

/// How many cells a reduction has, about.
fn cells(resolved: &Resolved<'_>, reduction: &Reduction) -> u64 {
    let count = |(axis, slice): (usize, &AxisSlice)| {
        let groups = reduction.groups.iter().find(|groups| groups.axis == axis);
        let window = reduction.window.as_ref().filter(|window| window.axis == axis);
        let folded = match &reduction.axes {
            tet_query::Axes::All => true,
            tet_query::Axes::Some(axes) => axes.is_empty() || axes.contains(&axis),
        };
        match (groups, window) {
            (Some(groups), _) => u64::try_from(groups.labels.len()).unwrap_or(u64::MAX),
            (None, Some(window)) => slice.count().div_ceil(window.step.max(1)),
            (None, None) if folded => 1,
            (None, None) => slice.count(),
        }
    };
    let axes = resolved.slab.axes().iter().enumerate();
    axes.map(count).fold(1, |all: u64, count| all.saturating_mul(count.max(1)))
}

/// What one position of each kept axis costs, by planning to read the first of them alone.
///
/// # Errors
///
/// A chunk cannot be found.
pub(super) fn axes(resolved: &Resolved<'_>, context: &Context<'_>) -> Result<Vec<AxisCostShape>> {
    let (dataset, slab) = (resolved.dataset, &resolved.slab);
    let mut costs = Vec::new();
    if matches!(resolved.ask, Ask::Align(_)) || slab.is_empty() {
        return Ok(costs);
    }
    for (axis, slice) in slab.axes().iter().enumerate().filter(|(_, slice)| slice.is_kept()) {
        context.check_cancelled()?;
        let mut slices = slab.axes().to_vec();
        if let Some(one) = slices.get_mut(axis) {
            one.stop = one.start.saturating_add(1);
        }
        let Some(one) = Hyperslab::new(slices, dataset.shape()) else { continue };
        let plan = tet_query::plan(dataset, &one, Coalesce::DEFAULT)?;
        costs.push(AxisCostShape {
            axis,
            dim: dataset.dims.get(axis).cloned(),
            positions: slice.count(),
            chunks: u64::try_from(plan.chunks().len()).unwrap_or(u64::MAX),
            read_len: plan.read_len,
            selected_len: plan.element_count.saturating_mul(element_size(dataset)),
        });
    }
    Ok(costs)
}
