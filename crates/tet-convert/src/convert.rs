//! From one container to another: every tensor bit for bit, with its metadata.
//!
//! ```text
//!   open -> datasets -> logical: as the target stores them -> tet | ztensor | tensogram | ...
//! ```
//!
//! Where the target lacks a type, its bits are stored under another, with two attributes that say what
//! they are; a reader of this crate shows the type again.

mod choice;
mod dtype;
mod labels;
mod numbers;
mod rename;
mod select;
mod storage;
mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tet_io::Source;
use tet_query::{Catalog, Dataset, Meaning};

use self::choice::{choose, chosen_of_any, pruned, read_of};
use self::dtype::{asked, retyped};
use self::labels::labeled;
pub(crate) use self::labels::{label_texts, of_range};
use self::numbers::numbered;
use self::rename::with_new_names;
use self::select::selected;
pub(crate) use self::storage::resolved;
#[cfg(feature = "zarr")]
pub(crate) use self::written::conversion;
use self::written::{of_output, write_labeled};
pub(crate) use self::written::{taken, write_opened};
use crate::concat::joined_files;
use crate::container::{Capabilities, container, has_same_names, writable};
use crate::merge::merged;
use crate::open::{of_several, open, open_source};
use crate::stack::stacked_files;
use crate::{Error, Format, Note, Result};
use tet_container::model::attributes::{FILL_KEY, not_a_time};
use tet_container::model::cf::{ValueChoice, dated};
use tet_container::model::logical::{is_dequantized, numbers_of};
use tet_container::read::damage::{Damage, with_missing};
use tet_container::read::opened::{OpenOptions, Opened, path_of};
use tet_container::write::conversion::{ConvertOptions, DamageChoice, UnsupportedChoice};
use tet_container::write::file::folder_of;
use tet_container::write::options::ImportReport;
use tet_container::write::write_option::WriteOption;

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
    converted(&[(input, &|how| open(input, how))], output, Combining::Merge, options)
}

/// How several files become one, which are not stacked.
///
/// ```
/// assert_ne!(tet_convert::Combining::Merge, tet_convert::Combining::Concat("time"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combining<'a> {
    /// The datasets of all.
    Merge,
    /// Those of the first, grown along this axis by those of the others.
    Concat(&'a str),
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
pub fn convert_merged(
    inputs: &[PathBuf],
    output: &Path,
    options: &ConvertOptions,
) -> Result<ImportReport> {
    convert_combined(&at_paths(inputs), output, Combining::Merge, options)
}

/// A file that is converted.
///
/// ```
/// use tet_convert::ConvertInput;
///
/// assert_eq!(ConvertInput::from("temp.nc").path().to_str(), Some("temp.nc"));
/// ```
#[derive(Clone, Debug)]
pub enum ConvertInput {
    /// A file, a folder or a URL.
    Path(PathBuf),
    /// A file that is open.
    Source(Source),
}

impl<P: Into<PathBuf>> From<P> for ConvertInput {
    fn from(path: P) -> ConvertInput {
        ConvertInput::Path(path.into())
    }
}

impl ConvertInput {
    /// The path, for messages.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        match self {
            ConvertInput::Path(path) => path.clone(),
            ConvertInput::Source(source) => path_of(source),
        }
    }

    fn open(&self, how: &OpenOptions) -> Result<Opened> {
        match self {
            ConvertInput::Path(path) => open(path, how),
            ConvertInput::Source(source) => open_source(source.clone(), how),
        }
    }
}

fn at_paths(paths: &[PathBuf]) -> Vec<ConvertInput> {
    paths.iter().map(ConvertInput::from).collect()
}

