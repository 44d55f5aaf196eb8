//! `tet stats`: summarizes the values of datasets.

mod measure;

use std::collections::HashMap;

use tet_convert::Opened;
use tet_query::{Catalog, CatalogLabels, Execution, Integrity, LabelLookup};

use crate::args::{StatsArgs, StatsOnly};
use crate::bar::Bar;
use crate::context::Context;
use crate::escape::Escaped;
use crate::exit::{Exit, Failure, Result};
use crate::labels;
use crate::open;
use crate::render::dtype::brief_dtype;
use crate::render::json::{DatasetStats, OnlyShape, Stats};
use crate::render::number::Number;
use crate::render::spark;
use crate::render::table::{Side, Table};
use crate::size::{counted, grouped};
use crate::target::{self, Target};
use measure::Measure;

/// Runs the command.
///
/// # Errors
///
/// The file, the dataset or the slice cannot be read. Errors of one of several datasets come last.
pub(crate) fn run(args: &StatsArgs, context: &mut Context<'_>) -> Result<Exit> {
    let opened = open::open(&args.file, &args.read, context)?;
    let opened = open::decode(opened, args.meaning);
    run_on(args, &opened, context).map_err(|failure| failure.about(&args.file))
}

fn run_on(args: &StatsArgs, opened: &Opened, context: &mut Context<'_>) -> Result<Exit> {
    let catalog = &opened.catalog;
    let how = open::execution(&args.read, opened, context);
    let targets = targets(args, catalog, &how)?;
    let are_all = args.datasets.is_empty() && args.select.is_none();
    let one = targets.len() == 1 && !are_all;
    if !one {
        how.check_decoded(len_of_readable(&targets), catalog.file_len())?;
    }
    let bar = Bar::new(context, "reading", 0);
    let how = Execution { progress: bar.progress(context), ..how };
    let mut faults = Vec::new();
    let mut datasets = Vec::new();
    let mut integrity = None;
    for target in &targets {
        context.check_cancelled()?;
        let mut measure = Measure::new(target, &how, &bar, !args.no_quartiles);
        let stats = match measure.stats().and_then(|it| with_places(it, &measure, &args.only)) {
            // Of several datasets the line alone is kept that is printed.
            Ok(stats) if targets.len() != 1 && !args.json => drawn(stats),
            Ok(stats) => stats,
            Err(failure) if one || !is_of_dataset(&failure) => return Err(failure),
            Err(failure) => {
                let stats = measure.unreadable(failure.message.clone());
                faults.extend(Some(failure).filter(|failure| !is_sound(&failure.code)));
                stats
            }
        };
        integrity = integrity.into_iter().chain(measure.integrity()).reduce(Integrity::and);
        if !are_all {
            // It may be a view of other files than those of the catalog.
            measure.finish()?;
        }
        datasets.push(stats);
    }
    bar.finish();
    catalog.check_unchanged()?;
    let only = choose(&args.only, &mut datasets);
    let integrity = integrity.unwrap_or_else(|| open::integrity(opened));
    let warnings = if are_all { open::warnings_of_all } else { open::warnings };
    let mut warnings = warnings(opened, &args.read);
    warnings.extend(open::doubt(opened, integrity));
    let notes = targets.iter().flat_map(|target| &target.notes);
    if args.json {
        context.json(&Stats {
            schema: "tet.stats/1",
            file: tet_io::without_secrets(&args.file).into_owned(),
            format: catalog.format(),
            only,
            datasets,
            integrity: integrity.name(),
            warnings: warnings.into_iter().chain(notes.map(ToString::to_string)).collect(),
        })?;
    } else {
        match (&datasets[..], &targets[..]) {
            ([stats], [target]) => write_one(stats, target, context)?,
            ([], _) => {}
            _ => write_all(&datasets, context)?,
        }
        write_places(&datasets, &targets, &how, context)?;
        if let Some(only) = &only {
            write_only(only, context)?;
        }
        context.selection_notes(notes);
        warnings.iter().for_each(|warning| context.warn(warning));
        open::report_unchecked(integrity, context);
    }
    let exit = first_of(faults)?;
    if are_all {
        opened.check_complete()?;
    }
    Ok(exit)
}

