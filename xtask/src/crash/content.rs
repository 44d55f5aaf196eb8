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

    /// What the manifest of a folder of parts names, each part by its place in the list, for their names differ each
    /// time; without files that wait to be removed. Of all else everything.
    pub(super) fn named(&self) -> Content {
        let manifest = self.0.get(Path::new("series.json")).and_then(Option::as_deref);
        let Some(text) = manifest.and_then(|bytes| std::str::from_utf8(bytes).ok()) else {
            return self.clone();
        };
        let mut text = text.to_owned();
        let names = text.split('"').filter(|word| word.starts_with("part-")).map(str::to_owned);
        let names: Vec<String> = names.collect();
        let mut named = self.0.clone();
        for (nth, name) in names.iter().enumerate() {
            text = text.replace(name.as_str(), &format!("{nth}"));
            if let Some(part) = named.remove(Path::new(name)) {
                named.insert(PathBuf::from(nth.to_string()), part);
            }
        }
        named.insert(PathBuf::from("series.json"), Some(text.into_bytes()));
        named.retain(|path, _| {
            let name = path.to_string_lossy();
            let is_hidden = name.starts_with('.') && name.ends_with(".tmp");
            !(is_hidden || name == "series.lock" || name.starts_with("part-"))
        });
        Content(named)
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
