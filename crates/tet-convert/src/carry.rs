//! From one container to another: every tensor bit for bit, with what is said of it.
//!
//! ```text
//!   open -> datasets -> logical: as the target stores them -> tet | ztensor | tensogram | ...
//! ```
//!
//! Where the target lacks a type, its bits are kept under another and two attributes say what they
//! are; whoever opens the file sees the type again.

mod choice;
pub(crate) mod logical;
mod made_sparse;
mod narrow;
pub(crate) mod tensogram;
pub(crate) mod tet;
pub(crate) mod ties;
pub(crate) mod ztensor;

use std::path::Path;

use tet_query::{Catalog, Dataset, Execution};
use tet_verify::{Finding, Severity};

use crate::container::{Capabilities, Format, Writer, writable};
use crate::export;
use crate::labels::labeled;
use crate::open::{OpenOptions, Opened, is_of_form, open};
use crate::options::{ImportOptions, ImportReport, Imported};
use crate::sparse::Joined;
use crate::tensogram::{Choice, numbered, stacked};
use crate::{Error, Note, Result};

pub(crate) use self::choice::check_dense;
pub use self::choice::chosen;
use self::choice::{check_names, joined_of};

/// How to convert.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// Which datasets, and how a `.tet` file is written.
    pub tet: ImportOptions,
    /// How a zTensor file is written.
    pub ztensor: tet_ztensor::WriteOptions,
    /// How a Tensogram file is written.
    pub tensogram: tensogram::TensogramOptions,
    /// The name of the axis along which datasets of a Tensogram file that share a name are stacked.
    pub stack: Option<String>,
    /// How the input is opened.
    pub open: OpenOptions,
    /// How elements are read.
    pub execution: Execution,
    /// How sparse tensors are written.
    pub sparse: SparseCarry,
    /// How dense arrays are written.
    pub dense: DenseCarry,
    /// Bytes of the tensors of one shard of a model, at most, where it is to have shards.
    pub shard_len: Option<u64>,
}

/// How sparse tensors are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SparseCarry {
    /// With all their elements, however many bytes these are; those that the input keeps as parts are
    /// put together.
    Dense,
    /// In a zTensor file with those that are stored, as [`tet_ztensor::SparseChoice`] says; elsewhere
    /// with all their elements, up to 16 GiB.
    #[default]
    Sparse,
}

/// How dense arrays are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DenseCarry {
    /// With all their elements.
    #[default]
    Dense,
    /// In a zTensor file, of an input without sparse tensors, with the elements whose bytes are not all
    /// zero: two axes as `csr`, one or more than two as `coo`.
    Sparse,
}

/// How tensors are appended to a zTensor file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendPlace {
    /// A new file is made beside it and takes its name.
    Beside,
    /// Behind its end, which is not atomic: see [`tet_ztensor::edit::append_in_place`].
    InPlace,
}

/// What is to be written, for a [`Writer`](crate::Writer).
#[derive(Debug)]
pub struct Conversion<'c> {
    /// The catalog of the input.
    pub catalog: &'c Catalog,
    /// The datasets to write, in their order.
    pub datasets: Vec<&'c Dataset>,
    /// What the output says differently from the input; writers add to it.
    pub notes: Vec<Note>,
    /// Those among the datasets that are put together of parts of the file.
    joined: &'c [Joined],
}

