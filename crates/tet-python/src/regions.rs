//! New files, and edited copies of files, written region by region.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tet_file::metadata::HistoryRow;
use tet_file::parts::{
    BaseFile, FilePart, FilePlan, Published, RegionOptions, RegionWriter, publish,
};
use tet_file::write::{CodecChoice, WriteOptions};
use tet_io::publish::in_place;
use tet_io::{Overwrite, at_once, is_url};

use crate::bounds::{Bounds, Memory, Threads};
use crate::buffer::ReadMemory;
use crate::error::raise;
use crate::file::OpenFile;
use crate::options::{statistics_choice, unknown};
use crate::run::{ProgressCallback, detached};

/// Parts on a server that are opened at the same time.
const OPENED_AT_ONCE: usize = 8;

/// Datasets that are written in regions, from any thread, until they are published or closed.
#[pyclass(frozen, module = "tetfile._tetfile")]
pub(crate) struct Regions {
    writer: Mutex<Option<Arc<RegionWriter>>>,
    /// The plan of an edited copy; that of a new file is known when all datasets are.
    edit: Option<FilePlan>,
}

impl Regions {
    fn new(writer: RegionWriter, edit: Option<FilePlan>) -> Regions {
        Regions { writer: Mutex::new(Some(Arc::new(writer))), edit }
    }

    fn get(&self) -> PyResult<Arc<RegionWriter>> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.clone().ok_or_else(|| PyValueError::new_err("the file is written already"))
    }

    fn take(&self) -> Option<Arc<RegionWriter>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[pymethods]
impl Regions {
    /// Datasets whose chunks are kept in a scratch file in `folder`, to be published by this process.
    #[staticmethod]
    #[pyo3(signature = (plan, folder, memory=None, threads=None))]
    fn scratch(
        py: Python<'_>,
        plan: &str,
        folder: PathBuf,
        memory: Option<Memory>,
        threads: Option<Threads>,
    ) -> PyResult<Regions> {
        let options = bounds(memory, threads);
        let writer = detached(py, &ProgressCallback::new(0, None), |_| {
            RegionWriter::scratch(&folder, &FilePlan::from_json(plan)?, None, options)
                .map_err(Failure)
        })?;
        Ok(Regions::new(writer, None))
    }

    /// Datasets of which other processes write other regions: chunks are in the file `path`.
    #[staticmethod]
    #[pyo3(signature = (plan, path, memory=None, threads=None))]
    fn part(
        py: Python<'_>,
        plan: &str,
        path: PathBuf,
        memory: Option<Memory>,
        threads: Option<Threads>,
    ) -> PyResult<Regions> {
        let options = bounds(memory, threads);
        let writer = detached(py, &ProgressCallback::new(0, None), |_| {
            RegionWriter::create(&path, &FilePlan::from_json(plan)?, options).map_err(Failure)
        })?;
        Ok(Regions::new(writer, None))
    }

    /// An edited copy of an open `.tet` file: axes that grow are `(dataset, axis, by)`.
    #[staticmethod]
    #[pyo3(signature = (file, folder, growths, codec, level=None, memory=None, threads=None))]
    #[allow(clippy::too_many_arguments, reason = "each is an argument of Python")]
    fn edit(
        py: Python<'_>,
        file: &OpenFile,
        folder: PathBuf,
        growths: Vec<(usize, usize, u64)>,
        codec: &str,
        level: Option<i32>,
        memory: Option<Memory>,
        threads: Option<Threads>,
    ) -> PyResult<Regions> {
        let codec = codec_of(codec, level)?;
        let options = bounds(memory, threads);
        let open = file.state().get()?;
        let tet = open.opened.tet.clone();
        let tet =
            tet.ok_or_else(|| crate::error::unsupported(py, "", "only .tet files are edited"))?;
        let (writer, plan) = detached(py, &ProgressCallback::long(None), |_| {
            let base = BaseFile::new(&tet)?;
            let plan = FilePlan::of_file(&tet, &growths, codec)?;
            let writer = RegionWriter::scratch(&folder, &plan, Some(base), options)?;
            Ok::<_, Failure>((writer, plan))
        })?;
        Ok(Regions::new(writer, Some(plan)))
    }

