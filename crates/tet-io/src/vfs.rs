//! The few operations publishing needs, as a trait, so that a test can let each of them fail.

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::Path;

/// A place to publish files in.
pub trait Vfs: Debug + Send + Sync {
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

    /// Makes the names in a folder durable.
    ///
    /// # Errors
    ///
    /// Returns what the system says.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// A new file that is being written.
pub trait VfsFile: Write + Seek + Debug + Send {
    /// Makes the bytes durable.
    ///
    /// # Errors
    ///
    /// Returns what the system says; the bytes written so far cannot be relied on then.
    fn sync(&mut self) -> io::Result<()>;

    /// Sets the permission bits, where the system has them.
    ///
    /// # Errors
    ///
    /// Returns what the system says.
    fn set_mode(&mut self, mode: u32) -> io::Result<()>;

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

/// The disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Vfs for Disk {
    fn create_unnamed(&self, folder: &Path) -> io::Result<Option<Box<dyn VfsFile>>> {
        // Whatever is wrong here, creating a named file says it better.
        Ok(unnamed(folder).ok().map(|file| Box::new(file) as Box<dyn VfsFile>))
    }

    fn create_named(&self, path: &Path) -> io::Result<Box<dyn VfsFile>> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        Ok(Box::new(file))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            use rustix::io::Errno;
            match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
                outcome => return Ok(outcome?),
            }
        }
        // A second name never replaces a first one either.
        fs::hard_link(from, to)?;
        fs::remove_file(from)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    #[cfg(unix)]
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        match File::open(folder)?.sync_all() {
            // Some file systems have nothing to sync in a folder.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            outcome => outcome,
        }
    }

    #[cfg(not(unix))]
    fn sync_folder(&self, _folder: &Path) -> io::Result<()> {
        Ok(())
    }
}

impl VfsFile for File {
    fn reader(&self) -> io::Result<Option<File>> {
        self.try_clone().map(Some)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }

    #[cfg(unix)]
    fn set_mode(&mut self, mode: u32) -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        self.set_permissions(fs::Permissions::from_mode(mode))
    }

    #[cfg(not(unix))]
    fn set_mode(&mut self, _mode: u32) -> io::Result<()> {
        Ok(())
    }

    #[cfg(target_os = "linux")]
    fn link(&mut self, path: &Path) -> io::Result<()> {
        use rustix::fs::{AtFlags, CWD, linkat};
        Ok(linkat(CWD, proc_path(self), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
    }

    #[cfg(not(target_os = "linux"))]
    fn link(&mut self, _path: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A file without a name that can be given one later, which takes a mounted `/proc`.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).custom_flags(libc::O_TMPFILE).open(folder)?;
    fs::metadata(proc_path(&file))?;
    Ok(file)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_folder: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn proc_path(file: &File) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}
