//! The parts of a folder, opened, and the datasets that they make together.

use std::path::Path;
use std::sync::Arc;

use tet_file::TetFile;
use tet_format::{ForeignFault, ForeignRule, Grid};
use tet_io::{FilePool, Folder, Source, at_once};
use tet_query::{Catalog, Dataset};

use super::chunks::{Chunks, Piece};
use super::manifest::{Manifest, Part, Rows};
use super::rule;
use crate::read::opened::{Io, OpenOptions};
use crate::read::touched::Touched;
use crate::{Error, Format, Result};

/// Parts that are open at the same time.
const OPEN_MAX: usize = 256;

/// What is wrong with a part: its name, and the rule.
pub(super) type PartFault = (String, ForeignFault);

/// A folder of parts.
#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) manifest: Manifest,
    pub(crate) parts: Vec<TetFile>,
    pub(crate) catalog: Catalog,
}

impl Series {
    /// Opens the folder that has the manifest `source`.
    ///
    /// # Errors
    /// The manifest breaks a rule, a part is missing or is another one, or a file cannot be read.
    pub(crate) fn open(path: &Path, source: &Source, options: &OpenOptions) -> Result<Series> {
        let refused =
            |fault| Error::Foreign { path: path.to_path_buf(), format: Format::TETS, fault };
        let manifest = Manifest::read(source)?.map_err(refused)?;
        let folder = folder_of(source)?;
        let of_part = |(part, fault)| Error::Part { path: path.to_path_buf(), part, fault };
        let files = Parts::new(folder, options);
        let parts = files.open_all(&manifest.parts)?;
        let parts = parts.into_iter().map(|part| part.map_err(of_part));
        let parts = parts.collect::<Result<Vec<TetFile>>>()?;
        let catalog = catalog(source, &manifest, &parts)?.map_err(of_part)?;
        Ok(Series { manifest, parts, catalog })
    }
}

/// The folder of a manifest.
///
/// # Errors
/// The manifest has no folder: its bytes are in memory.
pub(super) fn folder_of(source: &Source) -> Result<Folder> {
    let folder = source.path().and_then(Path::parent).unwrap_or(Path::new(""));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    Ok(Folder::open(folder)?)
}

/// Opens parts.
pub(super) struct Parts<'o> {
    folder: Folder,
    options: &'o OpenOptions,
    pool: FilePool,
}

impl Parts<'_> {
    pub(super) fn new(folder: Folder, options: &OpenOptions) -> Parts<'_> {
        Parts { folder, options, pool: FilePool::new(OPEN_MAX) }
    }

    /// The file of a part, if it is in the folder and has the length that the manifest states.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn source(&self, part: &Part) -> Result<std::result::Result<Source, PartFault>> {
        let fault = |rule, found, wanted| {
            let at = 0;
            Ok(Err((part.file.clone(), ForeignFault { rule, at, found, wanted })))
        };
        let source = match self.found(&part.file)? {
            Ok(source) => source,
            Err(rule) => return fault(rule, 0, 0),
        };
        if source.len() != part.len {
            return fault(&rule::PART_LEN, source.len(), part.len);
        }
        Ok(Ok(source))
    }

    /// The file of this name in the folder; a rule where there is none.
    fn found(&self, file: &str) -> Result<std::result::Result<Source, &'static ForeignRule>> {
        let Some(path) = self.folder.path_of(file) else { return Ok(Err(&rule::PART_NAME)) };
        if self.folder.is_url() {
            return Ok(self.folder.get(file)?.ok_or(&rule::PART_MISSING));
        }
        match self.folder.is_inside(file)? {
            Some(true) if path.is_file() => {}
            // A link may lead out of the folder.
            Some(false) => return Ok(Err(&rule::PART_NAME)),
            _ => return Ok(Err(&rule::PART_MISSING)),
        }
        Ok(Ok(match self.options.io {
            Io::Auto | Io::Pread => self.pool.open(&path)?,
            Io::Mmap => self.options.source(&path)?,
        }))
    }

    /// Opens parts, on a server several at the same time.
    ///
    /// # Errors
    /// One cannot be read.
    pub(super) fn open_all(
        &self,
        parts: &[Part],
    ) -> Result<Vec<std::result::Result<TetFile, PartFault>>> {
        at_once((parts.len(), self.folder.depth()), |nth| self.open(&parts[nth]))
    }

    /// Opens a part, if it is the one that the manifest names.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn open(&self, part: &Part) -> Result<std::result::Result<TetFile, PartFault>> {
        let fault = |rule, found, wanted| {
            let at = 0;
            Ok(Err((part.file.clone(), ForeignFault { rule, at, found, wanted })))
        };
        let source = match self.source(part)? {
            Ok(source) => source,
            Err(fault) => return Ok(Err(fault)),
        };
        let how = tet_file::OpenOptions { limits: self.options.limits, ..Default::default() };
        let file = match TetFile::open(source, &how) {
            Ok(file) => file,
            Err(tet_file::Error::Format(_)) => return fault(&rule::PART_SOUND, 0, 0),
            Err(error) => return Err(error.into()),
        };
        match file.own_digest()? {
            None => fault(&rule::PART_SELF, 0, 0),
            Some(digest) => match digest.differs(part.digest) {
                Some((found, wanted)) => fault(&rule::PART_SELF, found, wanted),
                None => Ok(Ok(file)),
            },
        }
    }
}

