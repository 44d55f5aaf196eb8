//! Any container this build reads, opened by its content.
//!
//! Files are opened for positioned reads: an error of the disk, and a file that is cut short, come back
//! as errors. A leased map is taken where it is asked for.

pub(crate) mod slabs;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tet_file::{FooterMode, TetFile};
use tet_format::{Limits, Span};
use tet_io::{Source, Step};
use tet_query::{Catalog, Dataset, Execution};
use tet_verify::{Finding, Severity};

use crate::carry::logical::restored;
use crate::container::{Format, Input, container, containers, sniff};
use crate::npz::TextArray;
use crate::safetensors::Opener;
use crate::{Error, Note, Result};

/// How bytes are read from the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Io {
    /// What is safe and fast: positioned reads.
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
    /// The position of the only dataset that will be asked for: where a file has very many, the
    /// others may be left out of the catalog.
    pub only: Option<usize>,
    /// The folder of scratch files, which have no name: compressed members of an `.npz` are unpacked
    /// into one each when they are read. `None` is the folder that the system has for such files.
    pub scratch: Option<PathBuf>,
    /// Set to true from another thread, it stops the unpacking.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Whether arrays are about to be read in row-major order, block by block: column-major ones are
    /// then turned around once, in a scratch file.
    pub(crate) in_order: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            io: Io::Auto,
            footer: FooterMode::Required,
            limits: Limits::default(),
            memory_budget: Execution::default().memory_budget,
            only: None,
            scratch: None,
            cancel: None,
            in_order: false,
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
    /// What its arrays are read as differently from what they are.
    pub(crate) notes: Vec<Note>,
    /// Its arrays of text.
    pub(crate) texts: Vec<TextArray>,
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

/// Opens the container at `path`, told by its content.
///
/// A `.npy`, and a stored member of an `.npz`, is read in place, in either order of bytes and of axes.
/// One without axes stays without.
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
    /// Whether a dataset is an array of text.
    pub(crate) fn is_text(&self, dataset: &Dataset) -> bool {
        self.texts.iter().any(|texts| texts.index == dataset.index)
    }

    /// The first rule that the file breaks although all of it can be read: other programs may refuse
    /// it.
    #[must_use]
    pub fn malformed(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| is_of_form(finding))
    }
}

/// Whether a finding is an error that costs nothing of the file.
pub(crate) fn is_of_form(finding: &Finding) -> bool {
    let id = finding.code.id();
    let is_rule = containers().iter().any(|it| it.form_rules().contains(&id));
    is_rule && finding.severity == Severity::Error
}

/// Opens what `source` has; `opener` opens the other files, where the container is several.
pub(crate) fn of_source(
    path: &Path,
    source: Source,
    opener: Opener<'_>,
    options: &OpenOptions,
) -> Result<Opened> {
    let format = sniff(&source)?;
    let Some(container) = container(format) else {
        return Err(Error::NotReadable { path: path.to_path_buf(), format });
    };
    let mut opened = container.open(Input { path, source, opener }, options)?;
    opened.catalog = opened.catalog.viewed(restored);
    Ok(opened)
}
