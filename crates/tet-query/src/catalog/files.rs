//! The files of a container: one, or an index and the shards that it names.

use tet_io::{Source, Stamp};

use super::{Catalog, Dataset};
use crate::error::Result;

impl Catalog {
    /// The same of a container of several files: those in which datasets say that they lie.
    #[must_use]
    pub fn with_shards(self, shards: Vec<Source>) -> Catalog {
        Catalog { shards, ..self }
    }

    /// The files beside [`Catalog::source`], where the container is several.
    #[must_use]
    pub fn shards(&self) -> &[Source] {
        &self.shards
    }

    /// Where the bytes of a dataset come from.
    #[must_use]
    pub fn source_of<'a>(&'a self, dataset: &'a Dataset) -> &'a Source {
        dataset.source.as_ref().unwrap_or(&self.source)
    }

    /// Compares the identities of the files of the catalog, and of the file of a dataset that is read
    /// through it, with those that they had when they were opened.
    pub(crate) fn check_read(&self, dataset: &Dataset) -> Result<()> {
        self.check_unchanged()?;
        Ok(self.source_of(dataset).check_unchanged()?)
    }

    /// The bytes of all files.
    #[must_use]
    pub fn file_len(&self) -> u64 {
        self.sources().map(Source::len).fold(0, u64::saturating_add)
    }

    /// The identities of all files: what is made of them is written over none of them.
    #[must_use]
    pub fn stamps(&self) -> Vec<Stamp> {
        self.sources().filter_map(Source::stamp).collect()
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = &Source> {
        std::iter::once(&self.source).chain(&self.shards)
    }

    /// Compares the identity of the file, or of each of several, with the one it had when it was
    /// opened.
    ///
    /// # Errors
    ///
    /// Returns an error when a file changed: answers taken from it are then void.
    pub fn check_unchanged(&self) -> Result<()> {
        self.sources().try_for_each(|source| Ok(source.check_unchanged()?))
    }
}
