//! Publishing a file: written beside its target, synced, renamed, its folder synced.
//!
//! ```text
//! begin                 write ...           commit
//! create without name   file()              mode, sync, name, rename, sync folder
//! ```
//!
//! At every moment, and after a crash at any moment, the target is the old file or the new file.
//! The new file has no name until it is complete where the system has files without names
//! (`O_TMPFILE`), else a hidden one beside the target, removed when the publisher is dropped.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, Step};
use crate::source::{Backend, Source, what_is};
use crate::stamp::Stamp;
use crate::vfs::{Disk, Vfs, VfsFile};

/// What to do when the target exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Overwrite {
    /// Leave it alone, even when it appears while we write.
    #[default]
    Refuse,
    /// Replace it by rename.
    Replace,
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

/// One file on its way to its target; dropped, it leaves nothing behind.
#[derive(Debug)]
pub struct Publisher {
    vfs: Box<dyn Vfs>,
    file: Box<dyn VfsFile>,
    /// The hidden name the new file has at the moment, if it has one.
    hidden: Option<PathBuf>,
    target: PathBuf,
    folder: PathBuf,
    /// The permissions of the file that is replaced.
    mode: Option<u32>,
    force: Overwrite,
    sync: Sync,
}

impl Publisher {
    /// Starts a new file for `target`. A link is followed once, here.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Exists`], [`Error::SameFile`], [`Error::NotRegular`] or [`Error::NoName`]
    /// when the target may not be written, [`Error::Io`] when no file can be made beside it.
    pub fn begin(target: impl AsRef<Path>, options: &Publish) -> Result<Self> {
        Self::begin_on(Box::new(Disk), target.as_ref(), options)
    }

    /// Starts a new file for `target` on another file system than the disk.
    ///
    /// # Errors
    ///
    /// Returns what [`Publisher::begin`] returns.
    pub fn begin_on(vfs: Box<dyn Vfs>, target: &Path, options: &Publish) -> Result<Self> {
        let target = resolve(target)?;
        let mode = check_target(&target, options)?;
        let folder = match target.parent() {
            Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
            Some(parent) => parent.to_path_buf(),
            None => return Err(Error::NoName { path: target }),
        };
        let created = |error| Error::io(Step::Create, &target, error);
        let (file, hidden) = match vfs.create_unnamed(&folder).map_err(created)? {
            Some(file) => (file, None),
            None => {
                let (file, hidden) =
                    with_hidden_name(&target, &folder, |path| vfs.create_named(path))
                        .map_err(created)?;
                (file, Some(hidden))
            }
        };
        let Publish { force, sync, .. } = *options;
        Ok(Self { vfs, file, hidden, target, folder, mode, force, sync })
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
    /// Returns [`Error::Exists`] when the target appeared meanwhile and may not be replaced, and
    /// [`Error::Io`] with the step that failed. The target is the old file then, unless only
    /// syncing its folder failed: then it is the new one, perhaps not durably.
    pub fn commit(mut self) -> Result<()> {
        self.file.flush().map_err(|error| self.write_fault(error))?;
        if let Some(mode) = self.mode {
            self.file.set_mode(mode).map_err(|error| self.fault(Step::SetMode, error))?;
        }
        if self.sync == Sync::Full {
            self.file.sync().map_err(|error| self.fault(Step::Sync, error))?;
        }
        match self.force {
            Overwrite::Refuse => self.name_new()?,
            Overwrite::Replace => self.name_over()?,
        }
        if self.sync == Sync::Full {
            let synced = self.vfs.sync_folder(&self.folder);
            synced.map_err(|error| self.fault(Step::SyncFolder, error))?;
        }
        Ok(())
    }

    /// Gives the new file the target's name, which must be free: the kernel decides, not we.
    fn name_new(&mut self) -> Result<()> {
        match self.hidden.take() {
            None => {
                let linked = self.file.link(&self.target);
                linked.map_err(|error| self.fault(Step::Link, error))
            }
            Some(hidden) => {
                let renamed = self.vfs.rename_new(&hidden, &self.target);
                renamed.map_err(|error| {
                    self.hidden = Some(hidden);
                    self.fault(Step::Rename, error)
                })
            }
        }
    }

    /// Gives the new file a hidden name if it has none, then renames it over the target.
    fn name_over(&mut self) -> Result<()> {
        let hidden = match self.hidden.take() {
            Some(hidden) => hidden,
            None => {
                let named =
                    with_hidden_name(&self.target, &self.folder, |path| self.file.link(path));
                named.map_err(|error| self.fault(Step::Link, error))?.1
            }
        };
        let renamed = self.vfs.rename(&hidden, &self.target);
        renamed.map_err(|error| {
            self.hidden = Some(hidden);
            self.fault(Step::Rename, error)
        })
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
            let _ = self.vfs.remove(&hidden);
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

/// Links in a row before we think that they form a ring; the kernel's own bound.
const LINK_COUNT_MAX: usize = 40;

/// Follows the target's last component while it is a symbolic link, dangling or not.
fn resolve(target: &Path) -> Result<PathBuf> {
    let fault = |error| Error::io(Step::Resolve, target, error);
    let mut path = target.to_path_buf();
    for _ in 0..LINK_COUNT_MAX {
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => {
                let link = fs::read_link(&path).map_err(fault)?;
                path = path.parent().unwrap_or(Path::new("")).join(link);
            }
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(path),
            Err(error) => return Err(fault(error)),
        }
    }
    Err(fault(io::Error::other("too many symbolic links")))
}

/// Whether the target may be written; the permissions it has, if it exists.
fn check_target(target: &Path, options: &Publish) -> Result<Option<u32>> {
    let path = target.to_path_buf();
    let metadata = match fs::symlink_metadata(target) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return if target.file_name().is_some() {
                Ok(None)
            } else {
                Err(Error::NoName { path })
            };
        }
        Err(error) => return Err(Error::io(Step::Resolve, target, error)),
    };
    if !metadata.is_file() {
        return Err(Error::NotRegular { path, what: what_is(&metadata) });
    }
    let stamp = Stamp::from_metadata(&metadata);
    if options.inputs.iter().any(|input| input.is_same_file(&stamp)) {
        return Err(Error::SameFile { path });
    }
    if options.force == Overwrite::Refuse {
        return Err(Error::Exists { path });
    }
    Ok(mode_of(&metadata))
}

#[cfg(unix)]
fn mode_of(metadata: &fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(metadata.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode_of(_metadata: &fs::Metadata) -> Option<u32> {
    None
}

/// How often a taken hidden name is tried anew.
const HIDDEN_NAME_COUNT_MAX: usize = 16;

/// The target's own name is cut here, so that the hidden one is not too long for the system.
const HIDDEN_NAME_CHARS: usize = 40;

/// Calls `create` with hidden names beside the target until one is free.
fn with_hidden_name<T>(
    target: &Path,
    folder: &Path,
    mut create: impl FnMut(&Path) -> io::Result<T>,
) -> io::Result<(T, PathBuf)> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().take(HIDDEN_NAME_CHARS).collect();
    let mut outcome = Err(ErrorKind::AlreadyExists.into());
    for _ in 0..HIDDEN_NAME_COUNT_MAX {
        let random = RandomState::new().build_hasher().finish();
        let hidden = folder.join(format!(".{name}.tet-{random:016x}.tmp"));
        outcome = create(&hidden).map(|made| (made, hidden));
        match &outcome {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            _ => break,
        }
    }
    outcome
}

#[cfg(test)]
mod tests;
