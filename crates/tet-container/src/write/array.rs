//! One array as `.npy`, raw elements, CSV, TSV or JSON: to a stream, or to a new file.

use std::io::{self, Write};
use std::path::Path;

use tet_format::{DType, Shape};
use tet_query::{Array, Catalog, Dataset, Execution, Hyperslab, Integrity, LazyArray};

use crate::Output;
use crate::model::notes;
use crate::write::conversion::{Conversion, ConvertOptions};
use crate::write::file::{ExportOptions, publish};
use crate::write::npy::header as npy_header;
use crate::write::stream::{self, shape_of};
use crate::write::texts::TextCounts;
use crate::write::{csv, json, text};
use crate::{Error, Note, Result};

/// A format for one array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Encoding {
    /// NumPy's file of one array.
    Npy,
    /// NumPy's archive of arrays.
    Npz,
    /// The elements alone: little endian, row-major.
    Raw,
    /// Text: a line per row of the last axis, values between commas, no header.
    Csv,
    /// Text: a line per row of the last axis, values between tabs, no header.
    Tsv,
    /// JSON: a list per row of the last axis, in a list for each axis before it.
    Json,
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
            Self::Tsv => "tsv",
            Self::Json => "json",
        }
    }

    /// The delimiter of its values, as text: a tab in `.tsv`, else a comma.
    #[must_use]
    pub const fn delimiter(self) -> csv::Delimiter {
        match self {
            Self::Tsv => csv::Delimiter::Tab,
            _ => csv::Delimiter::Comma,
        }
    }

    /// Whether texts can be written so.
    #[must_use]
    pub const fn has_text(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv | Self::Json)
    }
}

/// A written array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Bytes of the file.
    pub bytes: u64,
    /// Differences between the file and the array.
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

/// Writes the elements of a lazy array, and reports the progress of `execution` in bytes of elements.
///
/// # Errors
/// As [`write_array`], and when the dataset cannot be read.
pub fn write_lazy(
    lazy: &LazyArray,
    encoding: Encoding,
    execution: &Execution,
    out: &mut dyn Write,
) -> Result<Vec<Note>> {
    write_elements(lazy, encoding, &execution.begin(stream::len_of(lazy)), out)
}

/// Writes an array as a part of a whole whose progress has begun.
///
/// # Errors
/// The elements cannot be read or written, or the caller canceled.
pub fn write_elements(
    lazy: &LazyArray,
    encoding: Encoding,
    execution: &Execution,
    out: &mut dyn Write,
) -> Result<Vec<Note>> {
    let name = &lazy.dataset().name;
    let mut sink = Sink::begin(name, lazy.dtype(), &shape_of(lazy), encoding, out)?;
    stream::for_each(lazy, execution, &mut |elements| sink.block(elements, out))?;
    sink.finish(out)
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
) -> Result<Written> {
    let (notes, bytes) = publish(catalog, path, options, |out| {
        let mut out = io::BufWriter::new(out);
        let notes = write_lazy(lazy, encoding, &options.execution, &mut out)?;
        out.flush().map_err(Error::Write)?;
        Ok(notes)
    })?;
    Ok(Written { bytes, notes })
}

/// Writes selected texts, as CSV, TSV or JSON: tables have them in quotes where they need them.
///
/// # Errors
/// The dataset is not of text or cannot be read, the encoding has no text, or `out` refuses the bytes.
pub fn write_texts(
    dataset: &Dataset,
    slab: &Hyperslab,
    encoding: Encoding,
    execution: &Execution,
    out: &mut dyn Write,
) -> Result<Integrity> {
    texts_to(slab, encoding, execution, &mut TextCounts::new(dataset), out)
}

/// Writes selected texts of the dataset of `counts`, which takes them.
fn texts_to(
    slab: &Hyperslab,
    encoding: Encoding,
    execution: &Execution,
    counts: &mut TextCounts<'_>,
    out: &mut dyn Write,
) -> Result<Integrity> {
    let (dataset, shape) = (counts.dataset, slab.kept_shape());
    let lines = || csv::TextLines::new(&shape, encoding.delimiter(), csv::Quotes::Needed);
    let mut form = match encoding {
        Encoding::Csv | Encoding::Tsv => TextForm::Lines(lines()),
        Encoding::Json => TextForm::Lists(json::Lists::new(&shape)),
        Encoding::Npy | Encoding::Npz | Encoding::Raw => {
            return Err(tet_query::Error::Text { dataset: dataset.name.clone() }.into());
        }
    };
    let mut integrity = dataset.chunks.integrity();
    let execution = execution.begin(0);
    dataset.for_texts::<Error>(slab, &execution, &mut |texts| {
        integrity = integrity.and(texts.integrity);
        counts.add(&texts.value);
        let written = match &mut form {
            TextForm::Lines(lines) => lines.write(&texts.value, out),
            TextForm::Lists(lists) => lists.write_texts(&texts.value, out),
        };
        written.map_err(Error::Write)
    })?;
    if let TextForm::Lists(lists) = form {
        lists.finish(out).map_err(Error::Write)?;
    }
    out.flush().map_err(Error::Write)?;
    Ok(integrity)
}

