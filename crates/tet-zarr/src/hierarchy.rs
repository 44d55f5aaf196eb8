//! Groups and arrays of a store: from consolidated metadata, or by listing folders.

mod consolidated;
pub(crate) mod discovery;
mod known;
mod stale;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;
use tet_format::Shape;

use self::known::KnownArrays;
use crate::array::{ArrayMeta, ZarrFormat, check_members, shape_of};
use crate::error::{Broken, Error, Result, ZarrFault, broken, fault_in};
use crate::finder::ChunkFinder;
use crate::json::{self, Object};
use crate::objects::Objects;
use crate::rule;
use crate::store::{DocumentState, Store, StoredDocument, ZipStore};

/// The most groups and arrays.
pub(crate) const NODES_MAX: usize = 1 << 20;

/// The members of the document of a group of version 3.
const GROUP_MEMBERS: [&str; 4] =
    ["zarr_format", "node_type", "attributes", "consolidated_metadata"];

/// A group with its attributes.
///
/// # Examples
///
/// ```
/// use tet_zarr::{ZarrGroup, ZarrFormat};
///
/// let attributes = serde_json::Map::new();
/// let group = ZarrGroup { path: "a/b".to_owned(), format: ZarrFormat::V3, attributes };
/// assert!(group.attributes.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ZarrGroup {
    /// The path in the hierarchy, without a first `/`; empty for the root.
    pub path: String,
    /// The version.
    pub format: ZarrFormat,
    /// The attributes.
    pub attributes: Object,
}

/// A group or an array whose metadata cannot be read.
#[derive(Clone, Debug)]
pub struct UnreadableNode {
    /// The path in the hierarchy, without a first `/`; empty for the root.
    pub path: String,
    /// The extents of an array, where they are known.
    pub shape: Option<Shape>,
    /// Why it cannot be read.
    pub cause: Arc<Error>,
}

/// Where the metadata of a hierarchy was read.
///
/// ```
/// assert_ne!(tet_zarr::ZarrMetadata::Consolidated, tet_zarr::ZarrMetadata::Listed);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZarrMetadata {
    /// In the consolidated metadata of the root.
    Consolidated,
    /// In the document of each node; folders were listed.
    Listed,
}

/// The groups and arrays of a store. Clones share their data.
///
/// # Examples
///
/// ```no_run
/// use tet_zarr::{Hierarchy, Store};
///
/// let hierarchy = Hierarchy::open(Store::folder("x.zarr")?)?;
/// for array in hierarchy.arrays() {
///     println!("{} {}", array.path, array.shape);
/// }
/// for found in hierarchy.findings() {
///     println!("{}: {}", found.key, found.fault);
/// }
/// # Ok::<(), tet_zarr::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hierarchy(Arc<Opened>);

#[derive(Debug)]
struct Opened {
    objects: Objects,
    nodes: Nodes,
    metadata: ZarrMetadata,
    /// The document that has all metadata, where one does.
    consolidated: Arc<[DocumentState]>,
}

/// Nodes read so far.
#[derive(Debug, Default)]
struct Nodes {
    groups: Vec<ZarrGroup>,
    arrays: Vec<Arc<ArrayMeta>>,
    unreadable: Vec<UnreadableNode>,
    findings: Vec<ZarrFault>,
    /// The documents of arrays, by their paths.
    documents: HashMap<String, Arc<[DocumentState]>>,
    /// The paths of the nodes that are not readable.
    lost: HashSet<String>,
    known: KnownArrays,
}

