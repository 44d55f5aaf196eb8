//! References: where the stored chunks of files are, for readers of Zarr, which read them in place.
//!
//! ```text
//!   datasets -> Planner: chunks at (file, offset, length), or bytes of few elements
//!            -> draft of the writer of Zarr: paths, axes, attributes, fill values
//!            -> ReferenceSet -> a document of kerchunk, version 1
//! ```
//!
//! Several files are concatenated along an axis before (`joined.rs`): their chunks are in one grid.

mod address;
mod chunks;
mod document;
mod edges;
mod joined;
mod pieces;
mod plan;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tet_format::{DType, Shape};
use tet_io::publish::{Sync, commit_all};
use tet_io::{Overwrite, Publish, Publisher};
use tet_query::{Catalog, Dataset, Execution, LazyArray};
use tet_zarr::{NewArray, ZarrCompression, ZarrFormat, fill_json};

pub use self::address::RefsAddress;
pub use self::chunks::{StoredChunks, stored_chunks};
pub use self::document::ReferenceSet;
pub use self::edges::EdgeChoice;

use self::address::AddressBook;
use self::document::Content;
use self::edges::Edges;
use self::joined::JoinedParts;
use self::plan::{Planned, Planner};
use crate::container::zarr::{self, Elements};
use crate::convert::conversion;
use crate::model::axes::name_axes;
use crate::open::open;
use crate::read::opened::{OpenOptions, Opened};
use crate::write::axes::{names_of, used};
use crate::write::conversion::{Conversion, ConvertOptions, UnsupportedChoice};
use crate::write::file::Counted;
use crate::write::stream;
use crate::write::texts::outline;
use crate::{Error, Note, Result};

/// What the document is called in messages.
const ENCODING: &str = "references";

/// How references are made.
///
/// # Examples
///
/// ```
/// use tet_convert::{EdgeChoice, RefsOptions};
///
/// let options = RefsOptions { edges: EdgeChoice::Inline, ..RefsOptions::default() };
/// assert_eq!(options.inline_len, 4096);
/// ```
#[derive(Clone, Debug)]
pub struct RefsOptions {
    /// Only these datasets, by name or pattern; none means all.
    pub include: Vec<String>,
    /// All but these datasets, by name or pattern.
    pub exclude: Vec<String>,
    /// The version of Zarr that the metadata are of.
    pub format: ZarrFormat,
    /// What is done about chunks at the edges that have fewer elements than the others.
    pub edges: EdgeChoice,
    /// Datasets of at most so many bytes are copied into the document.
    pub inline_len: u64,
    /// What references have for the paths of files.
    pub address: RefsAddress,
    /// What happens with datasets that cannot have references.
    pub unsupported: UnsupportedChoice,
    /// The axis along which several files are one, by its name or its number.
    pub concat: Option<String>,
    /// Whether a document that exists is replaced.
    pub overwrite: Overwrite,
    /// How durable the document is on return.
    pub sync: Sync,
    /// How files are opened.
    pub open: OpenOptions,
    /// How elements are read, of which few are.
    pub execution: Execution,
}

impl Default for RefsOptions {
    fn default() -> Self {
        RefsOptions {
            include: Vec::new(),
            exclude: Vec::new(),
            format: ZarrFormat::V2,
            edges: EdgeChoice::Refused,
            inline_len: 4096,
            address: RefsAddress::Path,
            unsupported: UnsupportedChoice::Refused,
            concat: None,
            overwrite: Overwrite::Refuse,
            sync: Sync::Full,
            open: OpenOptions::default(),
            execution: Execution::default(),
        }
    }
}

/// What was written.
///
/// ```
/// assert_eq!(tet_convert::RefsReport::default().array_count, 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct RefsReport {
    /// How many arrays there are, those of labels among them.
    pub array_count: usize,
    /// How many chunks are read from files.
    pub stored_count: u64,
    /// How many chunks are in the document.
    pub inlined_count: u64,
    /// Bytes of the document.
    pub output_len: u64,
    /// The file of filled edge chunks with its bytes, if there is one.
    pub sidecar: Option<(PathBuf, u64)>,
    /// What differs from the input.
    pub notes: Vec<Note>,
}

