//! Publishes a file atomically: written in the target's folder, synced, renamed, folder synced.
//!
//! ```text
//! begin                          write ...           commit
//! create without name, rights    file(), copy_from   sync, name, compare, rename, sync folder
//! ```
//!
//! At any time, and after a crash, the target is the complete old or new file. Several files are
//! first [settled](Publisher::settle) and then renamed together by [`commit_all`]. The new file has
//! no name until it is complete, if the system supports that (`O_TMPFILE`); otherwise it has a
//! hidden name in the target's folder and is removed when the publisher is dropped.
//!
//! Calls interrupted by a signal are repeated, except syncing.

mod folder;
mod hidden;
mod image;
mod leftovers;
mod several;
mod target;
mod url_file;
mod url_folder;

use std::fs::File;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tet_format::Span;

use crate::error::{Error, Operation, Result};
use crate::source::{Backend, Source, store_of};
use crate::stamp::Stamp;
use crate::url::is_url;
use crate::vfs::{Disk, Entry, OpenFolder, Vfs, VfsFile};
use url_file::UrlFile;

pub use folder::{FolderPublisher, Sharing};
pub use hidden::is_temporary;
pub use leftovers::Leftover;
pub use several::{Settled, commit_all};
pub use url_folder::UrlFolderPublisher;

/// Action if the target exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Overwrite {
    /// Fail, even if it appears during writing.
    #[default]
    Refuse,
    /// Replace it by rename.
    Replace,
    /// Replace it by rename if it still has this stamp: the new file is an edited copy of the
    /// target, which may be among the inputs.
    ///
    /// The stamp is compared right before the rename, under a lock that all edits take. Keep the
    /// [`Source`] open until then: the system may reuse the inode number of a closed file. If the
    /// file has several hard links, the others keep the old content.
    Edit(Stamp),
}

/// Whether success means durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sync {
    /// Sync the file before the rename and the folder after it.
    #[default]
    Full,
    /// Do not sync: a power failure may lose the file.
    None,
}

/// Options for publishing.
#[derive(Clone, Debug, Default)]
pub struct Publish {
    /// Action if the target exists.
    pub force: Overwrite,
    /// Whether to sync.
    pub sync: Sync,
    /// The files that are being read: they are never overwritten.
    pub inputs: Vec<Stamp>,
    /// The version of the file of a URL that may be replaced; any, if there is none.
    pub version: Option<String>,
}

/// The path of an edited file.
#[derive(Clone, Copy, Debug)]
pub enum Output<'a> {
    /// To another path.
    NewFile(&'a Path),
    /// The path of the source file, if it has not changed meanwhile.
    InPlace(&'a Path),
}

impl Output<'_> {
    /// Starts the new file; `source` is the old one.
    ///
    /// # Errors
    ///
    /// Returns what [`Publisher::begin`] returns, and [`Error::NotRegular`] when a source that is
    /// not a file is to be replaced: its changes could not be detected.
    pub fn begin(self, source: &Source, publish: &Publish) -> Result<Publisher> {
        let mut publish = publish.clone();
        let path = match self {
            Output::NewFile(path) => {
                publish.inputs.extend(source.stamp());
                path
            }
            Output::InPlace(path) => {
                let Some((force, version)) = in_place(source) else {
                    let path = path.to_path_buf();
                    if is_url(&path) {
                        return Err(Error::UrlOutput { path });
                    }
                    return Err(Error::NotRegular { path, what: "bytes in memory" });
                };
                (publish.force, publish.version) = (force, version);
                path
            }
        };
        Publisher::begin(path, &publish)
    }
}

/// How an edited copy takes the place of a source, for [`Publish::force`] and [`Publish::version`]: only if it is still the
/// same one. `None` for bytes that are no file, and for a file of a server that gives it no version.
///
/// ```
/// assert!(tet_io::publish::in_place(&tet_io::Source::from_bytes(*b"abc")).is_none());
/// ```
#[must_use]
pub fn in_place(source: &Source) -> Option<(Overwrite, Option<String>)> {
    if let Some(stamp) = source.stamp() {
        return Some((Overwrite::Edit(stamp), None));
    }
    let version = source.version().filter(|_| source.path().is_some_and(is_url))?;
    Some((Overwrite::Replace, Some(version.to_owned())))
}

/// A new file before it is published; dropping it removes the file.
#[derive(Debug)]
pub struct Publisher {
    file: NewFile,
    place: TargetPaths,
}

/// Where the bytes go.
#[derive(Debug)]
enum NewFile {
    Disk(Box<dyn VfsFile>),
    Url(Box<UrlFile>),
}

impl NewFile {
    fn get(&mut self) -> &mut dyn VfsFile {
        match self {
            NewFile::Disk(file) => &mut **file,
            NewFile::Url(file) => &mut **file,
        }
    }
}

/// The paths of a new file.
#[derive(Debug)]
struct TargetPaths {
    vfs: Box<dyn Vfs>,
    /// Its current hidden name, if it has one.
    hidden: Option<PathBuf>,
    target: PathBuf,
    folder: PathBuf,
    /// The open folder, to sync it.
    open_folder: Option<OpenFolder>,
    force: Overwrite,
    sync: Sync,
}

