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
mod tet;
pub(crate) mod ties;
mod ztensor;

use std::path::Path;

use tet_query::{Catalog, Dataset, Execution, Hyperslab, Lens};
use tet_verify::{Finding, Severity};
use tet_ztensor::Dialect;

use crate::export::{
    self, Encoding, ExportOptions, SHARD_LEN, Sharded, write_lens_file, write_npz_file,
    write_safetensors_file, write_shards,
};
use crate::labels::labeled;
use crate::open::{OpenOptions, Opened, is_of_form, open};
use crate::options::{ImportOptions, ImportReport, Imported};
use crate::sniff::Format;
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

/// What a file is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// `.tet`.
    Tet,
    /// zTensor 0.1.0, `.zt`.
    ZTensor,
    /// Tensogram v3, `.tgm`: one message.
    Tensogram,
    /// `.safetensors`; several and their index, where a length of shards is asked for and one does
    /// not hold it all.
    SafeTensors,
    /// `.safetensors.index.json`, and the shards that it names beside it.
    SafeTensorsIndex,
    /// NumPy's archive, `.npz`.
    Npz,
    /// NumPy's file of one array, `.npy`.
    Npy,
    /// The elements of one array alone: little endian, row-major.
    Raw,
    /// One array as text, see [`export::csv`].
    Csv,
}

impl Target {
    /// The target that the suffix of a path asks for; `.tet` where it has none.
    ///
    /// # Errors
    /// The suffix is none of them.
    pub fn from_path(path: &Path) -> Result<Self> {
        if export::is_index(path) {
            return Ok(Self::SafeTensorsIndex);
        }
        let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
        match suffix.to_ascii_lowercase().as_str() {
            "" | "tet" => Ok(Self::Tet),
            "zt" => Ok(Self::ZTensor),
            "tgm" => Ok(Self::Tensogram),
            "safetensors" => Ok(Self::SafeTensors),
            "npz" => Ok(Self::Npz),
            "npy" => Ok(Self::Npy),
            "raw" => Ok(Self::Raw),
            "csv" => Ok(Self::Csv),
            _ => Err(Error::UnknownTarget { path: path.to_path_buf() }),
        }
    }
}

/// How tensors are appended to a zTensor file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendPlace {
    /// A new file is made beside it and takes its name.
    Beside,
    /// Behind its end, which is not atomic: see [`tet_ztensor::edit::append_in_place`].
    InPlace,
}

/// What is written, and what of it.
struct Carried<'c> {
    catalog: &'c Catalog,
    datasets: Vec<&'c Dataset>,
    /// Those among them that are put together of parts of the file.
    joined: &'c [Joined],
    notes: Vec<Note>,
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
    let target = Target::from_path(output)?;
    let mut opened = opened_for(input, output, options)?;
    let mut notes = Vec::new();
    if let Some(axis) = &options.stack {
        let (include, exclude) = (&options.tet.include[..], &options.tet.exclude[..]);
        let choice = Choice { axis, include, exclude };
        (opened.catalog, notes) = stacked(input, &opened.catalog, &choice)?;
    }
    if opened.format == Format::Tensogram && target != Target::Tensogram {
        (opened.catalog, notes) = numbered(opened.catalog, notes);
    }
    notes.extend(unread(&opened));
    let malformed = opened.malformed().map(ToString::to_string);
    notes.extend(malformed.map(|what| Note::Malformed { what }));
    let names = opened.catalog.datasets().iter().map(|it| it.name.as_str());
    let tet = options.tet.named(&names.collect::<Vec<_>>());
    let options = &ConvertOptions { tet, ..options.clone() };
    opened = labeled(opened, &options.tet, &execution(options), &mut notes)?;
    let mut report = carry(&opened, output, target, options, progress)?;
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
    if options.stack.is_some() && format != Format::Tensogram {
        return Err(Error::NoStack { path: path(), format });
    }
    match &options.tet.name {
        Some(_) if format != Format::Npy => return Err(Error::HasNames { path: path(), format }),
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
    let joined = joined_of(&opened.catalog, Target::ZTensor, options)?;
    let mut carried = Carried::new(&opened, &joined, options)?;
    opened.catalog.check_decoded(carried.datasets.iter().copied(), &options.execution)?;
    let output_len = ztensor::append(&mut carried, target, place, options, progress)?;
    Ok(carried.report(output_len))
}

