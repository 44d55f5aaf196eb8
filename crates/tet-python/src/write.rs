//! Files of other formats.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tet_convert::{
    AxisAppend, AxisChunk, ChunkChoice, ChunkRule, Combining, Conflict, ConvertOptions, DTypeRule,
    EditOptions, ImportReport, PayloadCodec,
};
use tet_format::DType;
use tet_io::{Overwrite, ReadAt, Source};

use crate::bounds::{Bounds, Memory, Threads};
use crate::buffer::ReadMemory;
use crate::input::Input;
use crate::options::{Values, decoding, digests, extract, statistics_choice, unknown};
use crate::run::{ProgressCallback, detached};

/// Arguments of a conversion, as Python passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct ConvertArguments {
    include: Vec<String>,
    exclude: Vec<String>,
    overwrite: bool,
    /// Types, each of a dataset or of all.
    dtypes: Vec<(Option<String>, String)>,
    /// `kept`, `auto`, or extents, each of a dataset or of all.
    chunks: Vec<(Option<String>, Chunks)>,
    codec: Option<String>,
    level: Option<i32>,
    stats: bool,
    /// Whether packed and masked values are written as they are stored, or decoded, to every format.
    raw_values: bool,
    decoded: bool,
    digests: String,
    /// Whether parts of the metadata that cannot be read are left out.
    salvage: bool,
    /// Whether elements that cannot be read become missing values.
    /// Old and new names of datasets.
    renames: Vec<(String, String)>,
    /// The axis along which the datasets of several files follow each other.
    concat: Option<String>,
    /// The new first axis of datasets that several files have.
    stack: Option<String>,
    /// Whether the datasets of all files are written.
    merge: bool,
    /// Whose datasets are taken where those of merged files differ.
    prefer: Option<String>,
}

#[derive(FromPyObject)]
enum Chunks {
    Word(String),
    Shape(Vec<u64>),
    Axes(Vec<(String, u64)>),
}

impl Chunks {
    fn choice(self) -> PyResult<ChunkChoice> {
        match self {
            Chunks::Shape(shape) => Ok(ChunkChoice::Shape(shape)),
            Chunks::Axes(axes) => {
                let extents =
                    axes.into_iter().map(|(axis, extent)| (axis, AxisChunk::Extent(extent)));
                Ok(ChunkChoice::Axes(extents.collect()))
            }
            Chunks::Word(word) if word == "kept" => Ok(ChunkChoice::Kept),
            Chunks::Word(word) if word == "auto" => Ok(ChunkChoice::Auto),
            Chunks::Word(word) => {
                Err(unknown("chunks", &word, "kept, auto, or one extent for each axis"))
            }
        }
    }
}

impl ConvertArguments {
    /// Several files are joined in one way, with options of that way.
    fn check(&self, output: &Path, input_count: usize) -> PyResult<()> {
        let ways = [self.concat.is_some(), self.stack.is_some(), self.merge];
        let text = match ways.into_iter().filter(|is_given| *is_given).count() {
            0 if input_count != 1 => format!("there are {input_count} inputs: {WAYS}"),
            2.. => "concat, stack and merge exclude each other: give one of them".to_owned(),
            _ if self.prefer.is_some() && !self.merge => "prefer is for merge=True".to_owned(),
            _ if self.concat.is_some() && !self.dtypes.is_empty() => {
                "concat keeps the types of elements: omit dtype, and convert the output".to_owned()
            }
            _ => return Ok(()),
        };
        Python::attach(|py| Err(crate::error::usage(py, output, &text)))
    }

    fn options(self, bounds: Bounds) -> PyResult<ConvertOptions> {
        let mut options = ConvertOptions::default();
        options.execution = bounds.execution(digests(&self.digests)?);
        options.tet.threads = bounds.threads.unwrap_or(options.tet.threads);
        options.stack = self.stack;
        options.conflict = match self.prefer.as_deref() {
            None => Conflict::Refused,
            Some("first") => Conflict::First,
            Some(other) => return Err(unknown("prefer", other, "first")),
        };
        options.tet.statistics = statistics_choice(self.stats);
        let ConvertArguments { raw_values, decoded, .. } = self;
        options.decoding = decoding(Values { raw_values, decoded });
        options.tet.include = self.include;
        options.tet.exclude = self.exclude;
        options.tet.overwrite = if self.overwrite { Overwrite::Replace } else { Overwrite::Refuse };
        for (dataset, chunks) in self.chunks {
            options.tet.chunks.push(ChunkRule { dataset, chunks: chunks.choice()? });
        }
        if self.salvage {
            options.salvage();
        }
        options.renames = self.renames;
        for (dataset, name) in self.dtypes {
            let known = "a type of numbers, as float32";
            let dtype = DType::from_name(&name).ok_or_else(|| unknown("dtype", &name, known))?;
            options.dtypes.push(DTypeRule { dataset, dtype });
        }
        options.storage.codec = self.codec.as_deref().map(payload_codec).transpose()?;
        options.storage.level = self.level;
        Ok(options)
    }
}

/// How several files become one.
const WAYS: &str = "merge=True writes the datasets of all, concat=AXIS appends them along an axis, \
                    stack=AXIS along a new one";

/// A codec by its name.
fn payload_codec(name: &str) -> PyResult<PayloadCodec> {
    match name {
        "raw" => Ok(PayloadCodec::Raw),
        "zstd" => Ok(PayloadCodec::Zstd),
        "gzip" => Ok(PayloadCodec::Gzip),
        "lz4" => Ok(PayloadCodec::Lz4),
        "szip" => Ok(PayloadCodec::Szip),
        other => Err(unknown("codec", other, "raw, zstd, gzip, lz4, szip")),
    }
}