impl Hierarchy {
    /// Reads the metadata of a store. A document that cannot be read is a finding, and its node one of
    /// [`Hierarchy::unreadable`]; the other nodes are read.
    ///
    /// # Errors
    ///
    /// Returns `ZR-M1` when the root has no document, why the root cannot be read when there is nothing else, and errors
    /// of the environment.
    pub fn open(store: Store) -> Result<Hierarchy> {
        let mut nodes = Nodes::default();
        let root = consolidated::read(&store, &mut nodes)?;
        let metadata = match root {
            Some(_) => ZarrMetadata::Consolidated,
            None => ZarrMetadata::Listed,
        };
        if root.is_none() && !discovery::read(&store, &mut nodes)? {
            return Err(fault_in("zarr.json", broken(&rule::ROOT_MISSING, 0, 0)));
        }
        if root.is_some() && !store.is_far() {
            discovery::unlisted(&store, &mut nodes);
        }
        if let Store::Zip(zip) = &store {
            nodes.add_misnamed(zip)?;
        }
        nodes.known = KnownArrays::default();
        // The listing is of the folder that was opened.
        store.check_in_place()?;
        if let [root] = nodes.unreadable.as_slice()
            && root.path.is_empty()
            && nodes.groups.is_empty()
            && nodes.arrays.is_empty()
            && let Error::Fault { fault, key } = &*root.cause
        {
            return Err(fault_in(key, *fault));
        }
        nodes.groups.sort_by(|a, b| a.path.cmp(&b.path));
        nodes.arrays.sort_by(|a, b| a.path.cmp(&b.path));
        nodes.unreadable.sort_by(|a, b| a.path.cmp(&b.path));
        let objects = Objects::new(store);
        let consolidated = root.into_iter().collect();
        Ok(Hierarchy(Arc::new(Opened { objects, nodes, metadata, consolidated })))
    }

    /// The groups, sorted by path.
    #[must_use]
    pub fn groups(&self) -> &[ZarrGroup] {
        &self.0.nodes.groups
    }

    /// The arrays, sorted by path.
    #[must_use]
    pub fn arrays(&self) -> &[Arc<ArrayMeta>] {
        &self.0.nodes.arrays
    }

    /// The groups and arrays whose metadata cannot be read, sorted by path.
    #[must_use]
    pub fn unreadable(&self) -> &[UnreadableNode] {
        &self.0.nodes.unreadable
    }

    /// Faults of the metadata.
    #[must_use]
    pub fn findings(&self) -> &[ZarrFault] {
        &self.0.nodes.findings
    }

    /// Where the metadata was read.
    #[must_use]
    pub fn metadata(&self) -> ZarrMetadata {
        self.0.metadata
    }

    /// Compares consolidated metadata with the documents of all nodes. Calls `report` with each finding.
    ///
    /// # Errors
    ///
    /// Returns errors of the environment.
    pub fn check_consolidated(&self, report: &mut dyn FnMut(ZarrFault)) -> Result<()> {
        let store = self.0.objects.store();
        if self.0.metadata == ZarrMetadata::Listed || store.is_far() {
            return Ok(());
        }
        stale::check(&self.0.nodes, store, report)
    }

    /// The objects of the store.
    #[must_use]
    pub fn objects(&self) -> &Objects {
        &self.0.objects
    }

    /// The finder of the chunks of an array.
    #[must_use]
    pub fn finder(&self, array: &Arc<ArrayMeta>) -> ChunkFinder {
        let documents = match self.0.metadata {
            ZarrMetadata::Consolidated => Some(&self.0.consolidated),
            ZarrMetadata::Listed => self.0.nodes.documents.get(&array.path),
        };
        let documents = documents.cloned().unwrap_or_else(|| Arc::new([]));
        ChunkFinder::new(array.clone(), self.0.objects.clone(), documents)
    }
}

impl Nodes {
    /// Adds a finding about the document of a key.
    fn report(&mut self, key: &str, path: &str, fault: Broken) {
        let (key, path) = (key.to_owned(), Some(path.to_owned()));
        self.findings.push(ZarrFault { fault, key, path });
    }

