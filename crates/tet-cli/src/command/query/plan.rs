//! Prints a plan: what a query would read.

use std::collections::BTreeSet;

use tet_document::{Ask, Resolved};
use tet_query::{AxisPositions, Execution, ReadPlan, ReadRange};

use crate::context::Context;
use crate::exit::Result;
use crate::render::json::{ChunkPlan, PlanShape};
use crate::render::table::{Side, Table};
use crate::size::{Size, counted, grouped};

/// Reads of one pass.
#[derive(Debug)]
pub(crate) struct Reads {
    /// The chunks to read.
    pub(crate) plan: ReadPlan,
    /// The number of runs.
    pub(crate) count: u64,
    /// The bytes of all runs.
    pub(crate) len: u64,
    /// The number of requests, where the dataset is on a server.
    pub(crate) requests: Option<u64>,
    /// The files of their own that the chunks are in.
    objects: BTreeSet<u32>,
    /// The first run that reads each chunk, if requested.
    first: Option<Vec<Option<u64>>>,
}

impl Reads {
    /// Counts the runs of a query; finds the first run of each chunk if requested.
    ///
    /// # Errors
    ///
    /// The query cannot be executed.
    pub(crate) fn new(
        resolved: &Resolved,
        plan: ReadPlan,
        how: &Execution,
        with_chunks: bool,
    ) -> Result<Reads> {
        let (dataset, slab) = (&resolved.dataset, &resolved.slab);
        let is_remote = how.access.is_remote() || dataset.source.access().is_remote();
        let requests = is_remote.then_some(0);
        let (count, len, objects) = (0, 0, BTreeSet::new());
        let mut reads = Reads { plan, count, len, requests, objects, first: None };
        let chunks = if with_chunks { reads.plan.chunks() } else { &[] };
        let mut order: Vec<usize> = (0..chunks.len()).collect();
        let run_of = |at: usize| {
            let place = chunks[at].place;
            ReadRange { object: place.object, span: place.stored }
        };
        order.sort_by_key(|&at| run_of(at));
        let mut first = vec![None; chunks.len()];
        let visit = &mut |run: ReadRange| {
            if let Some(requests) = &mut reads.requests {
                let object = dataset.chunks.object(run.object).ok().flatten();
                if object.is_some() {
                    reads.objects.insert(run.object);
                }
                let source = object.as_ref().unwrap_or(&dataset.source);
                *requests = requests.saturating_add(source.request_count(run.span));
            }
            let ends_before =
                |it: ReadRange| (it.object, it.span.end()) <= (run.object, run.span.start());
            let start = order.partition_point(|&at| ends_before(run_of(at)));
            let begins_in =
                |it: ReadRange| it.object == run.object && it.span.start() < run.span.end();
            let read = |at: &&usize| begins_in(run_of(**at));
            for &at in order.iter().skip(start).take_while(read) {
                first[at].get_or_insert(reads.count);
            }
            reads.count += 1;
            reads.len = reads.len.saturating_add(run.span.len());
        };
        match &resolved.ask {
            Ask::Align(_) => {}
            Ask::Reduce(reduction) => {
                dataset.reduce_runs(slab, reduction, how, visit)?;
            }
            Ask::Values(_) | Ask::Transform(..) => dataset.read_runs(slab, how, visit)?,
        }
        reads.first = with_chunks.then_some(first);
        Ok(reads)
    }
}

/// The number of selected positions of each axis, where the plan may be of more.
pub(crate) fn counts(resolved: &Resolved) -> Vec<u64> {
    let counts = resolved.positions.iter().map(AxisPositions::count);
    counts.map(|count| u64::try_from(count).unwrap_or(u64::MAX)).collect()
}

/// The number of selected elements, where the plan may be of all around them.
pub(crate) fn element_count(plan: &ReadPlan, resolved: &Resolved) -> u64 {
    match &resolved.ask {
        Ask::Align(_) => plan.element_count,
        _ => counts(resolved).into_iter().fold(1, u64::saturating_mul),
    }
}