impl Publisher {
    /// Starts a new file for `target`. A symbolic link is followed only here.
    ///
    /// The file of a URL is made in the system's folder for temporary files, and uploaded while it is written. It is
    /// visible after [`Publisher::commit`].
    ///
    /// # Errors
    ///
    /// Returns [`Error::Exists`], [`Error::SameFile`], [`Error::NotRegular`] or [`Error::NoName`]
    /// when the target may not be written, [`Error::Changed`] when an edited file was replaced,
    /// [`Error::Io`] when no file can be created in its folder, or the folder cannot be opened.
    pub fn begin(target: impl AsRef<Path>, options: &Publish) -> Result<Self> {
        Self::begin_on(Box::new(Disk), target.as_ref(), options)
    }

    /// Starts a new file for `target` on another file system.
    ///
    /// # Errors
    ///
    /// Returns what [`Publisher::begin`] returns.
    pub fn begin_on(vfs: Box<dyn Vfs>, target: &Path, options: &Publish) -> Result<Self> {
        if is_url(target) {
            return Self::begin_url(vfs, target, options);
        }
        if target.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(Error::NoName { path: target.to_path_buf() });
        }
        let target = target::resolve(&*vfs, target)?;
        target::check(&*vfs, &target, options)?;
        let folder = match target.parent() {
            Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
            Some(parent) => parent.to_path_buf(),
            None => return Err(Error::NoName { path: target }),
        };
        let Publish { force, sync, .. } = *options;
        let mut place =
            TargetPaths { vfs, hidden: None, target, folder, open_folder: None, force, sync };
        let mut file = place.create()?;
        // Fail before anything is replaced if the folder cannot be synced.
        place.open_folder()?;
        if force != Overwrite::Refuse {
            let copied = retried(|| file.keep_rights(&place.target));
            copied.map_err(|error| place.fault(Operation::SetMode, error))?;
        }
        Ok(Self { file: NewFile::Disk(file), place })
    }

    /// Starts the file of a URL, in the folder for temporary files.
    fn begin_url(vfs: Box<dyn Vfs>, target: &Path, options: &Publish) -> Result<Self> {
        let force = options.force;
        let (store, url) = store_of(target)?;
        store.check_target(url, force != Overwrite::Refuse)?;
        let (target, folder, sync) = (target.to_path_buf(), std::env::temp_dir(), options.sync);
        let mut place =
            TargetPaths { vfs, hidden: None, target, folder, open_folder: None, force, sync };
        let file = place.create()?;
        let file = UrlFile::new(file, &place.target, force, options.version.clone())?;
        Ok(Self { file: NewFile::Url(Box::new(file)), place })
    }

    /// The new file, for writing.
    pub fn file(&mut self) -> &mut dyn VfsFile {
        self.file.get()
    }

    /// The target, with symbolic links followed.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.place.target
    }

    /// Copies a span of `source` to the current position of the new file: inside the kernel where
    /// possible, sharing blocks and preserving holes, or on the server that has both; the rest by reading and writing.
    ///
    /// # Errors
    ///
    /// Returns what [`Source::read_exact_at`] returns, and [`Error::Io`] with the target when it
    /// cannot be written.
    pub fn copy_from(&mut self, source: &Source, span: Span) -> Result<()> {
        if let NewFile::Url(file) = &mut self.file
            && file.copy(source, span)?
        {
            return Ok(());
        }
        let copied = source.file().map_or(0, |file| self.file().copy_span(file, span));
        let start = span.start().saturating_add(copied);
        source.for_windows(start..span.end(), &mut Vec::new(), |_, window| {
            self.file().write_all(window).map_err(|error| self.write_fault(error))?;
            Ok(true)
        })
    }

    /// The new file as written so far, for reading before it is published; `None` if the file
    /// system does not support this, and for the file of a URL of which parts are gone.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when it cannot be read.
    pub fn read_back(&mut self) -> Result<Option<Source>> {
        self.file().flush().map_err(|error| self.write_fault(error))?;
        let Some(file) = self.file().reader().map_err(|error| self.write_fault(error))? else {
            return Ok(None);
        };
        let stamp = Stamp::from_file(&file).map_err(|error| self.write_fault(error))?;
        Ok(Some(Source::opened(Backend::Pread(file), &self.place.target, stamp)))
    }

    /// Adds step and path to an error of writing the new file.
    #[must_use]
    pub fn write_fault(&self, source: io::Error) -> Error {
        Error::io(Operation::Write, &self.place.target, source)
    }

    /// Renames the new file to the target, or ends the upload to its URL.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Exists`] when the target appeared meanwhile and may not be replaced,
    /// [`Error::Changed`] when an edited target changed meanwhile, and [`Error::Io`] with the step
    /// that failed. The target is unchanged then, unless only syncing its folder failed: then it is
    /// the new file, which may not be durable.
    pub fn commit(mut self) -> Result<()> {
        self.finish()?;
        let Self { file, place } = &mut self;
        let file = match file {
            NewFile::Url(file) => return file.finish(),
            NewFile::Disk(file) => file,
        };
        if place.force == Overwrite::Refuse && place.hidden.is_none() {
            // Only the kernel can check atomically that the target does not exist.
            let linked = retried(|| file.link(&place.target));
            linked.map_err(|error| place.fault(Operation::Link, error))?;
        } else {
            place.name_hidden(&mut **file)?;
            place.take_target()?;
        }
        place.sync_folder()
    }

    /// Completes the new file under a hidden name, for [`commit_all`].
    ///
    /// # Errors
    ///
    /// Returns [`Error::UrlOutput`] for a URL, whose files cannot be renamed together, and [`Error::Io`] with the step
    /// that failed. The target is unchanged then.
    pub fn settle(mut self) -> Result<Settled> {
        if is_url(&self.place.target) {
            return Err(Error::UrlOutput { path: self.place.target.clone() });
        }
        self.finish()?;
        let Self { mut file, mut place } = self;
        place.name_hidden(file.get())?;
        // Close the folder, since thousands of files may be waiting.
        place.open_folder = None;
        Ok(Settled(place))
    }

    /// Writes buffered bytes and syncs the file.
    fn finish(&mut self) -> Result<()> {
        let Self { file, place } = self;
        let file = file.get();
        retried(|| file.flush()).map_err(|error| place.fault(Operation::Write, error))?;
        if place.sync == Sync::Full {
            file.sync().map_err(|error| place.fault(Operation::Sync, error))?;
        }
        Ok(())
    }
}