    /// Adds a finding about a document that cannot be read.
    fn report_error(&mut self, key: &str, path: &str, error: &Error) {
        match error {
            Error::Fault { fault, .. } => self.report(key, path, *fault),
            Error::Io(_) => self.report(key, path, broken(&rule::UNREADABLE, 0, 0)),
        }
    }

    /// Adds a node that cannot be read.
    fn add_unreadable(&mut self, key: &str, path: &str, cause: Error) {
        self.report_error(key, path, &cause);
        if self.lost.insert(path.to_owned()) {
            let (path, shape, cause) = (path.to_owned(), None, Arc::new(cause));
            self.unreadable.push(UnreadableNode { path, shape, cause });
        }
    }

    /// Adds an array that cannot be read, with the shape that its document has.
    fn add_unreadable_array(&mut self, key: &str, path: &str, document: &Object, fault: Broken) {
        let count = self.unreadable.len();
        self.add_unreadable(key, path, fault_in(key, fault));
        if let Some(node) = self.unreadable.get_mut(count) {
            node.shape = shape_of(document).ok();
        }
    }

    /// Adds the members of a zip file that have another name in their header than in the directory, both names. Chunks
    /// are looked at when one of them seems to be absent.
    fn add_misnamed(&mut self, zip: &ZipStore) -> Result<()> {
        let mut known: HashSet<&str> = self.lost.iter().map(String::as_str).collect();
        known.extend(self.arrays.iter().map(|array| array.path.as_str()));
        known.extend(self.groups.iter().map(|group| group.path.as_str()));
        let is_chunk = |key: &[u8]| key.last().is_some_and(u8::is_ascii_digit);
        let mut misnamed = Vec::new();
        for member in zip.misnamed(|key| !is_chunk(key))? {
            for key in BTreeSet::from([member.entry, member.header]) {
                let path = key.rsplit_once('/').map_or("", |(path, _)| path).to_owned();
                let is_known = known.contains(path.as_str());
                misnamed.push((key, path, member.fault, is_known));
            }
        }
        for (key, path, fault, is_known) in misnamed {
            if is_known {
                self.report(&key, &path, fault);
            } else {
                self.add_unreadable(&key, &path, fault_in(&key, fault));
            }
        }
        Ok(())
    }

    /// Whether another node fits.
    fn has_room(&mut self, key: &str, path: &str) -> bool {
        let count = self.groups.len() + self.arrays.len() + self.findings.len();
        if NODES_MAX < count {
            return false;
        }
        if count == NODES_MAX {
            let limit = u64::try_from(NODES_MAX).unwrap_or(u64::MAX);
            self.report(key, path, broken(&rule::LIMIT_NODES, limit, limit));
        }
        count < NODES_MAX
    }

    /// Adds the array of a `.zarray`.
    fn add_v2_array(&mut self, key: &str, path: &str, document: &Object, attributes: Object) {
        match ArrayMeta::of_v2(path, document, attributes) {
            Ok(array) => self.add_array(key, array),
            Err(fault) => self.add_unreadable_array(key, path, document, fault),
        }
    }

    /// Adds the group of a `.zgroup`.
    fn add_v2_group(&mut self, key: &str, path: &str, document: &Object, attributes: Object) {
        match document.get("zarr_format").and_then(Value::as_u64) {
            Some(2) => self.groups.push(ZarrGroup {
                path: path.to_owned(),
                format: ZarrFormat::V2,
                attributes,
            }),
            found => {
                let fault = broken(&rule::FORMAT, found.unwrap_or(0), 2);
                self.add_unreadable(key, path, fault_in(key, fault));
            }
        }
    }

    /// Adds the node of a `zarr.json` of these bytes.
    fn add_v3_bytes(&mut self, key: &str, path: &str, bytes: Vec<u8>) -> NodeKind {
        if let Some(array) = self.known.array(&bytes, path) {
            self.add_array(key, array);
            return NodeKind::Array;
        }
        let object = match json::object(&bytes) {
            Ok(object) => object,
            Err(fault) => {
                self.add_unreadable(key, path, fault_in(key, fault));
                return NodeKind::Folder;
            }
        };
        let array_count = self.arrays.len();
        let kind = self.add_v3(key, path, &object);
        if let Some(array) = self.arrays.get(array_count) {
            self.known.keep(bytes, array);
        }
        kind
    }