/// Writes the texts of a dataset to the file `path`; the files of `catalog` are never written over.
///
/// # Errors
/// As [`write_texts`], and when the file exists, is the input, or cannot be published.
pub fn write_texts_file(
    catalog: &Catalog,
    dataset: &Dataset,
    encoding: Encoding,
    path: &Path,
    options: &ExportOptions,
) -> Result<(Written, Integrity)> {
    let slab = Hyperslab::whole(dataset.shape());
    let mut counts = TextCounts::new(dataset);
    let (integrity, bytes) = publish(catalog, path, options, |out| {
        let mut out = io::BufWriter::new(out);
        let how = &options.execution;
        let integrity = texts_to(&slab, encoding, how, &mut counts, &mut out)?;
        out.flush().map_err(Error::Write)?;
        Ok(integrity)
    })?;
    let notes = notes::of_integrity(integrity).into_iter().chain(counts.replaced()).collect();
    Ok((Written { bytes, notes }, integrity))
}

/// Writes the one dataset that an output of one array holds.
///
/// # Errors
/// There is no dataset, or there are several; it cannot be read or stored so.
pub fn write_one(
    conversion: &mut Conversion<'_>,
    datasets: &[Dataset],
    encoding: Encoding,
    output: &Path,
    options: &ConvertOptions,
) -> Result<Output> {
    let dataset = match datasets {
        [dataset] => dataset,
        [] => return Err(Error::NoDatasets { encoding: encoding.name() }),
        _ => return Err(Error::OneDataset { encoding: encoding.name() }),
    };
    let (catalog, how) = (conversion.catalog, options.export());
    if dataset.is_text() && encoding.has_text() {
        let (written, _) = write_texts_file(catalog, dataset, encoding, output, &how)?;
        conversion.notes.extend(written.notes);
        return Ok(Output { len: written.bytes, ..Output::default() });
    }
    let lazy = stream::whole(dataset)?;
    let written = write_lazy_file(catalog, &lazy, encoding, output, &how)?;
    conversion.notes.extend(written.notes.into_iter().chain(notes::unchecked([&lazy])));
    Ok(Output { len: written.bytes, ..Output::default() })
}

/// Texts under way.
enum TextForm {
    Lines(csv::TextLines),
    Lists(json::Lists),
}

/// Elements under way.
enum Form {
    /// As they are in memory.
    Bytes,
    Lines(csv::Lines),
    Lists(json::Lists),
}

/// An output that takes blocks of elements in row-major order.
struct Sink {
    dtype: DType,
    notes: Vec<Note>,
    form: Form,
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
        let form = match encoding {
            Encoding::Npz => return Err(Error::OneDataset { encoding: encoding.name() }),
            Encoding::Npy => {
                let header = npy_header(dtype, shape).ok_or_else(no_dtype)?;
                out.write_all(&header).map_err(Error::Write)?;
                if dtype == DType::BFloat16 {
                    let (dataset, to) = (name.to_owned(), DType::UInt16);
                    let from = dtype.name().to_owned();
                    notes.push(Note::AsBits { dataset, from, to });
                }
                Form::Bytes
            }
            Encoding::Csv | Encoding::Tsv | Encoding::Json if !text::is_known(dtype) => {
                return Err(no_dtype());
            }
            Encoding::Raw if dtype.size().is_none() => return Err(no_dtype()),
            Encoding::Raw => Form::Bytes,
            Encoding::Csv | Encoding::Tsv => {
                Form::Lines(csv::Lines::new(dtype, shape, encoding.delimiter()))
            }
            Encoding::Json => Form::Lists(json::Lists::new(shape)),
        };
        Ok(Self { dtype, notes, form })
    }

    fn block(&mut self, elements: &[u8], out: &mut dyn Write) -> Result<()> {
        let written = match &mut self.form {
            Form::Bytes => out.write_all(elements),
            Form::Lines(lines) => lines.write(elements, out),
            Form::Lists(lists) => lists.write(self.dtype, elements, out),
        };
        written.map_err(Error::Write)
    }

    fn finish(self, out: &mut dyn Write) -> Result<Vec<Note>> {
        if let Form::Lists(lists) = self.form {
            lists.finish(out).map_err(Error::Write)?;
        }
        out.flush().map_err(Error::Write)?;
        Ok(self.notes)
    }
}
