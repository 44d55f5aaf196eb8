//! Writes the datasets of an open file in the format of a writer.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use tet_file::metadata::HistoryRow;
use tet_query::{Catalog, Dataset, Execution};

use super::choice::{
    self, check_dense, check_names, chosen, chosen_with_associated, joined_of, known,
};
use super::labels::labeled;
use super::storage::resolved;
use crate::container::{Capabilities, Writer, container, untied, writable};
use crate::{Error, Format, Note, Result};
use tet_container::model::attribute_types::noted;
use tet_container::model::attributes::is_metadata;
use tet_container::model::logical::{self, CHAR};
use tet_container::read::damage::is_lost;
use tet_container::read::opened::{OpenOptions, Opened};
use tet_container::write::conversion::{
    Conversion, ConvertOptions, DamageChoice, SparseOutput, UnsupportedChoice,
};
use tet_container::write::file::folder_of;
use tet_container::write::joined::Joined;
use tet_container::write::left_out::left_out;
use tet_container::write::options::{Attribute, ImportReport, Imported};

/// Writes the datasets of an open file, or of a result that `history` tells about; `notes` are those of before.
pub(crate) fn write_opened(
    opened: Opened,
    output: &Path,
    options: &ConvertOptions,
    history: Option<HistoryRow>,
    mut notes: Vec<Note>,
) -> Result<ImportReport> {
    let (_, writer) = writable(options.output_name(output))?;
    let options = &of_output(&opened, output, options)?;
    let execution = options.execution.silent();
    let opened = labeled(opened, writer.can(), &options.tet, &execution, &mut notes)?;
    write_labeled(opened, output, options, history, notes)
}

/// The options for one output: datasets by their names, and where scratch files are. Attributes for all datasets are
/// those of the chosen ones.
///
/// # Errors
/// No dataset has a name that is asked for.
pub(super) fn of_output(
    opened: &Opened,
    output: &Path,
    options: &ConvertOptions,
) -> Result<ConvertOptions> {
    let mut tet = options.tet.named(&opened.catalog);
    if !tet.include.is_empty() && tet.attrs.iter().any(|it| it.dataset.is_none()) {
        let chosen = chosen(&opened.catalog, &tet.include, &tet.exclude)?;
        let of_one = |attr: &Attribute| match attr.dataset {
            Some(_) => vec![attr.clone()],
            None => {
                let names = chosen.iter().map(|it| Some(it.name.clone()));
                names.map(|dataset| Attribute { dataset, ..attr.clone() }).collect()
            }
        };
        // Those for one dataset come after those for all.
        tet.attrs.sort_by_key(|it| it.dataset.is_some());
        tet.attrs = tet.attrs.iter().flat_map(of_one).collect();
    }
    let open = OpenOptions { scratch: Some(folder_of(output)), ..options.open.clone() };
    Ok(ConvertOptions { tet, open, ..options.clone() })
}

/// Writes a file whose axes have the names and labels that they are written with.
pub(super) fn write_labeled(
    mut opened: Opened,
    output: &Path,
    options: &ConvertOptions,
    history: Option<HistoryRow>,
    mut notes: Vec<Note>,
) -> Result<ImportReport> {
    let (_, writer) = writable(options.output_name(output))?;
    opened.catalog = noted(opened.catalog, writer.attr_types(options.output_name(output)));
    let mut report = write(&opened, output, options, history)?;
    let written: BTreeSet<&str> = report.datasets.iter().map(|it| it.name.as_str()).collect();
    let is_written = |note: &Note| match note {
        Note::Times { dataset, .. } => written.contains(dataset.as_str()),
        Note::Untied { dataset, of } => {
            written.contains(dataset.as_str()) && written.contains(of.as_str())
        }
        _ => true,
    };
    notes.extend(opened.notes.iter().filter(|note| is_written(note)).cloned());
    report.notes.splice(0..0, notes);
    Ok(report)
}

fn write(
    opened: &Opened,
    output: &Path,
    options: &ConvertOptions,
    history: Option<HistoryRow>,
) -> Result<ImportReport> {
    let (format, writer) = writable(options.output_name(output))?;
    let can = writer.can_as(options.output_name(output));
    let joined = joined_of(&opened.catalog, can, options)?;
    let mut conversion = conversion(opened, &joined, can, options)?;
    conversion.history = history;
    let encoding = format.name();
    skip_unsupported(&mut conversion, encoding, writer, options)?;
    let options = &resolved(conversion.catalog, &conversion.datasets, options)?;
    if options.sparse == SparseOutput::Sparse && !can.sparse {
        check_dense(&opened.catalog, &conversion.datasets)?;
    }
    opened.catalog.check_decoded(conversion.datasets.iter().copied(), &options.execution)?;
    if !writer.keeps_shared_bytes(options) {
        conversion.notes.extend(untied(conversion.catalog, &conversion.datasets)?);
    }
    match conversion.datasets.len() {
        0 if !can.several => return Err(Error::NoDatasets { encoding }),
        2.. if !can.several => return Err(Error::OneDataset { encoding }),
        _ => {}
    }
    let written = writer.write(&mut conversion, output, options)?;
    if !can.metadata {
        conversion.notes.extend(left_out(conversion.catalog, &conversion.datasets));
    }
    let mut report = report(conversion, written.len);
    (report.shard_count, report.index) = (written.shard_count, written.index);
    for (dataset, chunk_shape) in report.datasets.iter_mut().zip(written.chunk_shapes) {
        dataset.chunk_shape = chunk_shape;
    }
    Ok(report)
}

