//! Publishes a folder: written under a hidden name in the target's folder, synced, then exchanged.
//!
//! ```text
//! begin                 write(key, bytes) ...     commit
//! create .NAME.tmp      files below it            sync, exchange or rename, sync folder, remove the old one
//! ```
//!
//! An exchange is one step of the system (`renameat2` with `RENAME_EXCHANGE`): at any time the
//! target is the complete old or the complete new folder. File systems without it need two renames:
//! between them, and after a crash there, the target is missing, and both folders are complete under
//! hidden names. A folder that is not there before is renamed in one step.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::{Overwrite, Publish, Sync, hidden, retried, target};
use crate::error::{Error, Operation, Result, shown};
use crate::folder::Folder;
use crate::progress::{Canceled, Progress};
use crate::stamp::Stamp;
use crate::url::is_url;
use crate::vfs::{Disk, Vfs};

/// The most files of an old folder that are compared with the inputs.
const COMPARED_MAX: usize = 1 << 16;
/// Names of a folder that are listed before they are removed.
const REMOVED_TOGETHER: usize = 4096;

/// How a folder takes the files of another one.
///
/// ```
/// assert_ne!(tet_io::Sharing::Linked, tet_io::Sharing::Copied);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// As further names of the same files, where the file system has these: for a folder that the new one replaces.
    Linked,
    /// As copies.
    Copied,
}

/// A new folder before it is published; dropping it removes the folder.
///
/// # Examples
///
/// ```
/// use tet_io::{FolderPublisher, Publish};
///
/// let parent = std::env::temp_dir().join(format!("tet-doc-{}", std::process::id()));
/// std::fs::create_dir_all(&parent)?;
/// let mut folder = FolderPublisher::begin(parent.join("out"), &Publish::default())?;
/// folder.write("group/file", b"bytes")?;
/// assert!(!parent.join("out").exists());
/// folder.commit()?;
/// assert_eq!(std::fs::read(parent.join("out/group/file"))?, b"bytes");
/// std::fs::remove_dir_all(&parent)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FolderPublisher {
    /// The new folder; `None` when it has its name.
    hidden: Option<PathBuf>,
    folder: Folder,
    target: PathBuf,
    parent: PathBuf,
    force: Overwrite,
    sync: Sync,
    /// The last folder that was made.
    made: PathBuf,
    len: u64,
}

impl FolderPublisher {
    /// Starts a new folder for `target`. A symbolic link is followed only here.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Exists`], [`Error::NotFolder`], [`Error::SameFile`] or [`Error::NoName`]
    /// when the target may not be written, and [`Error::Io`] when no folder can be created next to
    /// it. A folder is never an edited copy: [`Overwrite::Edit`] is [`Error::Changed`].
    pub fn begin(target: impl AsRef<Path>, options: &Publish) -> Result<Self> {
        if is_url(target.as_ref()) {
            return Err(Error::UrlOutput { path: target.as_ref().to_path_buf() });
        }
        let target = target::resolve(&Disk, target.as_ref())?;
        let old = check(&target, options)?;
        let parent = match target.parent() {
            Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
            Some(parent) => parent.to_path_buf(),
            None => return Err(Error::NoName { path: target }),
        };
        let created = |error| Error::io(Operation::Create, &target, error);
        let made = hidden::create(&target, &parent, |path| fs::create_dir(path));
        let (_, hidden) = made.map_err(created)?;
        let folder = Folder::open(&hidden)?;
        let Publish { force, sync, .. } = *options;
        let made = hidden.clone();
        let hidden = Some(hidden);
        let publisher = Self { hidden, folder, target, parent, force, sync, made, len: 0 };
        if let Some(old) = old {
            let copied = fs::set_permissions(&publisher.made, old.permissions());
            copied.map_err(|error| publisher.fault(Operation::SetMode, error))?;
        }
        Ok(publisher)
    }

    /// Writes a new file below the folder; `/` in its key are folders, which are made.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NoName`] when the key is not a relative path of ordinary names, and
    /// [`Error::Io`] when the file exists or cannot be written.
    pub fn write(&mut self, key: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path_of(key)?;
        self.make_parent(&path)?;
        let create = || fs::OpenOptions::new().write(true).create_new(true).open(&path);
        let mut file = retried(create).map_err(|error| self.fault(Operation::Create, error))?;
        file.write_all(bytes).map_err(|error| self.fault(Operation::Write, error))?;
        if self.sync == Sync::Full && !SYNCS_ALL {
            file.sync_all().map_err(|error| self.fault(Operation::Sync, error))?;
        }
        self.len = self.len.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        Ok(())
    }

