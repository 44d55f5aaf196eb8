//! Publishing a file: written beside its target, synced, renamed, its folder synced.
//!
//! ```text
//! begin                          write ...           commit
//! create without name, rights    file(), copy_from   sync, name, compare, rename, sync folder
//! ```
//!
//! At every moment, and after a crash at any moment, the target is the old file or the new file.
//! Several files are [settled](Publisher::settle) first and renamed together by [`commit_all`].
//! The new file has no name until it is complete where the system has files without names
//! (`O_TMPFILE`), else a hidden one beside the target, removed when the publisher is dropped.
//!
//! What a signal interrupts is called again, but for syncing, which is never called twice.

mod hidden;
mod image;
mod several;
mod target;

use std::fs::File;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tet_format::Span;

use crate::error::{Error, Result, Step};
use crate::source::{Backend, Source};
use crate::stamp::Stamp;
use crate::vfs::{Disk, Entry, Folder, Vfs, VfsFile};

pub use several::{Settled, commit_all};

/// What to do when the target exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Overwrite {
    /// Leave it alone, even when it appears while we write.
    #[default]
    Refuse,
    /// Replace it by rename.
    Replace,
    /// Replace it by rename if it is the file of this stamp, in the same state still: the target
    /// was read, and the new file is the old one, edited. It may be among the inputs.
    ///
    /// The state is compared right before the rename, under a lock that all edits take. Keep the
    /// [`Source`] that was read open until then: the system gives the number of a file that
    /// nobody holds to the next one. A file with several names keeps its old bytes under the
    /// other ones.
    Edit(Stamp),
}

/// Whether success means durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sync {
    /// Sync the file before the rename and the folder after it.
    #[default]
    Full,
    /// Leave durability to the system: a power cut may cost the file.
    None,
}

/// How to publish.
#[derive(Clone, Debug, Default)]
pub struct Publish {
    /// What to do when the target exists.
    pub force: Overwrite,
    /// Whether success means durable.
    pub sync: Sync,
    /// The files that are being read: none of them is ever written over.
    pub inputs: Vec<Stamp>,
}

/// Where a new file goes that is made of an old one.
#[derive(Clone, Copy, Debug)]
pub enum Output<'a> {
    /// To another path.
    Beside(&'a Path),
    /// In the place of the file that was read, if nobody has changed that meanwhile.
    InPlace(&'a Path),
}

impl Output<'_> {
    /// Begins the new file; `source` is the old one.
    ///
    /// # Errors
    ///
    /// Returns what [`Publisher::begin`] returns, and [`Error::NotRegular`] when a source that is
    /// not a file is to be replaced: nobody could tell whether it has changed.
    pub fn begin(self, source: &Source, publish: &Publish) -> Result<Publisher> {
        let mut publish = publish.clone();
        let path = match self {
            Output::Beside(path) => {
                publish.inputs.extend(source.stamp());
                path
            }
            Output::InPlace(path) => {
                let Some(stamp) = source.stamp() else {
                    let path = path.to_path_buf();
                    return Err(Error::NotRegular { path, what: "bytes in memory" });
                };
                publish.force = Overwrite::Edit(stamp);
                path
            }
        };
        Publisher::begin(path, &publish)
    }
}

/// One file on its way to its target; dropped, it leaves nothing behind.
#[derive(Debug)]
pub struct Publisher {
    file: Box<dyn VfsFile>,
    place: Place,
}

/// Where a new file goes.
#[derive(Debug)]
struct Place {
    vfs: Box<dyn Vfs>,
    /// The hidden name the new file has at the moment, if it has one.
    hidden: Option<PathBuf>,
    target: PathBuf,
    folder: PathBuf,
    /// The open folder, where the new name is made durable.
    open_folder: Option<Folder>,
    force: Overwrite,
    sync: Sync,
}

