//! `tet query`: plans a query, executes it and prints the answer.

pub(super) mod answer;
mod filter;
mod flags;
pub(super) mod plan;
pub(super) mod question;
mod report;
mod save;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use tet_convert::Opened;
use tet_document::{Ask, Query, Resolved, WriteTarget};
use tet_query::{
    AxisPositions, AxisRef, Catalog, Choice, Dataset, Execution, Hyperslab, Integrity, NanPolicy,
    Op, ReadPlan, SelectionNote,
};

use super::stats::is_of_dataset;
use crate::args::{MeaningArgs, QueryArgs, QueryFormat, ReadArgs};
use crate::bar::Bar;
use crate::context::Context;
use crate::escape::Escaped;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::size::{counted, grouped};
use crate::target;
use crate::warning::aggregated;
use answer::{Answer, Request};
use report::QueryReport;

pub(super) use report::{dataset as dataset_shape, selection as selection_shape};

/// Runs the command.
///
/// # Errors
///
/// The query is invalid, the file cannot be read, or the answer cannot be written.
pub(crate) fn run(args: &QueryArgs, context: &mut Context<'_>) -> Result<Exit> {
    let mut question = question::parse(&args.question, context)?;
    save::check(&args.save, &question.query)?;
    if args.question.print_doc {
        question.query.write = save::write_of(&args.save)?.or(question.query.write);
        context.line(question.query.to_json())?;
        return Ok(Exit::Done);
    }
    execute(args, &question.file, question.query, context)
        .map_err(|failure| failure.about(&question.file))?;
    Ok(Exit::Done)
}

fn execute(args: &QueryArgs, file: &Path, query: Query, context: &mut Context<'_>) -> Result<()> {
    let (opened, query) = open_for(file, query, args.question.meaning, &args.read, context)?;
    let queries = each(&opened, query, args.save.output.is_some())?;
    let mut warnings: Vec<String> = open::warnings(&opened, &args.read).into_iter().collect();
    let count = queries.len();
    let (mut answered, mut faults) = (0, Vec::new());
    for query in queries {
        let nth = (count > 1).then_some(answered);
        let open_query = OpenQuery { args, file, opened: &opened, query: &query, nth };
        match open_query.print(&warnings, context) {
            Ok(()) => answered += 1,
            Err(failure) if nth.is_some() && is_of_dataset(&failure) => faults.push(failure),
            Err(failure) => return Err(failure),
        }
        if answered == 1 && format(args, context) != QueryFormat::Json {
            // Warnings about the file are printed once.
            warnings.clear();
        }
    }
    check_all(faults, count, ["has no answer", "have no answer"])
}

/// Checks that none of several datasets has failed; the texts are for one and for several that have.
///
/// # Errors
///
/// Some have: the failure has their number and the reasons, each once.
pub(super) fn check_all(mut faults: Vec<Failure>, count: usize, texts: [&str; 2]) -> Result<()> {
    let failed = u64::try_from(faults.len()).unwrap_or(u64::MAX);
    let Some(worst) = faults.iter().map(|it| it.exit).max() else { return Ok(()) };
    let [one, several] = texts;
    let of = format!("{} of {}", grouped(failed), counted(count as u64, "dataset"));
    if let [_] = faults[..] {
        return Err(faults.remove(0).note(format!("{of} {one}")));
    }
    let text = format!("{of} {several}");
    let code = faults.iter().find(|it| it.exit == worst).map(|it| it.code.clone());
    let reasons = aggregated(faults.into_iter().map(|it| it.message.clone()));
    let failure = Failure::new(worst, code.as_deref().unwrap_or_default(), text);
    Err(reasons.into_iter().fold(failure, Failure::note))
}

