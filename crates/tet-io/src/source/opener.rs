//! Who opens URLs.
//!
//! This crate opens no connections. A crate that does registers one function for the process; from then
//! on [`Source::open`] opens URLs as it opens paths.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use super::Source;
use crate::error::{Error, Result};

type Opener = dyn Fn(&str) -> Result<Source> + Send + Sync;

static OPENER: RwLock<Option<Arc<Opener>>> = RwLock::new(None);

/// Sets the function that opens URLs, for the whole process; it replaces the one that was set before.
///
/// ```
/// tet_io::set_url_opener(|url| Ok(tet_io::Source::from_named_bytes(url, b"bytes".as_slice())));
/// let source = tet_io::Source::open("memory://five")?;
/// assert_eq!(source.len(), 5);
/// # Ok::<(), tet_io::Error>(())
/// ```
pub fn set_url_opener(opener: impl Fn(&str) -> Result<Source> + Send + Sync + 'static) {
    *OPENER.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(opener));
}

/// Whether a function is set that opens URLs.
#[must_use]
pub fn has_url_opener() -> bool {
    OPENER.read().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// Suffixes of formats that are folders of files.
const FOLDERS: [&str; 2] = ["zarr", "tets"];

/// Opens a URL, as the registered function does.
pub(crate) fn open_url(path: &Path) -> Result<Source> {
    let suffix = path.extension().and_then(|suffix| suffix.to_str());
    if suffix.is_some_and(|suffix| FOLDERS.contains(&suffix)) {
        return Err(Error::UrlFolder { path: path.to_path_buf() });
    }
    let opener = OPENER.read().unwrap_or_else(PoisonError::into_inner).clone();
    match (opener, path.to_str()) {
        (Some(opener), Some(url)) => opener(url),
        _ => Err(Error::NoUrls { path: path.to_path_buf() }),
    }
}
