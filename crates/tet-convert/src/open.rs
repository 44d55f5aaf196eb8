//! Any container this build reads, opened by its content.
//!
//! Files are opened for positioned reads: an error of the disk, and a file that is cut short, come back
//! as errors. A leased map is taken where it is asked for.

use std::io;
use std::path::{Path, PathBuf};

use tet_io::{Folder, Source, is_url};

use crate::container::{Input, container, containers, has_reader, left_out, sniff};
use crate::{Error, Result};
use tet_container::model::attribute_types::{AttrTypes, typed};
use tet_container::model::logical::to_logical;
use tet_container::others::OTHER_DOCUMENT;
use tet_container::read::opened::{OpenOptions, Opened, path_of};
use tet_container::read::set::part_note;

/// A file that is open.
///
/// # Examples
///
/// ```no_run
/// let (path, opened) = ("may.nc", tet_convert::open("may.nc", &Default::default())?);
/// let file = tet_convert::OpenedFile { path: path.as_ref(), opened: &opened };
/// # Ok::<(), tet_convert::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OpenedFile<'a> {
    /// Its path, for messages.
    pub path: &'a Path,
    /// Its datasets.
    pub opened: &'a Opened,
}

impl<'a> OpenedFile<'a> {
    /// Files by their paths.
    pub(crate) fn all<P: AsRef<Path>>(files: &'a [(P, Opened)]) -> Vec<OpenedFile<'a>> {
        files.iter().map(|(path, opened)| OpenedFile { path: path.as_ref(), opened }).collect()
    }
}

/// Opens the container at `path`, whose format follows from its content.
///
/// A `.npy`, and a stored member of an `.npz`, is read in place, in either order of bytes and of axes.
/// One without axes stays without.
///
/// # Errors
/// The file cannot be read, is damaged, of a format this build does not read in place, or, with
/// [`Io::Mmap`](crate::Io::Mmap), not to be had under a lease.
pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Opened> {
    let path = path.as_ref();
    let source = options.source(&document_of(path))?;
    of_source(path, source, options)
}

/// One of several files: errors, also those of reading its datasets, name it.
pub(crate) fn of_several(path: &Path, opened: Result<Opened>) -> Result<Opened> {
    let mut opened = opened.map_err(|error| error.in_file(path))?;
    opened.catalog = opened.catalog.of_file(path);
    Ok(opened)
}

/// The file of a path: that of a folder is the document by which its container is known. A URL is that of a folder if
/// it ends with `/`, or as the folders of a format do.
#[must_use]
pub fn document_of(path: &Path) -> PathBuf {
    if is_url(path) {
        return url_document(path).unwrap_or_else(|| path.to_path_buf());
    }
    let document = if path.is_dir() { document_in(path) } else { None };
    document.unwrap_or_else(|| path.to_path_buf())
}

/// The document of a container in a folder on disk; one that cannot be looked at is there: opening it says why.
///
/// # Examples
///
/// ```
/// let folder = tempfile::tempdir()?;
/// assert_eq!(tet_convert::document_in(folder.path()), None);
/// let document = folder.path().join("zarr.json");
/// std::fs::write(&document, "{}")?;
/// assert_eq!(tet_convert::document_in(folder.path()), Some(document));
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use]
pub fn document_in(folder: &Path) -> Option<PathBuf> {
    let documents = containers().into_iter().flat_map(|it| it.folder_documents());
    let documents = documents.copied().chain(left_out::documents()).chain([OTHER_DOCUMENT]);
    documents.map(|name| folder.join(name)).find(|document| is_there(document))
}

/// Whether a path is that of a file, or of what cannot be looked at.
fn is_there(path: &Path) -> bool {
    match std::fs::metadata(path) {
        Ok(metadata) => metadata.is_file(),
        Err(error) if error.kind() != io::ErrorKind::NotFound => true,
        // A link that leads nowhere is no absent file.
        Err(_) => path.symlink_metadata().is_ok(),
    }
}

/// The documents of which a folder on a server has one; none where the URL is that of a file.
fn documents_of(url: &Path) -> Vec<&'static str> {
    let is_any = url.to_str().is_some_and(|url| url.ends_with('/'));
    let suffix = url.extension().and_then(|suffix| suffix.to_str());
    let is_of = |suffixes: &[&str]| suffixes.iter().any(|it| suffix == Some(*it));
    let known = containers().into_iter().filter(|it| is_any || is_of(it.suffixes()));
    known.flat_map(|it| it.folder_documents()).copied().collect()
}

/// The document of a folder on a server; `None` where the URL is that of a file, or none is there.
fn url_document(path: &Path) -> Option<PathBuf> {
    let names = documents_of(path);
    if let [name] = names[..] {
        return Some(path.join(name));
    }
    let folder = Folder::open(path).ok()?;
    // A server that does not answer is asked no further: opening the document says why.
    let found = names.into_iter().find(|name| !matches!(folder.get(name), Ok(None)));
    found.map(|name| path.join(name))
}

/// Opens the document of a folder, by which its container is known, for [`open_source`]; `None` where there is none, or
/// the URL of the folder is that of a file, as for [`document_of`].
///
/// # Errors
/// It cannot be found out which document is there, or it cannot be opened.
pub fn open_document(folder: &Folder) -> Result<Option<Source>> {
    for name in documents_of(folder.path()) {
        if let Some(source) = folder.get(name)? {
            return Ok(Some(source));
        }
    }
    Ok(None)
}

/// Opens the container that a source holds, as [`open`] does the file at a path. Bytes in memory have
/// no other files next to them.
///
/// # Errors
/// As [`open`].
pub fn open_source(source: Source, options: &OpenOptions) -> Result<Opened> {
    let path = path_of(&source);
    of_source(&path, source, options)
}

/// The error for an archive that has no array, with the members that can be opened once they are unpacked.
fn with_readable(error: Error) -> Error {
    let Error::NotArrays { path, members, .. } = error else { return error };
    let readable = members.iter().filter(|name| has_reader(name.as_ref())).cloned().collect();
    Error::NotArrays { path, members, readable }
}

/// Opens what `source` has.
fn of_source(path: &Path, source: Source, options: &OpenOptions) -> Result<Opened> {
    let format = sniff(&source)?;
    let Some(container) = container(format) else {
        return Err(Error::NotReadable { path: path.to_path_buf(), format });
    };
    let opened = container.open(Input { path, source }, options);
    let mut opened = opened.map_err(with_readable)?;
    let types = container.writer().map_or(AttrTypes::Json, |it| it.can().attr_types);
    opened.catalog = typed(opened.catalog.viewed(to_logical), types);
    opened.form_rules = container.form_rules();
    if container.holds_models() && opened.catalog.shard_count() == 0 {
        opened.notes.extend(part_note(path));
    }
    Ok(opened)
}
