//! A `.tet` file grows along an axis: its chunks stay as they are stored, but for clipped ones at its old end.
//!
//! ```text
//!   file    | chunk | chunk | cl|            chunks that are whole are copied
//!   inputs                      |ipped | chunk |     what comes behind is encoded
//! ```

mod new_part;
mod order;
mod series;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use tet_file::metadata::HistoryRow;
use tet_file::parts::{BaseFile, FilePlan, RegionOptions, RegionWriter, publish};
use tet_file::write::{CodecChoice, WriteOptions};
use tet_file::{DigestChoice, Metadata, Protection, TetFile};
use tet_format::index::IndexRow;
use tet_format::{Codec, DType, Grid};
use tet_io::{Overwrite, shown};
use tet_query::{Catalog, Dataset, Execution};

use self::order::check_order;
use crate::container::EditOptions;
use crate::container::tets::is_series;
use crate::model::logical::to_physical;
use crate::open::open;
use crate::read::opened::{OpenOptions, Opened};
use crate::write::bands::Bands;
use crate::write::stream;
use crate::{Error, Result};

/// Attributes without which the values of a dataset mean something else.
const MEANINGS: [&str; 6] =
    ["units", "calendar", "scale_factor", "add_offset", "_FillValue", "missing_value"];

/// The level of zstd of new chunks.
const LEVEL: i32 = 3;

/// What is appended to which axis.
///
/// # Examples
///
/// ```
/// use tet_convert::AxisAppend;
///
/// let append = AxisAppend { axis: "time", inputs: &["june.nc".into()], output: None };
/// assert!(append.output.is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct AxisAppend<'a> {
    /// The name of the axis.
    pub axis: &'a str,
    /// The files whose datasets are appended, in this order.
    pub inputs: &'a [PathBuf],
    /// The new file; `None` replaces the old one.
    pub output: Option<&'a Path>,
}

/// A dataset that grows.
struct Growing<'c> {
    dataset: &'c Dataset,
    axis: usize,
    /// What each input has of it.
    parts: Vec<(&'c Path, &'c Dataset)>,
}

impl Growing<'_> {
    /// Positions that are added.
    fn by(&self) -> u64 {
        let extents = self.parts.iter().map(|(_, part)| extent(part, self.axis));
        extents.fold(0, u64::saturating_add)
    }

    /// Checks that the coordinate of the axis goes on in order, if the dataset is this coordinate.
    fn check_order(&self, axis: &str, how: &Execution) -> Result<()> {
        let is_coordinate = self.dataset.name == axis && self.dataset.shape().len() == 1;
        if is_coordinate { check_order(self.dataset, &self.parts, how) } else { Ok(()) }
    }

    /// Writes what the inputs have of it as dataset `id` of a plan, from position `at` of the axis on.
    fn write(
        &self,
        writer: &RegionWriter,
        (plan, id): (&FilePlan, usize),
        at: u64,
        how: &Execution,
    ) -> Result<()> {
        let mut at = at;
        for &(_, part) in &self.parts {
            write(writer, (plan, id), (self.axis, at), part, how)?;
            at = at.saturating_add(extent(part, self.axis));
        }
        Ok(())
    }
}

/// Appends the datasets of files of any kind to those of a `.tet` file that have an axis, complete or not at all.
/// Labels of the axis grow too. Returns the length of the new file.
///
/// # Errors
/// The file is not `.tet`, or no dataset has the axis; an input lacks one of these datasets, or has it with another
/// type, shape or unit; labels or coordinates do not continue; a file cannot be read or written.
///
/// # Examples
///
/// ```no_run
/// use tet_convert::{AxisAppend, EditOptions, append};
/// use tet_query::Execution;
///
/// let june = AxisAppend { axis: "time", inputs: &["june.nc".into()], output: None };
/// append("year.tet".as_ref(), &june, &EditOptions::default(), &Execution::default())?;
/// # Ok::<(), tet_convert::Error>(())
/// ```
pub fn append(
    file: &Path,
    asked: &AxisAppend<'_>,
    options: &EditOptions,
    how: &Execution,
) -> Result<u64> {
    if series::is_new(file) {
        return series::begin(file, asked, options, how);
    }
    let opened = open(file, &OpenOptions::default())?;
    if is_series(&opened) {
        return series::append(file, asked, options, how);
    }
    let Some(tet) = &opened.tet else {
        let (path, format, suffixes) = (file.to_path_buf(), opened.format, ".tet".to_owned());
        return Err(Error::NotEditable { path, format, what: "growing along an axis", suffixes });
    };
    let target = asked.output.unwrap_or(file);
    let folder = target.parent().filter(|it| *it != Path::new("")).unwrap_or(Path::new("."));
    let inputs = opened_inputs(asked, folder)?;
    let growing = growing(&opened.catalog, asked.axis, &inputs)?;
    let mut metadata = tet.metadata().clone();
    let mut growths = Vec::new();
    for it in &growing {
        grow_labels(it, &mut metadata)?;
        it.check_order(asked.axis, how)?;
        growths.push((it.dataset.index, it.axis, it.by()));
    }
    check_left(&inputs, &growing, asked.axis)?;
    let base = BaseFile::new(tet)?;
    let plan = FilePlan::grown(tet, &growths, metadata, codec_of(tet)?)?;
    let regions = RegionOptions { threads: how.threads, memory: how.memory_budget };
    let writer = RegionWriter::scratch(folder, &plan, Some(base.clone()), regions)?;
    for it in &growing {
        it.write(&writer, (&plan, it.dataset.index), extent(it.dataset, it.axis), how)?;
    }
    inputs.iter().try_for_each(|(_, input)| input.catalog.check_unchanged())?;
    let history = history(tet.history(), asked, options);
    let options = write_options(tet, &inputs, asked, options);
    let progress = how.progress.begin(0);
    let part = writer.to_part()?;
    let published = publish(&plan, &[part], Some(&base), target, &options, &history, &progress)?;
    Ok(published.written.file_len)
}