    /// Adds the node of a `zarr.json`.
    fn add_v3(&mut self, key: &str, path: &str, document: &Object) -> NodeKind {
        match document.get("node_type").and_then(Value::as_str) {
            Some("array") => {
                match ArrayMeta::of_v3(path, document) {
                    Ok(array) => self.add_array(key, array),
                    Err(fault) => self.add_unreadable_array(key, path, document, fault),
                }
                NodeKind::Array
            }
            Some("group") => {
                match group_of_v3(path, document) {
                    Ok(group) => self.groups.push(group),
                    Err(fault) => self.add_unreadable(key, path, fault_in(key, fault)),
                }
                NodeKind::Folder
            }
            _ => {
                let fault = broken(&rule::NODE_TYPE, 0, 0);
                self.add_unreadable_array(key, path, document, fault);
                NodeKind::Folder
            }
        }
    }

    fn add_array(&mut self, key: &str, array: ArrayMeta) {
        for fault in &array.notes {
            self.report(key, &array.path, *fault);
        }
        self.arrays.push(Arc::new(array));
    }
}

/// The group of a `zarr.json`.
fn group_of_v3(path: &str, document: &Object) -> Result<ZarrGroup, Broken> {
    let format = document.get("zarr_format").and_then(Value::as_u64);
    if format != Some(3) {
        return Err(broken(&rule::FORMAT, format.unwrap_or(0), 3));
    }
    let attributes = match document.get("attributes") {
        None => Object::new(),
        Some(Value::Object(attributes)) => attributes.clone(),
        Some(_) => return Err(broken(&rule::ATTRIBUTES, 0, 0)),
    };
    check_members(document, &GROUP_MEMBERS)?;
    Ok(ZarrGroup { path: path.to_owned(), format: ZarrFormat::V3, attributes })
}

/// Kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeKind {
    /// An array.
    Array,
    /// A group, a folder without a document, or a node that may be a group, which may have nodes below it.
    Folder,
}

/// The document of a key at a path.
enum Document {
    Absent,
    /// There is one, and it cannot be read.
    Broken(Error),
    Read(Object, DocumentState),
}

/// The bytes of the document of a key at a path.
enum DocumentBytes {
    Absent,
    /// They are there, and cannot be read.
    Broken(Error),
    Read(StoredDocument),
}

/// Reads the bytes of the document of a key of the node at `path`.
///
/// # Errors
///
/// The environment fails: the root cannot be read, or a server.
fn read_bytes(store: &Store, key: &str, path: &str) -> Result<DocumentBytes> {
    match store.read(key) {
        Ok(None) => Ok(DocumentBytes::Absent),
        Ok(Some(read)) => Ok(DocumentBytes::Read(read)),
        Err(error @ Error::Io(_)) if path.is_empty() || store.is_far() => Err(error),
        // A file that cannot be read does not hide the others.
        Err(error) => Ok(DocumentBytes::Broken(error)),
    }
}

/// Reads the document of a key of the node at `path`.
///
/// # Errors
///
/// The environment fails: the root cannot be read, or a server.
fn read_document(store: &Store, key: &str, path: &str) -> Result<Document> {
    Ok(match read_bytes(store, key, path)? {
        DocumentBytes::Absent => Document::Absent,
        DocumentBytes::Broken(error) => Document::Broken(error),
        DocumentBytes::Read(StoredDocument { bytes, state }) => match json::object(&bytes) {
            Ok(object) => Document::Read(object, state),
            Err(fault) => Document::Broken(fault_in(key, fault)),
        },
    })
}
