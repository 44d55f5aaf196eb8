//! What is at a path: a file, or a folder with all below it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

/// Files with their bytes, and folders without, by their paths below the first; that of a file is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content(BTreeMap<PathBuf, Option<Vec<u8>>>);

impl Content {
    /// What is at `path`; `None` where nothing is.
    pub(super) fn read(path: &Path) -> Result<Option<Content>> {
        let mut all = BTreeMap::new();
        let mut paths = vec![PathBuf::new()];
        while let Some(below) = paths.pop() {
            let at = if below == Path::new("") { path.to_owned() } else { path.join(&below) };
            let Ok(metadata) = fs::symlink_metadata(&at) else { return Ok(None) };
            if !metadata.is_dir() {
                all.insert(below, Some(fs::read(&at)?));
                continue;
            }
            for entry in fs::read_dir(&at)? {
                paths.push(below.join(entry?.file_name()));
            }
            all.insert(below, None);
        }
        Ok(Some(Content(all)))
    }

    /// Makes the same at a path where nothing is.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        for (below, bytes) in &self.0 {
            let at = if below == Path::new("") { path.to_owned() } else { path.join(below) };
            match bytes {
                Some(bytes) => fs::write(at, bytes)?,
                None => fs::create_dir(at)?,
            }
        }
        Ok(())
    }

    /// How many files and folders there are.
    pub(super) fn entry_count(&self) -> usize {
        self.0.len()
    }

    /// Bytes of the longest file.
    pub(super) fn longest(&self) -> usize {
        self.0.values().flatten().map(Vec::len).max().unwrap_or(0)
    }

    /// Whether it is a folder.
    pub(super) fn is_folder(&self) -> bool {
        self.0.get(Path::new("")) == Some(&None)
    }

    /// What there is, for a message.
    pub(super) fn shown(&self) -> String {
        let len: usize = self.0.values().flatten().map(Vec::len).sum();
        format!("{} files and folders of {len} bytes", self.0.len())
    }
}
