//! From one container to another: every tensor bit for bit, with its metadata.
//!
//! ```text
//!   open -> datasets -> logical: as the target stores them -> tet | ztensor | tensogram | ...
//! ```
//!
//! Where the target lacks a type, its bits are stored under another, with two attributes that say what
//! they are; a reader of this crate shows the type again.

mod choice;
mod labels;
mod storage;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tet_file::metadata::HistoryRow;
use tet_io::Source;
use tet_query::Dataset;
use tet_verify::{Finding, Severity};

use self::choice::{check_dense, check_names, joined_of};
use self::labels::labeled;
pub(crate) use self::labels::{label_texts, of_range};
pub(crate) use self::storage::resolved;
use crate::container::tensogram::{Choice, numbered, stacked};
use crate::container::ztensor::{self, AppendPlace};
use crate::container::{Capabilities, Writer, writable};
use crate::merge::merged;
use crate::model::attributes::is_metadata;
use crate::model::{logical, ties};
use crate::open::{open, open_source};
use crate::read::opened::{OpenOptions, Opened, path_of};
use crate::stack::stacked_files;
use crate::write::conversion::{Conversion, ConvertOptions, SparseOutput, UnsupportedChoice};
use crate::write::joined::Joined;
use crate::write::left_out::left_out;
use crate::write::options::{ImportOptions, ImportReport, Imported};
use crate::{Error, Format, Note, Result};

pub use self::choice::chosen;

/// Writes the arrays of `input` to the new file `output`. The format of the input follows from its
/// content, that of the output from its suffix.
///
/// The progress of `options.execution` counts the decoded bytes that are written. The output appears
/// complete or not at all.
///
/// # Errors
/// The input is damaged or of a format that is not read; a dataset is of a type that the output has
/// no way to store; an option names what is not there; the output exists, is the input, or cannot be
/// written; the caller canceled.
pub fn convert(input: &Path, output: &Path, options: &ConvertOptions) -> Result<ImportReport> {
    converted(&[(input, &|how| open(input, how))], output, options)
}