    /// Adds the dataset of a plan of one. Returns its number.
    fn add(&self, py: Python<'_>, plan: &str) -> PyResult<usize> {
        let plan = FilePlan::from_json(plan).map_err(|error| raise(py, &Failure(error).into()))?;
        let [dataset] = plan.datasets() else {
            return Err(PyValueError::new_err("one dataset is added at a time"));
        };
        Ok(self.get()?.add(dataset.clone()))
    }

    /// Ends a dataset after `extent` positions of its first axis.
    fn truncate(&self, py: Python<'_>, dataset: usize, extent: u64) -> PyResult<()> {
        let writer = self.get()?;
        detached(py, &ProgressCallback::new(0, None), |_| {
            writer.truncate(dataset, extent).map_err(Failure)
        })
    }

    /// Gives up a dataset, which is no longer in the file.
    fn forget(&self, py: Python<'_>, dataset: usize) -> PyResult<()> {
        let writer = self.get()?;
        py.detach(|| writer.forget(dataset));
        Ok(())
    }

    /// Writes the elements of a region, from contiguous memory.
    #[pyo3(signature = (dataset, start, extents, elements, progress=None))]
    fn write(
        &self,
        py: Python<'_>,
        dataset: usize,
        start: Vec<u64>,
        extents: Vec<u64>,
        elements: &Bound<'_, PyAny>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let writer = self.get()?;
        let elements = ReadMemory::from_object(elements)?;
        let bytes = elements.bytes();
        let job = ProgressCallback::new(bytes.len() as u64, progress);
        detached(py, &job, |progress| {
            let progress = progress.begin(bytes.len() as u64);
            writer.write(dataset, &start, &extents, bytes, &progress).map_err(Failure)
        })
    }

    /// Ends a part and gives it its name. Returns the number of its chunks.
    fn close(&self, py: Python<'_>) -> PyResult<usize> {
        let writer = self.take().and_then(Arc::into_inner);
        let writer = writer.ok_or_else(|| PyValueError::new_err("the part is closed or in use"))?;
        detached(py, &ProgressCallback::long(None), |_| writer.close().map_err(Failure))
    }

    /// Gives up what was written.
    fn discard(&self, py: Python<'_>) {
        let writer = self.take();
        py.detach(|| drop(writer));
    }

    /// Writes the file: with the plan of the datasets of these numbers, or the edited copy where there is none.
    #[pyo3(signature = (plan, target, how, operation, progress=None))]
    fn publish<'py>(
        &self,
        py: Python<'py>,
        plan: Option<(&str, Vec<usize>)>,
        target: PathBuf,
        how: FileOptions,
        operation: &str,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let writer = self.get()?;
        let done = detached(py, &ProgressCallback::long(progress), |progress| {
            let part = writer.to_part()?;
            let base = writer.base();
            let (plan, part) = match (&self.edit, plan) {
                (Some(plan), _) => (plan.clone(), part),
                (None, named) => {
                    let (text, numbers) = named.unwrap_or_default();
                    (FilePlan::from_json(text)?, part.select_datasets(&numbers))
                }
            };
            let mut options = how.write_options();
            let mut history = Vec::new();
            if let Some(base) = base {
                let replaced = in_place(base.file().source());
                (options.overwrite, options.version) =
                    replaced.unwrap_or((Overwrite::Replace, None));
                history.extend_from_slice(base.file().history());
            }
            step(&mut history, row(operation, &target));
            let progress = progress.begin(decoded_len(&plan));
            publish(&plan, &[part], base, &target, &options, &history, &progress).map_err(Failure)
        })?;
        self.take();
        dict(py, done)
    }
}