/// References to the chunks of an open file, which has this path, and of `others` behind it along the axis
/// [`RefsOptions::concat`].
///
/// # Errors
/// [`Error::NoReferences`], or [`Error::Several`] of them, for datasets that readers of Zarr cannot read in place; files do
/// not fit each other; elements that are copied cannot be read; [`EdgeChoice::Sidecar`], which is for
/// [`write_references`].
pub fn references(
    input: (&Path, &Opened),
    others: &[(&Path, Opened)],
    options: &RefsOptions,
) -> Result<ReferenceSet> {
    let edges = match options.edges {
        EdgeChoice::Refused => Edges::Refused,
        EdgeChoice::Inline => Edges::Inline(0),
        EdgeChoice::Sidecar => {
            let what = "edge chunks go to a file beside a document that is written".to_owned();
            return Err(Error::Refs { what });
        }
    };
    Ok(made(input, others, options, edges)?.0)
}

/// Writes references to the chunks of files as a document of kerchunk; several files are one along the axis
/// [`RefsOptions::concat`]. Filled edge chunks are written beside it, to a file whose name ends in `.edges`.
///
/// # Errors
/// As [`references`]; a file cannot be opened; the output exists, is an input, or cannot be written.
///
/// # Examples
///
/// ```no_run
/// use tet_convert::{RefsOptions, write_references};
///
/// let months = ["may.nc".into(), "june.nc".into()];
/// let options = RefsOptions { concat: Some("time".to_owned()), ..RefsOptions::default() };
/// write_references(&months, "spring.json".as_ref(), &options)?;
/// # Ok::<(), tet_convert::Error>(())
/// ```
pub fn write_references(
    files: &[PathBuf],
    output: &Path,
    options: &RefsOptions,
) -> Result<RefsReport> {
    let opened = files.iter().map(|path| Ok((path.as_path(), open(path, &options.open)?)));
    let mut opened = opened.collect::<Result<Vec<_>>>()?;
    let others = opened.split_off(opened.len().min(1));
    let (path, first) = opened.first().ok_or(Error::NoDatasets { encoding: ENCODING })?;
    Ok(publish_references((path, first), &others, output, options)?.1)
}

/// The same for files that are open; the references are given back too.
///
/// # Errors
/// As [`write_references`].
pub fn publish_references(
    input: (&Path, &Opened),
    others: &[(&Path, Opened)],
    output: &Path,
    options: &RefsOptions,
) -> Result<(ReferenceSet, RefsReport)> {
    let catalogs =
        || std::iter::once(&input.1.catalog).chain(others.iter().map(|(_, it)| &it.catalog));
    let inputs = catalogs().flat_map(Catalog::stamps).collect();
    let publish = Publish { force: options.overwrite, sync: options.sync, inputs };
    let mut publisher = Publisher::begin(output, &publish)?;
    let edges = match options.edges {
        EdgeChoice::Refused => Edges::Refused,
        EdgeChoice::Inline => Edges::Inline(0),
        EdgeChoice::Sidecar => {
            let path = sidecar_path(output)?;
            Edges::Sidecar(Publisher::begin(&path, &publish)?, path, 0)
        }
    };
    let (set, edges) = made(input, others, options, edges)?;
    let mut out = Counted { out: BufWriter::new(publisher.file()), len: 0 };
    let written = set.write(&mut out).and_then(|()| out.flush());
    let output_len = out.len;
    drop(out);
    written.map_err(|error| Error::Io(publisher.write_fault(error)))?;
    catalogs().try_for_each(Catalog::check_unchanged)?;
    let (stored_count, inlined_count) = set.chunk_counts();
    let (array_count, notes) = (set.array_count(), set.notes().to_vec());
    let mut report =
        RefsReport { array_count, stored_count, inlined_count, output_len, sidecar: None, notes };
    match edges {
        Edges::Sidecar(file, path, len) if len != 0 => {
            commit_all(vec![file.settle()?], Some(publisher.settle()?))?;
            report.sidecar = Some((path, len));
        }
        _ => publisher.commit()?,
    }
    Ok((set, report))
}

/// The path of the file of edge chunks, absolute.
fn sidecar_path(output: &Path) -> Result<PathBuf> {
    let mut name = output.as_os_str().to_owned();
    name.push(".edges");
    let path = std::path::absolute(PathBuf::from(name));
    path.map_err(|error| tet_io::Error::io(tet_io::Step::Create, output, error).into())
}