/// Writes the datasets of files to a new one.
#[pyfunction]
#[pyo3(signature = (inputs, output, asked, memory=None, threads=None, progress=None))]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    inputs: Vec<Input>,
    output: PathBuf,
    asked: &Bound<'py, PyDict>,
    memory: Option<Memory>,
    threads: Option<Threads>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let asked: ConvertArguments = extract(asked)?;
    let concat = asked.concat.clone();
    asked.check(&output, inputs.len())?;
    let combining = concat.as_deref().map_or(Combining::Merge, Combining::Concat);
    let mut options = asked.options(Bounds::new(memory, threads))?;
    let report = detached(py, &ProgressCallback::long(progress), |progress| {
        options.execution = options.execution.with_progress(progress.begin(0));
        let inputs: Result<Vec<_>, _> = inputs.iter().map(Input::to_convert).collect();
        tet_convert::convert_combined(&inputs?, &output, combining, &options)
    })?;
    shown(py, &report)
}

/// The suffix of an output is that of a format that is written.
#[pyfunction]
pub(crate) fn check_output(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    match tet_convert::writable(&path) {
        Ok(_) => Ok(()),
        Err(error) => Err(crate::error::raise(py, &error.into())),
    }
}

/// Writes the datasets of a file whose bytes are pieces of memory, one after the other, to a new one.
#[pyfunction]
#[pyo3(signature = (pieces, output, asked, progress=None))]
pub(crate) fn convert_pieces<'py>(
    py: Python<'py>,
    pieces: Vec<Bound<'py, PyAny>>,
    output: PathBuf,
    asked: &Bound<'py, PyDict>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let bounds = Bounds { memory: None, threads: None };
    let mut options = extract::<ConvertArguments>(asked)?.options(bounds)?;
    let source = Source::from_reader(Arc::new(Pieces::new(&pieces)?));
    let report = detached(py, &ProgressCallback::long(progress), |progress| {
        options.execution = options.execution.with_progress(progress.begin(0));
        tet_convert::convert_source(&source, &output, &options)
    })?;
    shown(py, &report)
}

/// Appends datasets of a file, which have these names, to those of another along an axis.
#[pyfunction]
#[pyo3(signature = (path, axis, names, input, memory=None, threads=None))]
pub(crate) fn append(
    py: Python<'_>,
    path: PathBuf,
    axis: String,
    names: Vec<String>,
    input: PathBuf,
    memory: Option<Memory>,
    threads: Option<Threads>,
) -> PyResult<()> {
    let execution = Bounds::new(memory, threads).execution(Default::default());
    detached(py, &ProgressCallback::long(None), |progress| {
        let inputs = [input.clone()];
        let asked = AxisAppend {
            axis: &axis,
            datasets: &names,
            inputs: &inputs,
            output: None,
            ..AxisAppend::default()
        };
        let execution = execution.clone().with_progress(progress.begin(0));
        tet_convert::append(&path, &asked, &EditOptions::default(), &execution)
    })?;
    Ok(())
}

/// Memory of Python as a file.
struct Pieces {
    /// Each with where it ends.
    pieces: Vec<(u64, ReadMemory)>,
}

impl Pieces {
    fn new(objects: &[Bound<'_, PyAny>]) -> PyResult<Pieces> {
        let (mut pieces, mut end) = (Vec::with_capacity(objects.len()), 0_u64);
        for object in objects {
            let memory = ReadMemory::from_object(object)?;
            end = end.saturating_add(memory.bytes().len() as u64);
            pieces.push((end, memory));
        }
        Ok(Pieces { pieces })
    }
}

impl ReadAt for Pieces {
    fn len(&self) -> u64 {
        self.pieces.last().map_or(0, |(end, _)| *end)
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let (mut at, mut out) = (offset, out);
        let first = self.pieces.partition_point(|(end, _)| *end <= offset);
        for (end, memory) in self.pieces.get(first..).unwrap_or_default() {
            if out.is_empty() {
                break;
            }
            let bytes = memory.bytes();
            let start = end.saturating_sub(bytes.len() as u64);
            let within = usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX);
            let bytes = bytes.get(within..).ok_or(io::ErrorKind::UnexpectedEof)?;
            let len = bytes.len().min(out.len());
            let (part, rest) = std::mem::take(&mut out).split_at_mut(len);
            part.copy_from_slice(&bytes[..len]);
            at = at.saturating_add(len as u64);
            out = rest;
        }
        if out.is_empty() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn name(&self) -> &str {
        "(memory)"
    }
}

fn shown<'py>(py: Python<'py>, report: &ImportReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let names = report.datasets.iter().map(|it| it.name.clone());
    dict.set_item("datasets", names.collect::<Vec<_>>())?;
    let notes = report.notes.iter().map(ToString::to_string);
    dict.set_item("notes", notes.collect::<Vec<_>>())?;
    let losses = report.notes.iter().filter(|note| note.is_loss()).map(ToString::to_string);
    dict.set_item("losses", losses.collect::<Vec<_>>())?;
    dict.set_item("input_len", report.input_len)?;
    dict.set_item("decoded_len", report.decoded_len)?;
    dict.set_item("output_len", report.output_len)?;
    Ok(dict)
}