/// The catalog of all parts: datasets that do not grow are those of the first one.
pub(super) fn catalog(
    source: &Source,
    manifest: &Manifest,
    parts: &[TetFile],
) -> Result<std::result::Result<Catalog, PartFault>> {
    let catalogs = parts.iter().map(|part| Ok(Catalog::from_tet(part.clone())?));
    let catalogs = catalogs.collect::<Result<Vec<Catalog>>>()?;
    let of_parts: Vec<(&Part, &Catalog)> = manifest.parts.iter().zip(&catalogs).collect();
    let Some(&(first, of_first)) = of_parts.first() else {
        return Ok(Err((String::new(), fault(&rule::AXIS, 0, 0))));
    };
    let mut datasets = of_first.datasets().to_vec();
    for (name, &axis) in &manifest.datasets {
        let mut named = datasets.iter_mut().filter(|it| it.name == *name);
        let (Some(dataset), None) = (named.next(), named.next()) else {
            return Ok(Err((first.file.clone(), fault(&rule::DATASET, 0, 0))));
        };
        match grown(dataset, axis, manifest.row_count(name), &of_parts) {
            Ok(grown) => *dataset = grown,
            Err((part, fault)) => return Ok(Err((part.file.clone(), fault))),
        }
    }
    let sources = parts.iter().map(|part| part.source().clone()).collect();
    let catalog = Catalog::new(source.clone(), Format::TETS.name(), datasets);
    Ok(Ok(catalog.with_attrs(of_first.attrs().clone()).with_shards(sources)))
}

/// A dataset with the rows of all parts.
fn grown<'p>(
    first: &Dataset,
    axis: usize,
    row_count: u64,
    parts: &[(&'p Part, &Catalog)],
) -> std::result::Result<Dataset, (&'p Part, ForeignFault)> {
    let of_first = |rule| (parts[0].0, fault(rule, 0, 0));
    let chunk = first.grid.chunk_shape().get(axis).copied();
    let chunk = chunk.ok_or_else(|| of_first(&rule::DATASET))?;
    let mut shape = first.shape().to_vec();
    shape[axis] = row_count;
    let grid = Grid::new(shape.into(), first.grid.chunk_shape().clone());
    let grid = grid.ok_or_else(|| of_first(&rule::DATASET))?;
    let mut labels = first.coords.get(&axis).map(|_| Vec::new());
    let mut pieces = Vec::new();
    for &(part, catalog) in parts {
        let Some(&rows) = part.rows.get(&first.name) else { continue };
        let wrong = |rule| (part, fault(rule, 0, 0));
        let dataset = catalog.only_named(&first.name).filter(|it| is_like(first, it, axis));
        let dataset = dataset.ok_or_else(|| wrong(&rule::DATASET))?;
        let count =
            check_rows(rows, chunk, dataset.shape()[axis]).map_err(|fault| (part, fault))?;
        if let Some(labels) = &mut labels {
            let here = dataset.coords.get(&axis).map(Vec::as_slice).unwrap_or_default();
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            let short = || (part, fault(&rule::LABELS, here.len() as u64, count as u64));
            labels.extend_from_slice(here.get(..count).ok_or_else(short)?);
        }
        let (grid, chunks) = (dataset.grid.clone(), Arc::clone(&dataset.chunks));
        let (first, source) = (rows[0] / chunk, dataset.source.clone());
        pieces.push(Piece { first, grid, chunks, source });
    }
    let (dataset, touched) = (first.name.clone(), Touched::default());
    let chunks = Chunks { dataset, grid: grid.clone(), axis, pieces, touched };
    let mut grown = Dataset { grid, chunks: Arc::new(chunks), ..first.clone() };
    grown.unlimited = (0..first.shape().len()).map(|at| at == axis).collect();
    grown.coords.remove(&axis);
    grown.coords.extend(labels.map(|labels| (axis, labels)));
    Ok(grown)
}

/// Checks the rows that a part of `extent` rows has of a dataset. Returns their number.
fn check_rows(
    [start, end]: Rows,
    chunk: u64,
    extent: u64,
) -> std::result::Result<u64, ForeignFault> {
    let count = end.saturating_sub(start);
    if start % chunk != 0 {
        return Err(fault(&rule::ROWS_BORDER, start, start - start % chunk));
    }
    // What is cut off begins with a chunk of its own.
    if extent < count || (count < extent && count % chunk != 0) {
        return Err(fault(&rule::ROWS_HELD, extent, count));
    }
    Ok(count)
}

/// Whether a dataset of a part has the type, axes, shape and chunks of that of the first one.
fn is_like(first: &Dataset, other: &Dataset, axis: usize) -> bool {
    let of_axes = |it: &Dataset| {
        let extents = it.shape().iter().enumerate();
        extents.map(|(at, &extent)| if at == axis { 0 } else { extent }).collect::<Vec<u64>>()
    };
    first.dtype_name == other.dtype_name
        && first.fault.is_none()
        && other.fault.is_none()
        && first.dims == other.dims
        && of_axes(first) == of_axes(other)
        && first.grid.chunk_shape() == other.grid.chunk_shape()
}

/// A fault of a part as a whole.
fn fault(rule: &'static ForeignRule, found: u64, wanted: u64) -> ForeignFault {
    ForeignFault { rule, at: 0, found, wanted }
}