/// The references, and what became of the edge chunks.
fn made(
    input: (&Path, &Opened),
    others: &[(&Path, Opened)],
    options: &RefsOptions,
    edges: Edges,
) -> Result<(ReferenceSet, Edges)> {
    let convert = &convert_options(options);
    let mut of = conversion(input.1, &[], zarr::capabilities(), convert)?;
    let joined = match &options.concat {
        Some(axis) => {
            joined::of_files(input, others, (axis, &asked(&of, options)), &options.execution)?
        }
        None if others.is_empty() => Vec::new(),
        None => {
            let what = "several files need an axis along which they are one".to_owned();
            return Err(Error::Refs { what });
        }
    };
    let execution = &options.execution;
    let mut planner = Planner { inline_len: options.inline_len, edges, execution };
    let planned = planned(&mut planner, (input.0, &mut of), &joined, options)?;
    let edges = planner.edges;
    let sidecar = match &edges {
        Edges::Sidecar(_, path, _) => Some(path.as_path()),
        _ => None,
    };
    let inputs = std::iter::once(input.0).chain(others.iter().map(|(path, _)| *path));
    let mut book = AddressBook::new(&options.address, inputs.chain(sidecar));
    let set = drafted(of, planned, &mut book, convert)?;
    Ok((set, edges))
}

/// The datasets that may grow, where not all may.
fn asked(of: &Conversion<'_>, options: &RefsOptions) -> Vec<String> {
    let is_asked = !options.include.is_empty() || !options.exclude.is_empty();
    let datasets = of.datasets.iter().filter(|_| is_asked);
    datasets.map(|dataset| format!("#{}", dataset.index)).collect()
}

/// The options of the writer of Zarr.
fn convert_options(options: &RefsOptions) -> ConvertOptions {
    let mut convert = ConvertOptions::default();
    convert.tet.include.clone_from(&options.include);
    convert.tet.exclude.clone_from(&options.exclude);
    convert.zarr.format = options.format;
    convert.zarr.compression = ZarrCompression::None;
    convert.execution = options.execution.clone();
    convert
}

/// What each dataset becomes; those that cannot have references are left out with notes, if that is asked for.
///
/// # Errors
/// Datasets cannot have references and are not left out, or nothing else is there.
fn planned<'c>(
    planner: &mut Planner<'_>,
    (path, of): (&'c Path, &mut Conversion<'c>),
    joined: &[JoinedParts<'c>],
    options: &RefsOptions,
) -> Result<Vec<Planned>> {
    let (mut planned, mut faults) = (Vec::new(), Vec::new());
    for &dataset in &of.datasets {
        planner.progress().check()?;
        let grown = joined
            .iter()
            .find(|it| it.parts.first().is_some_and(|(_, part)| part.index == dataset.index));
        let found = match grown {
            Some(grown) => planner.plan(grown, true),
            None => planner.plan(&JoinedParts { axis: 0, parts: vec![(path, dataset)] }, false),
        };
        match found {
            Ok(found) => planned.push(found),
            Err(error @ (Error::NoReferences { .. } | Error::Clipped { .. })) => faults.push(error),
            Err(error) => return Err(error),
        }
    }
    let is_skipped = options.unsupported == UnsupportedChoice::Skipped && !planned.is_empty();
    if faults.is_empty() || is_skipped {
        let note = |error: Error| {
            let why = error.to_string();
            let (Error::NoReferences { dataset, .. } | Error::Clipped { dataset }) = error else {
                return None;
            };
            Some(Note::Skipped { dataset, why })
        };
        of.notes.extend(faults.into_iter().filter_map(note));
        return Ok(planned);
    }
    Err(match faults.pop() {
        Some(error) if faults.is_empty() => error,
        last => {
            faults.extend(last);
            Error::Several { encoding: ENCODING, faults }
        }
    })
}