fn carry(
    opened: &Opened,
    output: &Path,
    target: Target,
    options: &ConvertOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<ImportReport> {
    let joined = joined_of(&opened.catalog, target, options)?;
    let mut carried = Carried::new(opened, &joined, options)?;
    if options.sparse == SparseCarry::Sparse && target != Target::ZTensor {
        check_dense(&opened.catalog, &carried.datasets)?;
    }
    opened.catalog.check_decoded(carried.datasets.iter().copied(), &options.execution)?;
    let ties_are_kept = target == Target::ZTensor && options.ztensor.dialect == Dialect::Common;
    if !ties_are_kept {
        carried.notes.extend(ties::untied(carried.catalog, &carried.datasets)?);
    }
    let mut shard_count = 0;
    let (output_len, chunk_shapes) = match target {
        Target::Tet => tet::write(&mut carried, output, options, progress)?,
        Target::ZTensor => (ztensor::write(&mut carried, output, options, progress)?, Vec::new()),
        Target::Tensogram => {
            (tensogram::write(&mut carried, output, options, progress)?, Vec::new())
        }
        _ => {
            let sharded = by_export(&mut carried, output, target, options, progress)?;
            shard_count = sharded.shard_count;
            (sharded.len, Vec::new())
        }
    };
    let mut report = carried.report(output_len);
    report.shard_count = shard_count;
    for (told, chunk_shape) in report.datasets.iter_mut().zip(chunk_shapes) {
        told.chunk_shape = chunk_shape.into_vec();
    }
    Ok(report)
}

impl<'c> Carried<'c> {
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
        Ok(Carried { catalog, datasets, joined, notes: Vec::new() })
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

fn by_export(
    carried: &mut Carried<'_>,
    output: &Path,
    target: Target,
    options: &ConvertOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Sharded> {
    let (overwrite, sync) = (options.tet.overwrite, options.tet.sync);
    let execution = execution(options);
    let how = ExportOptions { overwrite, sync, execution, ..ExportOptions::default() };
    let (catalog, datasets) = (carried.catalog, &carried.datasets);
    let shard_len = match (target, options.shard_len) {
        (Target::SafeTensorsIndex, len) => Some(len.unwrap_or(SHARD_LEN)),
        (_, len) => len,
    };
    let mut sharded = Sharded::default();
    let mut in_numpy = || {
        let views = datasets.iter().map(|it| logical::in_numpy(it, &mut carried.notes));
        views.collect::<Result<Vec<_>>>()
    };
    let notes = match (target, shard_len) {
        (Target::Npz, _) => {
            let views = in_numpy()?;
            let views: Vec<&Dataset> = views.iter().collect();
            write_npz_file(catalog, &views, output, &how, progress)?
        }
        (Target::Npy, _) => {
            let views = in_numpy()?;
            write_one(catalog, &views, Encoding::Npy, output, &how, progress)?
        }
        (Target::Raw, _) => {
            let bytes = |it: &&Dataset| logical::as_bytes(it).unwrap_or_else(|| (*it).clone());
            let views: Vec<Dataset> = datasets.iter().map(bytes).collect();
            write_one(catalog, &views, Encoding::Raw, output, &how, progress)?
        }
        (Target::Csv, _) => {
            let views: Vec<Dataset> = datasets.iter().map(|it| (*it).clone()).collect();
            write_one(catalog, &views, Encoding::Csv, output, &how, progress)?
        }
        (_, Some(len)) => {
            let (written, notes) = write_shards(catalog, datasets, output, len, &how, progress)?;
            sharded = written;
            notes
        }
        _ => write_safetensors_file(catalog, datasets, output, &how, progress)?,
    };
    carried.notes.extend(notes);
    if !matches!(target, Target::SafeTensors | Target::SafeTensorsIndex) {
        carried.notes.extend(export::left_out(catalog, &carried.datasets));
    }
    if sharded.shard_count == 0 {
        let len = std::fs::metadata(output).map(|metadata| metadata.len());
        let failed = |error| tet_io::Error::io(tet_io::Step::Stat, output, error);
        sharded.len = len.map_err(failed)?;
    }
    Ok(sharded)
}

/// Writes the one dataset that an output of one array takes.
fn write_one(
    catalog: &Catalog,
    datasets: &[Dataset],
    encoding: Encoding,
    output: &Path,
    how: &ExportOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<Note>> {
    let [dataset] = datasets else {
        return Err(Error::OneDataset { encoding: encoding.name() });
    };
    let lens = Lens::values(catalog, dataset, &Hyperslab::whole(dataset.shape()))?;
    write_lens_file(&lens, encoding, output, how, progress)
}

/// Reading stops when the caller stops the writing.
fn execution(options: &ConvertOptions) -> Execution {
    Execution { cancel: options.tet.cancel.clone(), ..options.execution.clone() }
}
