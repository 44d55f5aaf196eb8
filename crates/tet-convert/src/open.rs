//! Any container this build reads, opened by its content.
//!
//! Files are opened for positioned reads. A mapping pays when much raw data is scanned, and is
//! taken only under a lease, which makes it safe: [`Opened::for_scan`] decides once the caller
//! knows how much that will be.

mod columns;
mod npy;
pub(crate) mod slabs;

use std::io;
use std::path::{Path, PathBuf};

use tet_file::{FooterMode, TetFile};
use tet_format::{Limits, Span};
use tet_io::{Source, SourceKind, Step};
use tet_query::{Catalog, Dataset, Execution, ReadPlan};
use tet_verify::Finding;

use crate::carry::logical::restored;
use crate::safetensors::Opener;
use crate::sniff::{Format, sniff};
use crate::{Error, Result, safetensors, tensogram, ztensor};

/// Reads of fewer bytes than this are not worth a mapping.
const MAP_LEN_MIN: u64 = 8 << 20;

/// How bytes are read from the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Io {
    /// Positioned reads, and a leased mapping for large scans of raw chunks where one is granted.
    #[default]
    Auto,
    /// Positioned reads.
    Pread,
    /// A leased mapping; opening fails where no lease is granted.
    Mmap,
}

/// How to open a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenOptions {
    /// How bytes are read.
    pub io: Io,
    /// What to make of a broken footer.
    pub footer: FooterMode,
    /// What a file may ask for.
    pub limits: Limits,
    /// Bytes that the stored elements of a sparse tensor may take in memory, which are read at once.
    pub memory_budget: u64,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            io: Io::Auto,
            footer: FooterMode::Required,
            limits: Limits::default(),
            memory_budget: Execution::default().memory_budget,
        }
    }
}

/// An open container.
#[derive(Debug)]
pub struct Opened {
    /// Its datasets.
    pub catalog: Catalog,
    /// What it is.
    pub format: Format,
    /// The whole file, if it is `.tet`.
    pub tet: Option<TetFile>,
    /// What is odd about the file, or wrong with a part of it, if it is another container.
    pub findings: Vec<Finding>,
    /// Its regions in file order, if it is another container and they are known.
    pub regions: Vec<FileRegion>,
    path: PathBuf,
    options: OpenOptions,
}

/// A region of another container than `.tet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRegion {
    /// What the container calls it.
    pub name: &'static str,
    /// Where it lies.
    pub span: Span,
    /// What it holds, in a few words.
    pub holds: String,
}

/// A container, as its own code opened it.
pub(crate) struct Foreign {
    pub(crate) catalog: Catalog,
    pub(crate) findings: Vec<Finding>,
    pub(crate) regions: Vec<FileRegion>,
}

impl Foreign {
    /// A catalog of which nothing else is to be said.
    fn plain(catalog: Catalog) -> Self {
        Foreign { catalog, findings: Vec::new(), regions: Vec::new() }
    }
}

/// Opens the container at `path`, told by its content.
///
/// A `.npy` is read in place, in either order of bytes and of axes. One without axes stays without.
///
/// # Errors
/// The file cannot be read, is damaged, of a format this build does not read in place, or, with
/// [`Io::Mmap`], not to be had under a lease.
pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Opened> {
    let path = path.as_ref();
    let opener = |path: &Path| options.source(path);
    of_source(path, opener(path)?, &opener, options)
}

/// Opens the container that a source holds, as [`open`] does the file at a path. Bytes in memory have
/// no files beside them.
///
/// # Errors
/// As [`open`].
pub fn open_source(source: Source, options: &OpenOptions) -> Result<Opened> {
    let Some(path) = source.path().map(Path::to_path_buf) else {
        let nowhere = io::ErrorKind::NotFound;
        let opener = |path: &Path| Err(tet_io::Error::io(Step::Open, path, nowhere.into()));
        return of_source("(memory)".as_ref(), source, &opener, options);
    };
    of_source(&path, source, &|path| options.source(path), options)
}