/// Writes the arrays of `input` to the new file `output`, each told by what it is: the input by its
/// content, the output by its suffix.
///
/// `progress` is told the decoded bytes written so far and in all. The output appears complete or
/// not at all.
///
/// # Errors
/// The input is damaged or of a format that is not read; a dataset is of a type that the output has
/// no way to keep; an option names what is not there; the output exists, is the input, or cannot be
/// written; the caller canceled.
pub fn convert(
    input: &Path,
    output: &Path,
    options: &ConvertOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<ImportReport> {
    let outcome = converted(input, output, options, progress);
    outcome.map_err(|error| if options.tet.is_canceled() { Error::Canceled } else { error })
}

fn converted(
    input: &Path,
    output: &Path,
    options: &ConvertOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<ImportReport> {
    let (target, writer) = writable(output)?;
    let mut opened = opened_for(input, output, options)?;
    let mut notes = Vec::new();
    if let Some(axis) = &options.stack {
        let (include, exclude) = (&options.tet.include[..], &options.tet.exclude[..]);
        let choice = Choice { axis, include, exclude };
        (opened.catalog, notes) = stacked(input, &opened.catalog, &choice)?;
    }
    if opened.format == Format::TENSOGRAM && !writer.can().same_names {
        (opened.catalog, notes) = numbered(opened.catalog, notes);
    }
    notes.extend(unread(&opened));
    let malformed = opened.malformed().map(ToString::to_string);
    notes.extend(malformed.map(|what| Note::Malformed { what }));
    let names = opened.catalog.datasets().iter().map(|it| it.name.as_str());
    let tet = options.tet.named(&names.collect::<Vec<_>>());
    let options = &ConvertOptions { tet, ..options.clone() };
    opened = labeled(opened, &options.tet, &execution(options), &mut notes)?;
    let mut report = carry(&opened, output, (target, writer), options, progress)?;
    let is_written = |note: &Note| match note {
        Note::Times { dataset, .. } => report.datasets.iter().any(|it| it.name == *dataset),
        _ => true,
    };
    notes.extend(opened.notes.iter().filter(|note| is_written(note)).cloned());
    report.notes.splice(0..0, notes);
    Ok(report)
}

/// Opens the input to be read in row-major order, with scratch files in the folder of the output.
fn opened_for(input: &Path, output: &Path, options: &ConvertOptions) -> Result<Opened> {
    let folder = output.parent().filter(|folder| *folder != Path::new(""));
    let how = OpenOptions {
        scratch: Some(folder.unwrap_or(Path::new(".")).to_path_buf()),
        cancel: options.tet.cancel.clone(),
        in_order: true,
        ..options.open.clone()
    };
    let mut opened = open(input, &how)?;
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

/// What of a file cannot be read and concerns no dataset, as a loss.
fn unread(opened: &Opened) -> Option<Note> {
    let is_loss = |it: &&Finding| it.severity == Severity::Error && !is_of_form(it);
    let errors = opened.findings.iter().filter(is_loss);
    let count = errors.filter(|it| it.place.dataset.is_none()).count();
    let (dataset, what) = (String::new(), "parts of the metadata that cannot be read");
    (count != 0).then_some(Note::LeftBehind { dataset, what, count })
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
    progress: &mut dyn FnMut(u64, u64),
) -> Result<ImportReport> {
    let opened = open(input, &OpenOptions::default())?;
    let sparse = Capabilities { sparse: true, ..Capabilities::ARRAYS };
    let joined = joined_of(&opened.catalog, sparse, options)?;
    let mut carried = Conversion::new(&opened, &joined, options)?;
    opened.catalog.check_decoded(carried.datasets.iter().copied(), &options.execution)?;
    let output_len = ztensor::append(&mut carried, target, place, options, progress)?;
    Ok(carried.report(output_len))
}

fn carry(
    opened: &Opened,
    output: &Path,
    (format, writer): (Format, &dyn Writer),
    options: &ConvertOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<ImportReport> {
    let joined = joined_of(&opened.catalog, writer.can(), options)?;
    let mut carried = Conversion::new(opened, &joined, options)?;
    let can = writer.can();
    if options.sparse == SparseCarry::Sparse && !can.sparse {
        check_dense(&opened.catalog, &carried.datasets)?;
    }
    opened.catalog.check_decoded(carried.datasets.iter().copied(), &options.execution)?;
    if !writer.keeps_shared_bytes(options) {
        carried.notes.extend(ties::untied(carried.catalog, &carried.datasets)?);
    }
    if !can.several && carried.datasets.len() != 1 {
        return Err(Error::OneDataset { encoding: format.name() });
    }
    let written = writer.write(&mut carried, output, options, progress)?;
    if !can.metadata {
        carried.notes.extend(export::left_out(carried.catalog, &carried.datasets, format));
    }
    let mut report = carried.report(written.len);
    report.shard_count = written.shard_count;
    for (dataset, chunk_shape) in report.datasets.iter_mut().zip(written.chunk_shapes) {
        dataset.chunk_shape = chunk_shape;
    }
    Ok(report)
}

impl<'c> Conversion<'c> {
    /// The datasets that the options choose.
    fn new(opened: &'c Opened, joined: &'c [Joined], options: &ConvertOptions) -> Result<Self> {
        let catalog = &opened.catalog;
        let mut datasets = Vec::new();
        let mut placed = vec![false; joined.len()];
        for dataset in chosen(catalog, &options.tet.include, &options.tet.exclude)? {
            // Attributes of the file, and labels, have their own places.
            if is_metadata(dataset) || opened.is_text(dataset) {
                continue;
            }
            // A tensor stands where its first part stood.
            match joined.iter().zip(&mut placed).find(|(tensor, _)| tensor.has(dataset)) {
                None => datasets.push(dataset),
                Some((_, true)) => {}
                Some((tensor, is_placed)) => {
                    *is_placed = true;
                    datasets.push(&tensor.dataset);
                }
            }
        }
        check_names(&datasets, &options.tet)?;
        Ok(Conversion { catalog, datasets, joined, notes: Vec::new() })
    }

    /// The datasets as NumPy's files keep them.
    pub(crate) fn in_numpy(&mut self) -> Result<Vec<Dataset>> {
        let views = self.datasets.iter().map(|it| logical::in_numpy(it, &mut self.notes));
        views.collect()
    }

    fn report(self, output_len: u64) -> ImportReport {
        let lens = self.datasets.iter().map(|it| logical::byte_len(it));
        ImportReport {
            decoded_len: lens.fold(0, u64::saturating_add),
            datasets: self.datasets.iter().copied().map(Imported::from).collect(),
            notes: self.notes,
            input_len: self.catalog.file_len(),
            output_len,
            shard_count: 0,
        }
    }
}

/// Whether a dataset only holds what is said of its file, which is among the attributes of the
/// catalog.
fn is_metadata(dataset: &Dataset) -> bool {
    dataset.name == tet_ztensor::METADATA_NAME && dataset.shape() == [0]
}

/// Reading stops when the caller stops the writing.
pub(crate) fn execution(options: &ConvertOptions) -> Execution {
    Execution { cancel: options.tet.cancel.clone(), ..options.execution.clone() }
}
