//! A file grows along an axis.
//!
//! Chunks of a `.tet` file stay as they are stored, but for clipped ones at its old end:
//!
//! ```text
//!   file    | chunk | chunk | cl|            chunks that are whole are copied
//!   inputs                      |ipped | chunk |     what comes behind is encoded
//! ```
//!
//! Files of other containers get datasets that are written anew; the others are copied as they are stored.

mod growing;
mod new_part;
mod order;
mod rewrite;
mod series;

use std::path::{Path, PathBuf};

use tet_file::metadata::HistoryRow;
use tet_file::parts::{BaseFile, FilePlan, RegionOptions, RegionWriter, publish};
use tet_file::write::{CodecChoice, WriteOptions};
use tet_file::{DigestChoice, Metadata, Protection, TetFile};
use tet_format::index::IndexRow;
use tet_format::{Codec, DType, Grid};
use tet_io::publish::in_place;
use tet_io::{Source, Stamp};
use tet_query::{Dataset, Execution};

pub use self::growing::AxisAppend;
use self::growing::extent;
pub(crate) use self::growing::{Growing, check_fixed, growing};
use self::order::NOT_AGAIN;
pub(crate) use self::order::{GIVE_IN_ORDER, unfit};
use self::rewrite::rewritten;
use crate::container::tets::is_series;
use crate::container::{EditKind, EditMode, EditOptions, Rewritten, container, holds_one, sniff};
use crate::convert::taken;
use crate::edit::report::{DatasetChange, EditReport};
use crate::edit::{check_reserve, editor_of};
use crate::merge::FileDataset;
use crate::open::{OpenedFile, document_of, of_several, open};
use crate::{Error, Format, Note, Result};
use tet_container::model::cf::Decoding;
use tet_container::model::logical::to_physical;
use tet_container::read::opened::{OpenOptions, Opened, path_of};
use tet_container::write::bands::Bands;
use tet_container::write::conversion::{ConvertOptions, UnsupportedChoice};
use tet_container::write::file::folder_of;
use tet_container::write::stream;

/// The level of zstd of new chunks.
const LEVEL: i32 = 3;

/// Appends the datasets of files of any kind to those of a file that have an axis, complete or not at all. Labels of the
/// axis grow too. Returns what grew, and the length of the new file; with [`EditMode::Plan`] nothing is written.
///
/// # Errors
/// The file cannot be edited so, or no dataset has the axis; an input lacks one of these datasets, or has it with another
/// type, shape or unit; labels or coordinates do not continue; a file cannot be read or written.
///
/// # Examples
///
/// ```no_run
/// use tet_convert::{AxisAppend, EditOptions, append};
/// use tet_query::Execution;
///
/// let june = AxisAppend { axis: "time", inputs: &["june.nc".into()], ..AxisAppend::default() };
/// append("year.tet".as_ref(), &june, &EditOptions::default(), &Execution::default())?;
/// # Ok::<(), tet_convert::Error>(())
/// ```
pub fn append(
    file: &Path,
    asked: &AxisAppend<'_>,
    options: &EditOptions,
    how: &Execution,
) -> Result<EditReport> {
    if series::is_new(file) {
        return series::begin(file, asked, options, how);
    }
    // Each attempt opens the parts of the manifest that is there then.
    if is_series(sniff(&Source::open(document_of(file))?)?) {
        return series::append(file, asked, options, how);
    }
    let folder = folder_of(asked.output.unwrap_or(file));
    let opened = of_several(file, open(file, &opening(&folder)))?;
    opened.check_complete()?;
    let editor = editor_of(&opened, EditKind::Append)?;
    check_reserve(&opened, options)?;
    let inputs = opened_inputs(asked, &folder)?;
    let mut notes = Vec::new();
    let mut inputs = taken_inputs(inputs, opened.format, asked, how, &mut notes)?;
    let can = container(opened.format).and_then(|it| Some(it.writer()?.can()));
    if can.is_some_and(|can| can.is_decoded(Decoding::default())) {
        for (_, input) in &mut inputs {
            input.catalog = Decoding::default().compared(input.catalog.clone());
        }
    }
    let inputs = &OpenedFile::all(&inputs);
    let growing = growing(&opened, asked, inputs)?;
    for it in &growing {
        if let Some(labels) = it.dataset.coords.get(&it.axis) {
            it.more_labels(asked.axis, labels)?;
        }
        notes.extend(it.check_coordinates(file, asked.axis, NOT_AGAIN, how)?);
    }
    check_fixed(OpenedFile { path: file, opened: &opened }, &growing, asked, inputs, how)?;
    let changes = growing.iter().map(change).collect();
    let mut report = EditReport::new(&opened, editor, changes)?;
    report.notes.extend(notes);
    let request = Request { asked, inputs, options, how };
    let written = match &opened.tet {
        Some(tet) => in_tet(tet, &folder, &growing, &request),
        None => rewritten(&opened, editor, &growing, &request),
    };
    // An error of an input names it.
    report.finish(written.map_err(|error| error.in_file(file))?);
    Ok(report)
}

