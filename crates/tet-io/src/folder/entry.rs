//! Names below a folder of this machine: whether they are there, and where links lead.
//!
//! ```text
//!   key -> parts, each looked up -> no entry: absent
//!                                -> link: to a place below the folder, or in the cache of its document
//!                                -> anything else that is no file: an error
//! ```

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::error::{Error, Operation, Result};
use crate::source::{open_regular, regular};
use crate::stamp::Stamp;
use crate::writers::{Writers, stops_writers, writers_on};

/// A folder that is open, so that another one at its path is known.
#[derive(Debug)]
pub(super) struct Root {
    /// The path, also for a program that changes its directory.
    path: PathBuf,
    stamp: Stamp,
    /// Keeps the number of the folder in use, and finds files below it.
    dir: Option<File>,
    /// The file by which the folder was found.
    pub(super) document: Option<PathBuf>,
    /// Whether leases stop writers on the file system of the folder.
    stops_writers: OnceLock<bool>,
}

impl Root {
    pub(super) fn open(path: &Path) -> Result<Root> {
        let failed = |error| Error::io(Operation::Open, path, error);
        let metadata = fs::metadata(path).map_err(failed)?;
        if !metadata.is_dir() {
            return Err(failed(ErrorKind::NotADirectory.into()));
        }
        let dir = open_dir(path);
        let stamp = match &dir {
            Some(dir) => Stamp::from_file(dir).map_err(failed)?,
            None => Stamp::from_metadata(&metadata),
        };
        let path = std::path::absolute(path).map_err(failed)?;
        Ok(Root { path, stamp, dir, document: None, stops_writers: OnceLock::new() })
    }

    /// Checks that the path still leads to this folder.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        let changed = || Error::Changed { path: self.path.clone() };
        match fs::metadata(&self.path) {
            Ok(now) if !cfg!(unix) || self.stamp.is_same_file(&Stamp::from_metadata(&now)) => {
                Ok(())
            }
            Ok(_) => Err(changed()),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(changed()),
            Err(error) => Err(Error::io(Operation::Stat, &self.path, error)),
        }
    }

    /// Opens a file below this folder; `None` if there is none.
    pub(super) fn open_file(&self, key: &str, shown: &Path) -> Result<Option<(File, Stamp)>> {
        match self.dir.as_ref().map(|dir| open_without_links(dir, key, OpenAs::File)) {
            Some(Ok(file)) => return regular(file, shown).map(Some),
            Some(Err(error)) if error.kind() == ErrorKind::NotFound => return Ok(None),
            // A link, what is no file, or a system without this call.
            Some(Err(_)) | None => {}
        }
        match self.find(key, shown)? {
            Some(path) => open_regular(&path).map(Some).map_err(|error| error.at(shown)),
            None => Ok(None),
        }
    }

    /// Who has a file below this folder open for writing. Those on the device of the folder are of its file system, of which
    /// one answer holds for all: the open folder keeps it mounted.
    pub(super) fn writers_of(&self, file: &File, stamp: &Stamp) -> Writers {
        let is_same_device = cfg!(unix) && self.dir.is_some() && stamp.dev == self.stamp.dev;
        writers_on(file, || match is_same_device {
            true => *self.stops_writers.get_or_init(|| stops_writers(file)),
            false => stops_writers(file),
        })
    }

    /// Opens a folder below this one (`""` is this one) to be listed, if no link is on the way; `None` where the system has
    /// no call for that.
    pub(super) fn open_folder(&self, key: &str) -> Option<io::Result<File>> {
        let key = if key.is_empty() { "." } else { key };
        self.dir.as_ref().map(|dir| open_without_links(dir, key, OpenAs::Folder))
    }

    /// The path of a key, if there is an entry of its name.
    pub(super) fn find(&self, key: &str, shown: &Path) -> Result<Option<PathBuf>> {
        let failed = |error| Error::io(Operation::Stat, shown, error);
        let (mut path, mut has_link) = (self.path.clone(), false);
        let mut parts = key.split('/').peekable();
        while let Some(part) = parts.next() {
            path.push(part);
            let mut entry = match fs::symlink_metadata(&path) {
                Ok(entry) => entry,
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(failed(error)),
            };
            if entry.is_symlink() {
                has_link = true;
                entry = match fs::metadata(&path) {
                    Ok(target) => target,
                    Err(error) if error.kind() == ErrorKind::NotFound => {
                        return Err(Error::DeadLink { path: shown.to_path_buf() });
                    }
                    Err(error) => return Err(failed(error)),
                };
            }
            if parts.peek().is_some() && !entry.is_dir() {
                return Err(failed(ErrorKind::NotADirectory.into()));
            }
        }
        if has_link && !self.may_lead_to(&fs::canonicalize(&path).map_err(failed)?)? {
            return Err(Error::LinkOutside { path: shown.to_path_buf() });
        }
        Ok(Some(path))
    }

    /// Metadata of the target of a link in this folder; `None` if that does not exist, may not be reached, is outside, or
    /// is a folder that contains the link.
    pub(super) fn target(&self, link: &Path) -> Result<Option<Metadata>> {
        let resolve = |path: &Path| match fs::canonicalize(path) {
            Ok(path) => Ok(Some(path)),
            Err(error) if leads_nowhere(&error) => Ok(None),
            Err(error) => Err(Error::io(Operation::Stat, path, error)),
        };
        let Some(target) = resolve(link)? else { return Ok(None) };
        let folder = link.parent().map_or(Ok(None), resolve)?;
        if folder.is_none_or(|folder| folder.starts_with(&target)) || !self.may_lead_to(&target)? {
            return Ok(None);
        }
        fs::metadata(&target).map(Some).map_err(|error| Error::io(Operation::Stat, link, error))
    }

    /// Whether links may lead to this place, whose path has none.
    fn may_lead_to(&self, target: &Path) -> Result<bool> {
        let real = |path: &Path| {
            fs::canonicalize(path).map_err(|error| Error::io(Operation::Stat, path, error))
        };
        let root = real(&self.path)?;
        if target.starts_with(&root) {
            return Ok(true);
        }
        let Some(document) = &self.document else { return Ok(false) };
        let cache = cache_of(&real(document)?, &root);
        Ok(cache.is_some_and(|cache| target.starts_with(cache)))
    }
}

