//! The files of a container: one, or an index and the shards that it names.

use std::path::Path;
use std::sync::Arc;

use tet_io::{Compared, Kind, Source, Stamp, Writers};

use super::{Catalog, ChunkPlace, Dataset, Texts};
use crate::error::{Error, Result};

impl Dataset {
    /// Marks the dataset as one of several files: its errors name this file.
    #[must_use]
    pub fn of_file(self, file: &Arc<Path>) -> Dataset {
        let text = self.text.map(|text| match text {
            Texts::Elements { bytes, elements } => {
                let bytes = Arc::new(Arc::unwrap_or_clone(bytes).of_file(file));
                Texts::Elements { bytes, elements }
            }
            Texts::Numbers { numbers, texts } => {
                let numbers = Arc::new(Arc::unwrap_or_clone(numbers).of_file(file));
                Texts::Numbers { numbers, texts }
            }
            chunks @ Texts::Chunks(_) => chunks,
        });
        Dataset { text, file: Some(Arc::clone(file)), ..self }
    }

    /// An error of reading the dataset, which names the file where this is one of several.
    #[must_use]
    pub fn in_file(&self, error: Error) -> Error {
        match &self.file {
            Some(file) => error.in_file(Arc::clone(file)),
            None => error,
        }
    }

    /// Appends the places of chunks, as [`ChunkTable::locate`](super::ChunkTable::locate) does.
    ///
    /// # Errors
    ///
    /// As [`ChunkTable::locate`](super::ChunkTable::locate).
    pub fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> Result<()> {
        self.chunks.locate(linear, out).map_err(|error| self.in_file(error))
    }
}

impl Error {
    /// The error as one of a file, unless it names one already or is not about what the file has.
    pub(crate) fn in_file(self, file: Arc<Path>) -> Error {
        let is_of_file = matches!(self.kind(), Kind::Format | Kind::Limit);
        if !is_of_file || matches!(self, Error::InFile { .. }) {
            return self;
        }
        Error::InFile { file, fault: Box::new(self) }
    }
}

impl Catalog {
    /// Appends datasets to the listed ones; [`Catalog::with_parts`] numbers parts after them.
    #[must_use]
    pub fn with_more(self, more: impl IntoIterator<Item = Dataset>) -> Catalog {
        let mut datasets = Arc::unwrap_or_clone(self.datasets);
        for mut dataset in more {
            dataset.list(datasets.len(), &self.source);
            datasets.push(dataset);
        }
        Catalog { datasets: Arc::new(datasets), names: Arc::default(), ..self }
    }

    /// Adds the other files of a container of several, in which datasets are stored.
    #[must_use]
    pub fn with_shards(self, shards: Vec<Source>) -> Catalog {
        Catalog { shards: Arc::new(shards), ..self }
    }

    /// Adds the number and the bytes of files that belong to the container and are opened on demand.
    #[must_use]
    pub fn with_unopened(self, count: usize, len: u64) -> Catalog {
        Catalog { unopened: (count, len), ..self }
    }

    /// Marks the catalog as one of several files: errors of its datasets name this file.
    #[must_use]
    pub fn of_file(mut self, file: &Path) -> Catalog {
        let file = Arc::from(file);
        let parts = Arc::unwrap_or_clone(std::mem::take(&mut self.parts));
        let parts = parts.into_iter().map(|part| part.of_file(&file)).collect();
        Catalog { parts: Arc::new(parts), ..self }.viewed(|dataset| dataset.of_file(&file))
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
        let mut compared = Compared::default();
        let mut tables = datasets.map(|dataset| &dataset.chunks);
        tables.try_for_each(|chunks| chunks.check_all_unchanged(&mut compared))
    }
}