/// Writes the arrays of several files to one, as [`convert`] does those of one file.
///
/// A dataset that several files have is written once, if its type, shape, axes, labels, attributes and values are the
/// same: coordinates, for example. `options.conflict` tells what is done about others. With `options.stack` the files have
/// the same datasets, and each becomes one along a new first axis of that name.
///
/// # Errors
/// As [`convert`]; two files have different datasets or attributes of one name, or axes of one name with other extents; files
/// that are stacked do not have the same datasets.
///
/// # Examples
///
/// ```no_run
/// use tet_convert::{ConvertOptions, convert_merged};
///
/// let inputs = ["temp.nc".into(), "wind.nc".into()];
/// convert_merged(&inputs, "both.tet".as_ref(), &ConvertOptions::default())?;
/// # Ok::<(), tet_convert::Error>(())
/// ```
pub fn convert_merged(
    inputs: &[PathBuf],
    output: &Path,
    options: &ConvertOptions,
) -> Result<ImportReport> {
    let openers: Vec<_> =
        inputs.iter().map(|path| move |how: &OpenOptions| open(path, how)).collect();
    let inputs = inputs.iter().zip(&openers);
    let inputs: Vec<Input<'_>> =
        inputs.map(|(path, opener)| (path.as_path(), opener as Opening<'_>)).collect();
    converted(&inputs, output, options)
}

/// Writes the arrays of a source to a file, as [`convert`] does those of the file at a path.
///
/// # Errors
/// As [`convert`].
///
/// # Examples
///
/// ```
/// use tet_convert::{ConvertOptions, convert_source};
/// use tet_io::Source;
///
/// let folder = tempfile::tempdir()?;
/// let rows = Source::from_named_bytes("rows.csv", b"a,b\n1,2\n3,4\n".as_slice());
/// let report = convert_source(&rows, &folder.path().join("rows.npz"), &ConvertOptions::default())?;
/// let names: Vec<&str> = report.datasets.iter().map(|it| it.name.as_str()).collect();
/// assert_eq!(names, ["a", "b"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn convert_source(
    source: &Source,
    output: &Path,
    options: &ConvertOptions,
) -> Result<ImportReport> {
    let path = path_of(source);
    converted(&[(&path, &|how| open_source(source.clone(), how))], output, options)
}

/// The path of an input, for messages, and what opens it.
type Input<'a> = (&'a Path, Opening<'a>);
type Opening<'a> = &'a dyn Fn(&OpenOptions) -> Result<Opened>;

fn converted(
    inputs: &[Input<'_>],
    output: &Path,
    options: &ConvertOptions,
) -> Result<ImportReport> {
    let outcome = written(inputs, output, options);
    let is_canceled = options.execution.progress.is_canceled();
    outcome.map_err(|error| if is_canceled { Error::Canceled } else { error })
}

fn written(inputs: &[Input<'_>], output: &Path, options: &ConvertOptions) -> Result<ImportReport> {
    let (target, writer) = writable(options.output_name(output))?;
    let (mut files, mut notes) = (Vec::new(), Vec::new());
    // Several files are stacked as a whole.
    let stack = options.stack.as_deref().filter(|_| 1 < inputs.len());
    let each = &ConvertOptions {
        stack: options.stack.clone().filter(|_| stack.is_none()),
        ..options.clone()
    };
    for &input in inputs {
        let (opened, of_file) = prepared(input, output, writer.can(), each)?;
        files.push((input.0.to_path_buf(), opened));
        notes.extend(of_file);
    }
    let opened = match files.pop() {
        Some((_, opened)) if files.is_empty() => opened,
        last => {
            files.extend(last);
            match stack {
                Some(axis) => stacked_files(files, axis, &options.tet, &options.execution)?,
                None => merged(files, options.conflict, &options.execution)?,
            }
        }
    };
    write_opened(opened, output, (target, writer), (options, None), notes)
}

/// Writes the datasets of an open file, or of a result that `history` tells about; `notes` are those of before.
pub(crate) fn write_opened(
    mut opened: Opened,
    output: &Path,
    (target, writer): (Format, &dyn Writer),
    (options, history): (&ConvertOptions, Option<HistoryRow>),
    mut notes: Vec<Note>,
) -> Result<ImportReport> {
    let tet = options.tet.named(&opened.catalog);
    let open = OpenOptions { scratch: Some(folder_of(output)), ..options.open.clone() };
    let options = &ConvertOptions { tet, open, ..options.clone() };
    let execution = options.execution.silent();
    opened = labeled(opened, writer.can(), (&options.tet, &execution), &mut notes)?;
    let mut report = write(&opened, output, (target, writer), (options, history))?;
    let written: BTreeSet<&str> = report.datasets.iter().map(|it| it.name.as_str()).collect();
    let is_written = |note: &Note| match note {
        Note::Times { dataset, .. } => written.contains(dataset.as_str()),
        _ => true,
    };
    notes.extend(opened.notes.iter().filter(|note| is_written(note)).cloned());
    report.notes.splice(0..0, notes);
    Ok(report)
}

/// An input whose datasets have the names that they are written by, and notes on what of it is not read.
fn prepared(
    input: Input<'_>,
    output: &Path,
    can: Capabilities,
    options: &ConvertOptions,
) -> Result<(Opened, Vec<Note>)> {
    let mut opened = opened_for(input, output, options)?;
    let (input, _) = input;
    let mut notes = Vec::new();
    if let Some(axis) = &options.stack {
        let (include, exclude) = (&options.tet.include[..], &options.tet.exclude[..]);
        let choice = Choice { axis, include, exclude };
        (opened.catalog, notes) = stacked(input, &opened.catalog, &choice)?;
    }
    if opened.format == Format::TENSOGRAM && !can.same_names {
        (opened.catalog, notes) = numbered(opened.catalog, notes);
    }
    notes.extend(unread(&opened));
    let malformed = opened.malformed().map(ToString::to_string);
    notes.extend(malformed.map(|what| Note::Malformed { what }));
    Ok((opened, notes))
}

/// Opens the input to be read in row-major order, with scratch files in the folder of the output.
fn opened_for((input, open): Input<'_>, output: &Path, options: &ConvertOptions) -> Result<Opened> {
    let how = OpenOptions {
        scratch: Some(folder_of(output)),
        progress: options.execution.progress.silent(),
        in_order: true,
        ..options.open.clone()
    };
    let mut opened = open(&how)?;
    let (format, path) = (opened.format, || input.to_path_buf());
    if options.stack.is_some() && format != Format::TENSOGRAM {
        return Err(Error::NoStack { path: path(), format });
    }
    match &options.tet.name {
        Some(_) if format != Format::NPY => return Err(Error::HasNames { path: path(), format }),
        Some(name) => {
            opened.catalog =
                opened.catalog.viewed(|dataset| Dataset { name: name.clone(), ..dataset });
        }
        None => {}
    }
    Ok(opened)
}

/// The folder of an output, where its scratch files are.
pub(crate) fn folder_of(output: &Path) -> PathBuf {
    let folder = output.parent().filter(|folder| *folder != Path::new(""));
    folder.unwrap_or(Path::new(".")).to_path_buf()
}

/// What of a file cannot be read and concerns no dataset, as a loss.
fn unread(opened: &Opened) -> Option<Note> {
    let is_loss = |it: &&Finding| it.severity == Severity::Error && !opened.is_form(it);
    let errors = opened.findings.iter().filter(is_loss);
    let count = errors.filter(|it| it.place.dataset.is_none()).count();
    Note::left_behind("", "parts of the metadata that cannot be read", count)
}

/// Writes the arrays of `input` behind the tensors of the zTensor file `target`.
///
/// # Errors
/// As [`convert`], and when the target is no zTensor file, or has a tensor of one of the names.
pub fn append_ztensor(
    input: &Path,
    target: &Path,
    place: AppendPlace,
    options: &ConvertOptions,
) -> Result<ImportReport> {
    let opened = open(input, &OpenOptions::default())?;
    let sparse = Capabilities { sparse: true, ..Capabilities::ARRAYS };
    let joined = joined_of(&opened.catalog, sparse, options)?;
    let mut conversion = conversion(&opened, &joined, sparse, options)?;
    let options = &resolved(conversion.catalog, &conversion.datasets, options)?;
    opened.catalog.check_decoded(conversion.datasets.iter().copied(), &options.execution)?;
    let output_len = ztensor::append(&mut conversion, target, place, options)?;
    Ok(report(conversion, output_len))
}

fn write(
    opened: &Opened,
    output: &Path,
    (format, writer): (Format, &dyn Writer),
    (options, history): (&ConvertOptions, Option<HistoryRow>),
) -> Result<ImportReport> {
    let can = writer.can();
    let joined = joined_of(&opened.catalog, can, options)?;
    let mut conversion = conversion(opened, &joined, can, options)?;
    conversion.history = history;
    let encoding = format.name();
    skip_unsupported(&mut conversion, (encoding, writer), options)?;
    let options = &resolved(conversion.catalog, &conversion.datasets, options)?;
    if options.sparse == SparseOutput::Sparse && !can.sparse {
        check_dense(&opened.catalog, &conversion.datasets)?;
    }
    opened.catalog.check_decoded(conversion.datasets.iter().copied(), &options.execution)?;
    if !writer.keeps_shared_bytes(options) {
        conversion.notes.extend(ties::untied(conversion.catalog, &conversion.datasets)?);
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
    report.shard_count = written.shard_count;
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
    (encoding, writer): (&'static str, &dyn Writer),
    options: &ConvertOptions,
) -> Result<()> {
    let (mut faults, mut left) = (Vec::new(), BTreeSet::new());
    for (at, dataset) in conversion.datasets.iter().enumerate().filter(|(_, it)| !it.is_text()) {
        if let Err(error) = writer.check(dataset, encoding) {
            faults.push((dataset.name.clone(), error));
            left.insert(at);
        }
    }
    let is_skipped = options.unsupported == UnsupportedChoice::Skipped;
    if is_skipped && faults.len() < conversion.datasets.len() {
        let note =
            |(dataset, error): (String, Error)| Note::Skipped { dataset, why: error.to_string() };
        conversion.notes.extend(faults.into_iter().map(note));
        let datasets = std::mem::take(&mut conversion.datasets).into_iter().enumerate();
        conversion.datasets =
            datasets.filter(|(at, _)| !left.contains(at)).map(|it| it.1).collect();
        return Ok(());
    }
    let faults: Vec<Error> = faults.into_iter().map(|(_, error)| error).collect();
    if faults.len() < 2 { Ok(()) } else { Err(Error::Several { encoding, faults }) }
}

/// The datasets that the options choose, and that an output can hold.
fn conversion<'c>(
    opened: &'c Opened,
    joined: &'c [Joined],
    can: Capabilities,
    options: &ConvertOptions,
) -> Result<Conversion<'c>> {
    let catalog = &opened.catalog;
    let (mut datasets, mut notes, mut left) = (Vec::new(), Vec::new(), None);
    let mut placed = vec![false; joined.len()];
    for dataset in chosen(catalog, &options.tet.include, &options.tet.exclude)? {
        // Attributes of the file, and labels, have their own places.
        if is_metadata(dataset) || opened.labels.contains(&dataset.index) {
            continue;
        }
        if can.chars && dataset.is_text() && dataset.stored().dtype_name == CHAR {
            datasets.push(dataset.stored());
            continue;
        }
        let members = members(opened, dataset, can, &options.tet, &mut notes)?;
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
        match joined.iter().zip(&mut placed).find(|(tensor, _)| tensor.has(dataset)) {
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
    Ok(Conversion { catalog, datasets, joined, notes, history: None })
}

/// The members of a dataset of structures that an output holds; none where it holds one dataset, and of another
/// dataset. Those that are asked for by name, or excluded, are not among them. Notes have what is left out.
fn members<'c>(
    opened: &'c Opened,
    dataset: &Dataset,
    can: Capabilities,
    options: &ImportOptions,
    notes: &mut Vec<Note>,
) -> Result<Vec<&'c Dataset>> {
    let Some(tet_query::Error::Compound { members, .. }) = dataset.why() else {
        return Ok(Vec::new());
    };
    let catalog = &opened.catalog;
    let named = options.include.iter().chain(&options.exclude);
    let named = named.map(|name| Ok(catalog.find(name)?.index)).collect::<Result<BTreeSet<_>>>()?;
    let is_held = |part: &&Dataset| {
        let is_found = catalog.find(&part.name).is_ok_and(|found| found.index == part.index);
        let is_fit = part.dtype.is_some() && part.why().is_none() || can.text && part.is_text();
        can.several && is_found && is_fit
    };
    let names: BTreeSet<&str> = members.iter().map(String::as_str).collect();
    let parts = catalog.parts().iter().filter(|part| names.contains(part.name.as_str()));
    let parts = parts.filter(|part| !named.contains(&part.index));
    let (held, left): (Vec<&Dataset>, Vec<&Dataset>) = parts.partition(is_held);
    if !held.is_empty() {
        let parts = held.iter().map(|it| it.name.clone()).collect();
        notes.push(Note::Members { dataset: dataset.name.clone(), parts });
        notes.extend(Note::left_behind(&dataset.name, "members of structures", left.len()));
    }
    Ok(held)
}

/// The type of the characters of texts of NetCDF.
const CHAR: &str = "char";

/// What the elements of a dataset are that is left out where an output cannot hold them.
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
    }
}