/// A query for each dataset whose name matches, if the query names them by a pattern.
///
/// # Errors
///
/// Several datasets match, and the answer is to be written to one file.
pub(super) fn each(opened: &Opened, query: Query, has_output: bool) -> Result<Vec<Query>> {
    let catalog = &opened.catalog;
    // A query whose dataset is not there fails where its names are looked up.
    let matching = match catalog.find(&query.dataset) {
        Ok(_) => return Ok(vec![query]),
        Err(_) => catalog.find_all(&query.dataset).unwrap_or_default(),
    };
    let is_written = query.write.as_ref().is_some_and(|it| it.target != WriteTarget::Memory);
    if matching.len() > 1 && (has_output || is_written) {
        let count = matching.len();
        let text = format!("{:?} matches {count} datasets, and one is written", query.dataset);
        return Err(target::several(text, &matching)
            .hint("name one, or write several with `tet convert --dataset PATTERN`"));
    }
    let of = |dataset: &Dataset| {
        let is_found = catalog.find(&dataset.name).is_ok_and(|it| it.index == dataset.index);
        let mut query = query.clone();
        query.dataset = if is_found { dataset.name.clone() } else { format!("#{}", dataset.index) };
        query
    };
    let queries: Vec<Query> = matching.into_iter().map(of).collect();
    Ok(if queries.is_empty() { vec![query] } else { queries })
}

/// Opens the file for the query; if no dataset is named, the query gets the only one of the file.
///
/// # Errors
///
/// The file cannot be opened, or the query does not fit it.
pub(super) fn open_for(
    file: &Path,
    mut query: Query,
    meaning: MeaningArgs,
    read: &ReadArgs,
    context: &Context<'_>,
) -> Result<(Opened, Query)> {
    let opened = open::open_for(file, &query.dataset, read, context)?;
    let opened = open::decode(opened, meaning);
    if query.dataset.is_empty() {
        query.dataset =
            only_dataset(&opened).map_err(|failure| explain_axis(failure, &opened, &query))?;
    }
    let opened = if is_count(&query) { as_counted(opened) } else { opened };
    Ok((opened, query))
}

/// Whether the query counts all selected elements without reading them.
fn is_count(query: &Query) -> bool {
    let is_asked = query.reduction.as_ref().is_some_and(|asked| asked.op == Op::Count);
    is_asked && query.filter.is_none() && query.nan != Some(NanPolicy::Skip)
}

/// Allows to count elements of opaque dtypes.
fn as_counted(mut opened: Opened) -> Opened {
    let view = |dataset| tet_convert::as_counted(&dataset).unwrap_or(dataset);
    opened.catalog = opened.catalog.viewed(view);
    opened
}

/// Where positions are taken one by one, what is around them in the file, with a note: plans are of that.
pub(super) fn around(resolved: &Resolved, catalog: &Catalog) -> Resolved {
    let each = |(axis, positions): (usize, &AxisPositions)| match positions {
        AxisPositions::Each { .. } => Some(SelectionNote::Around {
            axis: resolved.dataset.dims.get(axis).cloned().unwrap_or_else(|| axis.to_string()),
        }),
        AxisPositions::Slice(_) => None,
    };
    let taken: Vec<_> = resolved.positions.iter().enumerate().filter_map(each).collect();
    let dataset = catalog.at(resolved.dataset.index).filter(|_| !taken.is_empty());
    let slices = resolved.positions.iter().map(AxisPositions::around).collect();
    let around = dataset.and_then(|it| Some((it, Hyperslab::new(slices, it.shape())?)));
    let Some((dataset, slab)) = around else { return resolved.clone() };
    let ask = match &resolved.ask {
        Ask::Align(_) => resolved.ask.clone(),
        _ => Ask::Values(Choice::default()),
    };
    let dataset = dataset.clone();
    let notes = resolved.notes.iter().cloned().chain(taken).collect();
    Resolved { dataset, slab, ask, notes, ..resolved.clone() }
}

/// The plan of a query; empty if the answer needs no values.
///
/// # Errors
///
/// A chunk cannot be found.
pub(super) fn plan_of(resolved: &Resolved, how: &Execution) -> Result<ReadPlan> {
    let dataset = &resolved.dataset;
    if matches!(resolved.ask, Ask::Align(_)) {
        let nothing = dataset.shape().iter().map(|_| tet_query::AxisSlice::whole(0)).collect();
        if let Some(nothing) = tet_query::Hyperslab::new(nothing, dataset.shape()) {
            return Ok(dataset.plan(&nothing, how)?);
        }
    }
    Ok(dataset.plan(&resolved.slab, how)?)
}