/// The files to append; scratch files are in this folder.
fn opened_inputs<'a>(asked: &AxisAppend<'a>, folder: &Path) -> Result<Vec<(&'a Path, Opened)>> {
    let opening = OpenOptions {
        scratch: Some(folder.to_path_buf()),
        in_order: true,
        ..OpenOptions::default()
    };
    asked.inputs.iter().map(|path| Ok((path.as_path(), open(path, &opening)?))).collect()
}

/// The datasets that have the axis.
fn growing<'c>(
    catalog: &'c Catalog,
    axis: &str,
    inputs: &'c [(&Path, Opened)],
) -> Result<Vec<Growing<'c>>> {
    let datasets = catalog.datasets().iter();
    let with_axis = datasets.filter_map(|dataset| {
        let axis = dataset.dims.iter().position(|dim| dim == axis)?;
        Some((dataset, axis))
    });
    let growing = with_axis.map(|(dataset, axis)| {
        Ok(Growing { dataset, axis, parts: parts_of((dataset, axis), inputs)? })
    });
    let growing = growing.collect::<Result<Vec<Growing<'c>>>>()?;
    if growing.is_empty() {
        return Err(unfit(format!("no dataset has an axis named {axis:?}")));
    }
    Ok(growing)
}

/// What each input has of a dataset that grows along an axis.
fn parts_of<'i>(
    (dataset, axis): (&Dataset, usize),
    inputs: &'i [(&Path, Opened)],
) -> Result<Vec<(&'i Path, &'i Dataset)>> {
    let part = |(path, input): &'i (&Path, Opened)| {
        let mut named = input.catalog.datasets().iter();
        let part = named.find(|it| it.name == dataset.name);
        let missing =
            || unfit(format!("{} has no dataset {:?}, which grows", shown(path), dataset.name));
        let part = part.ok_or_else(missing)?;
        check_fit((dataset, axis), path, part)?;
        Ok((*path, part))
    };
    inputs.iter().map(part).collect()
}

/// Checks that a dataset of an input continues one of the file.
fn check_fit((dataset, axis): (&Dataset, usize), path: &Path, part: &Dataset) -> Result<()> {
    let differs = |what: &str, found: &dyn std::fmt::Debug, wanted: &dyn std::fmt::Debug| {
        let (name, path) = (&dataset.name, shown(path));
        Err(unfit(format!("{name:?} has the {what} {wanted:?}, and {found:?} in {path}")))
    };
    if dataset.dtype_name != part.dtype_name {
        return differs("type", &part.dtype_name, &dataset.dtype_name);
    }
    let other = |it: &Dataset| {
        let extents = it.shape().iter().enumerate();
        extents.map(|(at, &extent)| if at == axis { 0 } else { extent }).collect::<Vec<u64>>()
    };
    if other(dataset) != other(part) {
        return differs("shape", &part.shape(), &dataset.shape());
    }
    if !part.dims.is_empty() && part.dims != dataset.dims {
        return differs("axes", &part.dims, &dataset.dims);
    }
    for key in MEANINGS {
        let texts = [dataset, part].map(|it| it.attrs.get(key).map(|value| value.text()));
        if let [Some(wanted), Some(found)] = texts
            && wanted != found
        {
            return differs(key, &found, &wanted);
        }
    }
    Ok(())
}

