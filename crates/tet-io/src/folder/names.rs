//! The names in a folder of this machine, in the order of the system.

use std::ffi::OsString;
use std::fs::{self, File, FileType};
use std::io;
use std::path::Path;

/// The kind of a name, before links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameKind {
    File,
    Folder,
    Link,
    /// A pipe, a socket or a device.
    Other,
}

impl NameKind {
    pub(super) fn from_type(file_type: FileType) -> NameKind {
        match () {
            () if file_type.is_symlink() => NameKind::Link,
            () if file_type.is_file() => NameKind::File,
            () if file_type.is_dir() => NameKind::Folder,
            () => NameKind::Other,
        }
    }
}

/// Called with each name and its kind; returns whether to go on.
type Visit<'a> = dyn FnMut(OsString, NameKind) -> bool + 'a;

/// Lists the folder at a path.
pub(super) fn each_at_path(path: &Path, visit: &mut Visit<'_>) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let kind = NameKind::from_type(entry.file_type()?);
        if !visit(entry.file_name(), kind) {
            break;
        }
    }
    Ok(())
}

/// Lists a folder that is open for reading.
#[cfg(target_os = "linux")]
pub(super) fn each_of_open(folder: File, visit: &mut Visit<'_>) -> io::Result<()> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use rustix::fs::{AtFlags, Dir, FileType, statat};

    let mut names = Dir::new(folder)?;
    while let Some(entry) = names.read() {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let file_type = match entry.file_type() {
            // Some file systems leave the type out of their lists.
            FileType::Unknown => {
                let stat = statat(names.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            known => known,
        };
        let kind = match file_type {
            FileType::RegularFile => NameKind::File,
            FileType::Directory => NameKind::Folder,
            FileType::Symlink => NameKind::Link,
            _ => NameKind::Other,
        };
        if !visit(OsStr::from_bytes(name.to_bytes()).to_owned(), kind) {
            break;
        }
    }
    Ok(())
}

/// Lists a folder that is open for reading, which other systems do not open.
#[cfg(not(target_os = "linux"))]
pub(super) fn each_of_open(_folder: File, _visit: &mut Visit<'_>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn an_open_folder_has_the_names_of_its_path() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir(at("dir")).unwrap();
        fs::write(at("file"), b"abc").unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RWXU).unwrap();
        for number in 0..1000 {
            fs::write(at(&format!("more{number}")), b"").unwrap();
        }
        let (mut by_path, mut by_open) = (Vec::new(), Vec::new());
        let add = |list: &mut Vec<(OsString, NameKind)>, name, kind| {
            list.push((name, kind));
            true
        };
        each_at_path(root.path(), &mut |name, kind| add(&mut by_path, name, kind)).unwrap();
        let open = File::open(root.path()).unwrap();
        each_of_open(open, &mut |name, kind| add(&mut by_open, name, kind)).unwrap();
        assert_eq!(by_open.len(), 1004);
        assert_eq!(by_open, by_path);
        let mut count = 0;
        let one = |_, _| {
            count += 1;
            false
        };
        each_of_open(File::open(root.path()).unwrap(), &mut { one }).unwrap();
        assert_eq!(count, 1, "it ends when it is told to");
        assert!(each_of_open(File::open(at("file")).unwrap(), &mut |_, _| true).is_err());
    }
}
