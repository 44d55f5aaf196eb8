//! `tet diff`: compares two files.

mod pairs;
mod report;
mod shape;

use std::path::Path;

use tet_convert::{Opened, contents, differing_decoding};
use tet_query::{DatasetDiff, DigestPolicy, ElementDiff, Error, Execution, Integrity, Tolerance};

use self::pairs::Compared;
use super::stats::first_of;
use crate::args::{DiffArgs, DiffSort};
use crate::bar::Bar;
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::render::json::{DiffReport, NotCompared};

/// Runs the command.
///
/// # Errors
///
/// A file, a dataset or a slice cannot be read. Errors of one of several datasets come last.
pub(crate) fn run(args: &DiffArgs, context: &mut Context<'_>) -> Result<Exit> {
    let opened = |path: &Path| {
        let mut opened = open::open(path, &args.read, context)?;
        opened.catalog = contents(args.meaning.decoding().compared(opened.catalog));
        Ok::<Opened, Failure>(opened)
    };
    let files = [opened(&args.left)?, opened(&args.right)?];
    let mut how = open::execution(&args.read, &files[0], context);
    if args.sort.is_some() && !args.quick {
        // A change is one of all values, also of those in chunks that equal checksums spare.
        how.digests = DigestPolicy::Always;
    }
    let compared = Compared::new(args, &files, &how)?;
    let bar = Bar::new(context, "comparing", compared.len());
    let how = Execution { progress: bar.progress(context), ..how };
    let mut found = found(args, &files, &compared, &how)?;
    bar.finish();
    for (opened, path) in files.iter().zip([&args.left, &args.right]) {
        let unchanged = opened.catalog.check_unchanged();
        unchanged.map_err(|error| Failure::from(error).about(path))?;
    }
    let differs = found.report.same == Some(false);
    if args.json {
        found.report.warnings.extend(compared.notes.into_iter().map(|(text, _)| text));
        context.json(&found.report)?;
    } else {
        report::write(&found.report, args.sort, context)?;
        context.notes(compared.notes);
        found.report.warnings.iter().for_each(|warning| context.warn(warning));
        open::report_unchecked(found.integrity, context);
    }
    first_of(found.faults)?;
    if args.datasets.is_empty() {
        for (opened, path) in files.iter().zip([&args.left, &args.right]) {
            opened.check_complete().map_err(|error| Failure::from(error).about(path))?;
        }
    }
    Ok(if differs { Exit::No } else { Exit::Done })
}

/// Differences, and why some datasets could not be compared.
struct Comparison {
    report: DiffReport,
    integrity: Integrity,
    faults: Vec<Failure>,
}

fn found(
    args: &DiffArgs,
    files: &[Opened; 2],
    compared: &Compared,
    how: &Execution,
) -> Result<Comparison> {
    let tolerance = (!args.quick).then_some(Tolerance {
        rtol: args.rtol,
        atol: args.atol,
        ulp: args.ulp,
        nan_equal: !args.nan_differs,
    });
    let mut report = shape::report(args, files, &compared.files);
    report.warnings.extend(differing_decoding(&compared.files.both));
    let (mut faults, mut integrity) = (Vec::new(), None);
    let mut ranks = Vec::new();
    let pairs = compared.files.both.iter().zip(&compared.slabs).enumerate();
    for (nth, (both, slabs)) in pairs {
        let [left, right] = match compared.catalogs.get(&nth) {
            Some([left, right]) => [left, right],
            None => [&files[0].catalog, &files[1].catalog],
        };
        let datasets = [(left, &both[0]), (right, &both[1])];
        let slabs = [&slabs[0], &slabs[1]];
        let mut found = DatasetDiff::compare(datasets, slabs, tolerance.as_ref(), how)?;
        let elements = found.elements.as_ref().map(|elements| elements.integrity);
        integrity = integrity.into_iter().chain(elements).reduce(Integrity::and);
        if found.differs() {
            ranks.push((rank(found.elements.as_deref()), report.datasets.len()));
            report.datasets.push(shape::of_dataset(left, both, &found, how)?);
        } else if let Some(why) = found.why() {
            report.not_compared.push(NotCompared { name: both[0].name.clone(), why });
        }
        // Of types that differ it is an answer that they are not compared.
        let fault = found.fault.take();
        let fault =
            fault.filter(|it| !matches!(it, Error::Incomparable { .. }) || !found.differs());
        faults.extend(fault.map(Failure::from));
    }
    if args.sort == Some(DiffSort::Change) {
        sort(&mut report, ranks);
    }
    let differs = !report.datasets.is_empty()
        || !report.attrs.is_empty()
        || report.only.iter().any(|names| !names.is_empty());
    report.same =
        if differs { Some(false) } else { report.not_compared.is_empty().then_some(true) };
    report.integrity = integrity.map(Integrity::name);
    let integrity = integrity.unwrap_or(Integrity::Unprotected);
    if report.integrity.is_some() {
        let doubts = files.iter().zip(&report.files);
        let doubts = doubts.filter_map(|(file, path)| Some((path, open::doubt(file, integrity)?)));
        let doubts: Vec<_> = doubts.map(|(path, doubt)| format!("{path}: {doubt}")).collect();
        report.warnings.extend(doubts);
    }
    Ok(Comparison { report, integrity, faults })
}

/// A number that sorts differences, the largest last: those of which nothing is measured come first.
fn rank(elements: Option<&ElementDiff>) -> f64 {
    elements.and_then(|it| it.change.as_ref()).map_or(f64::NEG_INFINITY, tet_query::DiffNorms::rank)
}

/// Sorts the datasets that differ: the largest change first, those of one change in the order of the first file.
fn sort(report: &mut DiffReport, mut ranks: Vec<(f64, usize)>) {
    ranks.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let mut places = vec![0; ranks.len()];
    ranks.iter().enumerate().for_each(|(place, (_, nth))| places[*nth] = place);
    let mut datasets: Vec<_> = places.into_iter().zip(report.datasets.drain(..)).collect();
    datasets.sort_by_key(|(place, _)| *place);
    report.datasets = datasets.into_iter().map(|(_, dataset)| dataset).collect();
}
