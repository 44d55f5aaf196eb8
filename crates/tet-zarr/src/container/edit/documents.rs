//! The documents of a hierarchy as they will be, those with the metadata of all nodes among them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::{DIMENSIONS, Store};
use serde_json::{Map, Value};

use super::of_file;
use tet_container::Result;
use tet_container::edited::unfit;

type Object = Map<String, Value>;

/// The member of a group of version 3 with the metadata of the nodes below it.
const CONSOLIDATED: &str = "consolidated_metadata";

/// The documents that were read, and where nodes go.
pub(super) struct Documents {
    store: Store,
    path: PathBuf,
    /// Documents by their old keys; `None` for one that is not there.
    read: BTreeMap<String, Option<Object>>,
    changed: BTreeSet<String>,
    /// The new paths of nodes by the old ones; `None` for one that is removed.
    nodes: BTreeMap<String, Option<String>>,
}

impl Documents {
    pub(super) fn new(store: Store, path: PathBuf) -> Documents {
        let (read, nodes) = (BTreeMap::new(), BTreeMap::new());
        Documents { store, path, read, changed: BTreeSet::new(), nodes }
    }

    /// The document of a key, if there is one.
    fn read(&mut self, key: &str) -> Result<Option<&mut Object>> {
        if !self.read.contains_key(key) {
            let bytes = self.store.document(key).map_err(|error| of_file(&self.path, error))?;
            let object = match bytes {
                None => None,
                Some(bytes) => Some(serde_json::from_slice(&bytes).map_err(|_| {
                    unfit(format!(
                        "{key} is no JSON as others write it: NaN is in it without quotes"
                    ))
                })?),
            };
            self.read.insert(key.to_owned(), object);
        }
        Ok(self.read.get_mut(key).and_then(Option::as_mut))
    }

    fn has(&mut self, key: &str) -> Result<bool> {
        Ok(self.read(key)?.is_some())
    }

    /// Sets an attribute of the node at a path, or removes it.
    pub(super) fn set_attribute(
        &mut self,
        node: &str,
        key: &str,
        value: Option<&Value>,
    ) -> Result<()> {
        self.each_attributes(node, &|attributes| {
            match value {
                Some(value) => attributes.insert(key.to_owned(), value.clone()),
                None => attributes.remove(key),
            };
        })
    }

    /// Names the axes of an array.
    pub(super) fn set_dims(&mut self, node: &str, names: &[String]) -> Result<()> {
        if !self.has(&join(node, "zarr.json"))? {
            return self.each_attributes(node, &|attributes| {
                match names {
                    [] => attributes.remove(DIMENSIONS),
                    names => attributes.insert(DIMENSIONS.to_owned(), Value::from(names.to_vec())),
                };
            });
        }
        self.each_document(node, "zarr.json", &|document| {
            match names {
                [] => document.remove("dimension_names"),
                names => document.insert("dimension_names".to_owned(), Value::from(names.to_vec())),
            };
        })
    }

    /// Changes the attributes of a node wherever they are.
    fn each_attributes(&mut self, node: &str, change: &dyn Fn(&mut Object)) -> Result<()> {
        if self.has(&join(node, "zarr.json"))? {
            return self.each_document(node, "zarr.json", &|document| {
                let attributes =
                    document.entry("attributes").or_insert_with(|| Object::new().into());
                if let Value::Object(attributes) = attributes {
                    change(attributes);
                }
            });
        }
        let key = join(node, ".zattrs");
        if !self.has(&key)? {
            self.read.insert(key, Some(Object::new()));
        }
        self.each_document(node, ".zattrs", change)
    }

    /// Changes a document of a node, and what the groups above have of it.
    fn each_document(
        &mut self,
        node: &str,
        kind: &str,
        change: &dyn Fn(&mut Object),
    ) -> Result<()> {
        let key = join(node, kind);
        if let Some(document) = self.read(&key)? {
            change(document);
            self.changed.insert(key);
        }
        self.each_consolidated(node, &|all, rest, is_old| {
            if !is_old && kind != "zarr.json" {
                return;
            }
            let of_node = if is_old { join(rest, kind) } else { rest.to_owned() };
            let has_node = |kind: &str| all.contains_key(&join(rest, kind));
            let is_new =
                is_old && kind == ".zattrs" && (has_node(".zarray") || has_node(".zgroup"));
            if is_new && !all.contains_key(&of_node) {
                all.insert(of_node.clone(), Object::new().into());
            }
            if let Some(Value::Object(document)) = all.get_mut(&of_node) {
                change(document);
            }
        })
    }