/// An append, with the files that are appended.
#[derive(Clone, Copy)]
struct Request<'a> {
    asked: &'a AxisAppend<'a>,
    inputs: &'a [OpenedFile<'a>],
    options: &'a EditOptions,
    how: &'a Execution,
}

impl Request<'_> {
    /// The states of the files when they were opened.
    fn stamps(&self) -> impl Iterator<Item = Stamp> {
        self.inputs.iter().flat_map(|it| it.opened.catalog.stamps())
    }
}

/// How files are opened whose elements are read in order; scratch files are in this folder.
fn opening(folder: &Path) -> OpenOptions {
    OpenOptions { scratch: Some(folder.to_path_buf()), in_order: true, ..OpenOptions::default() }
}

/// The files to append.
fn opened_inputs<'a>(asked: &AxisAppend<'a>, folder: &Path) -> Result<Vec<(&'a Path, Opened)>> {
    let opening = opening(folder);
    let open_input = |path: &'a PathBuf| {
        let opened = of_several(path, open(path, &opening))?;
        if asked.datasets.is_empty() && asked.unsupported == UnsupportedChoice::Refused {
            opened.check_complete()?;
        }
        Ok((path.as_path(), opened))
    };
    asked.inputs.iter().map(open_input).collect()
}

/// The files with the datasets that a file of a format gets of them, and notes on what of them it does not.
///
/// # Errors
/// A file has datasets that such a file cannot hold, which are not to be left out; no file has one that is to be.
fn taken_inputs<'a>(
    inputs: Vec<(&'a Path, Opened)>,
    format: Format,
    asked: &AxisAppend<'_>,
    how: &Execution,
    notes: &mut Vec<Note>,
) -> Result<Vec<(&'a Path, Opened)>> {
    let writer = container(format).and_then(|it| it.writer());
    let Some(writer) = writer.filter(|_| !holds_one(format)) else { return Ok(inputs) };
    for name in asked.exclude {
        let mut found = false;
        for (_, input) in &inputs {
            found |= !input.catalog.matching(name)?.is_empty();
        }
        if let (false, Some((path, first))) = (found, inputs.first()) {
            first.catalog.find_all(name).map_err(|error| Error::from(error).in_file(path))?;
        }
    }
    let mut options =
        ConvertOptions { unsupported: asked.unsupported, ..ConvertOptions::default() };
    options.tet.include = asked.datasets.to_vec();
    options.tet.exclude = asked.exclude.to_vec();
    let mut all = Vec::new();
    for (path, input) in inputs {
        let taken = taken(input, format, writer, &options, how);
        let (input, of_input) = taken.map_err(|error| error.in_file(path))?;
        all.push((path, input));
        for note in of_input {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    Ok(all)
}

/// Outcomes of a dataset.
fn change(growing: &Growing<'_>) -> (usize, DatasetChange) {
    let (dataset, axis) = (growing.dataset.name.clone(), growing.axis);
    let from = extent(growing.dataset, axis);
    let to = from.saturating_add(growing.by());
    (growing.dataset.index, DatasetChange::Grown { dataset, axis, from, to })
}

/// Writes a `.tet` file that grew, unless it is only planned.
fn in_tet(
    tet: &TetFile,
    folder: &Path,
    growing: &[Growing<'_>],
    request: &Request<'_>,
) -> Result<Option<Rewritten>> {
    let Request { asked, inputs, options, how } = *request;
    let mut metadata = tet.metadata().clone();
    let mut growths = Vec::new();
    for it in growing {
        grow_labels(it, &mut metadata)?;
        growths.push((it.dataset.index, it.axis, it.by()));
    }
    let (base, file) = (BaseFile::new(tet)?, path_of(tet.source()));
    let plan = FilePlan::grown(tet, &growths, metadata, codec_of(tet)?)?;
    if options.mode == EditMode::Plan {
        return Ok(None);
    }
    let regions = RegionOptions { threads: how.threads, memory: how.memory_budget };
    let writer = RegionWriter::scratch(folder, &plan, Some(base.clone()), regions)?;
    for it in growing {
        let rows = RowWriter { writer: &writer, plan: &plan, id: it.dataset.index, axis: it.axis };
        rows.write_parts(it, extent(it.dataset, it.axis), how)?;
    }
    inputs.iter().try_for_each(|it| it.opened.catalog.check_unchanged())?;
    let history = history(tet.history(), asked, options);
    let target = asked.output.unwrap_or(&file);
    let options = write_options(tet, request);
    let progress = how.progress.begin(0);
    let part = writer.to_part()?;
    let published = publish(&plan, &[part], Some(&base), target, &options, &history, &progress)?;
    Ok(Some(Rewritten::new(published.written.file_len)))
}

/// Adds the labels of the new positions to those of the axis, where it has labels.
fn grow_labels(growing: &Growing<'_>, metadata: &mut Metadata) -> Result<()> {
    let Growing { dataset, axis, .. } = growing;
    let Some(about) = metadata.datasets.get_mut(&dataset.name) else { return Ok(()) };
    let rank = dataset.shape().len();
    let keys = about.coords.keys().filter(|key| about.axis(key, rank) == Some(*axis));
    let keys: Vec<String> = keys.cloned().collect();
    for key in keys {
        let Some(labels) = about.coords.get_mut(&key) else { continue };
        let more = growing.more_labels(&key, labels)?;
        labels.extend(more);
    }
    Ok(())
}

/// Writes rows of dataset `id` of a plan, along an axis.
struct RowWriter<'w> {
    writer: &'w RegionWriter,
    plan: &'w FilePlan,
    id: usize,
    axis: usize,
}

impl RowWriter<'_> {
    /// Writes the elements that the inputs have of a dataset, from row `at` on.
    fn write_parts(&self, growing: &Growing<'_>, mut at: u64, how: &Execution) -> Result<()> {
        for FileDataset { dataset, .. } in &growing.parts {
            self.write(dataset, at, how)?;
            at = at.saturating_add(extent(dataset, self.axis));
        }
        Ok(())
    }

    /// Writes the elements of a dataset, from row `at` on.
    fn write(&self, part: &Dataset, at: u64, how: &Execution) -> Result<()> {
        let physical = to_physical(part, "tet", |dtype: DType| dtype.tet_tag().is_some())?;
        let lazy = stream::whole(&physical.view)?;
        let misfit = || unfit(format!("{:?} is stored in another way", part.name));
        let spec = self.plan.datasets().get(self.id).ok_or_else(misfit)?.spec();
        let chunk_shape = spec.chunk_shape.clone();
        if spec.dtype != physical.stored || lazy.shape().rank() != chunk_shape.rank() {
            return Err(misfit());
        }
        let grid = Grid::new(lazy.shape().clone(), chunk_shape.clone()).ok_or_else(misfit)?;
        let reading = how.silent();
        lazy.check_seal(&reading)?;
        let mut bands = Bands::new(&lazy, chunk_shape.clone(), physical.stored, &reading, None)?;
        let (mut coord, mut extents) = (vec![0; grid.rank()], vec![0; grid.rank()]);
        let mut elements = Vec::new();
        for _ in 0..grid.chunk_count() {
            grid.extents(&coord, &mut extents);
            elements.clear();
            bands.fill(&coord, &extents, &mut elements)?;
            let starts =
                coord.iter().zip(chunk_shape.iter()).map(|(&at, &len)| at.saturating_mul(len));
            let mut start: Vec<u64> = starts.collect();
            if let Some(first) = start.get_mut(self.axis) {
                *first = first.saturating_add(at);
            }
            self.writer.write(self.id, &start, &extents, &elements, &how.progress)?;
            grid.advance(&mut coord);
        }
        Ok(())
    }
}

/// The codec of new chunks: zstd if the file has such chunks.
fn codec_of(tet: &TetFile) -> Result<CodecChoice> {
    let mut is_zstd = false;
    tet.index().for_blocks(0..tet.index().row_count(), |_, rows| {
        is_zstd |= rows.iter().any(|row| IndexRow::decode(row).codec == Codec::Zstd.tag());
    })?;
    Ok(if is_zstd { CodecChoice::Zstd { level: LEVEL } } else { CodecChoice::Raw })
}

fn write_options(tet: &TetFile, request: &Request<'_>) -> WriteOptions {
    let Request { asked, options, .. } = *request;
    let stamp = tet.source().stamp();
    let in_place = in_place(tet.source()).filter(|_| asked.output.is_none());
    let (overwrite, version) = in_place.unwrap_or((options.publish.force, None));
    let digests = match tet.protection() {
        Protection::Digests(_) => DigestChoice::Written,
        _ => DigestChoice::Left,
    };
    WriteOptions {
        digests,
        reserved_rows: options.reserved_rows,
        sync: options.publish.sync,
        overwrite,
        version,
        inputs: request.stamps().chain(stamp).collect(),
        ..WriteOptions::default()
    }
}

fn history(
    before: &[HistoryRow],
    asked: &AxisAppend<'_>,
    options: &EditOptions,
) -> Vec<HistoryRow> {
    let mut history = before.to_vec();
    history.extend(options.history.map(|origin| {
        let first = asked.inputs.first().map(|path| tet_io::file_name(path)).unwrap_or_default();
        let mut row = HistoryRow::new("append", &first, &origin.at.to_string());
        row.params.insert("axis".to_owned(), asked.axis.to_owned());
        row.params.insert("files".to_owned(), asked.inputs.len().to_string());
        row
    }));
    history
}