    /// Takes the files of another folder, each under the key that `key_of` gives it; without one it is left out. Progress
    /// counts their bytes.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NotRegular`] for what is neither a file nor a folder, [`Error::NoName`] for a name that is no
    /// UTF-8, as [`write`](FolderPublisher::write) for keys, and [`Canceled`].
    pub fn take<E: From<Error> + From<Canceled>>(
        &mut self,
        from: &Path,
        sharing: Sharing,
        progress: &Progress,
        key_of: &mut dyn FnMut(&str) -> Option<String>,
    ) -> Result<(), E> {
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            let path = from.join(&folder);
            let failed = |error| Error::io(Operation::Read, &path, error);
            for entry in fs::read_dir(&path).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let name = entry.file_name();
                let name = name.to_str().ok_or_else(|| Error::NoName { path: entry.path() })?;
                let key =
                    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
                let metadata = entry.metadata().map_err(failed)?;
                if metadata.is_dir() {
                    folders.push(key);
                } else if !metadata.is_file() {
                    return Err(Error::NotRegular { path: entry.path(), what: "no file" }.into());
                } else if let Some(key) = key_of(&key) {
                    self.take_file(&entry.path(), sharing, &key)?;
                    self.len = self.len.saturating_add(metadata.len());
                    progress.advance(metadata.len())?;
                }
            }
        }
        Ok(())
    }

    fn take_file(&mut self, from: &Path, sharing: Sharing, key: &str) -> Result<()> {
        let path = self.path_of(key)?;
        self.make_parent(&path)?;
        let is_linked = sharing == Sharing::Linked && fs::hard_link(from, &path).is_ok();
        if !is_linked {
            if fs::symlink_metadata(&path).is_ok() {
                return Err(self.fault(Operation::Create, ErrorKind::AlreadyExists.into()));
            }
            fs::copy(from, &path).map_err(|error| self.fault(Operation::Write, error))?;
            if self.sync == Sync::Full && !SYNCS_ALL {
                let synced = File::open(&path).and_then(|file| file.sync_all());
                synced.map_err(|error| self.fault(Operation::Sync, error))?;
            }
        }
        Ok(())
    }

    fn make_parent(&mut self, path: &Path) -> Result<()> {
        if let Some(parent) = path.parent().filter(|parent| *parent != self.made) {
            fs::create_dir_all(parent).map_err(|error| self.fault(Operation::Create, error))?;
            self.made = parent.to_path_buf();
        }
        Ok(())
    }

    /// The path of a new file in the folder, which the caller writes.
    ///
    /// # Errors
    ///
    /// As [`write`](FolderPublisher::write) for the key.
    pub fn path_of(&self, key: &str) -> Result<PathBuf> {
        let path = self.folder.path_of(key);
        path.ok_or_else(|| Error::NoName { path: self.target.join(key) })
    }

    /// Bytes of all files that were written with [`write`](FolderPublisher::write) so far.
    #[must_use]
    pub const fn byte_len(&self) -> u64 {
        self.len
    }

    /// Gives the new folder its name; the old one is removed then.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Exists`] when the target appeared meanwhile and may not be replaced, and
    /// [`Error::Io`] with the step that failed. The target is unchanged then, unless only syncing
    /// its folder failed: then it is the new folder, which may not be durable. [`Error::InPlace`] when
    /// the old folder cannot be removed: the target is the new one.
    pub fn commit(mut self) -> Result<()> {
        let Some(hidden) = self.hidden.clone() else { return Ok(()) };
        // Fail before anything is replaced if the folder around it cannot be synced.
        let mut parent = None;
        if self.sync == Sync::Full {
            sync_all(&hidden).map_err(|error| self.fault(Operation::Sync, error))?;
            let opened = retried(|| Disk.open_folder(&self.parent));
            parent = Some(opened.map_err(|error| self.fault(Operation::OpenFolder, error))?);
        }
        let replaced = match self.force {
            Overwrite::Refuse | Overwrite::Edit(_) => {
                rename_new(&hidden, &self.target).map(|()| None)
            }
            Overwrite::Replace => replace(&hidden, &self.target, &self.parent),
        };
        let old = replaced.map_err(|error| self.fault(Operation::Rename, error))?;
        self.hidden = None;
        let synced = parent.map_or(Ok(()), |parent| Disk.sync_folder(&parent));
        let removed = old.map_or(Ok(()), |old| {
            // A remainder has a name that identifies it as temporary.
            let what = || format!("the old folder, {}, cannot be removed", shown(&old));
            let path = || self.target.clone();
            remove(&old).map_err(|source| Error::InPlace { path: path(), what: what(), source })
        });
        synced.map_err(|error| self.fault(Operation::SyncFolder, error))?;
        removed
    }

    fn fault(&self, step: Operation, error: io::Error) -> Error {
        match (step, error.kind()) {
            (Operation::Rename, ErrorKind::AlreadyExists) => {
                Error::Exists { path: self.target.clone() }
            }
            _ => Error::io(step, &self.target, error),
        }
    }
}

