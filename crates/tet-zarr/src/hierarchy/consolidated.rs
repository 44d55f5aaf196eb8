//! Consolidated metadata: all documents of a hierarchy in one (`.zmetadata` of version 2, the
//! member `consolidated_metadata` of the root's `zarr.json` of version 3).

use serde_json::Value;

use super::{Document, Nodes, read_document};
use crate::array::join;
use crate::error::{Result, broken, fault_in};
use crate::json::Object;
use crate::rule;
use crate::store::{DocumentState, Store};

/// Reads the consolidated metadata; `None` if there is none that can be read.
pub(super) fn read(store: &Store, nodes: &mut Nodes) -> Result<Option<DocumentState>> {
    let key = "zarr.json";
    // Faults are reported when it is read as the document of the root.
    if let Document::Read(document, state) = read_document(store, key, "")?
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
                _ => nodes.add_unreadable(key, path, fault_in(key, broken(&rule::JSON, 0, 0))),
            }
        }
        return Ok(Some(state));
    }
    let key = ".zmetadata";
    match read_document(store, key, "")? {
        Document::Read(document, state) => {
            let Some(Value::Object(documents)) = document.get("metadata") else {
                nodes.report(key, "", broken(&rule::CONSOLIDATED, 0, 0));
                return Ok(None);
            };
            read_v2(nodes, documents);
            Ok(Some(state))
        }
        Document::Broken(error) => {
            nodes.report_error(key, "", &error);
            Ok(None)
        }
        Document::Absent => Ok(None),
    }
}

/// Adds a node of version 3, or one of version 2 inside a hierarchy of version 3.
fn add(nodes: &mut Nodes, key: &str, path: &str, document: &Object) {
    if document.get("zarr_format").and_then(Value::as_u64) != Some(2) {
        nodes.add_v3(key, path, document);
        return;
    }
    let attributes = match document.get("attributes") {
        None | Some(Value::Null) => Object::new(),
        Some(Value::Object(attributes)) => attributes.clone(),
        Some(_) => {
            let fault = broken(&rule::ATTRIBUTES, 0, 0);
            return nodes.add_unreadable_array(key, path, document, fault);
        }
    };
    if document.contains_key("shape") {
        nodes.add_v2_array(key, path, document, attributes);
    } else {
        nodes.add_v2_group(key, path, document, attributes);
    }
}

/// Adds the nodes of a `.zmetadata`, whose members are keys of documents.
fn read_v2(nodes: &mut Nodes, documents: &Object) {
    for (name, document) in documents {
        let (path, kind) = name.rsplit_once('/').unwrap_or(("", name));
        if !matches!(kind, ".zarray" | ".zgroup" | "zarr.json") {
            let has = |kind| documents.contains_key(&join(path, kind));
            if kind != ".zattrs" || !has(".zarray") && !has(".zgroup") {
                nodes.report(name, path, broken(&rule::UNLISTED, 0, 0));
            }
            continue;
        }
        if !nodes.has_room(name, path) {
            break;
        }
        let Value::Object(document) = document else {
            nodes.add_unreadable(name, path, fault_in(name, broken(&rule::JSON, 0, 0)));
            continue;
        };
        let attributes = match documents.get(&join(path, ".zattrs")) {
            None => Object::new(),
            Some(Value::Object(attributes)) => attributes.clone(),
            Some(_) => {
                let fault = broken(&rule::ATTRIBUTES, 0, 0);
                nodes.add_unreadable_array(name, path, document, fault);
                continue;
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