/// Writes the file of a plan whose parts other processes wrote.
#[pyfunction]
#[pyo3(signature = (plan, parts, target, how, progress=None))]
pub(crate) fn publish_parts<'py>(
    py: Python<'py>,
    plan: &str,
    parts: Vec<PathBuf>,
    target: PathBuf,
    how: FileOptions,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let done = detached(py, &ProgressCallback::long(progress), |progress| {
        let plan = FilePlan::from_json(plan)?;
        // Those of a server are opened at the same time.
        let depth = parts.first().map_or(1, |path| if is_url(path) { OPENED_AT_ONCE } else { 1 });
        let parts = at_once(parts.len(), depth, |nth| FilePart::open(&parts[nth], &plan))?;
        let (options, history) = (how.write_options(), [row("create", &target)]);
        let progress = progress.begin(decoded_len(&plan));
        publish(&plan, &parts, None, &target, &options, &history, &progress).map_err(Failure)
    })?;
    dict(py, done)
}

/// A chunk shape that fits an array.
#[pyfunction]
pub(crate) fn auto_chunks(shape: Vec<u64>, element_size: u64) -> Vec<u64> {
    tet_convert::chunking::auto(&shape, element_size)
}

/// An error of the writer.
struct Failure(tet_file::Error);

impl From<tet_file::Error> for Failure {
    fn from(error: tet_file::Error) -> Failure {
        Failure(error)
    }
}

impl From<Failure> for tet::Error {
    fn from(Failure(error): Failure) -> tet::Error {
        tet_convert::Error::File(error).into()
    }
}

fn bounds(memory: Option<Memory>, threads: Option<Threads>) -> RegionOptions {
    let Bounds { memory, threads } = Bounds::new(memory, threads);
    let usual = RegionOptions::default();
    RegionOptions {
        memory: memory.unwrap_or(usual.memory),
        threads: threads.unwrap_or(usual.threads),
    }
}

fn codec_of(name: &str, level: Option<i32>) -> PyResult<CodecChoice> {
    match name {
        "raw" => Ok(CodecChoice::Raw),
        "zstd" => Ok(CodecChoice::Zstd { level: level.unwrap_or(3) }),
        _ => Err(unknown("codec", name, "raw, zstd")),
    }
}

/// How a file is written.
#[derive(FromPyObject)]
pub(crate) struct FileOptions {
    /// Whether a file that exists is replaced.
    #[pyo3(item(0))]
    overwrite: bool,
    /// Whether statistics are written.
    #[pyo3(item(1))]
    stats: bool,
}

impl FileOptions {
    fn write_options(&self) -> WriteOptions {
        let overwrite = if self.overwrite { Overwrite::Replace } else { Overwrite::Refuse };
        let statistics = statistics_choice(self.stats);
        WriteOptions { overwrite, statistics, ..WriteOptions::default() }
    }
}

/// Row of the operation for the history of the file.
fn row(operation: &str, target: &Path) -> HistoryRow {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    HistoryRow::new(operation, &name, &now.unwrap_or_default().as_secs().to_string())
}

/// Adds a step to a history; one of many of its kind is counted, so that a file that grows often stays small.
fn step(history: &mut Vec<HistoryRow>, mut row: HistoryRow) {
    if let Some(last) = history.pop_if(|last| last.op == row.op && last.source == row.source) {
        let count = last.params.get(TIMES).and_then(|count| count.parse::<u64>().ok()).unwrap_or(1);
        row.params.insert(TIMES.to_owned(), count.saturating_add(1).to_string());
    }
    history.push(row);
}

/// How often the step was done.
const TIMES: &str = "times";

fn decoded_len(plan: &FilePlan) -> u64 {
    let len = |it: &tet_file::parts::PlannedDataset| {
        let elements = it.grid().shape().element_count().unwrap_or(0);
        elements.saturating_mul(it.element_size())
    };
    plan.datasets().iter().map(len).fold(0, u64::saturating_add)
}

fn dict(py: Python<'_>, done: Published) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("file_len", done.written.file_len)?;
    dict.set_item("decoded_len", done.written.decoded_len)?;
    dict.set_item("chunk_count", done.written.chunk_count)?;
    dict.set_item("kept", done.kept)?;
    dict.set_item("filled", done.filled)?;
    Ok(dict)
}
