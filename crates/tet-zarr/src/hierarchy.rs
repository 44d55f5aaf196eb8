//! Groups and arrays of a store: from consolidated metadata, or by listing folders.

mod consolidated;
mod discovery;

use std::sync::Arc;

use serde_json::Value;
use tet_io::Stamp;

use crate::array::{ArrayMeta, ZarrFormat};
use crate::error::{Broken, Error, Result, ZarrFault, broken, fault_in};
use crate::finder::ChunkFinder;
use crate::json::{self, DOCUMENT_LEN_MAX, Object};
use crate::objects::Objects;
use crate::rule;
use crate::store::Store;

/// The most groups and arrays.
const NODES_MAX: usize = 1 << 20;

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
    root_key: String,
    root_stamp: Option<Stamp>,
}

/// What was read so far.
#[derive(Debug, Default)]
struct Nodes {
    groups: Vec<ZarrGroup>,
    arrays: Vec<Arc<ArrayMeta>>,
    findings: Vec<ZarrFault>,
}

impl Hierarchy {
    /// Reads the metadata of a store. A document that cannot be read is a finding; the other nodes
    /// are read.
    ///
    /// # Errors
    ///
    /// Returns `ZR-M1` when the root has no document, `ZR-M13` when its document is of no node, and errors
    /// of the environment.
    pub fn open(store: Store) -> Result<Hierarchy> {
        let mut nodes = Nodes::default();
        let root = consolidated::read(&store, &mut nodes)?;
        let (metadata, root) = match root {
            Some(root) => (ZarrMetadata::Consolidated, root),
            None => (ZarrMetadata::Listed, discovery::read(&store, &mut nodes)?),
        };
        let Some((root_key, root_stamp)) = root else {
            return Err(fault_in("zarr.json", broken(&rule::ROOT_MISSING, 0, 0)));
        };
        if let [ZarrFault { fault, key, .. }] = nodes.findings.as_slice()
            && std::ptr::eq(fault.rule, &rule::NODE_TYPE)
            && nodes.groups.is_empty()
            && nodes.arrays.is_empty()
        {
            return Err(fault_in(key, *fault));
        }
        nodes.groups.sort_by(|a, b| a.path.cmp(&b.path));
        nodes.arrays.sort_by(|a, b| a.path.cmp(&b.path));
        let objects = Objects::new(store);
        Ok(Hierarchy(Arc::new(Opened { objects, nodes, metadata, root_key, root_stamp })))
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

    /// What is wrong with the metadata. A finding with a path and of severity error stands for a
    /// node that is in neither list.
    #[must_use]
    pub fn findings(&self) -> &[ZarrFault] {
        &self.0.nodes.findings
    }

    /// Where the metadata was read.
    #[must_use]
    pub fn metadata(&self) -> ZarrMetadata {
        self.0.metadata
    }

    /// The key of the document of the root.
    #[must_use]
    pub fn root_key(&self) -> &str {
        &self.0.root_key
    }

    /// The stamp of the file of the root document, if it is a file.
    #[must_use]
    pub fn root_stamp(&self) -> Option<Stamp> {
        self.0.root_stamp
    }

    /// The objects of the store.
    #[must_use]
    pub fn objects(&self) -> &Objects {
        &self.0.objects
    }

    /// The finder of the chunks of an array.
    #[must_use]
    pub fn finder(&self, array: &Arc<ArrayMeta>) -> ChunkFinder {
        ChunkFinder::new(array.clone(), self.0.objects.clone())
    }
}

impl Nodes {
    /// Adds a finding about the document of a key.
    fn report(&mut self, key: &str, path: &str, fault: Broken) {
        let (key, path) = (key.to_owned(), Some(path.to_owned()));
        self.findings.push(ZarrFault { fault, key, path });
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
            Err(fault) => self.report(key, path, fault),
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
            found => self.report(key, path, broken(&rule::FORMAT, found.unwrap_or(0), 2)),
        }
    }

    /// Adds the node of a `zarr.json`; whether it is a group.
    fn add_v3(&mut self, key: &str, path: &str, document: &Object) -> bool {
        match document.get("node_type").and_then(Value::as_str) {
            Some("array") => {
                match ArrayMeta::of_v3(path, document) {
                    Ok(array) => self.add_array(key, array),
                    Err(fault) => self.report(key, path, fault),
                }
                false
            }
            Some("group") => {
                let format = document.get("zarr_format").and_then(Value::as_u64);
                if format != Some(3) {
                    self.report(key, path, broken(&rule::FORMAT, format.unwrap_or(0), 3));
                }
                let attributes = match document.get("attributes") {
                    None => Object::new(),
                    Some(Value::Object(attributes)) => attributes.clone(),
                    Some(_) => {
                        self.report(key, path, broken(&rule::ATTRIBUTES, 0, 0));
                        Object::new()
                    }
                };
                let (path, format) = (path.to_owned(), ZarrFormat::V3);
                self.groups.push(ZarrGroup { path, format, attributes });
                true
            }
            _ => {
                self.report(key, path, broken(&rule::NODE_TYPE, 0, 0));
                false
            }
        }
    }

    fn add_array(&mut self, key: &str, array: ArrayMeta) {
        for fault in &array.notes {
            self.report(key, &array.path, *fault);
        }
        self.arrays.push(Arc::new(array));
    }

    /// The document of a key, if there is one; a fault becomes a finding.
    fn read_document(&mut self, store: &Store, key: &str, path: &str) -> Result<Document> {
        let read = match store.read(key, DOCUMENT_LEN_MAX) {
            Ok(None) => return Ok(Document::Absent),
            Ok(Some(read)) => read,
            Err(Error::Fault { fault, key }) => {
                self.report(&key, path, fault);
                return Ok(Document::Broken);
            }
            Err(error) if path.is_empty() || store.is_far() => return Err(error),
            // A file that cannot be read does not hide the others.
            Err(_) => {
                self.report(key, path, broken(&rule::UNREADABLE, 0, 0));
                return Ok(Document::Broken);
            }
        };
        match json::object(&read.0) {
            Ok(object) => Ok(Document::Read(object, read.1)),
            Err(fault) => {
                self.report(key, path, fault);
                Ok(Document::Broken)
            }
        }
    }
}

/// The key of the root document and its stamp.
type Root = (String, Option<Stamp>);

/// What a key has.
enum Document {
    Absent,
    Broken,
    Read(Object, Option<Stamp>),
}
