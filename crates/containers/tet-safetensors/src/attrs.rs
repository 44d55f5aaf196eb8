//! Attributes that tensors have in other containers, among the file's strings: the type of the bits, and
//! the sparse tensor that they are a part of.
//!
//! ```text
//!   "tet:attrs": "{\"m.values\":{\"sparse_format\":\"csr\",\"sparse_shape\":[3,4],...}}"
//! ```

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tet_query::{AttrText, Dataset};

use tet_container::model::{logical, sparse};

/// The key of the string.
pub(super) const ATTRS_KEY: &str = "tet:attrs";

/// The attributes that it may hold.
const KEYS: [&str; 6] = [
    logical::DTYPE_KEY,
    logical::SHAPE_KEY,
    sparse::OF_KEY,
    sparse::PART_KEY,
    sparse::FORMAT_KEY,
    sparse::SHAPE_KEY,
];

/// Whether an attribute is stored in a safetensors file.
pub(crate) fn is_stored(key: &str) -> bool {
    KEYS.contains(&key)
}

/// The string for these datasets; `None` where no dataset has any.
pub(super) fn of_datasets<'d>(datasets: impl Iterator<Item = &'d Dataset>) -> Option<String> {
    let entries = datasets.filter_map(|dataset| {
        let attrs = dataset.attrs.iter().filter(|(key, _)| is_stored(key));
        let members: Map<String, Value> =
            attrs.map(|(key, value)| (key.clone(), json(value))).collect();
        (!members.is_empty()).then(|| (dataset.name.clone(), Value::Object(members)))
    });
    // In the order of the names, whatever the order of the tensors.
    let entries: BTreeMap<String, Value> = entries.collect();
    (!entries.is_empty()).then(|| Value::Object(entries.into_iter().collect()).to_string())
}

/// Gives each dataset its attributes out of the string, and removes the string; one that holds more, or
/// is written in another way, stays.
pub(super) fn give(attrs: &mut BTreeMap<String, AttrText>, datasets: &mut [Dataset]) {
    let Some(AttrText::Text(text)) = attrs.get(ATTRS_KEY) else { return };
    let Ok(entries) = serde_json::from_str::<BTreeMap<String, BTreeMap<String, Value>>>(text)
    else {
        return;
    };
    for dataset in datasets.iter_mut() {
        let members = entries.get(&dataset.name).into_iter().flatten();
        for (key, value) in members.filter(|(key, _)| is_stored(key)) {
            let value = match value {
                Value::String(text) => AttrText::Text(text.clone()),
                other => AttrText::Json(other.to_string()),
            };
            dataset.attrs.insert(key.clone(), value);
        }
    }
    if of_datasets(datasets.iter()).as_ref() == Some(text) {
        attrs.remove(ATTRS_KEY);
    }
}

fn json(value: &AttrText) -> Value {
    match value {
        AttrText::Text(text) => Value::String(text.clone()),
        AttrText::Json(text) | AttrText::Numbers { json: text, .. } => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))
        }
    }
}
