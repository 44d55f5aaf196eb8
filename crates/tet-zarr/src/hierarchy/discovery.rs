//! Discovery: folders are listed from the root on, but never those of an array's chunks.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::{Document, DocumentBytes, NodeKind, Nodes, read_bytes, read_document};
use crate::array::join;
use crate::error::{Error, Result, broken, fault_in, len};
use crate::json::Object;
use crate::rule;
use crate::store::{Store, StoredDocument};

/// The most folders above a node.
pub(crate) const DEPTH_MAX: usize = 64;

/// The most names of one group that are read.
const NAMES_MAX: usize = 1 << 20;

/// The most folders that are read.
const FOLDERS_MAX: u64 = 1 << 20;

/// The most nodes that are reported because consolidated metadata do not list them.
const UNLISTED_MAX: usize = 1 << 10;

/// The documents by which a folder is a node.
const DOCUMENTS: [&str; 3] = ["zarr.json", ".zarray", ".zgroup"];

/// Reads the documents of all nodes; whether the root has one.
pub(super) fn read(store: &Store, nodes: &mut Nodes) -> Result<bool> {
    let mut paths = vec![String::new()];
    let mut orphans = Orphans::default();
    // Several links may lead to one folder, so folders are counted too.
    let mut folder_count = 0;
    while let Some(path) = paths.pop() {
        folder_count += 1;
        if FOLDERS_MAX < folder_count {
            let fault = broken(&rule::LIMIT_NODES, folder_count, FOLDERS_MAX);
            nodes.report(&path, &path, fault);
            break;
        }
        if !nodes.has_room(&path, &path) {
            break;
        }
        let node = read_node(store, nodes, &path)?;
        if path.is_empty() && !node.has_document {
            return Ok(false);
        }
        if node.kind == NodeKind::Array {
            continue;
        }
        let list = match store.list(&path, NAMES_MAX) {
            Ok(list) => list,
            Err(error) if path.is_empty() || store.is_far() => return Err(error),
            Err(error) => {
                nodes.add_unreadable(&path, &path, error);
                continue;
            }
        };
        orphans.see(&path, node.has_document, !list.files.is_empty());
        for name in list.others.iter().filter(|name| !name.starts_with('.')) {
            add_other(store, nodes, &join(&path, name));
        }
        if list.is_cut {
            let limit = len(NAMES_MAX);
            nodes.report(&path, &path, broken(&rule::LIMIT_NODES, limit, limit));
        }
        let depth = if path.is_empty() { 0 } else { path.split('/').count() };
        if DEPTH_MAX <= depth && !list.folders.is_empty() {
            nodes.report(&path, &path, broken(&rule::LIMIT_NODES, len(depth), len(DEPTH_MAX)));
            continue;
        }
        paths.extend(list.folders.iter().map(|name| join(&path, name)));
    }
    orphans.report(nodes);
    Ok(true)
}

/// Folders that have files and no document, which were arrays or groups.
#[derive(Default)]
struct Orphans {
    /// The folders without a document that were seen.
    folders: HashSet<String>,
    /// The topmost folders without a document above files.
    with_files: BTreeSet<String>,
}

impl Orphans {
    /// Adds a folder; those above it were added before.
    fn see(&mut self, path: &str, has_document: bool, has_files: bool) {
        if has_document {
            return;
        }
        self.folders.insert(path.to_owned());
        if has_files {
            let above = path.rmatch_indices('/').filter_map(|(end, _)| path.get(..end));
            let upwards = std::iter::once(path).chain(above);
            let topmost = upwards.take_while(|it| self.folders.contains(*it)).last();
            self.with_files.extend(topmost.map(str::to_owned));
        }
    }

    /// Adds a finding for each, but for those in what cannot be read, which may be its chunks.
    fn report(&self, nodes: &mut Nodes) {
        for path in &self.with_files {
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
            if !nodes.lost.contains(parent) {
                nodes.report(path, path, broken(&rule::ORPHANS, 0, 0));
            }
        }
    }
}

