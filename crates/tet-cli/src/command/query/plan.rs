//! A plan, told: what would be read.

use tet_document::{Ask, Resolved};
use tet_query::ReadPlan;

use crate::context::Context;
use crate::exit::Result;
use crate::render::json::{ChunkPlan, PlanShape};
use crate::render::table::{Side, Table};
use crate::size::{Size, counted, grouped};

/// The plan for programs.
pub(crate) fn shape(plan: &ReadPlan, resolved: &Resolved<'_>, with_chunks: bool) -> PlanShape {
    let element_size = resolved.dataset.dtype.and_then(|dtype| dtype.size()).unwrap_or(0);
    let is_array = matches!(resolved.ask, Ask::Values(_) | Ask::Transform(..));
    let memory_len = if is_array { plan.element_count.saturating_mul(element_size) } else { 0 };
    PlanShape {
        chunks: u64::try_from(plan.chunks().len()).unwrap_or(u64::MAX),
        spans: plan.span_count,
        runs: plan.run_count,
        stored_len: plan.read_len,
        decoded_len: plan.decoded_len,
        elements: plan.element_count,
        memory_len,
        chunk_list: with_chunks.then(|| chunk_list(plan, resolved)),
    }
}

fn chunk_list(plan: &ReadPlan, resolved: &Resolved<'_>) -> Vec<ChunkPlan> {
    let codecs = resolved.dataset.codecs();
    let runs = first_runs(plan);
    let chunk = |(at, read): (usize, &tet_query::ChunkRead)| ChunkPlan {
        coord: resolved.dataset.grid.coord_of(read.linear),
        offset: read.place.stored.start(),
        stored_len: read.place.stored.len(),
        codec: codecs
            .get(usize::from(read.place.codec))
            .map_or("?", |codec| codec.name())
            .to_owned(),
        run: runs.get(at).copied().flatten(),
    };
    plan.chunks().iter().enumerate().map(chunk).collect()
}

/// The first run that reads of each chunk.
fn first_runs(plan: &ReadPlan) -> Vec<Option<usize>> {
    let mut first = vec![None; plan.chunks().len()];
    let order: Vec<usize> = plan.file_order().collect();
    for (number, run) in plan.runs().enumerate() {
        for &at in order.get(run.members).unwrap_or_default() {
            first[at].get_or_insert(number);
        }
    }
    first
}

/// The plan for people.
pub(crate) fn write_text(
    plan: &ReadPlan,
    resolved: &Resolved<'_>,
    with_chunks: bool,
    context: &mut Context<'_>,
) -> Result<()> {
    let dataset = resolved.dataset;
    let mut table = Table::new(&[("", Side::Left), ("", Side::Left)]);
    table.row(["plan", &format!("{} {}", dataset.name, dataset.dtype_name)]);
    for (name, text) in rows(plan, resolved) {
        table.row([name, &text]);
    }
    for line in table.lines(None, context.paint) {
        context.line(line)?;
    }
    if with_chunks { write_chunks(plan, resolved, context) } else { Ok(()) }
}

/// What there is to say of a plan, line by line.
pub(crate) fn rows(plan: &ReadPlan, resolved: &Resolved<'_>) -> [(&'static str, String); 6] {
    let grid = &resolved.dataset.grid;
    let count = u64::try_from(plan.chunks().len()).unwrap_or(u64::MAX);
    let part = format!("{} of {}", shape_text(&resolved.slab.counts()), grid.shape());
    [
        ("selected", format!("{part}, {}", counted(plan.element_count, "element"))),
        ("chunks", format!("{} of {}", grouped(count), grouped(grid.chunk_count()))),
        ("spans", grouped(plan.span_count)),
        ("runs", grouped(plan.run_count)),
        ("to read", format!("{} ({} bytes)", Size(plan.read_len), plan.read_len)),
        ("decoded", format!("{} ({} bytes)", Size(plan.decoded_len), plan.decoded_len)),
    ]
}

/// The chunks for people: a line each.
pub(crate) fn write_chunks(
    plan: &ReadPlan,
    resolved: &Resolved<'_>,
    context: &mut Context<'_>,
) -> Result<()> {
    let columns = [
        ("chunk", Side::Left),
        ("offset", Side::Right),
        ("stored", Side::Right),
        ("codec", Side::Left),
        ("run", Side::Right),
    ];
    let mut table = Table::new(&columns);
    for chunk in chunk_list(plan, resolved) {
        let run = chunk.run.map_or_else(String::new, |run| run.to_string());
        let (offset, stored) = (chunk.offset.to_string(), chunk.stored_len.to_string());
        table.row([shape_text(&chunk.coord), offset, stored, chunk.codec, run]);
    }
    context.line("")?;
    for line in table.lines(None, context.paint) {
        context.line(line)?;
    }
    Ok(())
}

/// `(3, 4)`.
pub(crate) fn shape_text(extents: &[u64]) -> String {
    tet_format::Shape::from(extents).to_string()
}