/// The bytes of all selected elements that can be read.
fn len_of_readable(targets: &[Target<'_>]) -> u64 {
    let readable = targets.iter().filter(|target| target.dataset.fault.is_none());
    let len = |target: &Target<'_>| target.dataset.selected_len(&target.slab);
    readable.map(len).fold(0, u64::saturating_add)
}

/// The statistics with the positions of the first values that are looked for.
fn with_places(
    mut stats: DatasetStats,
    measure: &Measure<'_>,
    only: &[StatsOnly],
) -> Result<DatasetStats> {
    let is_asked = |kind| only.contains(&kind) && has(&stats, kind);
    let (nan, inf) = (is_asked(StatsOnly::Nan), is_asked(StatsOnly::Inf));
    if nan {
        stats.first_nan = measure.first_nan()?;
    }
    if inf {
        stats.first_inf = measure.first_inf(&stats)?;
    }
    Ok(stats)
}

/// Prints where the first values are that were looked for.
fn write_places(
    datasets: &[DatasetStats],
    targets: &[Target<'_>],
    how: &Execution,
    context: &mut Context<'_>,
) -> Result<()> {
    let by_index: HashMap<_, _> = targets.iter().map(|it| (it.dataset.index, it)).collect();
    for stats in datasets {
        let places = [("NaN", &stats.first_nan), ("infinity", &stats.first_inf)];
        for (what, place) in places.into_iter().filter_map(|(what, it)| Some((what, it.as_ref()?)))
        {
            let target = by_index.get(&stats.index);
            let labels = target.map(|target| labels_at(target, place, how)).unwrap_or_default();
            let position: Vec<String> = place.iter().map(u64::to_string).collect();
            let position = position.join(", ");
            let name = Escaped(&stats.name);
            context.line(format!("  {name}: first {what} at [{position}]{labels}"))?;
        }
    }
    Ok(())
}

/// The labels of a position, as ` (time=2001-01-01, lat=40)`; empty without labels.
fn labels_at(target: &Target<'_>, position: &[u64], how: &Execution) -> String {
    let labels = CatalogLabels::new(&target.catalog, &target.dataset, how);
    let label = |(axis, at): (usize, &u64)| {
        let text = labels.labels(axis).ok()??.text(usize::try_from(*at).ok()?)?;
        let name = target.dataset.dims.get(axis)?;
        Some(format!("{}={}", Escaped(name), Escaped(&text)))
    };
    let shown: Vec<String> = position.iter().enumerate().filter_map(label).collect();
    if shown.is_empty() { String::new() } else { format!(" ({})", shown.join(", ")) }
}

/// Prints how many datasets have the values that are looked for.
fn write_only(only: &OnlyShape, context: &mut Context<'_>) -> Result<()> {
    let verb = if only.found == 1 { "has" } else { "have" };
    let of = format!("{} of {}", grouped(only.found), counted(only.looked_at, "dataset"));
    context.line(format!("{of} {verb} values of {}", only.kinds.join(" or ")))
}

/// Leaves datasets that have none of these kinds of values out; those that cannot be read stay.
fn choose(kinds: &[StatsOnly], datasets: &mut Vec<DatasetStats>) -> Option<OnlyShape> {
    let names: Vec<&'static str> = kinds.iter().map(|kind| kind.name()).collect();
    if names.is_empty() {
        return None;
    }
    let looked_at = datasets.iter().filter(|stats| stats.readable).count() as u64;
    datasets.retain(|stats| !stats.readable || kinds.iter().any(|&kind| has(stats, kind)));
    let found = datasets.iter().filter(|stats| stats.readable).count() as u64;
    Some(OnlyShape { kinds: names, looked_at, found })
}

/// Whether a dataset has values of a kind.
fn has(stats: &DatasetStats, kind: StatsOnly) -> bool {
    let is_some = |count: Option<u64>| count.is_some_and(|count| count > 0);
    match kind {
        StatsOnly::Nan => is_some(stats.nan_count),
        StatsOnly::Inf => is_some(stats.inf_count),
        StatsOnly::Constant => {
            let ends = [stats.min, stats.max].map(|end| end.map(Number::exact));
            !is_some(stats.nan_count) && is_some(stats.count) && ends[0] == ends[1]
        }
    }
}

/// Datasets to summarize: the requested ones, or all.
fn targets<'a>(args: &StatsArgs, catalog: &'a Catalog, how: &Execution) -> Result<Vec<Target<'a>>> {
    let select = args.select.as_deref();
    if args.datasets.is_empty() && select.is_none() {
        return Ok(catalog.datasets().iter().map(|it| Target::whole(catalog, it)).collect());
    }
    if args.datasets.is_empty() {
        return target::find_all(catalog, None, select, how);
    }
    let mut targets = Vec::new();
    for asked in &args.datasets {
        targets.extend(target::find_all(catalog, Some(asked), select, how)?);
    }
    Ok(targets)
}

/// The first of the failures, after what was found of the other datasets.
pub(super) fn first_of(faults: Vec<Failure>) -> Result<Exit> {
    let more = faults.len().saturating_sub(1);
    let Some(first) = faults.into_iter().next() else { return Ok(Exit::Done) };
    let count = counted(u64::try_from(more).unwrap_or(u64::MAX), "more dataset");
    Err(if more == 0 { first } else { first.note(format!("{count} could not be read")) })
}

/// Whether a dataset of which this is said is not damaged: it has no numbers, or they are not read.
fn is_sound(code: &str) -> bool {
    ["undefined", "opaque", "text", "compound", "unsupported"].contains(&code)
}

/// Whether a failure concerns one dataset only, so that others can be summarized.
pub(super) fn is_of_dataset(failure: &Failure) -> bool {
    matches!(failure.exit, Exit::Format | Exit::Limit | Exit::Usage | Exit::Unsupported)
}

