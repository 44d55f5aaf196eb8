//! Advice if the chunk shape does not suit the query.

use tet_document::Resolved;
use tet_query::ReadPlan;

use super::cost::Cost;
use crate::command::query::plan::Reads;
use crate::render::json::AdviceShape;
use crate::size::{Size, grouped};

/// Advice is given if more than this many times the selected bytes are read.
const AMPLIFICATION_MAX: u64 = 4;
/// Advice is given if there are more chunks than this and each is shorter than [`TINY_LEN`] bytes.
const TINY_COUNT: u64 = 10_000;
const TINY_LEN: u64 = 4 << 10;
/// Advice is given if a chunk has this many bytes, because chunks are decoded whole.
const HUGE_LEN: u64 = 1 << 30;

/// How to read less or need less memory; empty if there is no advice.
pub(super) fn advice(resolved: &Resolved, reads: &Reads, cost: &Cost) -> Vec<AdviceShape> {
    let plan = &reads.plan;
    let texts = [
        ("amplification", amplification(resolved, reads, cost)),
        ("all-chunks", all_chunks(resolved, plan, cost)),
        ("tiny-chunks", tiny_chunks(plan)),
        ("small-runs", small_runs(reads)),
        ("huge-chunk", huge_chunk(plan)),
    ];
    let texts = texts.into_iter();
    texts.filter_map(|(code, text)| Some(AdviceShape { code, text: text? })).collect()
}

/// The bytes that are read or decoded, divided by the selected bytes.
fn times(cost: &Cost) -> u64 {
    cost.handled_len.checked_div(cost.selected_len).unwrap_or(0)
}

fn amplification(resolved: &Resolved, reads: &Reads, cost: &Cost) -> Option<String> {
    let times = times(cost);
    if times <= AMPLIFICATION_MAX {
        return None;
    }
    let what = if reads.len < cost.handled_len { "decoded" } else { "read" };
    let axis = worst_axis(resolved)?;
    let name = name(resolved, axis);
    let chunk = resolved.dataset.grid.chunk_shape().get(axis).copied()?;
    Some(format!(
        "{} times the selected bytes are {what}, because a chunk has {} positions of {name}: use \
         shorter chunks along {name} (tet convert --chunks)",
        grouped(times),
        grouped(chunk)
    ))
}

/// The axis along which the smallest part of a chunk is selected.
fn worst_axis(resolved: &Resolved) -> Option<usize> {
    let grid = &resolved.dataset.grid;
    let axes = resolved.slab.axes().iter().zip(grid.chunk_shape().iter()).enumerate();
    // Chunk positions for each selected one, in thousandths.
    let waste = |(axis, (slice, &chunk)): (usize, (&tet_query::AxisSlice, &u64))| {
        let (chunk, count) = (chunk.max(1), slice.count().max(1));
        let last = slice.last().unwrap_or(slice.start);
        let touched = (last / chunk - slice.start / chunk + 1).saturating_mul(chunk);
        let extent = grid.shape().get(axis).copied().unwrap_or(chunk);
        (touched.min(extent).saturating_mul(1000) / count, axis)
    };
    axes.map(waste).max_by_key(|&(waste, _)| waste).map(|(_, axis)| axis)
}

fn name(resolved: &Resolved, axis: usize) -> String {
    let name = resolved.dataset.dims.get(axis);
    name.map_or_else(|| format!("axis {axis}"), |name| format!("{name:?}"))
}

fn all_chunks(resolved: &Resolved, plan: &ReadPlan, cost: &Cost) -> Option<String> {
    let grid = &resolved.dataset.grid;
    let (all, touched) = (grid.chunk_count(), u64::try_from(plan.chunks().len()).ok()?);
    let elements = grid.shape().element_count()?;
    let share = elements.checked_div(plan.element_count)?;
    // If much more is read than selected, other advice reports it.
    if touched < all || all < 8 || share < 8 || AMPLIFICATION_MAX < times(cost) {
        return None;
    }
    Some(format!(
        "all {} chunks are read for one element in {}: use chunks that are longer along the axes \
         selected whole, and shorter along the others (tet convert --chunks)",
        grouped(all),
        grouped(share)
    ))
}

fn tiny_chunks(plan: &ReadPlan) -> Option<String> {
    let count = u64::try_from(plan.chunks().len()).ok()?;
    let each = plan.stored_len.checked_div(count)?;
    (TINY_COUNT < count && each < TINY_LEN).then(|| {
        format!(
            "{} chunks of {} on average: use larger chunks (tet convert --chunks)",
            grouped(count),
            Size(each)
        )
    })
}

fn small_runs(reads: &Reads) -> Option<String> {
    let each = reads.len.checked_div(reads.count)?;
    let chunks = u64::try_from(reads.plan.chunks().len()).ok()?;
    // If the chunks are small, other advice reports it.
    (TINY_COUNT < reads.count && each < TINY_LEN && chunks <= TINY_COUNT).then(|| {
        format!(
            "{} runs of {} on average: select whole chunks to read fewer runs",
            grouped(reads.count),
            Size(each)
        )
    })
}

fn huge_chunk(plan: &ReadPlan) -> Option<String> {
    let longest = plan.chunks().iter().map(|chunk| chunk.place.decoded_len).max()?;
    (HUGE_LEN < longest).then(|| {
        let size = Size(longest);
        format!("a chunk has {size}: use smaller chunks, so that several threads can read them")
    })
}
