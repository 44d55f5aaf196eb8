//! From a lazy array, an array in memory or whole datasets to `.npy`, `.npz`, `.safetensors`, raw elements or
//! text.
//!
//! A lazy array is read in blocks of the outer axes and written as they come, so memory stays bounded
//! by the execution's budget. Files appear complete or not at all.

pub mod csv;
pub mod npy;
mod npz;
mod safetensors;
mod shards;
pub(crate) mod stream;
pub(crate) mod text;

use std::io::{self, Write};
use std::path::Path;

use tet_format::{DType, Shape};
use tet_io::publish::Sync;
use tet_io::{Overwrite, Publish, Publisher};
use tet_query::{Array, AttrText, Catalog, Dataset, Execution, LazyArray};

pub use self::npz::write_npz_file;
pub use self::safetensors::write_safetensors_file;
pub use self::shards::{SHARD_LEN, Sharded, index_path, write_shards};

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
    /// How the elements are read.
    pub execution: Execution,
    /// For `.npz`.
    pub compression: Compression,
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// Bytes of the file.
    pub bytes: u64,
    /// What the file says differently from the array.
    pub notes: Vec<Note>,
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
    sink.block(array.bytes(), out)?;
    sink.finish(out)
}

/// Writes the elements of a lazy array.
///
/// `progress` is told the bytes of elements written so far and in all.
///
/// # Errors
/// As [`write_array`], and when the dataset cannot be read.
pub fn write_lazy(
    lazy: &LazyArray,
    encoding: Encoding,
    execution: &Execution,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<Note>> {
    let name = &lazy.dataset().name;
    let mut sink = Sink::begin(name, lazy.dtype(), &shape_of(lazy), encoding, out)?;
    let (mut done, total) = (0, stream::len_of(lazy));
    stream::for_each(lazy, execution, &mut |elements| {
        sink.block(elements, out)?;
        done += u64::try_from(elements.len()).unwrap_or(0);
        progress(done, total);
        Ok(())
    })?;
    sink.finish(out)
}

/// What outputs that hold arrays alone have no place for.
pub(crate) fn left_out(catalog: &Catalog, datasets: &[&Dataset]) -> Vec<Note> {
    let mut notes = safetensors::of_datasets(datasets, |key| key == crate::attributes::SCALAR_KEY);
    // What a safetensors file said of its own bytes is about that file.
    let count = catalog.attrs().keys().filter(|key| !crate::safetensors::is_of_origin(key)).count();
    if count != 0 {
        let (dataset, what) = (String::new(), "attributes of the file");
        notes.push(Note::LeftBehind { dataset, what, count });
    }
    notes
}

/// Writes the elements of a lazy array to the file `path`; the files of `catalog` are never written over.
///
/// # Errors
/// As [`write_lazy`], and when the file exists, is the input, or cannot be published.
pub fn write_lazy_file(
    catalog: &Catalog,
    lazy: &LazyArray,
    encoding: Encoding,
    path: &Path,
    options: &ExportOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<Note>> {
    Ok(write_file(catalog, lazy, encoding, path, options, progress)?.notes)
}

/// As [`write_lazy_file`]; gives the file's length too.
pub(crate) fn write_file(
    catalog: &Catalog,
    lazy: &LazyArray,
    encoding: Encoding,
    path: &Path,
    options: &ExportOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Written> {
    publish(catalog, path, options, |out| {
        let mut out = Counted { out: io::BufWriter::new(out), len: 0 };
        let notes = write_lazy(lazy, encoding, &options.execution, &mut out, progress)?;
        out.flush().map_err(Error::Write)?;
        Ok(Written { bytes: out.len, notes })
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
    Ok(write_array_to(name, array, encoding, path, how)?.notes)
}

/// As [`write_array_file`]; gives the file's length too.
pub(crate) fn write_array_to(
    name: &str,
    array: &Array,
    encoding: Encoding,
    path: &Path,
    how: &Publish,
) -> Result<Written> {
    let mut publisher = Publisher::begin(path, how)?;
    let mut out = Counted { out: publisher.file(), len: 0 };
    let written = write_array(name, array, encoding, &mut out);
    let bytes = out.len;
    let notes = written.map_err(|error| of_file(&publisher, error))?;
    publisher.commit()?;
    Ok(Written { bytes, notes })
}

/// A stream that counts its bytes.
struct Counted<W> {
    out: W,
    len: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.out.write(bytes)?;
        self.len += u64::try_from(len).unwrap_or(0);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Runs `write` on a new file for `path`, and publishes it.
fn publish<T>(
    catalog: &Catalog,
    path: &Path,
    options: &ExportOptions,
    write: impl FnOnce(&mut dyn tet_io::vfs::VfsFile) -> Result<T>,
) -> Result<T> {
    let how = Publish { force: options.overwrite, sync: options.sync, inputs: catalog.stamps() };
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

/// The result's shape; a dataset that was a scalar is one again.
pub(crate) fn shape_of(lazy: &LazyArray) -> Shape {
    let dataset = lazy.dataset();
    let is_scalar = matches!(
        dataset.attrs.get(crate::attributes::SCALAR_KEY),
        Some(AttrText::Text(value)) if value == "1"
    );
    if is_scalar && dataset.shape() == [1] && **lazy.shape() == [1] {
        Shape::from(Vec::new())
    } else {
        lazy.shape().clone()
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
                    let from = dtype.name().to_owned();
                    notes.push(Note::AsBits { dataset, from, to });
                }
            }
            Encoding::Csv if !text::is_known(dtype) => return Err(no_dtype()),
            Encoding::Raw if dtype.size().is_none() => return Err(no_dtype()),
            Encoding::Csv | Encoding::Raw => {}
        }
        Ok(Self { encoding, notes, lines: csv::Lines::new(dtype, shape) })
    }

    fn block(&mut self, elements: &[u8], out: &mut dyn Write) -> Result<()> {
        let written = match self.encoding {
            Encoding::Csv => self.lines.write(elements, out),
            _ => out.write_all(elements),
        };
        written.map_err(Error::Write)
    }

    fn finish(self, out: &mut dyn Write) -> Result<Vec<Note>> {
        out.flush().map_err(Error::Write)?;
        Ok(self.notes)
    }
}
