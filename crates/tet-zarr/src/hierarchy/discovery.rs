//! Discovery: folders are listed from the root on, but never those of an array's chunks.

use super::{Document, Nodes, Root};
use crate::array::join;
use crate::error::{Result, broken, len};
use crate::json::Object;
use crate::rule;
use crate::store::Store;

/// The most folders above a node.
const DEPTH_MAX: usize = 64;

/// The most names of one group that are read.
const NAMES_MAX: usize = 1 << 20;

/// The most folders that are read.
const FOLDERS_MAX: u64 = 1 << 20;

/// Reads the documents of all nodes; `None` if the root has none.
pub(super) fn read(store: &Store, nodes: &mut Nodes) -> Result<Option<Root>> {
    let mut root = None;
    let mut paths = vec![String::new()];
    // Links may lead to folders above, so folders are counted too.
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
        if path.is_empty() {
            let Some(found) = node.document else { return Ok(None) };
            root = Some(found);
        }
        if node.kind == NodeKind::Array {
            continue;
        }
        let list = match store.list(&path, NAMES_MAX) {
            Ok(list) => list,
            Err(error) if path.is_empty() || store.is_far() => return Err(error),
            Err(_) => {
                nodes.report(&path, &path, broken(&rule::UNREADABLE, 0, 0));
                continue;
            }
        };
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
    Ok(root)
}

/// What a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeKind {
    /// An array, or a node that cannot be read and may be one.
    Array,
    /// A group, or a folder without a document, which may have nodes below it.
    Folder,
}

struct Node {
    kind: NodeKind,
    document: Option<Root>,
}

fn read_node(store: &Store, nodes: &mut Nodes, path: &str) -> Result<Node> {
    let mut kind = NodeKind::Folder;
    let mut document = None;
    let key = join(path, "zarr.json");
    match nodes.read_document(store, &key, path)? {
        Document::Read(object, stamp) => {
            if !nodes.add_v3(&key, path, &object) {
                kind = NodeKind::Array;
            }
            document = Some((key, stamp));
        }
        Document::Broken => document = Some((key, None)),
        Document::Absent => {}
    }
    for (name, of_kind) in [(".zarray", NodeKind::Array), (".zgroup", NodeKind::Folder)] {
        let key = join(path, name);
        let object = match nodes.read_document(store, &key, path)? {
            Document::Absent => continue,
            Document::Broken => None,
            Document::Read(object, stamp) => Some((object, stamp)),
        };
        if of_kind == NodeKind::Array {
            kind = NodeKind::Array;
        }
        if document.is_some() {
            nodes.report(&key, path, broken(&rule::DUPLICATE_NODE, 0, 0));
            continue;
        }
        let Some((object, stamp)) = object else {
            document = Some((key, None));
            continue;
        };
        let attributes = match nodes.read_document(store, &join(path, ".zattrs"), path)? {
            Document::Read(attributes, _) => attributes,
            Document::Absent | Document::Broken => Object::new(),
        };
        match of_kind {
            NodeKind::Array => nodes.add_v2_array(&key, path, &object, attributes),
            NodeKind::Folder => nodes.add_v2_group(&key, path, &object, attributes),
        }
        document = Some((key, stamp));
    }
    Ok(Node { kind, document })
}