/// Whether a link has no target that could be found, now or at another time.
fn leads_nowhere(error: &io::Error) -> bool {
    use ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | NotADirectory | PermissionDenied)
        || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// The folder of the cache that a document is in, where it is a link out of its folder: the first one on the way to it
/// that is not above the folder too.
fn cache_of(document: &Path, root: &Path) -> Option<PathBuf> {
    if document.starts_with(root) {
        return None;
    }
    let common = document.components().zip(root.components()).take_while(|(a, b)| a == b).count();
    let cache: PathBuf = document.components().take(common + 1).collect();
    if cache == document { document.parent().map(Path::to_path_buf) } else { Some(cache) }
}

/// Opens a folder, for its number and for files below it; it need not be readable.
fn open_dir(path: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    #[cfg(target_os = "linux")]
    let how = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let how = OFlags::RDONLY;
    let dir = open(path, how | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    dir.ok().map(File::from)
}

/// The way in which a name is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenAs {
    /// A file, or another name that may be one.
    File,
    /// A folder, and nothing else.
    Folder,
}

/// Opens a file or a folder below a folder, if no link is on the way.
fn open_without_links(dir: &File, key: &str, open_as: OpenAs) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
        let how = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let how = if open_as == OpenAs::Folder { how | OFlags::DIRECTORY } else { how };
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        Ok(File::from(openat2(dir, key, how, Mode::empty(), within)?))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (dir, key, open_as);
        Err(ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::Folder;
    use super::*;

    /// A folder with what is not there, and what cannot be read.
    #[test]
    fn only_a_name_without_an_entry_is_absent() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::write(at("file"), b"abc").unwrap();
        fs::create_dir(at("dir")).unwrap();
        symlink("nothing", at("dead")).unwrap();
        symlink("file", at("inside")).unwrap();
        symlink("dead", at("dead2")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RWXU).unwrap();
        symlink("/dev/zero", at("device")).unwrap();
        symlink(".", at("loop")).unwrap();
        symlink("itself", at("itself")).unwrap();
        symlink("file/x", at("below_file")).unwrap();
        let folder = Folder::open(root.path()).unwrap();
        let long = "x".repeat(300);
        for absent in ["x", "dir/x", "x/y", "loop/x", "../x", ""] {
            assert!(folder.get(absent).unwrap().is_none(), "{absent}");
            assert_eq!(folder.len_of(absent).unwrap(), None, "{absent}");
            assert!(folder.read(absent, 10).unwrap().is_none(), "{absent}");
        }
        for present in ["file", "inside", "loop/file", "loop/inside"] {
            assert_eq!(folder.get(present).unwrap().unwrap().len(), 3, "{present}");
            assert_eq!(folder.len_of(present).unwrap(), Some(3), "{present}");
        }
        for broken in ["dir", "dead", "dead2", "dead/x", "pipe", "device", "file/x", &long] {
            assert!(folder.get(broken).is_err(), "{broken}");
            assert!(folder.read(broken, 10).is_err(), "{broken}");
            assert!(folder.len_of(broken).is_err(), "{broken}");
        }
        let list = folder.list("", 100).unwrap();
        assert_eq!(list.files, ["file", "inside"]);
        assert_eq!(list.folders, ["dir"]);
        assert_eq!(
            list.others,
            ["below_file", "dead", "dead2", "device", "itself", "loop", "pipe"]
        );
        // A name too long for the system is no answer about the target.
        symlink(&long, at("long")).unwrap();
        assert!(matches!(folder.list("", 100), Err(Error::Io { .. })));
    }

    #[test]
    fn no_link_leads_out_of_the_folder() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("in/below")).unwrap();
        fs::create_dir(at("out")).unwrap();
        fs::write(at("out/secret"), b"abc").unwrap();
        symlink("../out/secret", at("in/link")).unwrap();
        symlink("../out", at("in/dir")).unwrap();
        symlink(at("in/below"), at("in/absolute")).unwrap();
        fs::write(at("in/below/x"), b"x").unwrap();
        let folder = Folder::open(at("in")).unwrap();
        for outside in ["link", "dir/secret"] {
            let refused = folder.get(outside);
            assert!(matches!(refused, Err(Error::LinkOutside { .. })), "{outside}: {refused:?}");
        }
        assert_eq!(folder.get("absolute/x").unwrap().unwrap().len(), 1);
        let list = folder.list("", 100).unwrap();
        assert_eq!(
            (list.folders, list.others),
            (
                vec!["absolute".to_owned(), "below".to_owned()],
                vec!["dir".to_owned(), "link".to_owned()],
            )
        );
        // A link to the folder itself is the name that the user chose.
        symlink("in", at("name")).unwrap();
        assert!(Folder::open(at("name")).unwrap().get("below/x").unwrap().is_some());
    }

    #[test]
    fn links_lead_to_the_cache_of_a_document() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("model/snapshots/1")).unwrap();
        fs::create_dir_all(at("model/blobs")).unwrap();
        for name in ["index", "shard"] {
            fs::write(at("model/blobs").join(name), name).unwrap();
            symlink(format!("../../blobs/{name}"), at("model/snapshots/1").join(name)).unwrap();
        }
        fs::write(at("other"), b"other").unwrap();
        symlink("../../../other", at("model/snapshots/1/other")).unwrap();
        let index = crate::Source::open(at("model/snapshots/1/index")).unwrap();
        let folder = index.folder().unwrap();
        assert_eq!(folder.get("shard").unwrap().unwrap().len(), 5);
        assert!(matches!(folder.get("other"), Err(Error::LinkOutside { .. })));
        let shard = crate::Source::open(at("model/blobs/shard")).unwrap();
        assert!(shard.folder().unwrap().get("index").unwrap().is_some());
    }

    #[test]
    fn another_folder_at_the_path_is_a_change() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for name in ["a", "b"] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("x"), name).unwrap();
        }
        let folder = Folder::open(at("a")).unwrap();
        folder.check_unchanged().unwrap();
        fs::write(at("a/y"), b"more").unwrap();
        folder.check_unchanged().unwrap();
        fs::rename(at("a"), at("c")).unwrap();
        assert!(matches!(folder.check_unchanged(), Err(Error::Changed { .. })));
        fs::rename(at("b"), at("a")).unwrap();
        assert!(matches!(folder.check_unchanged(), Err(Error::Changed { .. })));
    }
}