/// Reports the nodes that a store has and consolidated metadata do not list. Groups are listed, and no document is
/// read but those of folders that are no node of theirs.
pub(super) fn unlisted(store: &Store, nodes: &mut Nodes) {
    let arrays = nodes.arrays.iter().map(|array| array.path.as_str());
    let known: HashSet<&str> = arrays.chain(nodes.lost.iter().map(String::as_str)).collect();
    let groups: HashSet<&str> = nodes.groups.iter().map(|group| group.path.as_str()).collect();
    let mut unlisted = Vec::new();
    let folders = groups.iter().copied().chain([""]).collect::<HashSet<&str>>();
    for group in folders.into_iter().filter(|group| !known.contains(group)) {
        // A group without a folder has nothing else.
        let Ok(list) = store.list(group, NAMES_MAX) else { continue };
        let paths = list.folders.iter().map(|name| join(group, name));
        for path in paths.filter(|it| !known.contains(it.as_str()) && !groups.contains(it.as_str()))
        {
            let mut documents =
                DOCUMENTS.iter().map(|name| read_document(store, &join(&path, name), &path));
            let is_node = |it: Result<Document>| it.map(|it| !matches!(it, Document::Absent));
            if documents.any(|it| is_node(it).unwrap_or(true)) && unlisted.len() < UNLISTED_MAX {
                unlisted.push(path);
            }
        }
    }
    unlisted.sort_unstable();
    unlisted.iter().for_each(|path| nodes.report(path, path, broken(&rule::UNLISTED, 0, 0)));
}

/// Adds what is no file and no folder, and may be a node: a link that leads nowhere, or out of the hierarchy.
fn add_other(store: &Store, nodes: &mut Nodes, path: &str) {
    if path.ends_with("zarr.json") {
        return;
    }
    let error = match store {
        Store::Folder(folder) => folder.get(path).err().map(Error::Io),
        _ => None,
    };
    let fault = || fault_in(path, broken(&rule::UNREADABLE, 0, 0));
    nodes.add_unreadable(path, path, error.unwrap_or_else(fault));
}

struct Node {
    kind: NodeKind,
    has_document: bool,
}

fn read_node(store: &Store, nodes: &mut Nodes, path: &str) -> Result<Node> {
    let mut node = Node { kind: NodeKind::Folder, has_document: false };
    let key = join(path, "zarr.json");
    match read_bytes(store, &key, path)? {
        DocumentBytes::Read(StoredDocument { bytes, state }) => {
            node.kind = nodes.add_v3_bytes(&key, path, bytes);
            nodes.documents.insert(path.to_owned(), Arc::new([state]));
            node.has_document = true;
        }
        DocumentBytes::Broken(error) => {
            nodes.add_unreadable(&key, path, error);
            node.has_document = true;
        }
        DocumentBytes::Absent => {}
    }
    for (name, kind) in [(".zarray", NodeKind::Array), (".zgroup", NodeKind::Folder)] {
        let key = join(path, name);
        let document = read_document(store, &key, path)?;
        if matches!(document, Document::Absent) {
            continue;
        }
        if kind == NodeKind::Array {
            node.kind = kind;
        }
        if node.has_document {
            nodes.report(&key, path, broken(&rule::DUPLICATE_NODE, 0, 0));
            continue;
        }
        node.has_document = true;
        let (object, state) = match document {
            Document::Read(object, state) => (object, state),
            Document::Broken(error) => {
                nodes.add_unreadable(&key, path, error);
                continue;
            }
            Document::Absent => continue,
        };
        let mut states = vec![state];
        let attributes = match read_document(store, &join(path, ".zattrs"), path)? {
            Document::Read(attributes, state) => {
                states.push(state);
                attributes
            }
            Document::Absent => Object::new(),
            // Without its attributes its elements have another meaning.
            Document::Broken(error) => {
                nodes.add_unreadable(&join(path, ".zattrs"), path, error);
                continue;
            }
        };
        nodes.documents.insert(path.to_owned(), states.into());
        match kind {
            NodeKind::Array => nodes.add_v2_array(&key, path, &object, attributes),
            NodeKind::Folder => nodes.add_v2_group(&key, path, &object, attributes),
        }
    }
    Ok(node)
}
