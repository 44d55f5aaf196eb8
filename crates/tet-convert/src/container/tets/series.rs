//! The datasets that the parts of a folder make together.

use std::path::Path;
use std::sync::Arc;

use tet_file::TetFile;
use tet_io::Source;
use tet_query::{Catalog, Dataset};

use super::chunks::Chunks;
use super::files::{Files, PartError};
use super::manifest::Manifest;
use super::rule;
use crate::{Error, Format, Result};
use tet_container::read::opened::OpenOptions;

/// A folder of parts.
#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) manifest: Manifest,
    /// The first part, which has the datasets that do not grow.
    pub(crate) first: TetFile,
    pub(crate) catalog: Catalog,
}

impl Series {
    /// Opens the folder that has the manifest `source`. All its parts are opened where they are near; on a server
    /// each is when it is first needed.
    ///
    /// # Errors
    /// The manifest breaks a rule, a part is missing or is another one, or a file cannot be read.
    pub(crate) fn open(path: &Path, source: &Source, options: &OpenOptions) -> Result<Series> {
        let refused =
            |fault| Error::Foreign { path: path.to_path_buf(), format: Format::TETS, fault };
        let manifest = Manifest::read(source)?.map_err(refused)?;
        let files = Arc::new(Files::new(source.folder()?, options, &manifest));
        let of_part = |error| match error {
            PartError::Fault(part, fault) => Error::Part { path: path.to_path_buf(), part, fault },
            PartError::Failed(error) => error.into(),
        };
        let catalog = catalog(source, &manifest, &files).map_err(of_part)?;
        let first = files.open(0).map_err(of_part)?.tet.clone();
        Ok(Series { manifest, first, catalog })
    }
}

/// The catalog of all parts: datasets that do not grow are those of the first one.
pub(super) fn catalog(
    source: &Source,
    manifest: &Manifest,
    files: &Arc<Files>,
) -> std::result::Result<Catalog, PartError> {
    let first = &files.open(0)?.catalog;
    let has_labels = |(name, axis): (&String, &usize)| {
        first.only_named(name).is_some_and(|it| it.coords.contains_key(axis))
    };
    if !files.is_far() || manifest.datasets.iter().any(has_labels) {
        files.open_all(&(0..files.parts().len()).collect::<Vec<_>>())?;
    }
    let mut datasets = first.datasets().to_vec();
    for (name, &axis) in &manifest.datasets {
        let mut named = datasets.iter_mut().filter(|it| it.name == *name);
        let (Some(dataset), None) = (named.next(), named.next()) else {
            return Err(manifest.parts[0].fault(&rule::DATASET, [0; 2]));
        };
        *dataset = grown(dataset, axis, manifest.row_count(name), files)?;
    }
    let sources = files.opened().map(|file| file.tet.source().clone()).collect();
    let catalog = Catalog::new(source.clone(), Format::TETS.name(), datasets);
    let catalog = catalog.with_attrs(first.attrs().clone()).with_shards(sources);
    let (count, len) = files.unopened();
    Ok(catalog.with_unopened(count, len))
}

/// A dataset with the rows of all parts. Those that are open are checked now, the others when they are.
fn grown(
    first: &Dataset,
    axis: usize,
    row_count: u64,
    files: &Arc<Files>,
) -> std::result::Result<Dataset, PartError> {
    let chunks = Chunks::new(first, axis, row_count, files)?;
    chunks.check_opened()?;
    let mut labels = first.coords.get(&axis).map(|_| Vec::new());
    for (nth, part) in files.parts().enumerate() {
        let (Some(labels), Some(rows)) = (&mut labels, part.rows.get(&first.name)) else {
            continue;
        };
        let dataset = files.open(nth)?.catalog.only_named(&first.name);
        let here = dataset.and_then(|it| it.coords.get(&axis)).map_or(&[][..], Vec::as_slice);
        let count = rows[1].saturating_sub(rows[0]);
        let wanted = usize::try_from(count).unwrap_or(usize::MAX);
        let short = || part.fault(&rule::LABELS, [here.len() as u64, count]);
        labels.extend_from_slice(here.get(..wanted).ok_or_else(short)?);
    }
    let grid = chunks.grid().clone();
    let mut grown = Dataset { grid, chunks: Arc::new(chunks), ..first.clone() };
    grown.unlimited = (0..first.shape().len()).map(|at| at == axis).collect();
    grown.coords.remove(&axis);
    grown.coords.extend(labels.map(|labels| (axis, labels)));
    Ok(grown)
}
