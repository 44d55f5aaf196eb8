//! Consolidated metadata: all documents of a hierarchy in one (`.zmetadata` of version 2, the
//! member `consolidated_metadata` of the root's `zarr.json` of version 3).

use serde_json::Value;

use super::{Document, Nodes, Root};
use crate::error::{Result, broken};
use crate::json::Object;
use crate::rule;
use crate::store::Store;

/// Reads the consolidated metadata; the outer `None` if there is none that can be read.
pub(super) fn read(store: &Store, nodes: &mut Nodes) -> Result<Option<Option<Root>>> {
    let key = "zarr.json";
    if let Document::Read(document, stamp) = nodes.peek(store, key)?
        && let Some(Value::Object(consolidated)) = document.get("consolidated_metadata")
    {
        let Some(Value::Object(documents)) = consolidated.get("metadata") else {
            nodes.report(key, "", broken(&rule::CONSOLIDATED, 0, 0));
            return Ok(None);
        };
        nodes.add_v3(key, "", &document);
        for (path, document) in documents {
            let path = path.trim_matches('/');
            if !nodes.has_room(key, path) {
                break;
            }
            match document {
                Value::Object(document) => add(nodes, key, path, document),
                _ => nodes.report(key, path, broken(&rule::JSON, 0, 0)),
            }
        }
        return Ok(Some(Some((key.to_owned(), stamp))));
    }
    let key = ".zmetadata";
    if let Document::Read(document, stamp) = nodes.read_document(store, key, "")? {
        let Some(Value::Object(documents)) = document.get("metadata") else {
            nodes.report(key, "", broken(&rule::CONSOLIDATED, 0, 0));
            return Ok(None);
        };
        read_v2(nodes, documents, key);
        return Ok(Some(Some((key.to_owned(), stamp))));
    }
    Ok(None)
}

/// Adds a node of version 3, or one of version 2 inside a hierarchy of version 3.
fn add(nodes: &mut Nodes, key: &str, path: &str, document: &Object) {
    let format = document.get("zarr_format").and_then(Value::as_u64);
    let attributes = || match document.get("attributes") {
        Some(Value::Object(attributes)) => attributes.clone(),
        _ => Object::new(),
    };
    match format {
        Some(2) if document.contains_key("shape") => {
            nodes.add_v2_array(key, path, document, attributes());
        }
        Some(2) => nodes.add_v2_group(key, path, document, attributes()),
        _ => {
            nodes.add_v3(key, path, document);
        }
    }
}

/// Adds the nodes of a `.zmetadata`, whose members are keys of documents.
fn read_v2(nodes: &mut Nodes, documents: &Object, key: &str) {
    for (name, document) in documents {
        let (path, kind) = name.rsplit_once('/').unwrap_or(("", name));
        if !matches!(kind, ".zarray" | ".zgroup" | "zarr.json") {
            continue;
        }
        if !nodes.has_room(key, path) {
            break;
        }
        let Value::Object(document) = document else {
            nodes.report(name, path, broken(&rule::JSON, 0, 0));
            continue;
        };
        let attributes = match documents.get(&crate::array::join(path, ".zattrs")) {
            None => Object::new(),
            Some(Value::Object(attributes)) => attributes.clone(),
            Some(_) => {
                nodes.report(name, path, broken(&rule::ATTRIBUTES, 0, 0));
                Object::new()
            }
        };
        match kind {
            ".zarray" => nodes.add_v2_array(name, path, document, attributes),
            ".zgroup" => nodes.add_v2_group(name, path, document, attributes),
            _ => {
                nodes.add_v3(name, path, document);
            }
        }
    }
}

impl Nodes {
    /// The document of a key whose faults are reported later, when it is read again.
    fn peek(&mut self, store: &Store, key: &str) -> Result<Document> {
        let before = self.findings.len();
        let document = self.read_document(store, key, "")?;
        self.findings.truncate(before);
        Ok(document)
    }
}