impl Drop for FolderPublisher {
    fn drop(&mut self) {
        if let Some(hidden) = self.hidden.take() {
            // Where no descriptor is left for it, the folders that were made last are empty.
            let made = self.made.ancestors().take_while(|made| made.starts_with(&hidden));
            let is_gone = made.map(fs::remove_dir).take_while(io::Result::is_ok).count() != 0;
            // A failure cannot be reported here; the name identifies the folder as temporary.
            let _ = if is_gone && !hidden.exists() { Ok(()) } else { remove(&hidden) };
        }
    }
}

/// Removes a folder and all below it. Only one folder is open at any time: `remove_dir_all` of the standard
/// library opens one at each level, and a process that fails for a lack of descriptors has one left.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    let entry = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((entry.path(), entry.file_type()?.is_dir()))
    };
    loop {
        let entries = fs::read_dir(folder)?.take(REMOVED_TOGETHER).map(entry);
        let entries = entries.collect::<io::Result<Vec<(PathBuf, bool)>>>()?;
        if entries.is_empty() {
            return fs::remove_dir(folder);
        }
        for (path, is_folder) in entries {
            if is_folder { remove(&path)? } else { fs::remove_file(path)? }
        }
    }
}

/// Checks that the target may be written; gives the old folder.
fn check(target: &Path, options: &Publish) -> Result<Option<fs::Metadata>> {
    let path = target.to_path_buf();
    let metadata = match fs::symlink_metadata(target) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound && target.file_name().is_some() => {
            return Ok(None);
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(Error::NoName { path }),
        Err(error) => return Err(Error::io(Operation::Resolve, target, error)),
    };
    match options.force {
        Overwrite::Refuse => return Err(Error::Exists { path }),
        Overwrite::Edit(_) => return Err(Error::Changed { path }),
        Overwrite::Replace => {}
    }
    if !metadata.is_dir() {
        return Err(Error::NotFolder { path });
    }
    let entries =
        fs::read_dir(target).map_err(|error| Error::io(Operation::Resolve, target, error))?;
    let files =
        entries.take(COMPARED_MAX).filter_map(|entry| fs::metadata(entry.ok()?.path()).ok());
    let mut stamps = files.filter(fs::Metadata::is_file).map(|file| Stamp::from_metadata(&file));
    if stamps.any(|file| options.inputs.iter().any(|input| input.is_same_file(&file))) {
        return Err(Error::SameFile { path });
    }
    Ok(Some(metadata))
}

/// Renames a folder to a path where nothing is.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            outcome => return Ok(outcome?),
        }
    }
    // The system would replace an empty folder that appears between the two steps, and no other.
    match fs::symlink_metadata(to) {
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == ErrorKind::NotFound => fs::rename(from, to),
        Err(error) => Err(error),
    }
}

/// Puts a folder in the place of another one; gives the path of the old one, which is to be removed.
fn replace(from: &Path, to: &Path, parent: &Path) -> io::Result<Option<PathBuf>> {
    match rename_new(from, to) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        outcome => return outcome.map(|()| None),
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::EXCHANGE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            outcome => return Ok(outcome.map(|()| Some(from.to_path_buf()))?),
        }
    }
    swap(from, to, parent).map(Some)
}

/// Swaps by two renames; the first is undone if the second fails.
fn swap(from: &Path, to: &Path, parent: &Path) -> io::Result<PathBuf> {
    let ((), old) = hidden::create(to, parent, |path| rename_new(to, path))?;
    match rename_new(from, to) {
        Ok(()) => Ok(old),
        Err(error) => {
            rename_new(&old, to)?;
            Err(error)
        }
    }
}

/// Whether all files of a folder are synced at once.
const SYNCS_ALL: bool = cfg!(target_os = "linux");

