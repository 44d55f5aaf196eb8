//! The documents of a new hierarchy: groups, arrays, and all of them in one.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::array::NewArray;
use crate::array::{ZarrFormat, join};
use crate::json::DOCUMENT_LEN_MAX;

/// A hierarchy that is to be written.
///
/// # Examples
///
/// ```
/// use tet_zarr::{NewHierarchy, ZarrFormat};
///
/// let mut new = NewHierarchy { format: ZarrFormat::V3, ..NewHierarchy::default() };
/// new.groups.insert("a/b".to_owned(), Default::default());
/// let keys: Vec<String> = new.documents().into_iter().map(|(key, _)| key).collect();
/// assert_eq!(keys, ["zarr.json", "a/zarr.json", "a/b/zarr.json"]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NewHierarchy {
    /// The version.
    pub format: ZarrFormat,
    /// The attributes of groups by path. Those above arrays and groups need not be listed.
    pub groups: BTreeMap<String, Map<String, Value>>,
    /// The arrays.
    pub arrays: Vec<NewArray>,
}

impl Default for NewHierarchy {
    fn default() -> Self {
        NewHierarchy { format: ZarrFormat::V3, groups: BTreeMap::new(), arrays: Vec::new() }
    }
}

impl NewHierarchy {
    /// All documents, that of the root first: keys and bytes. Consolidated metadata is left out
    /// where it would be longer than a document may be.
    #[must_use]
    pub fn documents(&self) -> Vec<(String, Vec<u8>)> {
        let mut groups = self.groups.clone();
        let paths = groups.keys().cloned().chain(self.arrays.iter().map(|it| it.path.clone()));
        for path in paths.collect::<Vec<_>>() {
            for (at, _) in path.match_indices('/') {
                groups.entry(path.get(..at).unwrap_or_default().to_owned()).or_default();
            }
        }
        groups.entry(String::new()).or_default();
        match self.format {
            ZarrFormat::V2 => self.of_v2(&groups),
            ZarrFormat::V3 => self.of_v3(&groups),
        }
    }

    fn of_v3(&self, groups: &BTreeMap<String, Map<String, Value>>) -> Vec<(String, Vec<u8>)> {
        let group = |attributes: &Map<String, Value>, metadata: Option<Map<String, Value>>| {
            let mut document = json!({ "zarr_format": 3, "node_type": "group" });
            document["attributes"] = attributes.clone().into();
            if let Some(metadata) = metadata {
                // The macro would copy the metadata of all nodes.
                let mut consolidated = json!({ "kind": "inline", "must_understand": false });
                consolidated["metadata"] = metadata.into();
                document["consolidated_metadata"] = consolidated;
            }
            document
        };
        let mut documents = Vec::new();
        let mut all = Map::new();
        for (path, attributes) in groups.iter().filter(|(path, _)| !path.is_empty()) {
            documents.push((join(path, "zarr.json"), text(&group(attributes, None))));
            all.insert(path.clone(), group(attributes, Some(Map::new())));
        }
        for array in &self.arrays {
            let document = array.of_v3();
            documents.push((join(&array.path, "zarr.json"), text(&document)));
            all.insert(array.path.clone(), document);
        }
        let none = Map::new();
        let attributes = groups.get("").unwrap_or(&none);
        let mut root = text(&group(attributes, Some(all)));
        if !is_short(&root) {
            root = text(&group(attributes, None));
        }
        documents.insert(0, ("zarr.json".to_owned(), root));
        documents
    }

    fn of_v2(&self, groups: &BTreeMap<String, Map<String, Value>>) -> Vec<(String, Vec<u8>)> {
        let mut documents = Vec::new();
        for (path, attributes) in groups {
            documents.push((join(path, ".zgroup"), json!({ "zarr_format": 2 })));
            if !attributes.is_empty() {
                documents.push((join(path, ".zattrs"), json!(attributes)));
            }
        }
        for array in &self.arrays {
            documents.push((join(&array.path, ".zarray"), array.of_v2()));
            documents.push((join(&array.path, ".zattrs"), json!(array.attributes_of_v2())));
        }
        let metadata: Map<String, Value> = documents.iter().cloned().collect();
        let mut all = json!({ "zarr_consolidated_format": 1 });
        all["metadata"] = metadata.into();
        let all = text(&all);
        let texts = documents.into_iter().map(|(key, document)| (key, text(&document)));
        let mut documents: Vec<(String, Vec<u8>)> = texts.collect();
        if is_short(&all) {
            documents.insert(0, (".zmetadata".to_owned(), all));
        }
        documents
    }
}

/// Whether a document is as short as readers allow.
fn is_short(document: &[u8]) -> bool {
    u64::try_from(document.len()).is_ok_and(|len| len <= DOCUMENT_LEN_MAX)
}

/// A document as text. A tree of JSON values always has one.
fn text(document: &Value) -> Vec<u8> {
    serde_json::to_vec_pretty(document).expect("the keys of its objects are texts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_above_nodes_are_made() {
        let mut new = NewHierarchy { format: ZarrFormat::V2, ..NewHierarchy::default() };
        let title: Map<String, Value> = [("title".to_owned(), json!("t"))].into_iter().collect();
        new.groups.insert("a/b".to_owned(), title);
        let documents = new.documents();
        let keys: Vec<&str> = documents.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, [".zmetadata", ".zgroup", "a/.zgroup", "a/b/.zgroup", "a/b/.zattrs"]);
        let all: Value = serde_json::from_slice(&documents[0].1).unwrap();
        assert_eq!(all["metadata"]["a/b/.zattrs"]["title"], json!("t"));
    }
}
