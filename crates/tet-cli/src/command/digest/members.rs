//! The files that a list is of: one, or all of a folder.

use std::path::{Path, PathBuf};

use tet_io::{Folder, Source};

use crate::exit::{Exit, Failure, Result};

/// The most names of a folder below a folder.
const NAMES_MAX: usize = 1 << 24;
/// How lists begin.
const BEGIN: &[u8] = b"tet.sum/";

/// A file of a list.
pub(super) struct ListedFile {
    /// Its path below the folder, or the name of a file that is alone.
    pub(super) name: String,
    place: Where,
}

/// Ways to open a file.
enum Where {
    Path(PathBuf),
    Folder(Folder),
}

impl ListedFile {
    /// Opens the file.
    ///
    /// # Errors
    ///
    /// It cannot be opened.
    pub(super) fn open(&self) -> tet_io::Result<Source> {
        match &self.place {
            Where::Path(path) => Source::open(path),
            Where::Folder(folder) => folder.open_file(&self.name),
        }
    }
}

/// The file at a path, or all files of the folder there, sorted.
///
/// # Errors
///
/// It cannot be read, or the folder has something that is no file.
pub(super) fn list(path: &Path, asked: &Path) -> Result<Vec<ListedFile>> {
    let about = |error: tet_io::Error| Failure::from(error).about(asked);
    if !path.is_dir() {
        let (name, place) = (tet_io::file_name(asked), Where::Path(path.to_path_buf()));
        return Ok(vec![ListedFile { name, place }]);
    }
    let folder = Folder::open(path).map_err(about)?;
    let (mut members, mut folders) = (Vec::new(), vec![String::new()]);
    while let Some(key) = folders.pop() {
        let list = folder.list(&key, NAMES_MAX).map_err(about)?;
        if let (true, _) | (_, Some(_)) = (list.is_cut, list.others.first()) {
            let text = format!("{} has names that are no files", tet_io::shown(&asked.join(&key)));
            return Err(Failure::new(Exit::Unsupported, "unsupported", text));
        }
        let below = |name: &String| match key.as_str() {
            "" => name.clone(),
            key => format!("{key}/{name}"),
        };
        folders.extend(list.folders.iter().map(below));
        for name in list.files.iter().map(below) {
            members.push(ListedFile { name, place: Where::Folder(folder.clone()) });
        }
    }
    members.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(members)
}

/// Whether a file begins as lists do.
pub(super) fn is_list(path: &Path) -> bool {
    let Ok(source) = Source::open(path) else { return false };
    let begin = source.read_vec(0, source.len().min(BEGIN.len() as u64));
    begin.is_ok_and(|begin| begin == BEGIN)
}
