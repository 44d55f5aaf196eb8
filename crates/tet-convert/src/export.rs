//! From a dataset, or an array in memory, to `.npy`, `.npz`, raw elements or text.
//!
//! Datasets are read in blocks of the outer axes and written as they come, so memory stays
//! bounded by the execution's budget. Files appear complete or not at all.

mod blocks;
pub mod csv;
pub mod npy;
mod npz;
mod text;

use std::io::{self, Write};
use std::path::Path;

use tet_format::{DType, Shape};
use tet_io::publish::Sync;
use tet_io::{Overwrite, Publish, Publisher};
use tet_query::{Array, AttrText, Catalog, Dataset, Execution, Hyperslab};

pub use self::npz::write_npz_file;

use crate::{Error, Note, Result};

/// What an array is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Encoding {
    /// NumPy's file of one array.
    Npy,
    /// NumPy's archive of arrays.
    Npz,
    /// The elements alone: little endian, row-major.
    Raw,
    /// Text: a line per row of the last axis, see [`csv`].
    Csv,
}

impl Encoding {
    /// Its name, as `--format` takes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::Raw => "raw",
            Self::Csv => "csv",
        }
    }

    /// The encoding of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Npy, Self::Npz, Self::Raw, Self::Csv].into_iter().find(|known| known.name() == name)
    }

    /// The encoding the suffix of `path` asks for.
    ///
    /// # Errors
    /// The suffix is none of them.
    pub fn from_path(path: &Path) -> Result<Self> {
        let suffix = path.extension().and_then(|suffix| suffix.to_str());
        suffix
            .and_then(|suffix| Self::from_name(&suffix.to_ascii_lowercase()))
            .ok_or_else(|| Error::UnknownSuffix { path: path.to_path_buf() })
    }
}

/// Whether the members of an archive are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// As they are, like `numpy.savez`: they can be read by position.
    #[default]
    Stored,
    /// By deflate, like `numpy.savez_compressed`.
    Deflated,
}

/// How to write a file.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// Whether an existing output is replaced.
    pub overwrite: Overwrite,
    /// How durable the output is on return.
    pub sync: Sync,
    /// How the dataset is read.
    pub execution: Execution,
    /// For `.npz`.
    pub compression: Compression,
}

/// Writes an array in memory; `name` is for notes and errors.
///
/// # Errors
/// The encoding has no such dtype, is `.npz`, or `out` refuses the bytes.
pub fn write_array(
    name: &str,
    array: &Array,
    encoding: Encoding,
    out: &mut dyn Write,
) -> Result<Vec<Note>> {
    let mut sink = Sink::begin(name, array.dtype(), array.shape(), encoding, out)?;
    sink.block(array, out)?;
    sink.finish(out)
}

