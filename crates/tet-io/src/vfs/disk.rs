//! The real file system: each operation is one system call.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use tet_format::Span;

use super::{Entry, OpenFolder, Vfs, VfsFile, copy, rights};
use crate::error::Error;
use crate::source::{open_regular, what_is};
use crate::stamp::Stamp;

/// The real file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Vfs for Disk {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Entry::Absent),
            Err(error) => return Err(error),
        };
        Ok(if metadata.is_symlink() {
            Entry::Link(fs::read_link(path)?)
        } else if metadata.is_file() {
            Entry::File(Stamp::from_metadata(&metadata))
        } else {
            Entry::Other(what_is(&metadata))
        })
    }

    fn create_unnamed(&self, folder: &Path) -> io::Result<Option<Box<dyn VfsFile>>> {
        // On an error, creating a named file gives a better message.
        Ok(unnamed(folder).ok().map(|file| Box::new(file) as Box<dyn VfsFile>))
    }

    fn create_named(&self, path: &Path) -> io::Result<Box<dyn VfsFile>> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        Ok(Box::new(file))
    }

    fn lock(&self, path: &Path) -> io::Result<Option<File>> {
        let file = match open_regular(path) {
            Ok((file, _)) => file,
            Err(Error::Io { source, .. }) if source.kind() != io::ErrorKind::NotFound => {
                return Err(source);
            }
            // The file is gone or not a file any more; the caller compares it later.
            Err(_) => return Ok(None),
        };
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            // A file system without locks.
            Err(TryLockError::Error(_)) => Ok(None),
        }
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
        // Linking never replaces an existing file either.
        fs::hard_link(from, to)?;
        fs::remove_file(from)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn open_folder(&self, folder: &Path) -> io::Result<OpenFolder> {
        Ok(OpenFolder { file: Some(File::open(folder)?) })
    }

    fn sync_folder(&self, folder: &OpenFolder) -> io::Result<()> {
        let Some(file) = &folder.file else { return Ok(()) };
        match sync_once(file) {
            // Some file systems cannot sync folders.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            outcome => outcome,
        }
    }
}

impl VfsFile for File {
    fn reader(&self) -> io::Result<Option<File>> {
        self.try_clone().map(Some)
    }

    fn sync(&mut self) -> io::Result<()> {
        sync_once(self)
    }

    fn keep_rights(&mut self, path: &Path) -> io::Result<()> {
        rights::keep(self, path)
    }

    fn copy_span(&mut self, from: &File, span: Span) -> u64 {
        copy::copy(from, span, self)
    }

    #[cfg(target_os = "linux")]
    fn release(&mut self, span: Span) {
        use rustix::fs::{FallocateFlags, fallocate};
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        // A file system that cannot do it needs more space.
        let _ = fallocate(self, hole, span.start(), span.len());
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

/// One call, even if interrupted: the standard library would call again after a signal, and the
/// first call may have consumed the only error about lost bytes.
#[cfg(target_os = "linux")]
fn sync_once(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fsync(file)?)
}

#[cfg(not(target_os = "linux"))]
fn sync_once(file: &File) -> io::Result<()> {
    file.sync_all()
}

/// A file without a name that can be linked later, which needs a mounted `/proc`.
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