fn format(args: &QueryArgs, context: &Context<'_>) -> QueryFormat {
    match args.show.format {
        _ if args.show.json => QueryFormat::Json,
        QueryFormat::Text if context.quiet => QueryFormat::Quiet,
        format => format,
    }
}

/// Resolves the names in a query.
///
/// # Errors
///
/// The file has no such dataset, axis or label, or the query does not fit it.
pub(super) fn resolve(query: &Query, catalog: &Catalog, how: &Execution) -> Result<Resolved> {
    Ok(query.resolve(catalog, how)?)
}

/// Explains a failure if a reduction took the name of the dataset as an axis.
fn explain_axis(failure: Failure, opened: &Opened, query: &Query) -> Failure {
    let Some(reduction) = &query.reduction else { return failure };
    let op = crate::args::flag(reduction.op);
    let is_dataset =
        |axis: &&AxisRef| matches!(axis, AxisRef::Name(name) if opened.catalog.has(name));
    match reduction.axes.iter().find(is_dataset) {
        Some(AxisRef::Name(name)) => failure.hint(format!(
            "--{op} took \"{}\" as an axis: put the dataset before --{op}",
            Escaped(name)
        )),
        _ => failure,
    }
}

/// The name of the only dataset of a file.
fn only_dataset(opened: &Opened) -> Result<String> {
    match opened.catalog.datasets() {
        [_] => Ok("#0".to_owned()),
        datasets => {
            let text = format!("the file contains {} datasets: name one", datasets.len());
            let names = datasets.iter().map(|dataset| dataset.name.as_str());
            Err(Failure::usage("no-dataset-named", text).among(names))
        }
    }
}

/// How a file is read: within its memory hint, unless the document or an option sets a budget.
pub(super) fn execution(
    args: &ReadArgs,
    query: &Query,
    opened: &Opened,
    context: &Context<'_>,
) -> Execution {
    let memory_len = context.env().memory_len;
    let base = open::unflagged(context).within(open::memory_hint(opened, memory_len));
    let wished = query.execution.over(&base, memory_len);
    let mut how = open::with_flags(wished, args);
    how.result_max = how.result_max.min(context.env().memory_len);
    how
}

/// A query about one dataset of an open file.
struct OpenQuery<'a> {
    args: &'a QueryArgs,
    file: &'a Path,
    opened: &'a Opened,
    query: &'a Query,
    /// Its number among the answers of several datasets.
    nth: Option<usize>,
}

