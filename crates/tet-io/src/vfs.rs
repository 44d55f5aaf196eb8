//! The few operations publishing needs, as a trait, so that a test can let each of them fail.

mod copy;
mod disk;
mod rights;

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use tet_format::Span;

use crate::stamp::Stamp;

pub use disk::Disk;

/// A place to publish files in.
pub trait Vfs: Debug + Send + Sync {
    /// What a path names, links not followed.
    ///
    /// # Errors
    ///
    /// Returns what the system says; that nothing is there is an answer.
    fn entry(&self, path: &Path) -> io::Result<Entry>;

    /// Creates a file without a name in `folder`, or `None` where that is not to be had.
    ///
    /// # Errors
    ///
    /// Returns what the system says.
    fn create_unnamed(&self, folder: &Path) -> io::Result<Option<Box<dyn VfsFile>>>;

    /// Creates a file that must not exist yet.
    ///
    /// # Errors
    ///
    /// Returns what the system says, `AlreadyExists` when the name is taken.
    fn create_named(&self, path: &Path) -> io::Result<Box<dyn VfsFile>>;

    /// Locks a file against others who lock it too, until what this returns is dropped.
    ///
    /// It is a courtesy among those who edit, and `None` where the file is gone or the file system has
    /// no locks.
    ///
    /// # Errors
    ///
    /// Returns what the system says, `WouldBlock` when somebody else holds the lock.
    fn lock(&self, path: &Path) -> io::Result<Option<File>>;

    /// Renames `from` to `to`, replacing it.
    ///
    /// # Errors
    ///
    /// Returns what the system says.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Renames `from` to `to`, which must not exist: never replaces, whoever is faster.
    ///
    /// # Errors
    ///
    /// Returns what the system says, `AlreadyExists` when the name is taken.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    ///
    /// Returns what the system says.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Opens a folder, whose names are to be made durable later.
    ///
    /// # Errors
    ///
    /// Returns what the system says.
    fn open_folder(&self, folder: &Path) -> io::Result<Folder>;

    /// Makes the names in a folder durable. Never called again after it failed.
    ///
    /// # Errors
    ///
    /// Returns what the system says.
    fn sync_folder(&self, folder: &Folder) -> io::Result<()>;
}

/// A folder whose names can be made durable.
#[derive(Debug, Default)]
pub struct Folder {
    /// Its descriptor, where folders have one.
    pub file: Option<File>,
}

/// What a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Nothing.
    Absent,
    /// A symbolic link to this path.
    Link(PathBuf),
    /// A regular file, in this state.
    File(Stamp),
    /// Neither, in words.
    Other(&'static str),
}

/// A new file that is being written.
pub trait VfsFile: Write + Seek + Debug + Send {
    /// Makes the bytes durable. Never called again after it failed: the system counts the bytes
    /// that it could not write as written, so a second call would say that all is well.
    ///
    /// # Errors
    ///
    /// Returns what the system says; the bytes written so far cannot be relied on then.
    fn sync(&mut self) -> io::Result<()>;

    /// Takes over the permissions of the file at `path`, and its owner and extended attributes as
    /// far as that is permitted. Does nothing when no file is there.
    ///
    /// # Errors
    ///
    /// Returns what the system says when permissions cannot be set.
    fn keep_rights(&mut self, path: &Path) -> io::Result<()>;

    /// Copies a span of another file to the end of this one without carrying it through memory,
    /// and says how many bytes from the span's start on are done: any number, 0 at worst.
    ///
    /// Holes may stay holes. What keeps it from going on is no error: the caller goes on by
    /// reading and writing, and hears then which of the two fails.
    fn copy_span(&mut self, from: &File, span: Span) -> u64;

    /// The same file, to be read by position; `None` where that is not to be had.
    ///
    /// # Errors
    ///
    /// Returns what the system says.
    fn reader(&self) -> io::Result<Option<File>> {
        Ok(None)
    }

    /// Gives a file without a name the name `path`, which must not exist.
    ///
    /// # Errors
    ///
    /// Returns what the system says, `AlreadyExists` when the name is taken.
    fn link(&mut self, path: &Path) -> io::Result<()>;
}
