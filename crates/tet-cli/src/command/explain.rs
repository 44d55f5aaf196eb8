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
use crate::render::json::{AdviceShape, AxisCostShape, Explained, StatisticsShape};
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
    explain(args, access, &file, question.query, context)
        .map_err(|failure| failure.about(&file))?;
    Ok(Exit::Done)
}

fn explain(
    args: &ExplainArgs,
    access: Access,
    file: &Path,
    query: Query,
    context: &mut Context<'_>,
) -> Result<()> {
    let (opened, query) = query::open_for(file, query, args.question.meaning, &args.read, context)?;
    let queries = query::each(&opened, query, false)?;
    open::warnings(&opened, &args.read).iter().for_each(|warning| context.warn(warning));
    for (at, query) in queries.iter().enumerate() {
        if at > 0 && !args.json {
            context.line("")?;
        }
        let explanation = Explanation::new(args, access, &opened, query, context)?;
        opened.catalog.check_unchanged()?;
        match (args.json, &queries[..]) {
            (true, [_]) => context.json(&explanation.into_shape(file, &opened))?,
            (true, _) => context.json_line(&explanation.into_shape(file, &opened))?,
            (false, _) => explanation.write(context)?,
        }
    }
    Ok(())
}

/// The explanation of a query about one dataset.
struct Explanation {
    resolved: Resolved,
    /// The name of the operation.
    op: &'static str,
    reads: Reads,
    cost: Cost,
    axes: Vec<AxisCostShape>,
    advice: Vec<AdviceShape>,
    /// The memory that the query may use, in bytes.
    memory_budget: u64,
    /// Whether the file sets that budget.
    is_hinted: bool,
}

impl Explanation {
    fn new(
        args: &ExplainArgs,
        access: Access,
        opened: &Opened,
        query: &Query,
        context: &mut Context<'_>,
    ) -> Result<Explanation> {
        let how = query::execution(&args.read, query, opened, context);
        let how = Execution { access, ..how };
        let asked = query::resolve(query, &opened.catalog, &how)?;
        let resolved = query::around(&asked, &opened.catalog);
        context.selection_notes(&resolved.notes);
        let plan = query::plan_of(&resolved, &how)?;
        let reads = Reads::new(&resolved, plan, &how, args.plan_chunks)?;
        let cost = Cost::new(&asked, &reads, &how)?;
        let axes = cost::axes(&resolved, &how, context)?;
        let advice = advice::advice(&resolved, &reads, &cost);
        let memory_budget = how.memory_budget;
        let hint = open::memory_hint(opened, context.env().memory_len);
        let (op, is_hinted) = (op(&asked), hint == Some(memory_budget));
        Ok(Explanation { resolved, op, reads, cost, axes, advice, memory_budget, is_hinted })
    }

    fn into_shape(self, file: &Path, opened: &Opened) -> Explained {
        let Explanation { resolved, cost, .. } = self;
        Explained {
            schema: "tet.explain/1",
            file: tet_io::without_secrets(file).into_owned(),
            format: opened.catalog.format(),
            dataset: query::dataset_shape(&resolved),
            selection: query::selection_shape(&resolved),
            op: self.op,
            plan: plan::shape(&self.reads, &resolved),
            chunks_of: resolved.dataset.grid.chunk_count(),
            passes: cost.passes.most,
            passes_min: cost.passes.least,
            selected_len: cost.selected_len,
            memory_len: cost.memory_len,
            memory_budget: self.memory_budget,
            statistics: StatisticsShape::from_use(cost.statistics),
            axes: self.axes,
            advice: self.advice,
        }
    }

    fn write(&self, context: &mut Context<'_>) -> Result<()> {
        self.write_plan(context)?;
        write_axes(&self.axes, context)?;
        for (at, advice) in self.advice.iter().enumerate() {
            if at == 0 {
                context.line("")?;
            }
            let mark = context.paint.warning("advice:");
            context.line(format!("{mark} {}", crate::escape::Message(&advice.text)))?;
        }
        plan::write_chunks(&self.reads, &self.resolved, context)
    }

    fn write_plan(&self, context: &mut Context<'_>) -> Result<()> {
        let Explanation { resolved, op, reads, cost, .. } = self;
        let dataset = &resolved.dataset;
        let (shape, chunks) = (dataset.grid.shape(), dataset.grid.chunk_shape());
        let name = &dataset.name;
        let mut table = Table::new(&[("", Side::Left), ("", Side::Left)]);
        table.row(["query", &format!("{op} of {}", dataset.name)]);
        table.row([
            "dataset",
            &format!("{name} {} {shape} in chunks of {chunks}", dataset.dtype_name),
        ]);
        if matches!(resolved.ask, Ask::Align(_)) {
            table.row(["to read", "names and labels, no values"]);
        } else {
            for (name, text) in plan::rows(reads, resolved) {
                table.row([name, &text]);
            }
            if !cost.statistics.is_none() {
                table.row(["statistics", &statistics(&reads.plan, cost)]);
            }
            table.row(["memory", &format!("about {}", Size(cost.memory_len))]);
            if self.is_hinted {
                let budget = Size(self.memory_budget);
                table.row([
                    "budget",
                    &format!("{budget}, the memory hint of the file (or --memory)"),
                ]);
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
