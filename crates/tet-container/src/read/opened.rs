//! An open file, and how files are opened.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use tet_file::{FooterMode, TetFile};
use tet_format::{Limits, Span};
use tet_io::{Operation, Progress, Source};
use tet_query::{Catalog, Execution};
use tet_verify::{Finding, Severity};

use crate::model::cf;
use crate::{Format, Note};

/// How bytes are read from the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Io {
    /// The method that is safe and fast: positioned reads.
    #[default]
    Auto,
    /// Positioned reads.
    Pread,
    /// A leased mapping; opening fails where no lease is granted.
    Mmap,
}

/// How to open a file.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// How bytes are read.
    pub io: Io,
    /// How a broken footer is treated.
    pub footer: FooterMode,
    /// The bounds of what a file may make a reader do.
    pub limits: Limits,
    /// Bytes that the stored elements of a sparse tensor may take in memory, which are read at once.
    pub memory_budget: u64,
    /// The position of the only dataset that will be asked for: where a file has very many, the
    /// others may be left out of the catalog.
    pub only: Option<usize>,
    /// The folder of scratch files, which have no name: compressed members of an `.npz` are unpacked
    /// into one each when they are read. `None` is the folder that the system has for such files.
    pub scratch: Option<PathBuf>,
    /// Asked whether to stop while members are unpacked.
    pub progress: Progress,
    /// Whether arrays are about to be read in row-major order, block by block: column-major ones are
    /// then turned around once, in a scratch file.
    pub in_order: bool,
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
            progress: Progress::default(),
            in_order: false,
        }
    }
}

/// An open container.
#[derive(Debug)]
pub struct Opened {
    /// Its datasets.
    pub catalog: Catalog,
    /// Its format.
    pub format: Format,
    /// The whole file, if it is `.tet`.
    pub tet: Option<TetFile>,
    /// Faults and oddities that opening it found, if it is another container.
    pub findings: Vec<Finding>,
    /// Its regions in file order, if it is another container and they are known.
    pub regions: Vec<FileRegion>,
    /// Notes on arrays that are read differently from how they are stored.
    pub notes: Vec<Note>,
    /// The positions of its datasets of text that became the labels of axes.
    pub labels: BTreeSet<usize>,
    /// The ids of the rules of its container that are about the form of a file alone.
    pub form_rules: &'static [&'static str],
}

/// The path of a source, for messages.
pub fn path_of(source: &Source) -> PathBuf {
    source.path().unwrap_or("(memory)".as_ref()).to_path_buf()
}

/// A region of another container than `.tet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRegion {
    /// Its name in the specification of the container.
    pub name: &'static str,
    /// Where it is.
    pub span: Span,
    /// Its contents, in a few words.
    pub holds: String,
}

impl OpenOptions {
    /// The file at `path`, read as is asked for.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn source(&self, path: &Path) -> tet_io::Result<Source> {
        match self.io {
            Io::Auto | Io::Pread => Source::open(path),
            Io::Mmap => Source::open_leased(path),
        }
    }

    /// The file of this name next to another one of the same container, read as is asked for. Bytes in memory have none.
    ///
    /// # Errors
    /// There is no such file, or it cannot be opened.
    pub fn beside(&self, source: &Source, name: &str) -> tet_io::Result<Source> {
        let nowhere = || {
            let nowhere = io::ErrorKind::NotFound.into();
            tet_io::Error::io(Operation::Open, name.as_ref(), nowhere)
        };
        if source.path().is_none() {
            return Err(nowhere());
        }
        let folder = source.folder()?;
        if folder.is_url() {
            return folder.open_file(name);
        }
        self.source(&folder.find(name)?.ok_or_else(nowhere)?)
    }
}

impl Opened {
    /// An open file of datasets; its other parts are empty.
    #[must_use]
    pub fn new(format: Format, catalog: Catalog) -> Self {
        let (findings, regions, notes, labels) = Default::default();
        let catalog = catalog.with_decoding(cf::coordinates);
        Opened { catalog, format, tet: None, findings, regions, notes, labels, form_rules: &[] }
    }

    /// The first rule that the file breaks although all of it can be read: other programs may refuse
    /// it.
    #[must_use]
    pub fn malformed(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| self.is_form(finding))
    }

    /// Notes on what of the file, or of a model that it is a part of, is not listed.
    pub fn left_out(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter().filter(|note| note.is_of_file())
    }

    /// The note that the file is one part of a model of several files, where the others are not open.
    #[must_use]
    pub fn part_of(&self) -> Option<&Note> {
        self.notes.iter().find(|note| matches!(note, Note::PartOf { .. }))
    }

    /// Whether a finding is about the form of the file alone: all of it can be read.
    #[must_use]
    pub fn is_form(&self, finding: &Finding) -> bool {
        let is_error = finding.severity == Severity::Error;
        is_error && self.form_rules.contains(&finding.code.id())
    }
}