/// The plan as JSON.
pub(crate) fn shape(reads: &Reads, resolved: &Resolved) -> PlanShape {
    let plan = &reads.plan;
    let element_size = resolved.dataset.dtype.and_then(|dtype| dtype.size()).unwrap_or(0);
    let is_array = matches!(resolved.ask, Ask::Values(_) | Ask::Transform(..));
    let elements = element_count(plan, resolved);
    let memory_len = if is_array { elements.saturating_mul(element_size) } else { 0 };
    PlanShape {
        chunks: u64::try_from(plan.chunks().len()).unwrap_or(u64::MAX),
        spans: plan.span_count,
        runs: reads.count,
        requests: reads.requests,
        stored_len: reads.len,
        decoded_len: plan.decoded_len,
        elements,
        memory_len,
        chunk_list: reads.first.as_ref().map(|first| chunk_list(plan, first, resolved)),
    }
}

fn chunk_list(plan: &ReadPlan, first: &[Option<u64>], resolved: &Resolved) -> Vec<ChunkPlan> {
    let table = &resolved.dataset.chunks;
    let chunk = |(read, &run): (&tet_query::ChunkRead, &Option<u64>)| ChunkPlan {
        coord: resolved.dataset.grid.coord_of(read.linear),
        offset: read.place.stored.start(),
        stored_len: read.place.stored.len(),
        codec: table.decoder(read.linear, &read.place).full_name().to_owned(),
        run,
    };
    plan.chunks().iter().zip(first).map(chunk).collect()
}

/// Prints the plan as text.
pub(crate) fn write_text(
    reads: &Reads,
    resolved: &Resolved,
    context: &mut Context<'_>,
) -> Result<()> {
    let dataset = &resolved.dataset;
    let mut table = Table::new(&[("", Side::Left), ("", Side::Left)]);
    table.row(["plan", &format!("{} {}", dataset.name, dataset.dtype_name)]);
    for (name, text) in rows(reads, resolved) {
        table.row([name, &text]);
    }
    for line in table.lines(None, context.paint) {
        context.line(line)?;
    }
    Ok(())
}

/// The facts about a plan, with names.
pub(crate) fn rows(reads: &Reads, resolved: &Resolved) -> Vec<(&'static str, String)> {
    let plan = &reads.plan;
    let grid = &resolved.dataset.grid;
    let count = u64::try_from(plan.chunks().len()).unwrap_or(u64::MAX);
    let part = format!("{} of {}", shape_text(&counts(resolved)), grid.shape());
    let elements = counted(element_count(plan, resolved), "element");
    let mut rows = vec![
        ("selected", format!("{part}, {elements}")),
        ("chunks", format!("{} of {}", grouped(count), grouped(grid.chunk_count()))),
        ("spans", grouped(plan.span_count)),
        ("runs", grouped(reads.count)),
        ("to read", format!("{} ({} bytes)", Size(reads.len), reads.len)),
        ("decoded", format!("{} ({} bytes)", Size(plan.decoded_len), plan.decoded_len)),
    ];
    if let Some(requests) = reads.requests {
        let mut text = format!("{} to the server", grouped(requests));
        if matches!(resolved.ask, Ask::Values(_) | Ask::Transform(..)) {
            text += " for all values";
        }
        if let Ok(count @ 1..) = u64::try_from(reads.objects.len()) {
            text += &format!(", besides those that open {}", counted(count, "file"));
        }
        rows.insert(4, ("requests", text));
    }
    rows
}

/// Prints the chunks, if requested, one on each line.
pub(crate) fn write_chunks(
    reads: &Reads,
    resolved: &Resolved,
    context: &mut Context<'_>,
) -> Result<()> {
    let Some(first) = &reads.first else { return Ok(()) };
    let columns = [
        ("chunk", Side::Left),
        ("offset", Side::Right),
        ("stored", Side::Right),
        ("codec", Side::Left),
        ("run", Side::Right),
    ];
    let mut table = Table::new(&columns);
    for chunk in chunk_list(&reads.plan, first, resolved) {
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