/// Leaves out the datasets that the output cannot hold, with notes, if that is asked for; one of them that is not to
/// be left out is found by the writer.
///
/// # Errors
/// Several are not to be left out, or nothing else is there.
fn skip_unsupported(
    conversion: &mut Conversion<'_>,
    encoding: &'static str,
    writer: &dyn Writer,
    options: &ConvertOptions,
) -> Result<()> {
    let is_skipped = options.unsupported == UnsupportedChoice::Skipped;
    let (mut faults, mut left) = (Vec::new(), BTreeSet::new());
    let (mut notes, count) = (Vec::new(), conversion.datasets.len());
    for (at, dataset) in conversion.datasets.iter().enumerate().filter(|(_, it)| !it.is_text()) {
        let Err(error) = writer.check(dataset, encoding) else { continue };
        let is_lost = options.damage == DamageChoice::Missing && is_lost(dataset);
        if is_skipped || is_lost {
            left.insert(at);
        }
        if is_skipped && !is_lost {
            notes.push(Note::Skipped { dataset: dataset.name.clone(), why: error.to_string() });
        }
        faults.push(error);
    }
    if left.len() == faults.len() && left.len() < count {
        conversion.notes.extend(notes);
        let datasets = std::mem::take(&mut conversion.datasets).into_iter().enumerate();
        conversion.datasets =
            datasets.filter(|(at, _)| !left.contains(at)).map(|it| it.1).collect();
        return Ok(());
    }
    if faults.len() < 2 { Ok(()) } else { Err(Error::Several { encoding, faults }) }
}

/// A file that is appended to one of a format, with the datasets that the other one gets of it, and notes on them.
///
/// # Errors
/// It has datasets that such a file cannot hold, which are not to be left out.
pub(crate) fn taken(
    opened: Opened,
    format: Format,
    writer: &dyn Writer,
    options: &ConvertOptions,
    how: &Execution,
) -> Result<(Opened, Vec<Note>)> {
    let mut options = options.clone();
    options.tet.include = known(&opened.catalog, &options.tet.include)?;
    options.tet.exclude = known(&opened.catalog, &options.tet.exclude)?;
    let (mut notes, can, encoding) = (Vec::new(), writer.can(), format.name());
    let opened = labeled(opened, can, &options.tet, &how.silent(), &mut notes)?;
    let mut conversion = conversion(&opened, &[], can, &options)?;
    skip_unsupported(&mut conversion, encoding, writer, &options)?;
    let lost = |note: &Note| match note {
        Note::LeftBehind { dataset, what, .. } => Some((dataset.clone(), *what)),
        _ => None,
    };
    let lost: Vec<(String, &str)> = conversion.notes.iter().filter_map(lost).collect();
    let is_refused = options.unsupported == UnsupportedChoice::Refused;
    if let Some((_, what)) = lost.first().filter(|_| is_refused) {
        let names: Vec<String> = lost.iter().map(|(name, _)| format!("{name:?}")).collect();
        let what = format!(
            ".{encoding} files cannot hold {what}: {}; --skip-unsupported leaves them out, and so does --exclude",
            names.join(", ")
        );
        return Err(tet_file::Error::Edit { what }.into());
    }
    notes.extend(conversion.notes);
    let taken: Vec<Dataset> = conversion.datasets.into_iter().cloned().collect();
    let indexes: BTreeSet<usize> = taken.iter().map(|it| it.index).collect();
    let parts = opened.catalog.parts().iter().filter(|it| !indexes.contains(&it.index));
    let catalog = Catalog::new(opened.catalog.source().clone(), opened.catalog.format(), taken)
        .with_attrs(opened.catalog.attrs().clone())
        .with_parts(parts.cloned().collect())
        .with_shards(opened.catalog.shards().to_vec());
    Ok((Opened { catalog, labels: BTreeSet::new(), ..opened }, notes))
}