/// Syncs the file system that a new folder is on: one call, however many files there are.
fn sync_all(folder: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(File::open(folder)?)?;
    let _ = folder;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPLACE: Publish =
        Publish { force: Overwrite::Replace, sync: Sync::Full, inputs: Vec::new(), version: None };

    fn publish(target: &Path, key: &str, options: &Publish) -> Result<()> {
        let mut folder = FolderPublisher::begin(target, options)?;
        folder.write(key, key.as_bytes())?;
        folder.commit()
    }

    type Failed = Box<dyn std::error::Error>;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string();
        let mut names: Vec<String> = entries.map(|entry| name(entry).unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_replaces_another_as_a_whole() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("out");
        publish(&target, "a/b", &Publish::default()).unwrap();
        assert_eq!(fs::read(target.join("a/b")).unwrap(), b"a/b");
        let found = publish(&target, "c", &Publish::default());
        assert!(matches!(found, Err(Error::Exists { .. })), "{found:?}");
        publish(&target, "c", &REPLACE).unwrap();
        assert_eq!((names(&target), names(root.path())), (vec!["c".into()], vec!["out".into()]));
    }

    #[test]
    fn files_of_the_old_folder_are_taken_under_new_keys() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("out");
        let mut folder = FolderPublisher::begin(&target, &Publish::default()).unwrap();
        for key in ["a/0", "a/1", "b/0", "c"] {
            folder.write(key, key.as_bytes()).unwrap();
        }
        folder.commit().unwrap();
        for sharing in [Sharing::Linked, Sharing::Copied] {
            let mut folder = FolderPublisher::begin(&target, &REPLACE).unwrap();
            let mut key_of = |key: &str| match key {
                "b/0" => None,
                key => Some(key.replace("a/", "new/")),
            };
            folder.take::<Failed>(&target, sharing, &Progress::default(), &mut key_of).unwrap();
            folder.write("b/1", b"more").unwrap();
            folder.commit().unwrap();
            let read = |key: &str| fs::read(target.join(key)).unwrap();
            assert_eq!((read("new/0"), read("new/1")), (b"a/0".to_vec(), b"a/1".to_vec()));
            assert_eq!((read("b/1"), names(&target.join("b")).len()), (b"more".to_vec(), 1));
            fs::rename(target.join("new"), target.join("a")).unwrap();
            fs::remove_file(target.join("b/1")).unwrap();
        }
        assert_eq!(names(root.path()), ["out"]);
    }

    #[test]
    fn a_failure_leaves_the_old_folder_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("out");
        publish(&target, "old", &Publish::default()).unwrap();
        for key in ["../x", "/x", "", "a//b"] {
            let found = publish(&target, key, &REPLACE);
            assert!(matches!(found, Err(Error::NoName { .. })), "{key}: {found:?}");
        }
        let mut folder = FolderPublisher::begin(&target, &REPLACE).unwrap();
        folder.write("x", b"1").unwrap();
        assert!(matches!(folder.write("x", b"2"), Err(Error::Io { .. })));
        assert!(matches!(folder.write("x/y", b"2"), Err(Error::Io { .. })));
        drop(folder);
        assert_eq!((names(&target), names(root.path())), (vec!["old".into()], vec!["out".into()]));
    }

    #[test]
    fn a_target_that_appears_meanwhile_is_not_replaced() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("out");
        let folder = FolderPublisher::begin(&target, &Publish::default()).unwrap();
        publish(&target, "other", &Publish::default()).unwrap();
        assert!(matches!(folder.commit(), Err(Error::Exists { .. })));
        assert_eq!(
            (names(&target), names(root.path())),
            (vec!["other".into()], vec!["out".into()])
        );
        fs::write(root.path().join("file"), b"x").unwrap();
        let found = FolderPublisher::begin(root.path().join("file"), &REPLACE);
        assert!(matches!(found, Err(Error::NotFolder { .. })));
        let inputs = vec![Stamp::from_file(&File::open(target.join("other")).unwrap()).unwrap()];
        let found = FolderPublisher::begin(&target, &Publish { inputs, ..REPLACE });
        assert!(matches!(found, Err(Error::SameFile { .. })));
    }

    #[test]
    fn two_renames_are_undone_if_the_second_fails() {
        let root = tempfile::tempdir().unwrap();
        let [new, old] = ["new", "old"].map(|name| root.path().join(name));
        fs::create_dir(&old).unwrap();
        fs::write(old.join("file"), b"old").unwrap();
        assert!(swap(&new, &old, root.path()).is_err(), "there is no new folder");
        assert_eq!((names(&old), names(root.path())), (vec!["file".into()], vec!["old".into()]));
        fs::create_dir(&new).unwrap();
        let left = swap(&new, &old, root.path()).unwrap();
        assert_eq!((names(&old), names(&left)), (vec![], vec!["file".to_owned()]));
    }
}