/// Prints all statistics of one dataset.
fn write_one(stats: &DatasetStats, target: &Target<'_>, context: &mut Context<'_>) -> Result<()> {
    let paint = context.paint;
    let shape = tet_format::Shape::from(stats.shape.clone());
    let unit = labels::unit(&target.dataset);
    let unit = if unit.is_empty() { unit } else { format!(" {}", Escaped(&unit)) };
    let name = Escaped(&stats.name);
    context.line(paint.strong(format!("{name} {} {shape}{unit}", Escaped(&stats.dtype))))?;
    if let Some(why) = &stats.why {
        return context.line(format!("  {}", crate::escape::Message(why)));
    }
    let count = |count: Option<u64>| count.map(grouped).unwrap_or_default();
    let number = |number: Option<Number>| number.map(Number::shortest).unwrap_or_default();
    let quartiles = stats.quartiles.as_ref();
    let rows = [
        ("count", count(stats.count)),
        ("NaN", count(stats.nan_count)),
        ("infinite", count(stats.inf_count)),
        ("min", number(stats.min)),
        ("25%", number(quartiles.map(|quartiles| quartiles.q25))),
        ("median", number(quartiles.map(|quartiles| quartiles.q50))),
        ("75%", number(quartiles.map(|quartiles| quartiles.q75))),
        ("max", number(stats.max)),
        ("mean", number(stats.mean)),
        ("std", number(stats.std)),
    ];
    let mut table = Table::new(&[("", Side::Left), ("", Side::Left)]);
    for (name, text) in rows.iter().filter(|(_, text)| !text.is_empty()) {
        table.row([*name, text]);
    }
    if let Some(bins) = &stats.histogram {
        let ends = [bins.edges.first(), bins.edges.last()];
        let ends = ends.map(|end| end.map(|end| end.brief()).unwrap_or_default());
        table.row(["values", &format!("{} {} {}", ends[0], sparkline(stats), ends[1])]);
    }
    for line in table.lines(None, paint) {
        context.line(line)?;
    }
    Ok(())
}

/// Statistics with the line that is printed of their histogram instead of it.
fn drawn(mut stats: DatasetStats) -> DatasetStats {
    stats.sparkline = sparkline(&stats);
    stats.histogram = None;
    stats
}

fn sparkline(stats: &DatasetStats) -> String {
    let counts = stats.histogram.as_ref().map(|bins| &bins.counts[..]).unwrap_or_default();
    #[allow(clippy::cast_precision_loss, reason = "a block has eight heights")]
    let counts: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
    spark::line(&counts)
}

/// Prints a line for each dataset.
fn write_all(datasets: &[DatasetStats], context: &mut Context<'_>) -> Result<()> {
    for line in lines(datasets, context) {
        context.line(line)?;
    }
    let reason = |stats: &DatasetStats| {
        let why = stats.why.as_ref()?;
        let is_named = why.contains(&format!("{:?}", stats.name));
        Some(if is_named { why.clone() } else { format!("{:?}: {why}", stats.name) })
    };
    let reasons = datasets.iter().filter_map(reason);
    for why in crate::warning::aggregated(reasons) {
        let what = format!("omitted: {why}");
        let mark = context.paint.wrong("!");
        context.line(format!("  {mark} {}", crate::escape::Message(&what)))?;
    }
    Ok(())
}

/// Columns that are left out on a terminal that is too narrow for them, in this order.
const OPTIONAL: [&str; 7] = ["values", "std", "median", "inf", "dtype", "NaN", "count"];

/// The lines of the table, as wide as the terminal at most.
fn lines(datasets: &[DatasetStats], context: &Context<'_>) -> Vec<String> {
    let columns = [
        ("name", Side::Left),
        ("dtype", Side::Left),
        ("count", Side::Right),
        ("NaN", Side::Right),
        ("inf", Side::Right),
        ("min", Side::Right),
        ("median", Side::Right),
        ("max", Side::Right),
        ("mean", Side::Right),
        ("std", Side::Right),
        ("values", Side::Left),
    ];
    let mut table = Table::new(&columns);
    // Columns of zeros are omitted.
    let some =
        |count: Option<u64>| count.filter(|&count| count > 0).map(grouped).unwrap_or_default();
    let brief = |number: Option<Number>| number.map(Number::brief).unwrap_or_default();
    for stats in datasets {
        let values = if stats.readable { &stats.sparkline } else { "(none)" };
        table.row([
            stats.name.clone(),
            brief_dtype(&stats.dtype).to_owned(),
            stats.count.map(grouped).unwrap_or_default(),
            some(stats.nan_count),
            some(stats.inf_count),
            brief(stats.min),
            brief(stats.quartiles.as_ref().map(|quartiles| quartiles.q50)),
            brief(stats.max),
            brief(stats.mean),
            brief(stats.std),
            values.to_owned(),
        ]);
    }
    if let Some(width) = context.table_width() {
        table.fit(width, &OPTIONAL);
    }
    table.lines(None, context.paint)
}
