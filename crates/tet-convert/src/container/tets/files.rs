//! The files of the parts, each opened when it is first needed.

use std::sync::OnceLock;

use tet_file::TetFile;
use tet_format::{ForeignFault, ForeignRule};
use tet_io::{FilePool, Folder, Source, at_once};
use tet_query::Catalog;

use super::manifest::{Manifest, Part};
use super::rule;
use tet_container::read::opened::{Io, OpenOptions};

/// Parts that are open at the same time.
pub(crate) const OPEN_MAX: usize = 256;

/// The parts of a folder.
#[derive(Debug)]
pub(super) struct Files {
    folder: Folder,
    options: OpenOptions,
    pool: FilePool,
    parts: Vec<(Part, OnceLock<File>)>,
}

/// A part that is open.
#[derive(Debug)]
pub(super) struct File {
    pub(super) tet: TetFile,
    pub(super) catalog: Catalog,
}

/// Why a part cannot be opened.
#[derive(Debug)]
pub(super) enum PartError {
    /// The part of this name breaks a rule.
    Fault(String, ForeignFault),
    /// It cannot be read.
    Failed(tet_query::Error),
}

impl<E> From<E> for PartError
where
    tet_query::Error: From<E>,
{
    fn from(error: E) -> PartError {
        PartError::Failed(error.into())
    }
}

impl Part {
    /// A rule that the part as a whole breaks.
    pub(super) fn fault(&self, rule: &'static ForeignRule, [found, wanted]: [u64; 2]) -> PartError {
        PartError::Fault(self.file.clone(), ForeignFault { rule, at: 0, found, wanted })
    }
}

impl Files {
    pub(super) fn new(folder: Folder, options: &OpenOptions, manifest: &Manifest) -> Files {
        let parts = manifest.parts.iter().map(|part| (part.clone(), OnceLock::new())).collect();
        Files { folder, options: options.clone(), pool: FilePool::new(OPEN_MAX), parts }
    }

    /// Whether the parts are on a server, where each costs requests.
    pub(super) fn is_far(&self) -> bool {
        self.folder.is_url()
    }

    /// How many parts are worth opening at the same time.
    pub(super) fn depth(&self) -> usize {
        self.folder.depth()
    }

    /// The parts as the manifest states them, in its order.
    pub(super) fn parts(&self) -> impl ExactSizeIterator<Item = &Part> {
        self.parts.iter().map(|(part, _)| part)
    }

    /// The part of this number.
    pub(super) fn part(&self, nth: usize) -> &Part {
        &self.parts[nth].0
    }

    /// Whether a part is open.
    pub(super) fn is_open(&self, nth: usize) -> bool {
        self.parts[nth].1.get().is_some()
    }

    /// The parts that are open.
    pub(super) fn opened(&self) -> impl Iterator<Item = &File> {
        self.parts.iter().filter_map(|(_, file)| file.get())
    }

    /// The number and the bytes of the parts that are not open.
    pub(super) fn unopened(&self) -> (usize, u64) {
        let unopened = self.parts.iter().filter(|(_, file)| file.get().is_none());
        unopened.fold((0, 0), |(count, len), (part, _)| (count + 1, part.len.saturating_add(len)))
    }

    /// Opens parts by their numbers, on a server several at the same time.
    pub(super) fn open_all(&self, numbers: &[usize]) -> Result<(), PartError> {
        let missing: Vec<usize> =
            numbers.iter().copied().filter(|&nth| !self.is_open(nth)).collect();
        let opened = at_once(missing.len(), self.depth(), |at| self.open(missing[at]).map(drop));
        opened.map(drop)
    }

    /// A part, opened if it is not yet, and if it is the one that the manifest names.
    pub(super) fn open(&self, nth: usize) -> Result<&File, PartError> {
        match self.parts[nth].1.get() {
            Some(file) => Ok(file),
            None => self.open_source(nth, self.source(nth)?),
        }
    }

    /// The same of a source that [`Files::source`] gave.
    pub(super) fn open_source(&self, nth: usize, source: Source) -> Result<&File, PartError> {
        let (part, slot) = &self.parts[nth];
        let how = tet_file::OpenOptions { limits: self.options.limits, ..Default::default() };
        let tet = match TetFile::open(source, &how) {
            Err(tet_file::Error::Format(_)) => return Err(part.fault(&rule::PART_SOUND, [0; 2])),
            opened => opened?,
        };
        let digest = tet.own_digest()?.ok_or_else(|| part.fault(&rule::PART_SELF, [0; 2]))?;
        if let Some((found, wanted)) = digest.differs(part.digest) {
            return Err(part.fault(&rule::PART_SELF, [found, wanted]));
        }
        let catalog = Catalog::from_tet(tet.clone())?;
        Ok(slot.get_or_init(|| File { tet, catalog }))
    }

    /// The bytes of a part, if it is in the folder and has the length that the manifest states.
    pub(super) fn source(&self, nth: usize) -> Result<Source, PartError> {
        let (part, _) = &self.parts[nth];
        let source = self.found(part)?;
        if source.len() == part.len {
            Ok(source)
        } else {
            Err(part.fault(&rule::PART_LEN, [source.len(), part.len]))
        }
    }

    fn found(&self, part: &Part) -> Result<Source, PartError> {
        let broken = |rule| part.fault(rule, [0; 2]);
        self.folder.path_of(&part.file).ok_or_else(|| broken(&rule::PART_NAME))?;
        let missing = || broken(&rule::PART_MISSING);
        if self.folder.is_url() {
            return self.folder.get(&part.file)?.ok_or_else(missing);
        }
        let path = match self.folder.find(&part.file) {
            Ok(Some(path)) if path.is_file() => path,
            Ok(_) => return Err(missing()),
            Err(tet_io::Error::LinkOutside { .. }) => return Err(broken(&rule::PART_NAME)),
            Err(error) => return Err(error.into()),
        };
        Ok(match self.options.io {
            Io::Auto | Io::Pread => self.pool.open(&path)?,
            Io::Mmap => self.options.source(&path)?,
        })
    }
}
