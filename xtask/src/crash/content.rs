//! Content of a path: a file, or a folder with all below it; and the file of edge chunks of a document of references.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

/// Content of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    /// Files with their bytes, and folders without, by their paths below the first; that of a file is empty.
    all: BTreeMap<PathBuf, Option<Vec<u8>>>,
    /// The file of edge chunks of a document of references.
    edges: Option<Vec<u8>>,
}

impl Content {
    /// Reads the content of `path`; `None` where nothing is.
    pub(super) fn read(path: &Path) -> Result<Option<Content>> {
        let mut all = BTreeMap::new();
        let edges = fs::read(edges_path(path)).ok();
        if !path.exists() {
            return Ok(edges.map(|edges| Content { all, edges: Some(edges) }));
        }
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
        Ok(Some(Content { all, edges }))
    }

    /// Parts that the manifest of a folder names, each by its position in the list, for their names differ each
    /// time; without files that wait to be removed. Of all else everything.
    pub(super) fn named(&self) -> Content {
        let manifest = self.all.get(Path::new("series.json")).and_then(Option::as_deref);
        let Some(text) = manifest.and_then(|bytes| std::str::from_utf8(bytes).ok()) else {
            return self.clone();
        };
        let mut text = text.to_owned();
        let names = text.split('"').filter(|word| word.starts_with("part-")).map(str::to_owned);
        let names: Vec<String> = names.collect();
        let mut named = self.all.clone();
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
        Content { all: named, edges: None }
    }

    /// Makes the same at a path where nothing is.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        for (below, bytes) in &self.all {
            let at = if below == Path::new("") { path.to_owned() } else { path.join(below) };
            match bytes {
                Some(bytes) => fs::write(at, bytes)?,
                None => fs::create_dir(at)?,
            }
        }
        Ok(self.edges.iter().try_for_each(|edges| fs::write(edges_path(path), edges))?)
    }

    /// Whether it is the file of edge chunks of another content, without the document.
    pub(super) fn is_edges_of(&self, other: &Content) -> bool {
        self.all.is_empty() && self.edges.is_some() && self.edges == other.edges
    }

    /// How many files and folders there are.
    pub(super) fn entry_count(&self) -> usize {
        self.all.len() + usize::from(self.edges.is_some())
    }

    /// How many files or folders take their names one by one.
    pub(super) fn published_count(&self) -> usize {
        1 + usize::from(self.edges.is_some())
    }

    /// Bytes of the longest file.
    pub(super) fn longest(&self) -> usize {
        self.all.values().flatten().map(Vec::len).max().unwrap_or(0)
    }

    /// Whether it is a folder.
    pub(super) fn is_folder(&self) -> bool {
        self.all.get(Path::new("")) == Some(&None)
    }

    /// The content as text, for a message.
    pub(super) fn shown(&self) -> String {
        let len: usize = self.all.values().flatten().chain(&self.edges).map(Vec::len).sum();
        format!("{} files and folders of {len} bytes", self.entry_count())
    }
}

/// Where the edge chunks of a document are.
pub(super) fn edges_path(path: &Path) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(".edges");
    path.into()
}
