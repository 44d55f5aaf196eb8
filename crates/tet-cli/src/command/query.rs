//! `tet query`: a question becomes a plan, a plan becomes an answer.

mod answer;
mod plan;
mod question;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use tet_convert::Opened;
use tet_query::document::{Query, Resolved};
use tet_query::{Coalesce, Execution, NanPolicy, ReadPlan};

use crate::args::{QueryArgs, QueryFormat};
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::progress::Progress;
use crate::render::json::{DatasetShape, QueryAnswer, SelectionShape};
use answer::Answer;

/// Runs the command.
///
/// # Errors
///
/// The question, the file, or the answer.
pub(crate) fn run(args: &QueryArgs, context: &mut Context<'_>) -> Result<Exit> {
    let question = question::understand(args, context)?;
    if args.ask.print_doc {
        context.line(question.query.to_json())?;
        return Ok(Exit::Done);
    }
    execute(args, &question.file, question.query, context)
        .map_err(|failure| failure.about(&question.file))?;
    Ok(Exit::Done)
}

fn execute(
    args: &QueryArgs,
    file: &Path,
    mut query: Query,
    context: &mut Context<'_>,
) -> Result<()> {
    let opened = open::open(file, &args.read, context)?;
    if query.dataset.is_empty() {
        query.dataset = only_dataset(&opened)?;
    }
    let opened = for_scan(opened, &query)?;
    let resolved = query.resolve(&opened.catalog)?;
    let plan = tet_query::plan(resolved.dataset, &resolved.slab, Coalesce::DEFAULT)?;
    let warnings = query.execution.notes();
    let format = format(args, context);
    let mut told = Told { args, file, opened: &opened, resolved, plan, warnings, answer: None };
    let plan_only = args.show.plan || (format == QueryFormat::Plan);
    if !plan_only {
        let how = execution(args, &query, context);
        let since = Instant::now();
        let nan = query.nan.unwrap_or_default();
        told.answer = Some(told.compute(&how, nan, context)?);
        if format == QueryFormat::Stats {
            context.note(format!("time {:.3} ms", since.elapsed().as_secs_f64() * 1e3));
        }
    }
    told.tell(format, context)
}

fn format(args: &QueryArgs, context: &Context<'_>) -> QueryFormat {
    match args.show.format {
        _ if args.show.json => QueryFormat::Json,
        QueryFormat::Text if context.quiet => QueryFormat::Quiet,
        format => format,
    }
}

/// The name of the dataset of a file that holds one.
fn only_dataset(opened: &Opened) -> Result<String> {
    match opened.catalog.datasets() {
        [_] => Ok("#0".to_owned()),
        datasets => {
            let text = format!("the file holds {} datasets: name one", datasets.len());
            let names = datasets.iter().map(|dataset| dataset.name.as_str());
            Err(Failure::usage("no-dataset-named", text).note(crate::failure::names(names)))
        }
    }
}

/// The same file, mapped when much of it will be scanned and the flags leave the choice.
fn for_scan(opened: Opened, query: &Query) -> Result<Opened> {
    let resolved = query.resolve(&opened.catalog)?;
    let plan = tet_query::plan(resolved.dataset, &resolved.slab, Coalesce::DEFAULT)?;
    let is_scan = Opened::is_scan(resolved.dataset, &plan);
    Ok(if is_scan { opened.for_scan()? } else { opened })
}

/// The document's wishes, then the flags'.
fn execution(args: &QueryArgs, query: &Query, context: &Context<'_>) -> Execution {
    let base =
        Execution { cancel: Some(Arc::clone(&context.world().cancel)), ..Execution::default() };
    let mut how = query.execution.over(&base, context.world().memory_len);
    if args.read.threads > 0 {
        how.threads = args.read.threads;
    }
    if let Some(memory) = args.read.memory {
        how.memory_budget = memory;
    }
    how
}

/// Everything that can be told about a question and its answer.
struct Told<'a> {
    args: &'a QueryArgs,
    file: &'a Path,
    opened: &'a Opened,
    resolved: Resolved<'a>,
    plan: ReadPlan,
    warnings: Vec<String>,
    answer: Option<Answer>,
}

impl Told<'_> {
    fn compute(&self, how: &Execution, nan: NanPolicy, context: &Context<'_>) -> Result<Answer> {
        let (catalog, resolved) = (&self.opened.catalog, &self.resolved);
        let progress = Progress::new(context, "reading", self.plan.decoded_len);
        let bar = progress.clone();
        let how = Execution { progress: Some(Arc::new(move |len| bar.add(len))), ..how.clone() };
        let answer = match resolved.reduction() {
            Some(reduction) => {
                let reduced = catalog.reduce(resolved.dataset, &resolved.slab, reduction, &how)?;
                Answer::of_reduced(catalog, resolved, reduced, nan)
            }
            None => Answer::of_values(catalog, resolved, &how, self.args.show.preview, nan)?,
        };
        progress.finish();
        Ok(answer)
    }

    fn tell(self, format: QueryFormat, context: &mut Context<'_>) -> Result<()> {
        if format != QueryFormat::Json {
            for warning in &self.warnings {
                context.warn(warning);
            }
        }
        let with_chunks = self.args.show.plan_chunks;
        match (&self.answer, format) {
            (_, QueryFormat::Json) => {
                let answer = self.shape();
                return context.json(&answer);
            }
            (Some(answer), QueryFormat::Quiet) => context.line(answer.one_line())?,
            (Some(answer), QueryFormat::Table) => answer.write_table(context)?,
            (Some(answer), QueryFormat::Text) => {
                answer.write_text(context, self.args.show.preview)?;
                if with_chunks {
                    plan::write_text(&self.plan, &self.resolved, with_chunks, context)?;
                }
            }
            (Some(answer), _) => {
                answer.write_text(context, self.args.show.preview)?;
                plan::write_text(&self.plan, &self.resolved, with_chunks, context)?;
            }
            (None, _) => plan::write_text(&self.plan, &self.resolved, with_chunks, context)?,
        }
        Ok(())
    }

    fn shape(self) -> QueryAnswer {
        let (dataset, slab) = (self.resolved.dataset, &self.resolved.slab);
        let axes = slab.axes();
        QueryAnswer {
            schema: "tet.query/1",
            file: self.file.to_string_lossy().into_owned(),
            format: self.opened.catalog.format(),
            dataset: DatasetShape {
                name: dataset.name.clone(),
                dtype: dataset.dtype_name.clone(),
                shape: dataset.shape().to_vec(),
                chunk_shape: dataset.grid.chunk_shape().to_vec(),
                dims: dataset.dims.clone(),
            },
            selection: SelectionShape {
                start: axes.iter().map(|slice| slice.start).collect(),
                stop: axes.iter().map(|slice| slice.stop).collect(),
                step: axes.iter().map(|slice| slice.step).collect(),
                shape: slab.counts(),
                dropped_axes: slab.dropped_axes(),
            },
            plan: plan::shape(&self.plan, &self.resolved, self.args.show.plan_chunks),
            result: self.answer.map(Answer::into_shape),
            integrity: open::integrity(self.opened),
            warnings: self.warnings,
        }
    }
}
