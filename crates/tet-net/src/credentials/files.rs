//! The texts of the files of profiles, which are read when they change and not for each URL.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::fetched::text_of;

/// The files that were read; clones share them.
#[derive(Clone, Default)]
pub(crate) struct TextFiles(Arc<Mutex<BTreeMap<PathBuf, TextFile>>>);

struct TextFile {
    /// When the file was changed, and its length.
    stamp: (SystemTime, u64),
    text: Arc<str>,
}

impl TextFiles {
    /// The text of a file; empty where there is none.
    ///
    /// # Errors
    ///
    /// Returns an error when the file cannot be read.
    pub(super) fn read(&self, path: &Path) -> io::Result<Arc<str>> {
        let metadata = std::fs::metadata(path);
        let stamp = metadata.and_then(|it| Ok((it.modified()?, it.len()))).ok();
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = files.get(path)
            && Some(known.stamp) == stamp
        {
            return Ok(Arc::clone(&known.text));
        }
        let text: Arc<str> = text_of(path)?.unwrap_or_default().into();
        if let Some(stamp) = stamp {
            files.insert(path.to_path_buf(), TextFile { stamp, text: Arc::clone(&text) });
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_once_until_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        let files = TextFiles::default();
        assert_eq!(&*files.read(&path).unwrap(), "");
        std::fs::write(&path, "a = 1").unwrap();
        let first = files.read(&path).unwrap();
        assert!(Arc::ptr_eq(&first, &files.read(&path).unwrap()));
        std::fs::write(&path, "a = 12").unwrap();
        assert_eq!(&*files.read(&path).unwrap(), "a = 12");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(&*files.read(&path).unwrap(), "");
    }
}