/// The datasets that the options choose, and that an output can hold.
pub(crate) fn conversion<'c>(
    opened: &'c Opened,
    joined: &'c [Joined],
    can: Capabilities,
    options: &ConvertOptions,
) -> Result<Conversion<'c>> {
    let catalog = &opened.catalog;
    let (mut datasets, mut notes, mut left) = (Vec::new(), Vec::new(), None);
    let (mut placed, tensors) = (vec![false; joined.len()], tensors_of_parts(joined));
    let named = choice::named(catalog, options.tet.include.iter().chain(&options.tet.exclude))?;
    for dataset in chosen_with_associated(catalog, &options.tet, can)? {
        // Attributes of the file, and labels, have their own places.
        if is_metadata(dataset) || opened.labels.contains(&dataset.index) {
            continue;
        }
        if can.chars && dataset.is_text() && dataset.stored().dtype_name == CHAR {
            datasets.push(dataset.stored());
            continue;
        }
        let members = members(opened, dataset, can, &named, &mut notes);
        if !members.is_empty() {
            datasets.extend(members);
            continue;
        }
        if let Some(what) = without_numbers(dataset).filter(|_| !can.text || !dataset.is_text()) {
            let count = dataset.grid.shape().element_count().unwrap_or(u64::MAX);
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            notes.extend(Note::left_behind(&dataset.name, what, count.max(1)));
            left = left.or(Some(dataset));
            continue;
        }
        // A tensor takes the place of its first part.
        match tensors
            .get(&dataset.index)
            .and_then(|at| Some((joined.get(*at)?, placed.get_mut(*at)?)))
        {
            None => datasets.push(dataset),
            Some((_, true)) => {}
            Some((tensor, is_placed)) => {
                *is_placed = true;
                datasets.push(&tensor.dataset);
            }
        }
    }
    // Nothing else is there to be written.
    datasets.extend(left.filter(|_| datasets.is_empty()));
    check_names(&datasets, &options.tet)?;
    let container = container(opened.format).filter(|_| can.keeps_header);
    let header = container.map_or(Ok(None), |container| container.header_to_keep(catalog))?;
    Ok(Conversion { catalog, datasets, joined, notes, history: None, header })
}

/// The places in the list of the tensors that datasets are parts of, by the positions of these.
fn tensors_of_parts(joined: &[Joined]) -> HashMap<usize, usize> {
    let mut places = HashMap::new();
    for (tensor, at) in joined.iter().zip(0..) {
        for part in tensor.parts() {
            places.entry(*part).or_insert(at);
        }
    }
    places
}

/// The members of a dataset of structures that an output holds; none where it holds one dataset, and of another
/// dataset. Those that are asked for by name, or excluded, are not among them. Notes have what is left out.
fn members<'c>(
    opened: &'c Opened,
    dataset: &Dataset,
    can: Capabilities,
    named: &BTreeSet<usize>,
    notes: &mut Vec<Note>,
) -> Vec<&'c Dataset> {
    let Some(tet_query::Error::Compound { members, .. }) = dataset.why() else {
        return Vec::new();
    };
    let catalog = &opened.catalog;
    let is_held = |part: &&Dataset| {
        let is_found = catalog.find(&part.name).is_ok_and(|found| found.index == part.index);
        let is_fit = part.dtype.is_some() && part.why().is_none() || can.text && part.is_text();
        can.several && is_found && is_fit
    };
    let mut names = BTreeSet::new();
    let parts = members.iter().filter(|name| names.insert(name.as_str()));
    let parts = parts.filter_map(|name| catalog.part(name));
    let parts = parts.filter(|part| !named.contains(&part.index));
    let (held, left): (Vec<&Dataset>, Vec<&Dataset>) = parts.partition(is_held);
    if !held.is_empty() {
        let parts = held.iter().map(|it| it.name.clone()).collect();
        notes.push(Note::Members { dataset: dataset.name.clone(), parts });
        notes.extend(Note::left_behind(&dataset.name, "members of structures", left.len()));
    }
    held
}

/// The kind of elements that are no numbers, for a dataset that is left out where an output cannot store them.
fn without_numbers(dataset: &Dataset) -> Option<&'static str> {
    match dataset.why() {
        None if dataset.is_text() => Some("texts"),
        Some(tet_query::Error::Compound { .. }) => Some("structures"),
        _ => None,
    }
}

/// The report of what was written.
fn report(conversion: Conversion<'_>, output_len: u64) -> ImportReport {
    let lens = conversion.datasets.iter().map(|it| logical::byte_len(it));
    ImportReport {
        decoded_len: lens.fold(0, u64::saturating_add),
        datasets: conversion.datasets.iter().copied().map(Imported::from).collect(),
        notes: conversion.notes,
        input_len: conversion.catalog.file_len(),
        output_len,
        shard_count: 0,
        index: None,
    }
}