impl Publisher {
    /// Starts a new file for `target`. A link is followed once, here.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Exists`], [`Error::SameFile`], [`Error::NotRegular`] or [`Error::NoName`]
    /// when the target may not be written, [`Error::Changed`] when an edited one is another file
    /// by now, [`Error::Io`] when no file can be made beside it, or its folder not be opened.
    pub fn begin(target: impl AsRef<Path>, options: &Publish) -> Result<Self> {
        Self::begin_on(Box::new(Disk), target.as_ref(), options)
    }

    /// Starts a new file for `target` on another file system than the disk.
    ///
    /// # Errors
    ///
    /// Returns what [`Publisher::begin`] returns.
    pub fn begin_on(vfs: Box<dyn Vfs>, target: &Path, options: &Publish) -> Result<Self> {
        let target = target::resolve(&*vfs, target)?;
        target::check(&*vfs, &target, options)?;
        let folder = match target.parent() {
            Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
            Some(parent) => parent.to_path_buf(),
            None => return Err(Error::NoName { path: target }),
        };
        let created = |error| Error::io(Step::Create, &target, error);
        let unnamed = retried(|| vfs.create_unnamed(&folder)).map_err(created)?;
        let (file, hidden) = match unnamed {
            Some(file) => (file, None),
            None => {
                let (file, hidden) =
                    hidden::create(&target, &folder, |path| vfs.create_named(path))
                        .map_err(created)?;
                (file, Some(hidden))
            }
        };
        let Publish { force, sync, .. } = *options;
        let mut place = Place { vfs, hidden, target, folder, open_folder: None, force, sync };
        // Whoever cannot make the new name durable is told before anything is replaced.
        place.open_folder()?;
        let mut publisher = Self { file, place };
        if force != Overwrite::Refuse {
            let Self { file, place } = &mut publisher;
            let kept = retried(|| file.keep_rights(&place.target));
            kept.map_err(|error| place.fault(Step::SetMode, error))?;
        }
        Ok(publisher)
    }

    /// The new file, to be written.
    pub fn file(&mut self) -> &mut dyn VfsFile {
        &mut *self.file
    }

    /// The target, with links followed.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.place.target
    }

    /// Copies a span of `source` to where the new file is written: inside the kernel as far as it
    /// goes, sharing blocks and keeping holes where the file system can, by reading and writing
    /// for the rest.
    ///
    /// # Errors
    ///
    /// Returns what [`Source::read_exact_at`] returns, and [`Error::Io`] with the target when it
    /// cannot be written.
    pub fn copy_from(&mut self, source: &Source, span: Span) -> Result<()> {
        let copied = source.file().map_or(0, |file| self.file.copy_span(file, span));
        let start = span.start().saturating_add(copied);
        source.for_windows(start..span.end(), &mut Vec::new(), |_, window| {
            self.file.write_all(window).map_err(|error| self.write_fault(error))?;
            Ok(true)
        })
    }

    /// The new file as it is written so far, to be read before it is published; `None` where the
    /// file system cannot say.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when it cannot be read.
    pub fn read_back(&mut self) -> Result<Option<Source>> {
        self.file.flush().map_err(|error| self.write_fault(error))?;
        let Some(file) = self.file.reader().map_err(|error| self.write_fault(error))? else {
            return Ok(None);
        };
        let stamp = Stamp::of(&file).map_err(|error| self.write_fault(error))?;
        Ok(Some(Source::opened(Backend::Pread(file), &self.place.target, stamp)))
    }

    /// Names what went wrong while writing the new file.
    #[must_use]
    pub fn write_fault(&self, source: io::Error) -> Error {
        Error::io(Step::Write, &self.place.target, source)
    }

    /// Puts the new file in the target's place.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Exists`] when the target appeared meanwhile and may not be replaced,
    /// [`Error::Changed`] when the one that was edited is not what it was, and [`Error::Io`] with
    /// the step that failed. The target is the old file then, unless only syncing its folder
    /// failed: then it is the new one, perhaps not durably.
    pub fn commit(mut self) -> Result<()> {
        self.finish()?;
        let Self { file, place } = &mut self;
        if place.force == Overwrite::Refuse && place.hidden.is_none() {
            // The target must be free: the kernel decides, not we.
            let linked = retried(|| file.link(&place.target));
            linked.map_err(|error| place.fault(Step::Link, error))?;
        } else {
            place.name_hidden(&mut **file)?;
            place.take_target()?;
        }
        place.sync_folder()
    }

    /// Completes the new file, which waits under a hidden name for [`commit_all`].
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] with the step that failed. The target is the old file then.
    pub fn settle(mut self) -> Result<Settled> {
        self.finish()?;
        let Self { mut file, mut place } = self;
        place.name_hidden(&mut *file)?;
        // So that thousands of files can wait, none of them is kept open.
        place.open_folder = None;
        Ok(Settled(place))
    }

    /// Writes what is buffered, and makes the bytes durable.
    fn finish(&mut self) -> Result<()> {
        let Self { file, place } = self;
        retried(|| file.flush()).map_err(|error| place.fault(Step::Write, error))?;
        if place.sync == Sync::Full {
            file.sync().map_err(|error| place.fault(Step::Sync, error))?;
        }
        Ok(())
    }
}