/// The hierarchy of the datasets, as the writer of Zarr has it, over the chunks that are stored.
fn drafted(
    of: Conversion<'_>,
    planned: Vec<Planned>,
    book: &mut AddressBook<'_>,
    convert: &ConvertOptions,
) -> Result<ReferenceSet> {
    let (datasets, contents): (Vec<Dataset>, Vec<Content>) =
        planned.into_iter().map(|it| (it.dataset, it.content)).unzip();
    let datasets = named(datasets)?;
    let lazy = outlines(&datasets)?;
    let mut of = Conversion { datasets: datasets.iter().collect(), ..of };
    let draft = zarr::draft(&mut of, &lazy, convert)?;
    let mut hierarchy = draft.hierarchy;
    let mut contents: Vec<Option<Content>> = contents.into_iter().map(Some).collect();
    let mut ordered = Vec::new();
    for (array, part) in hierarchy.arrays.iter_mut().zip(draft.parts) {
        let content = match part.elements {
            Elements::Bytes(bytes) => Content::Inline(bytes),
            Elements::Array(number) | Elements::Texts(number) => {
                let dataset = datasets.get(number).expect("arrays are made of datasets");
                let content = contents.get_mut(number).and_then(Option::take);
                let content = content.expect("each dataset is one array");
                fit(array, dataset, content, (convert.zarr.format, &mut *book))?
            }
        };
        ordered.push(content);
    }
    Ok(ReferenceSet { hierarchy, contents: ordered, notes: of.notes })
}

/// The datasets with a name for each axis: xarray reads no others.
fn named(mut datasets: Vec<Dataset>) -> Result<Vec<Dataset>> {
    let lazy = outlines(&datasets)?;
    let used = used(&lazy);
    for (dataset, lazy) in datasets.iter_mut().zip(&lazy) {
        dataset.dims = names_of(lazy, &used);
    }
    name_axes(&mut datasets);
    Ok(datasets)
}

/// Datasets as arrays, which are not read.
fn outlines(datasets: &[Dataset]) -> Result<Vec<LazyArray>> {
    let outlined = |dataset: &Dataset| {
        if dataset.is_text() { stream::whole(&outline(dataset)) } else { stream::whole(dataset) }
    };
    datasets.iter().map(outlined).collect()
}

/// Gives an array the chunks that are stored, and their files the addresses that readers open.
///
/// # Errors
/// The fill value of chunks that are not stored cannot be stated; a file has no address.
fn fit(
    array: &mut NewArray,
    dataset: &Dataset,
    content: Content,
    (format, book): (ZarrFormat, &mut AddressBook<'_>),
) -> Result<Content> {
    array.shard_shape = None;
    array.compression = ZarrCompression::None;
    let Content::Chunks(mut chunks) = content else {
        array.chunk_shape = array.shape.iter().map(|&extent| extent.max(1)).collect();
        return Ok(content);
    };
    if array.shape.rank() == 0 {
        // A scalar may be stored along an axis of one position.
        (chunks.chunk_shape, chunks.counts) = (Vec::new(), Vec::new());
    }
    array.chunk_shape = Shape::from(chunks.chunk_shape.clone());
    array.stored = Some(chunks.pipeline.clone());
    if !chunks.is_whole() {
        array.fill = fill(array.fill.take(), dataset, format)?;
    }
    for file in &mut chunks.files {
        *file = book.of(file)?;
    }
    Ok(Content::Chunks(chunks))
}

/// The fill value of an array some of whose chunks are not stored, of which `given` is the missing value.
fn fill(given: Option<Value>, dataset: &Dataset, format: ZarrFormat) -> Result<Option<Value>> {
    let refused = |why: &str| {
        let (dataset, why) = (dataset.name.clone(), why.to_owned());
        Err(Error::NoReferences { dataset, why })
    };
    let size = dataset.dtype.and_then(DType::size).and_then(|size| usize::try_from(size).ok());
    let zeros = vec![0; size.unwrap_or(1)];
    let own = dataset.fill.as_deref().unwrap_or(&zeros);
    let json = dataset.dtype.and_then(|dtype| fill_json(dtype, own, format));
    if json.is_none() {
        return refused("some chunks are not stored, and Zarr has no word for their fill value");
    }
    match given {
        _ if format == ZarrFormat::V3 => Ok(json),
        // xarray would take a zero for the missing value, and an undefined fill value is read as zero.
        None if own == zeros => Ok(None),
        Some(given) if Some(&given) != json.as_ref() => refused(
            "some chunks are not stored, and their fill value is not the missing value of the attributes",
        ),
        _ => Ok(json),
    }
}
