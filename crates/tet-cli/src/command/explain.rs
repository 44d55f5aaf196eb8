//! `tet explain`: the plan of a query, what is read for one position of each axis, and advice.

mod advice;
mod cost;

use std::path::Path;

use tet_convert::Opened;
use tet_document::{Ask, Query, Resolved};
use tet_io::Access;
use tet_query::{Execution, Passes, ReadPlan, StatisticsUse};

use crate::args::ExplainArgs;
use crate::command::query::plan::{self, Reads};
use crate::command::query::{self, question};
use crate::context::Context;
use crate::exit::{Exit, Result};
use crate::open;
use crate::render::json::{AxisCostShape, Explained, StatisticsShape};
use crate::render::table::{Side, Table};
use crate::size::{Size, grouped};
use cost::Cost;

/// Runs the command; requests to servers cost `access`.
///
/// # Errors
///
/// The query is invalid, or the file cannot be read.
pub(crate) fn run(args: &ExplainArgs, access: Access, context: &mut Context<'_>) -> Result<Exit> {
    let access = if args.remote { access } else { Access::LOCAL };
    let question = question::parse(&args.question, context)?;
    if args.question.print_doc {
        context.line(question.query.to_json())?;
        return Ok(Exit::Done);
    }
    let file = question.file;
    explain((args, access), &file, question.query, context)
        .map_err(|failure| failure.about(&file))?;
    Ok(Exit::Done)
}

fn explain(
    (args, access): (&ExplainArgs, Access),
    file: &Path,
    query: Query,
    context: &mut Context<'_>,
) -> Result<()> {
    let (opened, query) =
        query::open_for(file, query, (args.question.meaning, &args.read), context)?;
    let queries = query::each(&opened, query, false)?;
    open::warnings(&opened, &args.read).iter().for_each(|warning| context.warn(warning));
    for (at, query) in queries.iter().enumerate() {
        if at > 0 && !args.json {
            context.line("")?;
        }
        one((args, access), (file, &opened), query, queries.len() == 1, context)?;
    }
    Ok(())
}

/// Explains a query about one dataset.
fn one(
    (args, access): (&ExplainArgs, Access),
    (file, opened): (&Path, &Opened),
    query: &Query,
    is_one: bool,
    context: &mut Context<'_>,
) -> Result<()> {
    let how = query::execution(&args.read, query, opened, context);
    let how = Execution { access, ..how };
    let resolved = query::resolve(query, &opened.catalog, &how)?;
    let asked = op(&resolved);
    let cost_of = |plan: &ReadPlan, reads: &Reads| Cost::new(&resolved, (plan, reads), &how);
    let resolved = query::around(&resolved, &opened.catalog);
    context.selection_notes(&resolved.notes);
    let plan = query::plan_of(&resolved, &how)?;
    let reads = Reads::new(&resolved, &plan, &how, args.plan_chunks)?;
    let cost = cost_of(&plan, &reads)?;
    let axes = cost::axes(&resolved, &how, context)?;
    let advice = advice::advice(&resolved, (&plan, &reads), &cost);
    opened.catalog.check_unchanged()?;
    if args.json {
        let explained = Explained {
            schema: "tet.explain/1",
            file: tet_io::without_secrets(file).into_owned(),
            format: opened.catalog.format(),
            dataset: query::dataset_shape(&resolved),
            selection: query::selection_shape(&resolved),
            op: asked,
            plan: plan::shape(&plan, &reads, &resolved),
            chunks_of: resolved.dataset.grid.chunk_count(),
            passes: cost.passes.most,
            passes_min: cost.passes.least,
            selected_len: cost.selected_len,
            memory_len: cost.memory_len,
            memory_budget: how.memory_budget,
            statistics: StatisticsShape::from_use(cost.statistics),
            axes,
            advice,
        };
        return if is_one { context.json(&explained) } else { context.json_line(&explained) };
    }
    let hint = open::memory_hint(opened, context.env().memory_len);
    write_plan((&resolved, asked), (&plan, &reads), (&cost, &how, hint), context)?;
    write_axes(&axes, context)?;
    for (at, advice) in advice.iter().enumerate() {
        if at == 0 {
            context.line("")?;
        }
        let mark = context.paint.warning("advice:");
        context.line(format!("{mark} {}", crate::escape::Message(&advice.text)))?;
    }
    plan::write_chunks(&plan, &reads, &resolved, context)
}

