//! Who opens and writes the files of URLs.
//!
//! This crate opens no connections. A crate that does registers its store for the process; from then on
//! [`Source::open`] opens URLs as it opens paths, and [`Publisher`](crate::Publisher) publishes at them.

use std::fmt::Debug;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use super::{Source, UrlUpload};
use crate::error::{Error, Result};
use crate::url::is_url;

/// Opens and writes the files of URLs.
///
/// ```
/// use tet_io::{Result, Source, UrlStore};
///
/// #[derive(Debug)]
/// struct Five;
///
/// impl UrlStore for Five {
///     fn open(&self, url: &str) -> Result<Source> {
///         Ok(Source::from_named_bytes(url, b"bytes".as_slice()))
///     }
/// }
///
/// tet_io::set_url_store(Five);
/// let source = Source::open("memory://five")?;
/// assert_eq!(source.len(), 5);
/// # Ok::<(), tet_io::Error>(())
/// ```
pub trait UrlStore: Debug + Send + Sync {
    /// Opens the file of a URL.
    ///
    /// # Errors
    ///
    /// The URL is not understood, or its file cannot be opened.
    fn open(&self, url: &str) -> Result<Source>;

    /// How many requests are worth making at the same time.
    fn depth(&self) -> usize {
        1
    }

    /// Checks that a file may be written there, before it is made.
    ///
    /// # Errors
    ///
    /// Returns [`Error::UrlOutput`] where no files are written, and [`Error::Exists`] for one that is there and may
    /// not be replaced.
    fn check_target(&self, url: &str, replace: bool) -> Result<()> {
        let _ = replace;
        Err(Error::UrlOutput { path: url.into() })
    }

    /// Whether the server refuses a write after which a file of another program, or another version, would be lost.
    fn is_conditional(&self, url: &str) -> bool {
        let _ = url;
        true
    }

    /// Whether bytes of one file may be copied to another on the server of both, as [`UrlUpload::copy`] does. Nothing is
    /// asked.
    fn may_copy(&self, from: &str, to: &str) -> bool {
        let _ = (from, to);
        false
    }

    /// Writes a file: all of it is there afterwards, or what was there before.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Exists`] for a file that appeared meanwhile and may not be replaced, [`Error::Changed`] for one
    /// that is no longer of the version that may be, and [`Error::Io`] when it cannot be written.
    fn write(&self, url: &str, content: &Source, replace: PutMode<'_>) -> Result<()> {
        let _ = (content, replace);
        Err(Error::UrlOutput { path: url.into() })
    }

    /// Begins to write a file whose content is not complete yet. It is visible when the upload is finished, and there is
    /// what was there before until then.
    ///
    /// # Errors
    ///
    /// As [`UrlStore::write`].
    fn begin_upload(&self, url: &str, replace: PutMode<'_>) -> Result<Box<dyn UrlUpload>> {
        let _ = replace;
        Err(Error::UrlOutput { path: url.into() })
    }

    /// Lists the entries directly below a URL, up to `count_max`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::UrlFolder`] where a server lists nothing, and [`Error::Io`] when it cannot be reached.
    fn list(&self, url: &str, count_max: usize) -> Result<UrlList> {
        let _ = count_max;
        Err(Error::UrlFolder { path: url.into() })
    }

    /// The uploads directly below a URL that were begun, and neither ended nor given up; none where a server does not list
    /// them.
    ///
    /// # Errors
    ///
    /// As [`UrlStore::list`].
    fn uploads(&self, url: &str) -> Result<Vec<PendingUpload>> {
        Err(Error::UrlFolder { path: url.into() })
    }

    /// Gives up an upload to a URL.
    ///
    /// # Errors
    ///
    /// As [`UrlStore::remove`].
    fn abort_upload(&self, url: &str, id: &str) -> Result<()> {
        let _ = id;
        Err(Error::UrlOutput { path: url.into() })
    }

