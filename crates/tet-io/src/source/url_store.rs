//! Who opens and writes the files of URLs.
//!
//! This crate opens no connections. A crate that does registers its store for the process; from then on
//! [`Source::open`] opens URLs as it opens paths, and [`Publisher`](crate::Publisher) publishes at them.

use std::fmt::Debug;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use super::Source;
use crate::error::{Error, Result};

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

    /// Writes a file: all of it is there afterwards, or what was there before.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Exists`] for a file that appeared meanwhile and may not be replaced, and [`Error::Io`] when it
    /// cannot be written.
    fn write(&self, url: &str, content: &Source, replace: bool) -> Result<()> {
        let _ = (content, replace);
        Err(Error::UrlOutput { path: url.into() })
    }
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

/// The registered store, and a path as its URL.
pub(crate) fn store_of(path: &Path) -> Result<(Arc<dyn UrlStore>, &str)> {
    let store = STORE.read().unwrap_or_else(PoisonError::into_inner).clone();
    store.zip(path.to_str()).ok_or_else(|| Error::NoUrls { path: path.to_path_buf() })
}

/// Suffixes of formats that are folders of files.
const FOLDERS: [&str; 2] = ["zarr", "tets"];

/// Opens a URL, as the registered store does.
pub(crate) fn open_url(path: &Path) -> Result<Source> {
    let suffix = path.extension().and_then(|suffix| suffix.to_str());
    if suffix.is_some_and(|suffix| FOLDERS.contains(&suffix)) {
        return Err(Error::UrlFolder { path: path.to_path_buf() });
    }
    let (store, url) = store_of(path)?;
    store.open(url)
}