/// The name of the operation.
fn op(resolved: &Resolved) -> &'static str {
    match &resolved.ask {
        Ask::Values(_) => "values",
        Ask::Reduce(reduction) => reduction.op.name(),
        Ask::Transform(_, transform) => transform.method.name(),
        Ask::Align(_) => "align",
    }
}

fn write_plan(
    (resolved, asked): (&Resolved, &str),
    (plan, reads): (&ReadPlan, &Reads),
    (cost, how, hint): (&Cost, &Execution, Option<u64>),
    context: &mut Context<'_>,
) -> Result<()> {
    let dataset = &resolved.dataset;
    let (shape, chunks) = (dataset.grid.shape(), dataset.grid.chunk_shape());
    let name = &dataset.name;
    let mut table = Table::new(&[("", Side::Left), ("", Side::Left)]);
    table.row(["query", &format!("{asked} of {}", dataset.name)]);
    table.row(["dataset", &format!("{name} {} {shape} in chunks of {chunks}", dataset.dtype_name)]);
    if matches!(resolved.ask, Ask::Align(_)) {
        table.row(["to read", "names and labels, no values"]);
    } else {
        for (name, text) in plan::rows(plan, reads, resolved) {
            table.row([name, &text]);
        }
        if !cost.statistics.is_none() {
            table.row(["statistics", &statistics(plan, cost)]);
        }
        table.row(["memory", &format!("about {}", Size(cost.memory_len))]);
        if hint == Some(how.memory_budget) {
            let budget = Size(how.memory_budget);
            table.row(["budget", &format!("{budget}, the memory hint of the file (or --memory)")]);
        }
        let each = match (reads.requests, cost.passes.most, cost.is_compared) {
            (None, ..) | (_, 0 | 1, _) => "",
            (_, 2, true) => ", one of which compares chunks with their digests",
            (_, _, true) => ", each with these requests at most",
            _ => ", each with these requests",
        };
        table.row(["passes", &format!("{}{each}", passes(cost.passes))]);
    }
    for line in table.lines(None, context.paint) {
        context.line(line)?;
    }
    Ok(())
}

/// `98 of 100 chunks answered, 1 skipped, 1 read`.
fn statistics(plan: &ReadPlan, cost: &Cost) -> String {
    let StatisticsUse { answered, skipped, .. } = cost.statistics;
    let count = plan.chunks().len() as u64;
    let left = count.saturating_sub(answered).saturating_sub(skipped);
    let [answered, skipped, left, count] = [answered, skipped, left, count].map(grouped);
    format!("{answered} of {count} chunks answered, {skipped} skipped, {left} read")
}

/// `3`, or `up to 5` if it depends on the values.
fn passes(passes: Passes) -> String {
    let most = grouped(passes.most);
    if passes.is_exact() { most } else { format!("up to {most}") }
}

fn write_axes(axes: &[AxisCostShape], context: &mut Context<'_>) -> Result<()> {
    if axes.is_empty() {
        return Ok(());
    }
    let columns = [
        ("one position of", Side::Left),
        ("of", Side::Right),
        ("chunks", Side::Right),
        ("to read", Side::Right),
        ("selected", Side::Right),
    ];
    let mut table = Table::new(&columns);
    for axis in axes {
        let name = axis.dim.clone().unwrap_or_else(|| format!("axis {}", axis.axis));
        let (read, selected) = (Size(axis.read_len), Size(axis.selected_len));
        let (positions, chunks) = (grouped(axis.positions), grouped(axis.chunks));
        table.row([name, positions, chunks, read.to_string(), selected.to_string()]);
    }
    context.line("")?;
    for line in table.lines(None, context.paint) {
        context.line(line)?;
    }
    Ok(())
}
