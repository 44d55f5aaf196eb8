//! The parts of a folder, listed; and the files there that no manifest names.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use tet_io::{FileLock, Folder, FolderEntry, PendingUpload, Source, is_url};

use super::manifest::Manifest;
use super::{DOCUMENT, LOCK, PART_NAME, REMOVED_AFTER};
use crate::{Error, Format, Result};

/// Names in a folder that are looked at.
const NAMES_MAX: usize = 1 << 20;

/// A part that the manifest of a folder names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesPart {
    /// The name of its file in the folder.
    pub file: String,
    /// Bytes of the file.
    pub len: u64,
    /// The datasets that it has rows of, each with the first row and the one behind the last.
    pub rows: Vec<(String, [u64; 2])>,
}

/// A file in a folder of parts that no manifest names: one of a process that was killed, or a part whose rows a newer
/// one has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedFile {
    /// Its name.
    pub file: String,
    /// Its bytes; 0 for an upload.
    pub len: u64,
    /// For an upload that was not ended: what distinguishes it from others. Its parts take room on the server.
    pub upload: Option<String>,
}

/// The parts of a folder, in the order of their rows.
///
/// # Errors
/// There is no such folder, or its manifest breaks a rule.
pub fn series_parts(path: &Path) -> Result<Vec<SeriesPart>> {
    let parts = manifest(path)?.parts.into_iter();
    Ok(parts
        .map(|part| SeriesPart {
            file: part.file,
            len: part.len,
            rows: part.rows.into_iter().collect(),
        })
        .collect())
}

/// The files in a folder that its manifest does not name: parts, and files that were to become parts or a manifest.
/// Those of a process that is appending now are among them; on a server only files of a day ago and older are listed,
/// which are not, and uploads to such files that were begun a day ago and not ended.
///
/// # Errors
/// As [`series_parts`], and the folder cannot be listed.
pub fn unused_parts(path: &Path) -> Result<Vec<UnusedFile>> {
    let manifest = manifest(path)?;
    let named: BTreeSet<&str> = manifest.parts.iter().map(|part| part.file.as_str()).collect();
    let folder = Folder::open(folder_at(path))?;
    let files = folder.entries(NAMES_MAX)?.into_iter();
    // Files of a process that is appending now are younger.
    let is_old = |age: Option<Duration>| age.is_some_and(|age| REMOVED_AFTER <= age);
    let is_done = |age| !folder.is_url() || is_old(age);
    let unused = files.filter(|file| {
        is_ours(&file.name) && !named.contains(file.name.as_str()) && is_done(file.age)
    });
    let of_file = |FolderEntry { name: file, len, .. }| UnusedFile { file, len, upload: None };
    let uploads = folder.uploads()?.into_iter().filter(|it| is_ours(&it.name) && is_old(it.age));
    let of_upload = |it: PendingUpload| UnusedFile { file: it.name, len: 0, upload: Some(it.id) };
    Ok(unused.map(of_file).chain(uploads.map(of_upload)).collect())
}

/// Removes the files that [`unused_parts`] lists, while no process is appending. Returns them.
///
/// # Errors
/// As [`unused_parts`]; another process is appending; the file system has no locks.
pub fn remove_unused_parts(path: &Path) -> Result<Vec<UnusedFile>> {
    // No lock file is left in another folder.
    manifest(path)?;
    let folder = Folder::open(folder_at(path))?;
    // Who appends has the lock as well, so that all that the manifest does not name is of processes that are gone. On a
    // server there is no lock, and the age of a file says so.
    let _lock = if folder.is_url() {
        None
    } else {
        let lock = FileLock::try_exclusive(&folder.path().join(LOCK))?;
        Some(lock.ok_or_else(|| Error::Busy { path: path.to_path_buf() })?)
    };
    let unused = unused_parts(path)?;
    unused.iter().try_for_each(|unused| match &unused.upload {
        Some(id) => folder.abort_upload(&unused.file, id),
        None => folder.remove(&unused.file),
    })?;
    Ok(unused)
}

fn manifest(path: &Path) -> Result<Manifest> {
    let source = Source::open(folder_at(path).join(DOCUMENT))?;
    let refused = |fault| Error::Foreign { path: path.to_path_buf(), format: Format::TETS, fault };
    Manifest::read(&source)?.map_err(refused)
}

/// The folder, which a path may name by its manifest.
pub(crate) fn folder_at(path: &Path) -> &Path {
    let parent = path.parent().filter(|it| *it != Path::new(""));
    if path.is_dir() || is_url(path) && !path.ends_with(DOCUMENT) {
        path
    } else {
        parent.unwrap_or(Path::new("."))
    }
}

/// Whether a name is one that is given to parts, or to new files before they have their names.
fn is_ours(name: &str) -> bool {
    let [begin, end] = PART_NAME;
    let digits = name.strip_prefix(begin).and_then(|name| name.strip_suffix(end));
    let is_hex = |text: &str| text.len() == 16 && text.bytes().all(|it| it.is_ascii_hexdigit());
    let target = name.strip_prefix('.').filter(|_| tet_io::is_temporary(name));
    let is_hidden = |it: &str| it.starts_with(DOCUMENT) || it.starts_with(begin);
    digits.is_some_and(is_hex) || target.is_some_and(is_hidden)
}
