//! Publishes several files, which are renamed when all of them are complete.
//!
//! Each rename is atomic, but a crash between two of them leaves some files new and others old, all
//! complete. An index that lists the files is removed before the first rename and written last, so
//! it never lists a mixture of old and new files.

use std::io;

use super::{Operation, Overwrite, Result, TargetPaths, retried};
use crate::error::{Error, shown};
use crate::vfs::Entry;

/// A complete new file under a hidden name; dropping it removes the file.
#[derive(Debug)]
pub struct Settled(pub(super) TargetPaths);

/// Renames complete files to their targets, then the index that lists them, if there is one.
///
/// # Errors
///
/// Returns what [`Publisher::commit`](super::Publisher::commit) returns. Targets before the failed
/// one are new files then, as [`Error::InPlace`] says, those after it are unchanged, and an index that listed
/// replaced files is removed.
pub fn commit_all(mut files: Vec<Settled>, mut index: Option<Settled>) -> Result<()> {
    // Steps that may fail without harm are first.
    open_folders(files.iter_mut().chain(&mut index))?;
    if let Some(Settled(index)) = &index
        && index.force == Overwrite::Replace
        && exists(index)?
        && any_exists(&files)?
    {
        let removed = retried(|| index.vfs.remove(&index.target));
        removed.map_err(|error| index.fault(Operation::Remove, error))?;
        index.sync_folder()?;
    }
    for at in 0..files.len() {
        let taken = files[at].0.take_target();
        taken.map_err(|error| Named(&files[..at]).but(&files[at], error))?;
    }
    files.iter().try_for_each(|Settled(file)| file.sync_folder())?;
    if let Some(index) = &mut index {
        let taken = index.0.sync_folder().and_then(|()| index.0.take_target());
        taken.map_err(|error| Named(&files).but(index, error))?;
        index.0.sync_folder()?;
    }
    Ok(())
}

/// The files that have their names.
struct Named<'f>(&'f [Settled]);

impl Named<'_> {
    /// The error of the next one, which tells of those that are in place.
    fn but(&self, next: &Settled, error: Error) -> Error {
        let Some(Settled(last)) = self.0.last() else { return error };
        let path = last.target.clone();
        let from = || format!("not the files behind it, from {} on", shown(&next.0.target));
        let (what, source) = match error {
            Error::Io { operation, path, source } => {
                let what = format!("not the files behind it: cannot {operation} {}", shown(&path));
                (what, source)
            }
            Error::Exists { .. } => (from(), io::ErrorKind::AlreadyExists.into()),
            other => (from(), io::Error::other(other)),
        };
        Error::InPlace { path, what, source }
    }
}

/// Opens the folders again, each one once: for the last of its files.
fn open_folders<'s>(files: impl DoubleEndedIterator<Item = &'s mut Settled>) -> Result<()> {
    let mut known = std::collections::BTreeSet::new();
    for Settled(place) in files.rev() {
        if known.insert(place.folder.clone()) {
            place.open_folder()?;
        }
    }
    Ok(())
}

fn any_exists(files: &[Settled]) -> Result<bool> {
    for Settled(place) in files {
        if exists(place)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn exists(place: &TargetPaths) -> Result<bool> {
    let entry = retried(|| place.vfs.entry(&place.target));
    Ok(entry.map_err(|error| place.fault(Operation::Stat, error))? != Entry::Absent)
}
