//! A folder as input: files by key, names of children, all below one root.
//!
//! A key is a relative path with `/` between its parts. A key cannot leave the folder: each part
//! must be an ordinary name, and a symbolic link may not lead out of the folder. Where the document of a folder is such
//! a link itself, as in the caches of Hugging Face, DataLad and DVC, links may lead to where this cache is.
//!
//! A file is absent only if its folder has no entry of this name. What has a name and cannot be read is an error: a link
//! to nothing, a folder, a pipe, a file among the parents, a name without permission.
//!
//! A folder may also be at a URL: the file of a key is then that of the URL with the key behind it. The store of all URLs
//! opens it, or one that the folder was made with.

mod entry;
mod names;

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::names::NameKind;
use crate::error::{Error, Operation, Result};
use crate::source::{
    Backend, FolderEntry, PendingUpload, Source, UrlList, UrlStore, store_of, what_is,
};
use crate::stamp::Stamp;
use crate::url::is_url;

/// A folder whose files are read by key.
///
/// # Examples
///
/// ```
/// use tet_io::Folder;
///
/// let folder = Folder::open(std::env::temp_dir())?;
/// assert!(folder.get("no/such/file")?.is_none());
/// assert!(folder.get("../outside")?.is_none(), "no key leaves the folder");
/// # Ok::<(), tet_io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    /// The store of its files, where that is not the one of all URLs.
    store: Option<Arc<dyn UrlStore>>,
    /// The open folder, where it is one of this machine.
    root: Option<Arc<entry::Root>>,
}

/// Bytes that there is room for before the first read of a file.
const READ_ROOM_MAX: usize = 1 << 20;

/// A URL, and the store that has its file.
type Stored<'p> = (Arc<dyn UrlStore>, &'p str);

/// A file of a folder, as a whole.
///
/// ```
/// use tet_io::FolderFile;
///
/// let file = FolderFile { bytes: Vec::new(), len: 1 << 30, stamp: None, version: None };
/// assert!(file.bytes.len() as u64 != file.len, "it was too long to be read");
/// ```
#[derive(Clone, Debug)]
pub struct FolderFile {
    /// Its bytes; none if there are too many.
    pub bytes: Vec<u8>,
    /// How many there are.
    pub len: u64,
    /// Its state when it was opened, if it is a file of this machine.
    pub stamp: Option<Stamp>,
    /// The version of a file on a server that has versions.
    pub version: Option<String>,
}

/// The names in a folder, sorted.
///
/// # Examples
///
/// ```
/// use tet_io::{Folder, FolderList};
///
/// let folder = Folder::open(std::env::temp_dir())?;
/// let list: FolderList = folder.list("no/such/folder", 10)?;
/// assert!(list.files.is_empty() && list.folders.is_empty() && !list.is_cut);
/// # Ok::<(), tet_io::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderList {
    /// The names of the regular files.
    pub files: Vec<String>,
    /// The names of the folders.
    pub folders: Vec<String>,
    /// Whether names were left out, because there were too many.
    pub is_cut: bool,
    /// The other names: of pipes and devices, of links that lead to nothing, out of the folder or to a folder above them,
    /// and those that are not UTF-8, as far as they can be shown.
    pub others: Vec<String>,
}

