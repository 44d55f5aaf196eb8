//! The files of a container: one, or an index and the shards that it names.

use std::sync::Arc;

use tet_io::{Source, Stamp, Writers};

use super::Catalog;
use crate::error::{Error, Result};

impl Catalog {
    /// The same with the other files of a container of several, in which datasets are stored.
    #[must_use]
    pub fn with_shards(self, shards: Vec<Source>) -> Catalog {
        Catalog { shards: Arc::new(shards), ..self }
    }

    /// The same with the number and the bytes of files that belong to the container, and are opened when they are needed.
    #[must_use]
    pub fn with_unopened(self, unopened: (usize, u64)) -> Catalog {
        Catalog { unopened, ..self }
    }

    /// The other files of a container of several, without [`Catalog::source`].
    #[must_use]
    pub fn shards(&self) -> &[Source] {
        &self.shards
    }

    /// How many other files a container of several has, also those that are not open.
    #[must_use]
    pub fn shard_count(&self) -> usize {
        self.shards.len().saturating_add(self.unopened.0)
    }

    /// The bytes of all files, also of those that are not open.
    #[must_use]
    pub fn file_len(&self) -> u64 {
        self.sources().map(Source::len).fold(self.unopened.1, u64::saturating_add)
    }

    /// The identities of all files: what is made of them is written over none of them.
    #[must_use]
    pub fn stamps(&self) -> Vec<Stamp> {
        self.sources().filter_map(Source::stamp).collect()
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = &Source> {
        std::iter::once(&self.source).chain(self.shards.iter())
    }

    /// Who may have written to the file, or to one of several, since they were opened.
    #[must_use]
    pub fn writers(&self) -> Writers {
        let of_files = self.sources().map(Source::writers);
        let datasets = self.datasets().iter().chain(self.parts());
        let of_chunks = datasets.map(|dataset| dataset.chunks.writers());
        of_files.chain(of_chunks).max().unwrap_or(Writers::Absent)
    }

    /// Compares the identity of the file, or of each of several, with the one it had when it was
    /// opened; and those of all objects that chunks were read from.
    ///
    /// # Errors
    ///
    /// Returns an error when a file changed: answers taken from it are then void.
    pub fn check_unchanged(&self) -> Result<()> {
        self.sources().try_for_each(|source| Ok::<(), Error>(source.check_unchanged()?))?;
        let datasets = self.datasets().iter().chain(self.parts());
        datasets.map(|dataset| &dataset.chunks).try_for_each(|chunks| chunks.check_all_unchanged())
    }
}