impl OpenOptions {
    /// The file at `path`, read as is asked for.
    pub(crate) fn source(&self, path: &Path) -> tet_io::Result<Source> {
        match self.io {
            Io::Auto | Io::Pread => Source::open(path),
            Io::Mmap => Source::open_leased(path),
        }
    }
}

impl Opened {
    /// Whether a read of `dataset` by `plan` is large, and its chunks raw: worth a mapping.
    #[must_use]
    pub fn is_scan(dataset: &Dataset, plan: &ReadPlan) -> bool {
        let codecs = dataset.codecs();
        let is_raw = |codec: u16| codecs.get(usize::from(codec)).is_some_and(|c| c.is_identity());
        MAP_LEN_MIN <= plan.stored_len
            && plan.chunks().iter().all(|chunk| is_raw(chunk.place.codec))
    }

    /// The same file under a leased mapping, if the options leave the choice and one is granted;
    /// else the file as it was. Where the path names another file by now, the one that is open is
    /// read on: whoever replaces a file by rename does no harm.
    ///
    /// # Errors
    /// The file changed since it was opened.
    pub fn for_scan(self) -> Result<Self> {
        let is_free =
            self.options.io == Io::Auto && self.catalog.source().kind() == SourceKind::Pread;
        if !is_free {
            return Ok(self);
        }
        if self.format == Format::SafeTensorsIndex {
            let opener = |path: &Path| self.remapped(path);
            return of_source(&self.path, self.catalog.source().clone(), &opener, &self.options);
        }
        let Ok(mapped) = Source::open_leased(&self.path) else { return Ok(self) };
        let stamps = self.catalog.source().stamp().zip(mapped.stamp());
        let Some((at_open, now)) = stamps.filter(|(at_open, now)| at_open.is_same_file(now)) else {
            return Ok(self);
        };
        if !at_open.is_unchanged(&now) {
            return Err(tet_io::Error::Changed { path: self.path }.into());
        }
        of_source(&self.path, mapped, &|path| Source::open(path), &self.options)
    }

    /// The shard at `path` under a leased mapping, where it is the one that is open and a lease is
    /// granted.
    fn remapped(&self, path: &Path) -> tet_io::Result<Source> {
        let held = self.catalog.shards().iter().find(|shard| shard.path() == Some(path));
        let Some(held) = held else { return Source::open(path) };
        let mapped = Source::open_leased(path).ok().filter(|mapped| {
            let stamps = held.stamp().zip(mapped.stamp());
            stamps.is_some_and(|(at_open, now)| {
                at_open.is_same_file(&now) && at_open.is_unchanged(&now)
            })
        });
        Ok(mapped.unwrap_or_else(|| held.clone()))
    }
}

/// Opens what `source` has; `opener` opens the other files, where the container is several.
pub(crate) fn of_source(
    path: &Path,
    source: Source,
    opener: Opener<'_>,
    options: &OpenOptions,
) -> Result<Opened> {
    let format = sniff(&source)?;
    let mut tet = None;
    let Foreign { catalog, findings, regions } = match format {
        Format::Tet => {
            let how = tet_file::OpenOptions { limits: options.limits, footer: options.footer };
            let file = tet.insert(TetFile::open(source, &how)?);
            Foreign::plain(Catalog::from_tet(file.clone())?)
        }
        Format::Npy => Foreign::plain(npy::catalog(path, source)?),
        Format::SafeTensors => safetensors::open(path, source)?,
        Format::SafeTensorsIndex => safetensors::open_index(path, source, opener)?,
        Format::ZTensor => ztensor::open(path, source, options.memory_budget)?,
        Format::Tensogram => tensogram::open(path, source)?,
        _ => return Err(Error::NotReadable { path: path.to_path_buf(), format }),
    };
    let catalog = catalog.viewed(restored);
    let (path, options) = (path.to_path_buf(), options.clone());
    Ok(Opened { catalog, format, tet, findings, regions, path, options })
}