impl Place {
    /// Opens the folder if the new name is to be made durable.
    fn open_folder(&mut self) -> Result<()> {
        if self.sync == Sync::Full {
            let opened = retried(|| self.vfs.open_folder(&self.folder));
            self.open_folder = Some(opened.map_err(|error| self.fault(Step::OpenFolder, error))?);
        }
        Ok(())
    }

    /// Gives the new file a hidden name if it has none.
    fn name_hidden(&mut self, file: &mut dyn VfsFile) -> Result<()> {
        if self.hidden.is_none() {
            let named = hidden::create(&self.target, &self.folder, |path| file.link(path));
            self.hidden = Some(named.map_err(|error| self.fault(Step::Link, error))?.1);
        }
        Ok(())
    }

    /// Renames the new file to its target.
    fn take_target(&mut self) -> Result<()> {
        // A lock is held until the new name is there.
        let _lock = match self.force {
            Overwrite::Edit(stamp) => self.compare(&stamp)?,
            Overwrite::Refuse | Overwrite::Replace => None,
        };
        let Self { vfs, hidden, target, force, .. } = &*self;
        if let Some(hidden) = hidden {
            let renamed = retried(|| match force {
                // The target must be free: the kernel decides, not we.
                Overwrite::Refuse => vfs.rename_new(hidden, target),
                Overwrite::Replace | Overwrite::Edit(_) => vfs.rename(hidden, target),
            });
            renamed.map_err(|error| self.fault(Step::Rename, error))?;
        }
        self.hidden = None;
        Ok(())
    }

    /// Locks the target and checks that it is the file of this stamp, in the same state.
    fn compare(&self, stamp: &Stamp) -> Result<Option<File>> {
        let lock = retried(|| self.vfs.lock(&self.target));
        let lock = lock.map_err(|error| self.fault(Step::Lock, error))?;
        let entry = retried(|| self.vfs.entry(&self.target));
        match entry.map_err(|error| self.fault(Step::Stat, error))? {
            Entry::File(now) if stamp.is_same_state(&now) => Ok(lock),
            _ => Err(Error::Changed { path: self.target.clone() }),
        }
    }

    /// Makes the names in the folder durable, if it is open for that.
    fn sync_folder(&self) -> Result<()> {
        match &self.open_folder {
            Some(folder) => {
                self.vfs.sync_folder(folder).map_err(|error| self.fault(Step::SyncFolder, error))
            }
            None => Ok(()),
        }
    }

    fn fault(&self, step: Step, error: io::Error) -> Error {
        match error.kind() {
            ErrorKind::AlreadyExists => Error::Exists { path: self.target.clone() },
            _ => Error::io(step, &self.target, error),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(hidden) = self.hidden.take() {
            // Nobody is left to hear of a failure; the name says what the file is.
            let _ = retried(|| self.vfs.remove(&hidden));
        }
    }
}

impl Write for Publisher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Publisher {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Calls again what a signal interrupted: the system did nothing then.
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
