//! Publishing a file: written beside its target, synced, renamed, its folder synced.
//!
//! ```text
//! begin                          write ...           commit
//! create without name, rights    file(), copy_from   sync, name, compare, rename, sync folder
//! ```
//!
//! At every moment, and after a crash at any moment, the target is the old file or the new file.
//! The new file has no name until it is complete where the system has files without names
//! (`O_TMPFILE`), else a hidden one beside the target, removed when the publisher is dropped.
//!
//! What a signal interrupts is called again, but for syncing, which is never called twice.

mod hidden;
mod target;

use std::fs::File;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tet_format::{Span, planted};

use crate::error::{Error, Result, Step};
use crate::source::{Backend, Source};
use crate::stamp::Stamp;
use crate::vfs::{Disk, Entry, Vfs, VfsFile};

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
    /// Returns what [`Publisher::begin`] returns.
    pub fn begin(self, source: &Source, publish: &Publish) -> Result<Publisher> {
        let mut publish = publish.clone();
        let path = match self {
            Output::Beside(path) => {
                publish.inputs.extend(source.stamp());
                path
            }
            Output::InPlace(path) => {
                publish.force = source.stamp().map_or(Overwrite::Replace, Overwrite::Edit);
                path
            }
        };
        Publisher::begin(path, &publish)
    }
}

/// One file on its way to its target; dropped, it leaves nothing behind.
#[derive(Debug)]
pub struct Publisher {
    vfs: Box<dyn Vfs>,
    file: Box<dyn VfsFile>,
    /// The hidden name the new file has at the moment, if it has one.
    hidden: Option<PathBuf>,
    target: PathBuf,
    folder: PathBuf,
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
    /// by now, [`Error::Io`] when no file can be made beside it.
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
        let mut publisher = Self { vfs, file, hidden, target, folder, force, sync };
        if force != Overwrite::Refuse {
            let Self { file, target, .. } = &mut publisher;
            let kept = retried(|| file.keep_rights(target));
            kept.map_err(|error| publisher.fault(Step::SetMode, error))?;
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
        &self.target
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
        Ok(Some(Source::opened(Backend::Pread(file), &self.target, stamp)))
    }

    /// Names what went wrong while writing the new file.
    #[must_use]
    pub fn write_fault(&self, source: io::Error) -> Error {
        Error::io(Step::Write, &self.target, source)
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
        let Self { file, .. } = &mut self;
        retried(|| file.flush()).map_err(|error| self.write_fault(error))?;
        if self.sync == Sync::Full && !planted::is("file_sync") {
            let Self { file, .. } = &mut self;
            let again = planted::is("sync_again");
            let synced = if again { retried(|| file.sync()) } else { file.sync() };
            synced.map_err(|error| self.fault(Step::Sync, error))?;
        }
        // A lock is held until the new name is there.
        let _lock = match self.force {
            Overwrite::Refuse => self.name_new().map(|()| None),
            Overwrite::Replace => self.name_hidden().map(|()| None),
            Overwrite::Edit(stamp) => self.name_hidden().and_then(|()| self.compare(&stamp)),
        }?;
        if self.force != Overwrite::Refuse {
            self.name_over()?;
        }
        if self.sync == Sync::Full && !planted::is("folder_sync") {
            let synced = self.vfs.sync_folder(&self.folder);
            synced.map_err(|error| self.fault(Step::SyncFolder, error))?;
        }
        Ok(())
    }

    /// Gives the new file the target's name, which must be free: the kernel decides, not we.
    fn name_new(&mut self) -> Result<()> {
        let Self { vfs, file, hidden, target, .. } = self;
        let (step, named) = match &*hidden {
            None => (Step::Link, retried(|| file.link(target))),
            Some(hidden) => (Step::Rename, retried(|| vfs.rename_new(hidden, target))),
        };
        named.map_err(|error| self.fault(step, error))?;
        self.hidden = None;
        Ok(())
    }

    /// Gives the new file a hidden name if it has none.
    fn name_hidden(&mut self) -> Result<()> {
        if self.hidden.is_none() {
            let Self { file, target, folder, .. } = self;
            let named = hidden::create(target, folder, |path| file.link(path));
            self.hidden = Some(named.map_err(|error| self.fault(Step::Link, error))?.1);
        }
        Ok(())
    }

    /// Locks the target and checks that it is the file of this stamp, in the same state.
    fn compare(&self, stamp: &Stamp) -> Result<Option<File>> {
        let lock = retried(|| self.vfs.lock(&self.target));
        let lock = lock.map_err(|error| self.fault(Step::Lock, error))?;
        let entry = retried(|| self.vfs.entry(&self.target));
        match entry.map_err(|error| self.fault(Step::Stat, error))? {
            Entry::File(now) if stamp.is_same_state(&now) || planted::is("edit_state") => Ok(lock),
            _ => Err(Error::Changed { path: self.target.clone() }),
        }
    }

    /// Renames the new file over the target.
    fn name_over(&mut self) -> Result<()> {
        if let Some(hidden) = &self.hidden {
            let renamed = retried(|| self.vfs.rename(hidden, &self.target));
            renamed.map_err(|error| self.fault(Step::Rename, error))?;
        }
        self.hidden = None;
        Ok(())
    }

    fn fault(&self, step: Step, error: io::Error) -> Error {
        match error.kind() {
            ErrorKind::AlreadyExists => Error::Exists { path: self.target.clone() },
            _ => Error::io(step, &self.target, error),
        }
    }
}

impl Drop for Publisher {
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