    /// Removes a file; one that is not there is removed.
    ///
    /// # Errors
    ///
    /// Returns [`Error::UrlOutput`] where no files are removed, and [`Error::Io`] when it cannot be removed.
    fn remove(&self, url: &str) -> Result<()> {
        Err(Error::UrlOutput { path: url.into() })
    }
}

/// Condition of a write to a URL: which object the new one may replace.
///
/// ```
/// use tet_io::PutMode;
///
/// let version = "\"etag\" 1024".to_owned();
/// assert_ne!(PutMode::Update(&version), PutMode::Overwrite);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutMode<'v> {
    /// Fail if the object exists.
    Create,
    /// Replace any object.
    Overwrite,
    /// Replace only the object of this version, as [`Source::version`] has it.
    Update(&'v str),
}

/// Entries directly below a URL.
///
/// ```
/// use tet_io::{FolderEntry, UrlList};
///
/// let entry = FolderEntry { name: "part.tet".into(), len: 10, age: None };
/// let list = UrlList { files: vec![entry], ..UrlList::default() };
/// assert!(list.folders.is_empty() && !list.is_cut);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UrlList {
    /// The files.
    pub files: Vec<FolderEntry>,
    /// The names of what has files below it.
    pub folders: Vec<String>,
    /// Whether entries were left out, because there were too many.
    pub is_cut: bool,
}

/// A file in a folder.
///
/// ```
/// use std::time::Duration;
/// use tet_io::FolderEntry;
///
/// let age = Some(Duration::from_secs(60));
/// assert_eq!(FolderEntry { name: "part.tet".into(), len: 10, age }.len, 10);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its name, without that of its folder.
    pub name: String,
    /// Its bytes.
    pub len: u64,
    /// On a server: for how long it has been as it is, by the clock of the server.
    pub age: Option<Duration>,
}

/// An upload of several parts that was begun, and neither ended nor given up: its parts take room on the server.
///
/// ```
/// use tet_io::PendingUpload;
///
/// let upload = PendingUpload { name: "part.tet".into(), id: "7".into(), age: None };
/// assert_eq!(upload.name, "part.tet");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingUpload {
    /// The name of its file, without that of its folder.
    pub name: String,
    /// Identifies it among other uploads.
    pub id: String,
    /// How long ago it was begun, by the clock of the server.
    pub age: Option<Duration>,
}

static STORE: RwLock<Option<Arc<dyn UrlStore>>> = RwLock::new(None);

/// Sets who opens and writes URLs, for the whole process; it replaces the one that was set before.
pub fn set_url_store(store: impl UrlStore + 'static) {
    *STORE.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(store));
}

/// Whether URLs are opened.
#[must_use]
pub fn has_url_store() -> bool {
    STORE.read().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// Whether a server may copy bytes of a file to a new one at `target`, so that they are neither read nor sent. Nothing is
/// asked.
///
/// ```
/// let source = tet_io::Source::from_bytes(*b"abc");
/// assert!(!tet_io::may_copy_on_server(&source, "s3://bucket/key".as_ref()));
/// ```
#[must_use]
pub fn may_copy_on_server(source: &Source, target: &Path) -> bool {
    let is_of_all = source.store().is_none() && source.version().is_some();
    let from = source.path().filter(|path| is_url(path) && is_of_all);
    let from = from.filter(|_| is_url(target)).and_then(Path::to_str);
    let stored = from.and_then(|from| Some((from, store_of(target).ok()?)));
    stored.is_some_and(|(from, (store, to))| store.may_copy(from, to))
}

/// The registered store, and a path as its URL.
pub(crate) fn store_of(path: &Path) -> Result<(Arc<dyn UrlStore>, &str)> {
    let store = STORE.read().unwrap_or_else(PoisonError::into_inner).clone();
    store.zip(path.to_str()).ok_or_else(|| Error::NoUrls { path: path.to_path_buf() })
}

/// Opens a URL, as the registered store does.
pub(crate) fn open_url(path: &Path) -> Result<Source> {
    let (store, url) = store_of(path)?;
    store.open(url)
}