/// Writes the arrays of several files to one.
///
/// # Errors
/// As [`convert_merged`] and [`concat`](crate::concat).
///
/// # Examples
///
/// ```no_run
/// use tet_convert::{Combining, ConvertOptions, convert_combined};
///
/// let months = ["may.nc".into(), "june.nc".into()];
/// convert_combined(&months, "spring.tet".as_ref(), Combining::Concat("time"), &ConvertOptions::default())?;
/// # Ok::<(), tet_convert::Error>(())
/// ```
pub fn convert_combined(
    inputs: &[ConvertInput],
    output: &Path,
    combining: Combining<'_>,
    options: &ConvertOptions,
) -> Result<ImportReport> {
    let (format, writer) = writable(options.output_name(output))?;
    if inputs.is_empty() {
        return Err(Error::NoDatasets { encoding: format.name() });
    }
    check_options(output, writer.can_as(options.output_name(output)).options, options)?;
    let paths: Vec<PathBuf> = inputs.iter().map(ConvertInput::path).collect();
    let openers: Vec<_> =
        inputs.iter().map(|input| move |how: &OpenOptions| input.open(how)).collect();
    let inputs = paths.iter().zip(&openers);
    let inputs: Vec<Input<'_>> =
        inputs.map(|(path, opener)| (path.as_path(), opener as Opening<'_>)).collect();
    converted(&inputs, output, combining, options)
}

/// Writes the datasets of the first file, grown along an axis by those of the others, to the new file `output`. What
/// [`append`](crate::append) asks of files that are appended holds for the others; datasets that do not grow are the same
/// in all files.
///
/// # Errors
/// As [`convert`](crate::convert) for the first file and the output, and as [`append`](crate::append) for the others.
pub fn concat(
    inputs: &[PathBuf],
    axis: &str,
    output: &Path,
    options: &ConvertOptions,
) -> Result<ImportReport> {
    convert_combined(&at_paths(inputs), output, Combining::Concat(axis), options)
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
    convert_combined(&[ConvertInput::Source(source.clone())], output, Combining::Merge, options)
}

/// The path of an input, for messages, and what opens it.
type Input<'a> = (&'a Path, Opening<'a>);
type Opening<'a> = &'a dyn Fn(&OpenOptions) -> Result<Opened>;

fn converted(
    inputs: &[Input<'_>],
    output: &Path,
    combining: Combining<'_>,
    options: &ConvertOptions,
) -> Result<ImportReport> {
    let outcome = written(inputs, output, combining, options);
    let is_canceled = options.execution.progress.is_canceled();
    outcome.map_err(|error| if is_canceled { Error::Canceled } else { error })
}

fn written(
    inputs: &[Input<'_>],
    output: &Path,
    combining: Combining<'_>,
    options: &ConvertOptions,
) -> Result<ImportReport> {
    let (_, writer) = writable(options.output_name(output))?;
    let Combined { opened, decoded_by, damaged, mut notes } =
        combined(inputs, output, combining, writer.can(), options)?;
    let options = &match inputs {
        [_] if options.stack.is_none() => options.clone(),
        // The datasets are those that are asked for.
        _ => options.clone().of_all(),
    };
    let (options, can) = (&of_output(&opened, output, options)?, writer.can());
    let execution = options.execution.silent();
    let mut opened = labeled(opened, can, &options.tet, &execution, &mut notes)?;
    let mut results = Vec::new();
    if let Some(text) = &options.select {
        (opened.catalog, results) = selected(opened.catalog, text, options, can, &mut notes)?;
        // The text of one position labels no axis any longer.
        let labels = |at: &usize| opened.catalog.at(*at).is_some_and(|it| it.shape().len() == 1);
        opened.labels.retain(labels);
    }
    results.iter().try_for_each(|it| it.check_seals(&execution))?;
    let blocks = block_types(&opened.catalog);
    let computed;
    (opened.catalog, computed) = retyped(opened.catalog, options)?;
    opened.catalog = opened.catalog.viewed(numbers_of);
    if !can.layouts.is_empty() && can.is_decoded(options.decoding) {
        opened.catalog = dated(opened.catalog, &execution);
    }
    computed.iter().try_for_each(|it| it.lazy().check_seal(&execution))?;
    opened.catalog = pruned(opened.catalog, &options.tet, can, &mut notes)?;
    let (opened, options) = with_new_names(opened, options)?;
    let report = write_labeled(opened, output, &options, None, notes);
    let mut report = report?;
    report.notes.extend(damaged.iter().filter_map(Damage::note));
    Ok(with_decoding(with_block_types(report, &blocks), &decoded_by))
}

/// The types of the quantized blocks that datasets are stored in, by their names.
fn block_types(catalog: &Catalog) -> BTreeMap<String, String> {
    let quantized = catalog.datasets().iter().filter(|dataset| is_dequantized(dataset));
    quantized.map(|dataset| (dataset.name.clone(), dataset.dtype_name.clone())).collect()
}

/// The report with a note on the types of blocks that are written as numbers.
fn with_block_types(mut report: ImportReport, blocks: &BTreeMap<String, String>) -> ImportReport {
    let written = report.datasets.iter().filter_map(|it| blocks.get(&it.name));
    let types: BTreeSet<&String> = written.clone().collect();
    let types: Vec<String> = types.into_iter().cloned().collect();
    let count = u64::try_from(written.count()).unwrap_or(u64::MAX);
    report.notes.extend((count != 0).then_some(Note::Dequantized { types, count }));
    report
}

/// The attributes by which datasets were decoded, by the names of these.
type DecodedBy = BTreeMap<String, BTreeSet<&'static str>>;

/// Whether decoded elements may be others than those that are stored: NaN and "not a time" are masked as they are.
fn are_others(dataset: &Dataset, meaning: &Meaning) -> bool {
    let stored = &meaning.stored;
    let is_view = Arc::ptr_eq(&dataset.chunks, &stored.chunks) && dataset.dtype == stored.dtype;
    let is_time = meaning.times.is_some() && stored.attrs.get(FILL_KEY) == Some(&not_a_time());
    !is_view && !is_time
}

/// The report with a note on the datasets that were decoded.
fn with_decoding(mut report: ImportReport, decoded_by: &DecodedBy) -> ImportReport {
    let written = report.datasets.iter().filter_map(|it| decoded_by.get_key_value(&it.name));
    let (datasets, attrs): (Vec<String>, Vec<_>) =
        written.map(|(name, attrs)| (name.clone(), attrs)).unzip();
    let attrs: BTreeSet<&str> = attrs.into_iter().flatten().copied().collect();
    let attrs = attrs.into_iter().map(str::to_owned).collect();
    report.notes.extend((!datasets.is_empty()).then_some(Note::Decoded { datasets, attrs }));
    report
}

/// The inputs as one file. Of several, and of messages that are stacked, it has the datasets that are asked for.
struct Combined {
    opened: Opened,
    /// The attributes by which datasets were decoded.
    decoded_by: DecodedBy,
    /// Datasets that have missing values where the inputs are damaged.
    damaged: Vec<Damage>,
    /// Notes on what of the inputs is not read.
    notes: Vec<Note>,
}

fn combined(
    inputs: &[Input<'_>],
    output: &Path,
    combining: Combining<'_>,
    can: Capabilities,
    options: &ConvertOptions,
) -> Result<Combined> {
    let (mut files, mut decoded_by, mut notes) = (Vec::new(), DecodedBy::new(), Vec::new());
    let mut damaged = Vec::new();
    // Several files are stacked as a whole.
    let stack = options.stack.as_deref().filter(|_| 1 < inputs.len());
    let each = &ConvertOptions {
        stack: options.stack.clone().filter(|_| stack.is_none()),
        ..options.clone()
    };
    let is_one = inputs.len() == 1;
    for &input in inputs {
        let (opened, of_file) = prepared(input, output, can, each)
            .map_err(|error| if is_one { error } else { error.in_file(input.0) })?;
        let mut opened = if is_one { Ok(opened) } else { of_several(input.0, Ok(opened)) }?;
        if can.is_decoded(options.decoding) {
            opened.catalog = options.decoding.compared(opened.catalog);
        }
        let is_unasked = options.decoding.values == ValueChoice::Auto;
        let datasets = opened.catalog.datasets().iter().chain(opened.catalog.parts());
        for dataset in datasets.filter(|_| is_unasked) {
            if let Some(meaning) = dataset.meaning.as_ref().filter(|it| are_others(dataset, it)) {
                decoded_by.entry(dataset.name.clone()).or_default().extend(&meaning.attrs);
            }
        }
        notes.extend(of_file);
        if options.damage == DamageChoice::Missing {
            damaged.extend(salvaged(&mut opened, options, can, &mut notes)?);
        }
        files.push((input.0.to_path_buf(), opened));
    }
    if 1 < files.len() {
        choose(&mut files, &options.tet, can)?;
    }
    let execution = &options.execution;
    let opened = match (combining, stack) {
        (_, Some(axis)) => stacked_files(files, axis, execution)?,
        (Combining::Concat(axis), None) => joined_files(files, axis, execution)?,
        (Combining::Merge, None) => match files.pop() {
            Some((_, opened)) if files.is_empty() => opened,
            last => {
                files.extend(last);
                merged(files, options.conflict, execution)?
            }
        },
    };
    Ok(Combined { opened, decoded_by, damaged, notes })
}

/// Puts missing values in place of what cannot be read of a file, and tells of which datasets. Notes have those that are
/// left out.
fn salvaged(
    opened: &mut Opened,
    options: &ConvertOptions,
    can: Capabilities,
    notes: &mut Vec<Note>,
) -> Result<Vec<Damage>> {
    let catalog = opened.catalog.clone();
    let read = read_of(&catalog, &options.tet, can)?;
    // Of several files each may have some of the datasets that the types are of.
    let dtypes = asked(&catalog, options).unwrap_or_default();
    let (catalog, damaged, lost) =
        with_missing(catalog, &read, &dtypes, &options.tet, &options.execution)?;
    opened.catalog = catalog;
    notes.extend(lost);
    notes.extend(opened.losses().next().map(|_| Note::damaged_parts()));
    Ok(damaged)
}

/// An input whose datasets have the names that they are written by, and notes on what of it is not read.
fn prepared(
    input: Input<'_>,
    output: &Path,
    can: Capabilities,
    options: &ConvertOptions,
) -> Result<(Opened, Vec<Note>)> {
    let mut opened = opened_for(input, output, options)?;
    if needs_all(options) {
        opened.check_complete()?;
    }
    let (input, _) = input;
    let mut notes = Vec::new();
    if let Some(axis) = &options.stack {
        let taken = chosen_of_any(&opened.catalog, &options.tet)?;
        let catalog = opened.catalog.clone().filtered(|it| taken.contains(&it.index));
        let format = opened.format;
        let Some(container) = container(format) else {
            return Err(Error::NoStack { path: input.to_path_buf(), format });
        };
        (opened.catalog, notes) = container.stacked(input, &catalog, axis)?;
    }
    if has_same_names(opened.format) && !can.same_names {
        (opened.catalog, notes) = numbered(opened.catalog, notes);
    }
    notes.extend(opened.warning_notes());
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

/// Whether a part of an input that cannot be read is an error.
fn needs_all(options: &ConvertOptions) -> bool {
    let is_refused = options.unsupported != UnsupportedChoice::Skipped
        && options.damage == DamageChoice::Refused;
    options.tet.include.is_empty() && is_refused
}

/// Checks that the output has a use for the options.
///
/// # Errors
/// It has none for one of them.
fn check_options(output: &Path, has: &[WriteOption], options: &ConvertOptions) -> Result<()> {
    match options.useless(has) {
        Some(option) => Err(Error::NoOption { output: output.to_path_buf(), option }),
        None => Ok(()),
    }
}