/// Checks that no input has more datasets along the axis: they would be lost.
fn check_left(inputs: &[(&Path, Opened)], growing: &[Growing<'_>], axis: &str) -> Result<()> {
    for (path, input) in inputs {
        let has_axis = |it: &&Dataset| it.dims.iter().any(|dim| dim == axis);
        let is_new = |it: &&Dataset| !growing.iter().any(|grown| grown.dataset.name == it.name);
        if let Some(left) = input.catalog.datasets().iter().filter(has_axis).find(is_new) {
            let (path, name) = (shown(path), &left.name);
            return Err(unfit(format!(
                "{path} has a dataset {name:?} along {axis:?}, and the file has none"
            )));
        }
    }
    Ok(())
}

/// Adds the labels of the new positions to those of the axis, where it has labels.
fn grow_labels(growing: &Growing<'_>, metadata: &mut Metadata) -> Result<()> {
    let Growing { dataset, axis, parts } = growing;
    let Some(about) = metadata.datasets.get_mut(&dataset.name) else { return Ok(()) };
    let rank = dataset.shape().len();
    let keys = about.coords.keys().filter(|key| about.axis(key, rank) == Some(*axis));
    let keys: Vec<String> = keys.cloned().collect();
    for key in keys {
        let Some(labels) = about.coords.get_mut(&key) else { continue };
        let mut taken: HashSet<String> = labels.iter().cloned().collect();
        for (path, part) in parts {
            let more =
                part.coords.get(axis).filter(|more| more.len() as u64 == extent(part, *axis));
            let Some(more) = more else {
                let (name, path) = (&dataset.name, shown(path));
                let what = format!("axis {key:?} of {name:?} has labels, and none in {path}");
                return Err(unfit(what));
            };
            if let Some(twice) = more.iter().find(|label| taken.contains(*label)) {
                let what = format!("{} repeats the label {twice:?} of axis {key:?}", shown(path));
                return Err(unfit(what));
            }
            labels.extend(more.iter().cloned());
            taken.extend(more.iter().cloned());
        }
    }
    Ok(())
}

/// Writes the elements of a dataset as a part of dataset `id` of a plan, from position `at` of an axis on.
fn write(
    writer: &RegionWriter,
    (plan, id): (&FilePlan, usize),
    (axis, at): (usize, u64),
    part: &Dataset,
    how: &Execution,
) -> Result<()> {
    let physical = to_physical(part, "tet", |dtype: DType| dtype.tet_tag().is_some())?;
    let lazy = stream::whole(&physical.view)?;
    let misfit = || unfit(format!("{:?} is stored in another way", part.name));
    let spec = plan.datasets().get(id).ok_or_else(misfit)?.spec();
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
        let starts = coord.iter().zip(chunk_shape.iter()).map(|(&at, &len)| at.saturating_mul(len));
        let mut start: Vec<u64> = starts.collect();
        if let Some(first) = start.get_mut(axis) {
            *first = first.saturating_add(at);
        }
        writer.write(id, &start, &extents, &elements, &how.progress)?;
        grid.advance(&mut coord);
    }
    Ok(())
}

/// The codec of new chunks: zstd if the file has such chunks.
fn codec_of(tet: &TetFile) -> Result<CodecChoice> {
    let mut is_zstd = false;
    tet.index().for_blocks(0..tet.index().row_count(), |_, rows| {
        is_zstd |= rows.iter().any(|row| IndexRow::decode(row).codec == Codec::Zstd.tag());
    })?;
    Ok(if is_zstd { CodecChoice::Zstd { level: LEVEL } } else { CodecChoice::Raw })
}

fn write_options(
    tet: &TetFile,
    inputs: &[(&Path, Opened)],
    asked: &AxisAppend<'_>,
    options: &EditOptions,
) -> WriteOptions {
    let stamp = tet.source().stamp();
    let in_place = stamp.filter(|_| asked.output.is_none()).map(Overwrite::Edit);
    let stamps = inputs.iter().flat_map(|(_, input)| input.catalog.stamps());
    let digests = match tet.protection() {
        Protection::Digests(_) => DigestChoice::Written,
        _ => DigestChoice::Left,
    };
    WriteOptions {
        digests,
        sync: options.publish.sync,
        overwrite: in_place.unwrap_or(options.publish.force),
        inputs: stamps.chain(stamp).collect(),
        ..WriteOptions::default()
    }
}

/// The history of a file, and what is done to it.
fn history(
    before: &[HistoryRow],
    asked: &AxisAppend<'_>,
    options: &EditOptions,
) -> Vec<HistoryRow> {
    let mut history = before.to_vec();
    history.extend(options.history.map(|origin| {
        let name =
            |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let first = asked.inputs.first().map(name).unwrap_or_default();
        let mut row = HistoryRow::new("append", &first, &origin.at.to_string());
        row.params.insert("axis".to_owned(), asked.axis.to_owned());
        row.params.insert("files".to_owned(), asked.inputs.len().to_string());
        row
    }));
    history
}

fn extent(dataset: &Dataset, axis: usize) -> u64 {
    dataset.shape().get(axis).copied().unwrap_or(0)
}

/// The error for files that do not go together.
fn unfit(what: String) -> Error {
    tet_file::Error::Edit { what }.into()
}
