//! The file system operations for publishing, as a trait, so that tests can make each of them fail.

mod copy;
mod disk;
mod rights;

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use tet_format::Span;

use crate::stamp::Stamp;

pub use disk::Disk;

/// A file system to publish files in.
pub trait Vfs: Debug + Send + Sync {
    /// The entry at a path, without following symbolic links.
    ///
    /// # Errors
    ///
    /// Returns errors of the system; a missing path is no error.
    fn entry(&self, path: &Path) -> io::Result<Entry>;

    /// Creates a file without a name in `folder`, or `None` if that is not supported.
    ///
    /// # Errors
    ///
    /// Returns the error of the system.
    fn create_unnamed(&self, folder: &Path) -> io::Result<Option<Box<dyn VfsFile>>>;

    /// Creates a file that must not exist yet.
    ///
    /// # Errors
    ///
    /// Returns the error of the system, `AlreadyExists` when the name is taken.
    fn create_named(&self, path: &Path) -> io::Result<Box<dyn VfsFile>>;

    /// Locks a file against others who lock it too, until the returned value is dropped.
    ///
    /// The lock is advisory. `None` if the file is gone or the file system has no locks.
    ///
    /// # Errors
    ///
    /// Returns the error of the system, `WouldBlock` when the file is already locked.
    fn lock(&self, path: &Path) -> io::Result<Option<File>>;

    /// Renames `from` to `to`, replacing it.
    ///
    /// # Errors
    ///
    /// Returns the error of the system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Renames `from` to `to`, which must not exist: never replaces a file, even in a race.
    ///
    /// # Errors
    ///
    /// Returns the error of the system, `AlreadyExists` when the name is taken.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    ///
    /// Returns the error of the system.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Opens a folder, to sync it later.
    ///
    /// # Errors
    ///
    /// Returns the error of the system.
    fn open_folder(&self, folder: &Path) -> io::Result<OpenFolder>;

    /// Syncs a folder. Never called again after it failed.
    ///
    /// # Errors
    ///
    /// Returns the error of the system.
    fn sync_folder(&self, folder: &OpenFolder) -> io::Result<()>;
}

/// A folder that can be synced.
#[derive(Debug, Default)]
pub struct OpenFolder {
    /// Its descriptor, if the system has one for folders.
    pub file: Option<File>,
}

/// The type of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Nothing.
    Absent,
    /// A symbolic link to this path.
    Link(PathBuf),
    /// A regular file, in this state.
    File(Stamp),
    /// Another type, in words.
    Other(&'static str),
}

/// A new file that is being written.
pub trait VfsFile: Write + Seek + Debug + Send {
    /// Syncs the file. Never called again after it failed: the system marks bytes that it could not
    /// write as written, so a second call would succeed wrongly.
    ///
    /// # Errors
    ///
    /// Returns the error of the system; the bytes written so far may be lost then.
    fn sync(&mut self) -> io::Result<()>;

    /// Copies the permissions of the file at `path`, and its owner and extended attributes as far
    /// as permitted. Does nothing if there is no file.
    ///
    /// # Errors
    ///
    /// Returns the error of the system when permissions cannot be set.
    fn keep_rights(&mut self, path: &Path) -> io::Result<()>;

    /// Copies a span of another file to the end of this one inside the kernel. Returns the number
    /// of bytes copied from the start of the span, 0 if the kernel cannot copy.
    ///
    /// Holes may stay holes. Failures are not reported: the caller continues by reading and
    /// writing, which returns the error.
    fn copy_span(&mut self, from: &File, span: Span) -> u64;

    /// Reopens the file for reading by offset; `None` if that is not supported.
    ///
    /// # Errors
    ///
    /// Returns the error of the system.
    fn reader(&self) -> io::Result<Option<File>> {
        Ok(None)
    }

    /// Promises that no byte of `range` is written a second time: not one that is written already, and not one that is
    /// written from now on. The file of a URL needs no disk space for them once they are uploaded. Does nothing for
    /// other files.
    fn mark_final(&mut self, range: Range<u64>) {
        let _ = range;
    }

    /// Frees the disk space of a span, where the system can; its bytes are zeros then, or as they were.
    fn release(&mut self, span: Span) {
        let _ = span;
    }

    /// Links a file without a name to `path`, which must not exist.
    ///
    /// # Errors
    ///
    /// Returns the error of the system, `AlreadyExists` when the name is taken.
    fn link(&mut self, path: &Path) -> io::Result<()>;
}