impl OpenQuery<'_> {
    /// Answers the query, and prints the answer with these warnings about the file.
    fn print(&self, warnings: &[String], context: &mut Context<'_>) -> Result<()> {
        let OpenQuery { args, file, opened, query, nth } = *self;
        let how = execution(&args.read, query, opened, context);
        let resolved = resolve(query, &opened.catalog, &how)?;
        let format = format(args, context);
        let around = around(&resolved, &opened.catalog);
        let around = match format {
            QueryFormat::Json => around,
            _ => Resolved { notes: resolved.notes.clone(), ..around },
        };
        let plan = plan_of(&around, &how)?;
        let since = Instant::now();
        let (answer, integrity) = self.answer(&resolved, how.clone(), context)?;
        let notes = query.execution.notes().into_iter();
        let mut warnings: Vec<String> = notes.chain(warnings.iter().cloned()).collect();
        warnings.extend(open::doubt(opened, integrity));
        if format == QueryFormat::Json && args.show.preview.is_none() {
            warnings.extend(answer.cut());
        }
        if format == QueryFormat::Stats {
            context.note(format!("time {:.3} ms", since.elapsed().as_secs_f64() * 1e3));
        }
        let report = QueryReport {
            file,
            opened,
            warnings,
            resolved: &around,
            plan,
            how: &how,
            show: &args.show,
            is_one: nth.is_none(),
            integrity,
            answer,
        };
        report.print(format, context)
    }

    /// The answer and its integrity.
    fn answer(
        &self,
        resolved: &Resolved,
        how: Execution,
        context: &mut Context<'_>,
    ) -> Result<(Answer, Integrity)> {
        let catalog = &resolved.catalog;
        let selected_len = resolved.dataset.selected_len(&resolved.slab);
        let bar = Bar::new(context, "reading", selected_len);
        let how = Execution { progress: bar.progress(context), ..how };
        let answer = match &resolved.ask {
            Ask::Align(alignment) => {
                (Answer::of_alignment(resolved, alignment), open::integrity(self.opened))
            }
            Ask::Reduce(reduction) => {
                let output = self.output(resolved, reduction.op.name(), context)?;
                let reduced = resolved.dataset.reduce(&resolved.slab, reduction, &how)?;
                let reduced = Arc::new(reduced);
                let write =
                    |output: save::Output| output.cells(catalog, resolved, &reduced, &how, context);
                let written = output.map(write).transpose()?;
                // The caller has the only reference.
                let tet_query::WithIntegrity { value, integrity } = Arc::unwrap_or_clone(reduced);
                let answer =
                    Answer::of_reduced(catalog, resolved, value, reduction.nan_policy(), &how);
                let format = format(self.args, context);
                let is_list = matches!(format, QueryFormat::Quiet | QueryFormat::Table);
                // All values are in the file.
                let is_saved = written.is_some() && is_list;
                let answer = answer.with_output(written);
                let answer = if is_saved { answer.without_values() } else { answer };
                (answer.in_list(self.nth), integrity)
            }
            Ask::Values(_) | Ask::Transform(..) => self.array(resolved, &how, &bar, context)?,
        };
        bar.finish();
        Ok(answer)
    }

    /// Reads the shown part of an array, and writes all of it to the output file.
    fn array(
        &self,
        resolved: &Resolved,
        how: &Execution,
        bar: &Bar,
        context: &mut Context<'_>,
    ) -> Result<(Answer, Integrity)> {
        let catalog = &resolved.catalog;
        let nan = self.query.nan.unwrap_or_default();
        let format = format(self.args, context);
        let is_whole = matches!(format, QueryFormat::Quiet | QueryFormat::Table)
            && self.args.show.preview.is_none();
        // Text shows the edges of a large array, and lists nothing.
        let has_list = !is_whole && !matches!(format, QueryFormat::Text | QueryFormat::Stats);
        let preview = if has_list { self.args.show.preview() } else { 0 };
        let full = self.args.show.full && !is_whole && !has_list;
        let request = Request { catalog, resolved, how, preview, full, nan };
        let lazy = Arc::new(request.lazy()?);
        let shown = lazy.apart();
        let answer = Answer::of_array(&request, &shown)?.in_list(self.nth);
        let op = lazy.transform().map_or("values", |transform| transform.method.name());
        let Some(output) = self.output(resolved, op, context)? else {
            if is_whole {
                bar.finish();
                let answer = answer.print_all(&lazy, how, format, context)?;
                return Ok((answer, lazy.integrity()));
            }
            return Ok((answer, shown.integrity()));
        };
        let written = output.array(catalog, &lazy, how, bar, context)?;
        let answer = answer.with_output(Some(written));
        let answer = answer.with_zero_denominators(lazy.zero_denominators());
        let answer = if is_whole { answer.without_values() } else { answer };
        Ok((answer, shown.integrity().and(lazy.integrity())))
    }

    fn output(
        &self,
        resolved: &Resolved,
        op: &str,
        context: &Context<'_>,
    ) -> Result<Option<save::Output>> {
        let output = save::Output::for_query(self.query, self.args, self.file, op, context)?;
        if output.is_some() {
            target::check_written(&resolved.notes, self.args.save.allow_empty)?;
        }
        Ok(output)
    }
}
