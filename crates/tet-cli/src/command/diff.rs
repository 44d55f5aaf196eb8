//! `tet diff`: compares two files.

mod report;
mod shape;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use tet_convert::{Opened, catalog_diff, contents, differing_decoding, with_members};
use tet_query::{
    Catalog, CatalogDiff, Dataset, DatasetDiff, Error, Execution, Hyperslab, Integrity,
    SelectionNote, Tolerance,
};

use super::stats::first_of;
use crate::args::DiffArgs;
use crate::bar::Bar;
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::render::json::{DiffReport, NotCompared};
use crate::target;

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
    let how = open::execution(&args.read, &files[0], context);
    let compared = Compared::of(args, &files, &how)?;
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
        found.report.warnings.extend(compared.notes.iter().map(ToString::to_string));
        context.json(&found.report)?;
    } else {
        report::write(&found.report, context)?;
        context.selection_notes(&compared.notes);
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

/// What is compared with what.
struct Compared {
    files: CatalogDiff,
    /// The selections of the datasets that both files have.
    slabs: Vec<[Hyperslab; 2]>,
    /// The catalogs that these datasets are of.
    catalogs: Vec<[Catalog; 2]>,
    /// What the selections took for granted.
    notes: Vec<SelectionNote>,
}

impl Compared {
    fn of(args: &DiffArgs, files: &[Opened; 2], how: &Execution) -> Result<Compared> {
        let [left, right] = [&files[0].catalog, &files[1].catalog];
        if args.datasets.is_empty() {
            let files = catalog_diff(left, right);
            let whole = |both: &[Dataset; 2]| {
                [&both[0], &both[1]].map(|dataset| Hyperslab::whole(dataset.shape()))
            };
            let slabs = files.both.iter().map(whole).collect();
            let catalogs = vec![[left.clone(), right.clone()]; files.both.len()];
            return Ok(Compared { files, slabs, catalogs, notes: Vec::new() });
        }
        let (slabs, catalogs) = (Vec::new(), Vec::new());
        let mut found =
            Compared { files: CatalogDiff::default(), slabs, catalogs, notes: Vec::new() };
        for asked in &args.datasets {
            found.add(asked, [(left, &args.left), (right, &args.right)], how)?;
        }
        Ok(found)
    }

    /// Adds the datasets that a selector names, in one of the files at least.
    fn add(&mut self, asked: &str, sides: [(&Catalog, &Path); 2], how: &Execution) -> Result<()> {
        let catalogs = sides.map(|(catalog, _)| catalog);
        let is_known = |name: &str| catalogs.iter().any(|catalog| catalog.has(name));
        let (name, slice) = target::split(asked, is_known);
        for name in names(name, catalogs) {
            self.add_named(&name, slice, sides, how)?;
        }
        Ok(())
    }

    /// Adds the dataset of a name, which one of the files has at least.
    fn add_named<'c>(
        &mut self,
        name: &str,
        slice: Option<&str>,
        [left, right]: [(&'c Catalog, &Path); 2],
        how: &Execution,
    ) -> Result<()> {
        let found =
            |(catalog, _): (&'c Catalog, &Path)| catalog.has(name).then(|| catalog.find(name));
        match [left, right].map(found) {
            [Some(Ok(a)), Some(Ok(b))] => {
                let notes = &mut self.notes;
                let mut part = |(catalog, path): (&Catalog, &Path), dataset: &mut Dataset| {
                    let whole = dataset.clone();
                    let target = target::resolve(catalog, &whole, slice, how)
                        .map_err(|failure| failure.about(path))?;
                    notes.extend(target.notes);
                    *dataset = target.dataset.into_owned();
                    Ok::<_, Failure>((target.slab, target.catalog.into_owned()))
                };
                let members = [(left.0, a), (right.0, b)].map(|(it, of)| with_members(it, [of]));
                let pairs = CatalogDiff::of(members, [&BTreeMap::new(), &BTreeMap::new()]);
                for mut both in pairs.both {
                    let (one, catalog) = part(left, &mut both[0])?;
                    let (two, other) = part(right, &mut both[1])?;
                    self.slabs.push([one, two]);
                    self.catalogs.push([catalog, other]);
                    self.files.both.push(both);
                }
                let only = self.files.only.iter_mut().zip(pairs.only);
                only.for_each(|(all, more)| all.extend(more));
            }
            [Some(Ok(a)), None] => self.files.only[0].push(a.clone()),
            [None, Some(Ok(b))] => self.files.only[1].push(b.clone()),
            [Some(Err(error)), _] => return Err(Failure::from(error).about(left.1)),
            [_, Some(Err(error))] => return Err(Failure::from(error).about(right.1)),
            [None, None] => {
                left.0.find(name).map_err(|error| Failure::from(error).about(left.1)).map(drop)?
            }
        }
        Ok(())
    }

    /// The bytes of the values of the first file.
    fn len(&self) -> u64 {
        let pairs = self.files.both.iter().zip(&self.slabs);
        let len = |(both, slabs): (&[Dataset; 2], &[Hyperslab; 2])| both[0].selected_len(&slabs[0]);
        pairs.map(len).fold(0, u64::saturating_add)
    }
}

/// The names that match a pattern in one of the catalogs at least, those of the first before others; a text that
/// is no pattern, or that nothing matches, is a name.
fn names(asked: &str, catalogs: [&Catalog; 2]) -> Vec<String> {
    let matching = catalogs.map(|catalog| catalog.matching(asked).unwrap_or_default());
    let is_name = catalogs.iter().any(|catalog| catalog.has(asked));
    let mut seen = HashSet::new();
    let names = matching.into_iter().flatten().map(|dataset| dataset.name.clone());
    let names: Vec<String> = names.filter(|name| !is_name && seen.insert(name.clone())).collect();
    if names.is_empty() { vec![asked.to_owned()] } else { names }
}

/// What was found, and why some datasets could not be compared.
struct Found {
    report: DiffReport,
    integrity: Integrity,
    faults: Vec<Failure>,
}

fn found(
    args: &DiffArgs,
    files: &[Opened; 2],
    compared: &Compared,
    how: &Execution,
) -> Result<Found> {
    let tolerance = (!args.quick).then_some(Tolerance {
        rtol: args.rtol,
        atol: args.atol,
        ulp: args.ulp,
        nan_equal: !args.nan_differs,
    });
    let mut report = shape::report(args, files, &compared.files);
    report.warnings.extend(differing_decoding(&compared.files.both));
    let (mut faults, mut integrity) = (Vec::new(), None);
    let pairs = compared.files.both.iter().zip(&compared.slabs).zip(&compared.catalogs);
    for ((both, slabs), [left, right]) in pairs {
        let datasets = [(left, &both[0]), (right, &both[1])];
        let slabs = [&slabs[0], &slabs[1]];
        let mut found = DatasetDiff::of(datasets, slabs, tolerance.as_ref(), how)?;
        let elements = found.elements.as_ref().map(|elements| elements.integrity);
        integrity = integrity.into_iter().chain(elements).reduce(Integrity::and);
        if found.differs() {
            report.datasets.push(shape::of_dataset((left, &both[0]), &found, how)?);
        } else if let Some(why) = found.why() {
            report.not_compared.push(NotCompared { name: both[0].name.clone(), why });
        }
        // Of types that differ it is an answer that they are not compared.
        let fault = found.fault.take();
        let fault =
            fault.filter(|it| !matches!(it, Error::Incomparable { .. }) || !found.differs());
        faults.extend(fault.map(Failure::from));
    }
    let differs = !report.datasets.is_empty()
        || !report.attrs.is_empty()
        || report.only.iter().any(|names| !names.is_empty());
    report.same =
        if differs { Some(false) } else { report.not_compared.is_empty().then_some(true) };
    report.integrity = integrity.map(Integrity::name);
    let integrity = integrity.unwrap_or(Integrity::Unprotected);
    if report.integrity.is_some() {
        report.warnings.extend(files.iter().filter_map(|file| open::doubt(file, integrity)));
    }
    Ok(Found { report, integrity, faults })
}
