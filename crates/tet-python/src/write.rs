//! Files of other formats.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tet_convert::{ChunkChoice, ConvertOptions, Filter, Hdf5Codec, ZarrCompression};
use tet_file::write::CodecChoice;
use tet_io::Overwrite;

use crate::options::{Bounds, unknown};
use crate::run::{Job, detached};

/// What is asked of a conversion, as Python passes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Asked {
    include: Vec<String>,
    exclude: Vec<String>,
    overwrite: bool,
    /// `kept`, `auto`, or extents.
    chunks: Chunks,
    codec: Option<String>,
    level: Option<i32>,
    memory: Option<u64>,
    threads: Option<usize>,
}

#[derive(FromPyObject)]
enum Chunks {
    Word(String),
    Shape(Vec<u64>),
}

impl Asked {
    fn options(self) -> PyResult<ConvertOptions> {
        let mut options = ConvertOptions::default();
        let bounds = Bounds { memory: self.memory, threads: self.threads };
        options.execution = bounds.execution(options.execution.digests);
        options.tet.threads = self.threads.unwrap_or(options.tet.threads);
        options.tet.include = self.include;
        options.tet.exclude = self.exclude;
        options.tet.overwrite = if self.overwrite { Overwrite::Replace } else { Overwrite::Refuse };
        options.tet.chunks = match self.chunks {
            Chunks::Shape(shape) => ChunkChoice::Shape(shape),
            Chunks::Word(word) if word == "kept" => ChunkChoice::Kept,
            Chunks::Word(word) if word == "auto" => ChunkChoice::Auto,
            Chunks::Word(word) => {
                return Err(unknown("chunks", &word, "kept, auto, or one extent for each axis"));
            }
        };
        set_codec(&mut options, self.codec.as_deref(), self.level)?;
        Ok(options)
    }
}

/// Sets how elements are compressed; `None` is what the format of the output usually has.
fn set_codec(
    options: &mut ConvertOptions,
    codec: Option<&str>,
    level: Option<i32>,
) -> PyResult<()> {
    let zstd = level.unwrap_or(3);
    match codec {
        None => {}
        Some("raw") => options.zarr.compression = ZarrCompression::None,
        Some("zstd") => {
            options.tet.codec = CodecChoice::Zstd { level: zstd };
            options.hdf5.codec = Hdf5Codec::Zstd { level: zstd };
            options.hdf5.filter = Filter::Shuffle;
            options.zarr.compression = ZarrCompression::Zstd { level: zstd };
        }
        Some("gzip") => {
            let level = level.and_then(|level| u32::try_from(level).ok()).unwrap_or(4);
            options.hdf5.codec = Hdf5Codec::Deflate { level };
            options.hdf5.filter = Filter::Shuffle;
            options.zarr.compression = ZarrCompression::Deflate { level };
        }
        Some(codec) => return Err(unknown("codec", codec, "raw, zstd, gzip")),
    }
    Ok(())
}

/// Writes the datasets of a file to a new one.
#[pyfunction]
#[pyo3(signature = (input, output, asked, progress=None))]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    input: PathBuf,
    output: PathBuf,
    asked: &Bound<'py, PyDict>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut options = asked.extract::<Asked>()?.options()?;
    let report = detached(py, &Job::long(progress), |progress| {
        options.execution = options.execution.with_progress(progress.begin(0));
        tet_convert::convert(&input, &output, &options)
    })?;
    let dict = PyDict::new(py);
    let names = report.datasets.iter().map(|it| it.name.clone());
    dict.set_item("datasets", names.collect::<Vec<_>>())?;
    let notes = report.notes.iter().map(ToString::to_string);
    dict.set_item("notes", notes.collect::<Vec<_>>())?;
    dict.set_item("input_len", report.input_len)?;
    dict.set_item("decoded_len", report.decoded_len)?;
    dict.set_item("output_len", report.output_len)?;
    Ok(dict)
}