/// Writes the selected elements of a dataset.
///
/// `progress` is told the bytes of elements written so far and in all.
///
/// # Errors
/// As [`write_array`], and when the dataset cannot be read.
pub fn write_dataset(
    catalog: &Catalog,
    dataset: &Dataset,
    slab: &Hyperslab,
    encoding: Encoding,
    execution: &Execution,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<Note>> {
    let dtype = readable_dtype(dataset)?;
    let shape = shape_of(dataset, slab);
    let mut sink = Sink::begin(&dataset.name, dtype, &shape, encoding, out)?;
    let total = shape.element_count().unwrap_or(0).saturating_mul(dtype.size().unwrap_or(0));
    let mut done = 0;
    blocks::for_each(dataset, slab, execution.memory_budget, &mut |block| {
        let array = catalog.read(dataset, block, execution)?;
        sink.block(&array, out)?;
        done += u64::try_from(array.bytes().len()).unwrap_or(0);
        progress(done, total);
        Ok(())
    })?;
    sink.finish(out)
}

/// Writes the selected elements of a dataset to the file `path`.
///
/// # Errors
/// As [`write_dataset`], and when the file exists, is the input, or cannot be published.
pub fn write_dataset_file(
    catalog: &Catalog,
    dataset: &Dataset,
    slab: &Hyperslab,
    encoding: Encoding,
    path: &Path,
    options: &ExportOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<Note>> {
    publish(catalog, path, options, |out| {
        let execution = &options.execution;
        let mut out = io::BufWriter::new(out);
        let notes = write_dataset(catalog, dataset, slab, encoding, execution, &mut out, progress)?;
        out.flush().map_err(Error::Write)?;
        Ok(notes)
    })
}

/// Writes an array in memory to the file `path`; `inputs` of `publish` are never written over.
///
/// # Errors
/// As [`write_array`], and when the file exists, is an input, or cannot be published.
pub fn write_array_file(
    name: &str,
    array: &Array,
    encoding: Encoding,
    path: &Path,
    how: &Publish,
) -> Result<Vec<Note>> {
    let mut publisher = Publisher::begin(path, how)?;
    let written = write_array(name, array, encoding, &mut publisher.file());
    let notes = written.map_err(|error| of_file(&publisher, error))?;
    publisher.commit()?;
    Ok(notes)
}

/// Runs `write` on a new file for `path`, and publishes it.
fn publish<T>(
    catalog: &Catalog,
    path: &Path,
    options: &ExportOptions,
    write: impl FnOnce(&mut dyn tet_io::vfs::VfsFile) -> Result<T>,
) -> Result<T> {
    let how = Publish {
        force: options.overwrite,
        sync: options.sync,
        inputs: catalog.source().stamp().into_iter().collect(),
    };
    let mut publisher = Publisher::begin(path, &how)?;
    let written = write(publisher.file()).map_err(|error| of_file(&publisher, error))?;
    catalog.check_unchanged()?;
    publisher.commit()?;
    Ok(written)
}

/// A refused write, told with its file.
fn of_file(publisher: &Publisher, error: Error) -> Error {
    match error {
        Error::Write(source) => Error::Io(publisher.write_fault(source)),
        other => other,
    }
}

/// The dtype of a dataset that can be read.
fn readable_dtype(dataset: &Dataset) -> Result<DType> {
    match (&dataset.fault, dataset.dtype) {
        (None, Some(dtype)) => Ok(dtype),
        (Some(cause), _) => Err(Error::Query(tet_query::Error::Unreadable {
            dataset: dataset.name.clone(),
            cause: cause.clone(),
        })),
        (None, None) => Err(Error::Query(tet_query::Error::UnknownDType {
            dataset: dataset.name.clone(),
            dtype: dataset.dtype_name.clone(),
        })),
    }
}

/// The result's shape; a dataset that was a scalar is one again.
fn shape_of(dataset: &Dataset, slab: &Hyperslab) -> Shape {
    let is_scalar = matches!(
        dataset.attrs.get(crate::import::SCALAR_KEY),
        Some(AttrText::Text(value)) if value == "1"
    );
    if is_scalar && dataset.shape() == [1] && *slab == Hyperslab::whole(&[1]) {
        Shape::from(Vec::new())
    } else {
        slab.kept_shape()
    }
}

/// An output that takes blocks of elements in row-major order.
struct Sink {
    encoding: Encoding,
    notes: Vec<Note>,
    lines: csv::Lines,
}

impl Sink {
    fn begin(
        name: &str,
        dtype: DType,
        shape: &Shape,
        encoding: Encoding,
        out: &mut dyn Write,
    ) -> Result<Self> {
        let no_dtype =
            || Error::NoDType { dataset: name.to_owned(), dtype, encoding: encoding.name() };
        let mut notes = Vec::new();
        match encoding {
            Encoding::Npz => return Err(Error::OneDataset { encoding: encoding.name() }),
            Encoding::Npy => {
                let header = npy::header(dtype, shape).ok_or_else(no_dtype)?;
                out.write_all(&header).map_err(Error::Write)?;
                if dtype == DType::BFloat16 {
                    let (dataset, to) = (name.to_owned(), DType::UInt16);
                    notes.push(Note::AsBits { dataset, from: dtype, to });
                }
            }
            Encoding::Csv if !text::is_known(dtype) => return Err(no_dtype()),
            Encoding::Raw if dtype.size().is_none() => return Err(no_dtype()),
            Encoding::Csv | Encoding::Raw => {}
        }
        Ok(Self { encoding, notes, lines: csv::Lines::new(dtype, shape) })
    }

    fn block(&mut self, array: &Array, out: &mut dyn Write) -> Result<()> {
        let written = match self.encoding {
            Encoding::Csv => self.lines.write(array.bytes(), out),
            _ => out.write_all(array.bytes()),
        };
        written.map_err(Error::Write)
    }

    fn finish(self, out: &mut dyn Write) -> Result<Vec<Note>> {
        out.flush().map_err(Error::Write)?;
        Ok(self.notes)
    }
}