impl Folder {
    /// Opens a folder. One at a URL is not looked for: files have keys there, and folders are nothing.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when it cannot be opened or is no folder, [`Error::NoUrls`] for a URL when nothing opens
    /// URLs.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if is_url(path) {
            store_of(path)?;
            return Ok(Self { path: path.to_path_buf(), store: None, root: None });
        }
        let root = Some(Arc::new(entry::Root::open(path)?));
        Ok(Self { path: path.to_path_buf(), store: None, root })
    }

    /// The folder of a document, which may be a link to a cache.
    fn of_document(document: &Path) -> Result<Self> {
        let folder = document.parent().filter(|folder| !folder.as_os_str().is_empty());
        let path = folder.unwrap_or(Path::new(".")).to_path_buf();
        let mut root = entry::Root::open(&path)?;
        root.document = Some(
            std::path::absolute(document)
                .map_err(|error| Error::io(Operation::Resolve, document, error))?,
        );
        Ok(Self { path, store: None, root: Some(Arc::new(root)) })
    }

    /// Checks that the path still leads to the folder that was opened: files that are not there now may have been in it.
    /// Of a folder on a server nothing is known.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Changed`] when it does not, and [`Error::Io`] when that cannot be found out.
    pub fn check_unchanged(&self) -> Result<()> {
        self.root.as_ref().map_or(Ok(()), |root| root.check_unchanged())
    }

    /// The folder at a URL of `store`, whatever the store of all URLs is. Like others it is not looked for.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tet_io::{Error, Folder, Operation, Result, Source, UrlStore};
    ///
    /// #[derive(Debug)]
    /// struct One;
    ///
    /// impl UrlStore for One {
    ///     fn open(&self, url: &str) -> Result<Source> {
    ///         match url {
    ///             "one://a/b" => Ok(Source::from_named_bytes(url, *b"bytes")),
    ///             _ => Err(Error::io(Operation::Open, url.as_ref(), std::io::ErrorKind::NotFound.into())),
    ///         }
    ///     }
    /// }
    ///
    /// let folder = Folder::of_store(Arc::new(One), "one://a");
    /// let source = folder.get("b")?.expect("the store has it");
    /// assert!(source.folder()?.get("c")?.is_none(), "files next to it are looked for in the same store");
    /// # Ok::<(), tet_io::Error>(())
    /// ```
    #[must_use]
    pub fn of_store(store: Arc<dyn UrlStore>, url: &str) -> Self {
        Self { path: url.into(), store: Some(store), root: None }
    }

    /// The path it was opened with.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether its files are on a server.
    #[must_use]
    pub fn is_url(&self) -> bool {
        self.store.is_some() || is_url(&self.path)
    }

    /// The store of a path in this folder; `None` in a folder of this machine.
    fn stored<'p>(&self, path: &'p Path) -> Result<Option<Stored<'p>>> {
        match &self.store {
            Some(store) => Ok(path.to_str().map(|url| (Arc::clone(store), url))),
            None => is_url(path).then(|| store_of(path)).transpose(),
        }
    }

    /// How many of its files are worth opening at the same time: 1 for a folder of this machine.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.stored(&self.path).ok().flatten().map_or(1, |(store, _)| store.depth())
    }

    /// Checks that of two programs that write the same file of a folder on a server one is refused, so that none loses
    /// what the other wrote.
    ///
    /// # Errors
    ///
    /// Returns [`Error::UrlUnconditional`] for a server that replaces whatever is there.
    pub fn check_conditional(&self) -> Result<()> {
        match self.stored(&self.path)? {
            Some((store, url)) if !store.is_conditional(url) => {
                Err(Error::UrlUnconditional { path: self.path.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Whether a key is a relative path of ordinary names: others are those of no file.
    ///
    /// ```
    /// assert!(tet_io::Folder::has_key("a/b") && !tet_io::Folder::has_key("../b"));
    /// ```
    #[must_use]
    pub fn has_key(key: &str) -> bool {
        is_key(key)
    }

    /// The path of a key; `None` if the key is not a relative path of ordinary names.
    #[must_use]
    pub fn path_of(&self, key: &str) -> Option<PathBuf> {
        is_key(key).then(|| self.path.join(&*self.escaped(key)))
    }

    /// A key as it is written in the path: a URL of a web server has no plain `%`, `?` and `#`.
    fn escaped<'k>(&self, key: &'k str) -> Cow<'k, str> {
        if self.root.is_some() {
            return key.into();
        }
        let scheme = self.path.to_str().and_then(|path| path.split_once("://"));
        let is_web = scheme.is_some_and(|(scheme, _)| {
            ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web))
        });
        if !is_web || !key.contains(['%', '?', '#']) {
            return key.into();
        }
        key.replace('%', "%25").replace('?', "%3F").replace('#', "%23").into()
    }

    /// Opens the file of a key, which has to be there.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NoName`] for what is not a key, and what [`Folder::get`] returns.
    pub fn open_file(&self, key: &str) -> Result<Source> {
        let path = self.path_of(key).ok_or_else(|| Error::NoName { path: key.into() })?;
        if self.root.is_some() {
            let absent = || Error::io(Operation::Open, &path, io::ErrorKind::NotFound.into());
            return self.get(key)?.ok_or_else(absent);
        }
        let Some(store) = &self.store else { return Source::open(path) };
        let url = path.to_str().ok_or_else(|| Error::NoName { path: path.clone() })?;
        Ok(store.open(url)?.of_store(Arc::clone(store)))
    }

    /// Opens the file of a key for positioned reads; `None` if its folder has no entry of this name, or if it is not a key.
    ///
    /// # Errors
    ///
    /// Returns [`Error::DeadLink`], [`Error::LinkOutside`] and [`Error::NotRegular`] for names of what is no file of
    /// this folder, and what [`Source::open`] returns.
    pub fn get(&self, key: &str) -> Result<Option<Source>> {
        let Some(path) = self.path_of(key) else { return Ok(None) };
        if let Some(root) = &self.root {
            let Some((file, stamp)) = root.open_file(key, &path)? else { return Ok(None) };
            let writers = root.writers_of(&file, &stamp);
            return Ok(Some(Source::opened_beside(writers, Backend::Pread(file), path, stamp)));
        }
        match self.open_file(key) {
            Ok(source) => Ok(Some(source)),
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The file of a key as a whole; `None` as for [`Folder::get`]. One of more than `len_max` bytes is not read.
    ///
    /// # Errors
    ///
    /// As [`Folder::get`], and [`Error::Io`] when it cannot be read.
    pub fn read(&self, key: &str, len_max: u64) -> Result<Option<FolderFile>> {
        let Some(path) = self.path_of(key) else { return Ok(None) };
        let Some(root) = &self.root else {
            let Some(source) = self.get(key)? else { return Ok(None) };
            let len = source.len();
            let bytes = if len <= len_max { source.read_vec(0, len)? } else { Vec::new() };
            let version = source.version().map(str::to_owned);
            return Ok(Some(FolderFile { bytes, len, stamp: None, version }));
        };
        let Some((file, stamp)) = root.open_file(key, &path)? else { return Ok(None) };
        let mut bytes = Vec::new();
        if stamp.size <= len_max {
            // With room for all of it a small file is one read.
            bytes.reserve(usize::try_from(stamp.size).unwrap_or(0).min(READ_ROOM_MAX));
            let read = file.take(stamp.size).read_to_end(&mut bytes);
            read.map_err(|error| Error::io(Operation::Read, &path, error))?;
        }
        Ok(Some(FolderFile { bytes, len: stamp.size, stamp: Some(stamp), version: None }))
    }

    /// The path of the file of a key in a folder of this machine; `None` as for [`Folder::get`]. A file on a server is not
    /// looked up.
    ///
    /// # Errors
    ///
    /// As [`Folder::get`], but for what [`Source::open`] returns.
    pub fn find(&self, key: &str) -> Result<Option<PathBuf>> {
        let Some(path) = self.path_of(key) else { return Ok(None) };
        match &self.root {
            Some(root) => Ok(root.find(key, &path)?.map(|_| path)),
            None => Ok(Some(path)),
        }
    }

    /// The state of the file of a key in a folder of this machine, wherever links lead; `None` where there is none.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when that cannot be found out.
    pub fn stamp_of(&self, key: &str) -> Result<Option<Stamp>> {
        let Some(path) = self.path_of(key).filter(|_| self.root.is_some()) else { return Ok(None) };
        match fs::metadata(&path) {
            Ok(metadata) => Ok(Some(Stamp::from_metadata(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(Operation::Stat, &path, error)),
        }
    }

    /// The length of the file of a key; `None` as for [`Folder::get`].
    ///
    /// # Errors
    ///
    /// As [`Folder::get`].
    pub fn len_of(&self, key: &str) -> Result<Option<u64>> {
        if self.root.is_none() {
            return Ok(self.get(key)?.map(|source| source.len()));
        }
        let Some(path) = self.find(key)? else { return Ok(None) };
        let metadata =
            fs::metadata(&path).map_err(|error| Error::io(Operation::Stat, &path, error))?;
        if !metadata.is_file() {
            return Err(Error::NotRegular { path, what: what_is(&metadata) });
        }
        Ok(Some(metadata.len()))
    }

    /// The names in a folder below this one (`""` is this one), `count_max` of them at most; none
    /// if there is no such folder. Links are followed within this folder, and never to a folder above them.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when the folder exists and cannot be listed, [`Error::UrlFolder`] where a server lists
    /// nothing.
    pub fn list(&self, key: &str, count_max: usize) -> Result<FolderList> {
        let path = if key.is_empty() { Some(self.path.clone()) } else { self.path_of(key) };
        let Some(path) = path else { return Ok(FolderList::default()) };
        if let Some((store, url)) = self.stored(&path)? {
            let UrlList { files, folders, is_cut } = store.list(url, count_max)?;
            let files = files.into_iter().map(|file| file.name).collect();
            return Ok(FolderList { files, folders, is_cut, others: Vec::new() });
        }
        let failed = |error| Error::io(Operation::Read, &path, error);
        let mut list = FolderList::default();
        let mut fault = None;
        let mut take = |name: OsString, kind| {
            list.is_cut = count_max <= list.files.len() + list.folders.len() + list.others.len();
            if !list.is_cut {
                let kind = self.followed(&path, &name, kind).unwrap_or_else(|error| {
                    fault.get_or_insert(error);
                    NameKind::Other
                });
                match name.into_string() {
                    Ok(name) if kind == NameKind::File => list.files.push(name),
                    Ok(name) if kind == NameKind::Folder => list.folders.push(name),
                    Ok(name) => list.others.push(name),
                    Err(name) => list.others.push(name.to_string_lossy().into_owned()),
                }
            }
            !list.is_cut && fault.is_none()
        };
        match self.root.as_ref().and_then(|root| root.open_folder(key)) {
            Some(Ok(open)) => names::each_of_open(open, &mut take).map_err(failed)?,
            Some(Err(error)) if !key.is_empty() && error.kind() == io::ErrorKind::NotFound => {}
            // A link, what is no folder, or a system without this call.
            _ if !key.is_empty() && self.find(key)?.is_none() => {}
            _ => names::each_at_path(&path, &mut take).map_err(failed)?,
        }
        if let Some(error) = fault {
            return Err(error);
        }
        list.files.sort_unstable();
        list.folders.sort_unstable();
        list.others.sort_unstable();
        Ok(list)
    }

    /// The kind of a name in a folder at this path: that of its target, if it is a link.
    fn followed(&self, folder: &Path, name: &OsStr, kind: NameKind) -> Result<NameKind> {
        let (NameKind::Link, Some(root)) = (kind, &self.root) else { return Ok(kind) };
        let target = root.target(&folder.join(name))?;
        Ok(target.map_or(NameKind::Other, |target| NameKind::from_type(target.file_type())))
    }

    /// The files directly in this folder with their lengths, `count_max` of them at most.
    ///
    /// # Errors
    ///
    /// As [`Folder::list`].
    pub fn entries(&self, count_max: usize) -> Result<Vec<FolderEntry>> {
        if let Some((store, url)) = self.stored(&self.path)? {
            return Ok(store.list(url, count_max)?.files);
        }
        let names = self.list("", count_max)?.files.into_iter();
        let entry = |name: String| {
            let len = self.len_of(&name)?.unwrap_or(0);
            Ok(FolderEntry { name, len, age: None })
        };
        names.map(entry).collect()
    }

    /// The uploads to files directly in this folder that are not ended; none in a folder of this machine.
    ///
    /// # Errors
    ///
    /// As [`Folder::list`].
    pub fn uploads(&self) -> Result<Vec<PendingUpload>> {
        match self.stored(&self.path)? {
            Some((store, url)) => store.uploads(url),
            None => Ok(Vec::new()),
        }
    }

    /// Gives up an upload to the file of a key.
    ///
    /// # Errors
    ///
    /// As [`Folder::remove`].
    pub fn abort_upload(&self, key: &str, id: &str) -> Result<()> {
        let path = self.path_of(key).ok_or_else(|| Error::NoName { path: key.into() })?;
        let stored = self.stored(&path)?;
        let (store, url) = stored.ok_or_else(|| Error::UrlOutput { path: path.clone() })?;
        store.abort_upload(url, id)
    }

    /// Removes the file of a key.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NoName`] for what is not a key, and [`Error::Io`] when the file cannot be removed.
    pub fn remove(&self, key: &str) -> Result<()> {
        let path = self.path_of(key).ok_or_else(|| Error::NoName { path: key.into() })?;
        if let Some((store, url)) = self.stored(&path)? {
            return store.remove(url);
        }
        fs::remove_file(&path).map_err(|error| Error::io(Operation::Remove, &path, error))
    }
}

impl Source {
    /// The folder that has the file, for the other files of the same container.
    ///
    /// # Errors
    ///
    /// As [`Folder::open`].
    ///
    /// ```
    /// use tet_io::{Folder, Source};
    ///
    /// let source = Source::from_named_bytes("src/lib.rs", b"//!".as_slice());
    /// assert_eq!(source.folder()?.path(), Folder::open("src")?.path());
    /// # Ok::<(), tet_io::Error>(())
    /// ```
    pub fn folder(&self) -> Result<Folder> {
        let path = self.path().unwrap_or(Path::new(""));
        if let (Some(store), Some(url)) = (self.store(), path.to_str()) {
            // A name directly after `://` is the folder.
            let folder = url.rfind('/').and_then(|at| url.get(..=at));
            return Ok(Folder::of_store(Arc::clone(store), folder.unwrap_or_default()));
        }
        if is_url(path) || path.as_os_str().is_empty() {
            return Folder::open(path.parent().unwrap_or(Path::new(".")));
        }
        Folder::of_document(path)
    }
}

/// Whether a key is a relative path whose parts, between single `/`, are ordinary names.
fn is_key(key: &str) -> bool {
    key.split('/').all(is_name)
}

#[cfg(unix)]
fn is_name(part: &str) -> bool {
    !matches!(part, "" | "." | "..") && !part.contains('\0')
}

#[cfg(not(unix))]
fn is_name(part: &str) -> bool {
    let mut components = Path::new(part).components();
    let is_name = components.next() == Some(std::path::Component::Normal(part.as_ref()));
    is_name && components.next().is_none() && !part.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_leaves_the_folder() {
        for key in ["a", "a/b", "c/0/1", ".zarray", "...", "a b", "\u{e9}"] {
            assert!(is_key(key), "{key}");
        }
        for key in ["", "/", "/a", "a/", "a//b", "..", "a/../b", ".", "a/.", "./a", "a\0b"] {
            assert!(!is_key(key), "{key:?}");
        }
    }

    #[test]
    fn files_and_folders_are_found_by_key() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("g")).unwrap();
        fs::write(root.path().join("g/x"), b"abc").unwrap();
        let folder = Folder::open(root.path()).unwrap();
        assert_eq!(folder.get("g/x").unwrap().unwrap().len(), 3);
        assert_eq!(folder.len_of("g/x").unwrap(), Some(3));
        assert_eq!(folder.read("g/x", 3).unwrap().unwrap().bytes, b"abc");
        let file = folder.read("g/x", 2).unwrap().unwrap();
        assert_eq!((file.bytes.len(), file.len), (0, 3));
        for absent in ["x", "g/y", "../x", ""] {
            assert!(folder.get(absent).unwrap().is_none(), "{absent}");
            assert_eq!(folder.len_of(absent).unwrap(), None, "{absent}");
            assert!(folder.read(absent, 10).unwrap().is_none(), "{absent}");
        }
        let list = folder.list("", 10).unwrap();
        assert_eq!(list, FolderList { folders: vec!["g".into()], ..FolderList::default() });
        assert!(folder.list("g", 0).unwrap().is_cut);
        assert!(Folder::open(root.path().join("g/x")).is_err());
    }
}
