//! The files of `tet info`: its arguments, and the files of folders among them.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use tet_convert::Opened;
use tet_file::FooterMode;

use crate::args::{InfoArgs, IoName};
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};
use crate::open;

/// The arguments, apart.
pub(super) struct Inputs {
    /// The files to list.
    pub(super) files: Vec<PathBuf>,
    /// The datasets to list of each.
    pub(super) datasets: Vec<String>,
}

/// Takes the arguments apart: those behind the first that are files, up to the first that is none, and datasets. The name of
/// a dataset of the first file is no file.
///
/// # Errors
///
/// A folder cannot be read, or has no file of arrays.
pub(super) fn inputs(args: &InfoArgs, context: &Context<'_>) -> Result<Inputs> {
    let first = OnceCell::new();
    let is_dataset = |text: &str| {
        let first = first.get_or_init(|| {
            open::open_with(&args.file, IoName::Auto, None, FooterMode::Lenient, context).ok()
        });
        let datasets =
            |opened: &Opened| opened.catalog.matching(text).is_ok_and(|it| !it.is_empty());
        first.as_ref().is_some_and(datasets)
    };
    let is_file = |text: &&String| {
        let path = Path::new(text);
        // A name of a file that is not there is no misspelled dataset.
        let is_named = || tet_convert::has_reader(path) || context.env().at(path).exists();
        tet_io::is_url(path) || is_named() && !is_dataset(text)
    };
    let count = args.datasets.iter().take_while(is_file).count();
    let (files, datasets) = args.datasets.split_at(count);
    let mut all = Vec::new();
    for path in std::iter::once(args.file.as_path()).chain(files.iter().map(Path::new)) {
        match folder_of_files(path, context) {
            Some(folder) => all.extend(files_of(path, &folder)?),
            None => all.push(path.to_owned()),
        }
    }
    Ok(Inputs { files: all, datasets: datasets.to_vec() })
}

/// The folder at this path, if it is no container itself.
fn folder_of_files(path: &Path, context: &Context<'_>) -> Option<PathBuf> {
    if tet_io::is_url(path) {
        return None;
    }
    let folder = context.env().at(path).to_path_buf();
    (folder.is_dir() && tet_convert::document_in(&folder).is_none()).then_some(folder)
}

/// The files of arrays in a folder, by name: those whose suffixes say so, and folders that are containers.
fn files_of(path: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    let failure = |error: std::io::Error| {
        let text = format!("cannot list {}: {error}", tet_io::shown(path));
        Failure::new(Exit::Environment, "io", text).about(path)
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failure)? {
        let name = entry.map_err(failure)?.file_name();
        let at = folder.join(&name);
        // A name that cannot be looked at is listed by its suffix: opening it says why.
        let is_listed = match at.is_dir() {
            true => tet_convert::document_in(&at).is_some(),
            false => tet_convert::has_reader(&at),
        };
        if is_listed {
            files.push(path.join(&name));
        }
    }
    files.sort();
    if files.is_empty() {
        let text = format!("the folder {} has no file of arrays", tet_io::shown(path));
        return Err(Failure::new(Exit::Environment, "no-files", text)
            .hint("give the path of a file")
            .about(path));
    }
    Ok(files)
}