impl TargetPaths {
    /// Creates the new file, without a name where that is possible.
    fn create(&mut self) -> Result<Box<dyn VfsFile>> {
        let Self { vfs, target, folder, hidden, .. } = self;
        let fault = |error| Error::io(Operation::Create, target, error);
        if let Some(file) = retried(|| vfs.create_unnamed(folder)).map_err(fault)? {
            return Ok(file);
        }
        let named = hidden::create(target, folder, |path| vfs.create_named(path));
        let (file, path) = named.map_err(fault)?;
        *hidden = Some(path);
        Ok(file)
    }

    /// Opens the folder if it is to be synced.
    fn open_folder(&mut self) -> Result<()> {
        if self.sync == Sync::Full {
            let opened = retried(|| self.vfs.open_folder(&self.folder));
            self.open_folder =
                Some(opened.map_err(|error| self.fault(Operation::OpenFolder, error))?);
        }
        Ok(())
    }

    /// Gives the new file a hidden name if it has none.
    fn name_hidden(&mut self, file: &mut dyn VfsFile) -> Result<()> {
        if self.hidden.is_none() {
            let named = hidden::create(&self.target, &self.folder, |path| file.link(path));
            self.hidden = Some(named.map_err(|error| self.fault(Operation::Link, error))?.1);
        }
        Ok(())
    }

    /// Renames the new file to its target.
    fn take_target(&mut self) -> Result<()> {
        // The lock is held until the rename is done.
        let _lock = match self.force {
            Overwrite::Edit(stamp) => self.compare(&stamp)?,
            Overwrite::Refuse | Overwrite::Replace => None,
        };
        let Self { vfs, hidden, target, force, .. } = &*self;
        if let Some(hidden) = hidden {
            let renamed = retried(|| match force {
                // Only the kernel can check atomically that the target does not exist.
                Overwrite::Refuse => vfs.rename_new(hidden, target),
                Overwrite::Replace | Overwrite::Edit(_) => vfs.rename(hidden, target),
            });
            renamed.map_err(|error| self.fault(Operation::Rename, error))?;
        }
        self.hidden = None;
        Ok(())
    }

    /// Locks the target and checks that it still has this stamp.
    fn compare(&self, stamp: &Stamp) -> Result<Option<File>> {
        let lock = retried(|| self.vfs.lock(&self.target));
        let lock = lock.map_err(|error| self.fault(Operation::Lock, error))?;
        let entry = retried(|| self.vfs.entry(&self.target));
        match entry.map_err(|error| self.fault(Operation::Stat, error))? {
            Entry::File(now) if stamp.is_same_state(&now) => Ok(lock),
            _ => Err(Error::Changed { path: self.target.clone() }),
        }
    }

    /// Syncs the folder, if it is open.
    fn sync_folder(&self) -> Result<()> {
        match &self.open_folder {
            Some(folder) => self
                .vfs
                .sync_folder(folder)
                .map_err(|error| self.fault(Operation::SyncFolder, error)),
            None => Ok(()),
        }
    }

    fn fault(&self, step: Operation, error: io::Error) -> Error {
        match error.kind() {
            ErrorKind::AlreadyExists => Error::Exists { path: self.target.clone() },
            _ => Error::io(step, &self.target, error),
        }
    }
}

impl Drop for TargetPaths {
    fn drop(&mut self) {
        if let Some(hidden) = self.hidden.take() {
            // A failure cannot be reported here; the name identifies the file as temporary.
            let _ = retried(|| self.vfs.remove(&hidden));
        }
    }
}

impl Write for Publisher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

impl Seek for Publisher {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file().seek(to)
    }
}

/// Repeats a call that was interrupted by a signal.
fn retried<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests;