    /// Runs on the consolidated metadata of each group that has a node in it: its members, the path from the group to the
    /// node, and whether it is that of version 2, whose members are documents.
    fn each_consolidated(
        &mut self,
        node: &str,
        change: &dyn Fn(&mut Object, &str, bool),
    ) -> Result<()> {
        let ends = node.match_indices('/').map(|(at, _)| at);
        let groups = std::iter::once("").chain(ends.filter_map(|at| node.get(..at)));
        for group in groups.filter(|_| !node.is_empty()).map(str::to_owned).collect::<Vec<_>>() {
            let rest = node.strip_prefix(&group).unwrap_or(node).trim_start_matches('/');
            for (kind, is_old) in [("zarr.json", false), (".zmetadata", true)] {
                let key = join(&group, kind);
                let Some(document) = self.read(&key)? else { continue };
                if let Some(all) = consolidated(document, is_old) {
                    change(all, rest, is_old);
                    self.changed.insert(key);
                }
            }
        }
        // The root has itself in the metadata of version 2.
        if node.is_empty()
            && let Some(document) = self.read(".zmetadata")?
            && let Some(all) = consolidated(document, true)
        {
            change(all, "", true);
            self.changed.insert(".zmetadata".to_owned());
        }
        Ok(())
    }

    /// Gives a node and what is below it another path; without one it is removed.
    pub(super) fn move_node(&mut self, from: &str, to: Option<&str>) {
        self.nodes.insert(from.to_owned(), to.map(str::to_owned));
    }

    /// All that changes.
    pub(super) fn settle(mut self) -> Result<NewDocuments> {
        let moves = Moves(std::mem::take(&mut self.nodes));
        let mut groups = BTreeSet::new();
        for node in moves.0.keys() {
            groups.insert("");
            groups.extend(node.match_indices('/').filter_map(|(at, _)| node.get(..at)));
        }
        for group in groups {
            for (kind, is_old) in [("zarr.json", false), (".zmetadata", true)] {
                let key = join(group, kind);
                let Some(document) = self.read(&key)? else { continue };
                if let Some(all) = consolidated(document, is_old) {
                    let prefix = if group.is_empty() { String::new() } else { format!("{group}/") };
                    let moved = std::mem::take(all).into_iter().filter_map(|(name, value)| {
                        let new = moves.new_key(&format!("{prefix}{name}"))?;
                        Some((new.strip_prefix(&prefix).unwrap_or(&new).to_owned(), value))
                    });
                    *all = moved.collect();
                    self.changed.insert(key);
                }
            }
        }
        let mut texts = BTreeMap::new();
        for old in self.changed {
            if let (Some(Some(object)), Some(key)) = (self.read.remove(&old), moves.new_key(&old)) {
                texts.insert(key, format!("{:#}", Value::Object(object)).into_bytes());
            }
        }
        Ok(NewDocuments { moves, texts })
    }
}

/// The new paths of nodes by the old ones; `None` for one that is removed.
struct Moves(BTreeMap<String, Option<String>>);

impl Moves {
    /// The new key of an object; `None` for one that is removed.
    fn new_key(&self, key: &str) -> Option<String> {
        let ends = key.match_indices('/').map(|(at, _)| at).chain([key.len()]);
        for end in ends {
            let node = key.get(..end).unwrap_or(key);
            if let Some(to) = self.0.get(node) {
                let rest = key.get(end..).unwrap_or_default();
                return to.as_ref().map(|to| format!("{to}{rest}"));
            }
        }
        Some(key.to_owned())
    }
}

/// The new hierarchy: objects under other keys, and documents.
pub(super) struct NewDocuments {
    moves: Moves,
    /// Documents that are written anew, by key.
    pub(super) texts: BTreeMap<String, Vec<u8>>,
}

impl NewDocuments {
    /// The new key of an object that is taken over as it is.
    pub(super) fn kept_key(&self, key: &str) -> Option<String> {
        self.moves.new_key(key).filter(|key| !self.texts.contains_key(key))
    }
}

/// The members of consolidated metadata; those of version 2 are documents.
fn consolidated(document: &mut Object, is_old: bool) -> Option<&mut Object> {
    let all = if is_old { document } else { object(document.get_mut(CONSOLIDATED))? };
    object(all.get_mut("metadata"))
}

fn object(value: Option<&mut Value>) -> Option<&mut Object> {
    value.and_then(Value::as_object_mut)
}

fn join(node: &str, name: &str) -> String {
    if node.is_empty() { name.to_owned() } else { format!("{node}/{name}") }
}
