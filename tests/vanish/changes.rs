//! Changes of small files: of each byte, and of each field of each JSON document.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::files::Sample;

/// One changed file of a sample.
pub(crate) struct Change {
    /// The number of the file.
    pub(crate) file: usize,
    /// What was done, in a few words.
    pub(crate) what: String,
    bytes: Vec<u8>,
}

impl Change {
    /// The files of the sample with the change.
    pub(crate) fn files(&self, sample: &Sample) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = sample.files.clone();
        files[self.file].1.clone_from(&self.bytes);
        files
    }
}

/// All changes of a sample.
pub(crate) fn changes(sample: &Sample) -> Vec<Change> {
    let mut changes = Vec::new();
    for (file, (_, bytes)) in sample.files.iter().enumerate() {
        for at in 0..bytes.len() {
            let mut of_byte = |what: String, byte: u8| {
                let mut bytes = bytes.clone();
                bytes[at] = byte;
                changes.push(Change { file, what, bytes });
            };
            let bit = at % 8;
            of_byte(format!("bit {bit} of byte {at}"), bytes[at] ^ 1 << bit);
        }
        let mut add = |(what, bytes): (String, Vec<u8>)| changes.push(Change { file, what, bytes });
        documents(bytes).into_iter().for_each(&mut add);
    }
    changes
}

/// Changed JSON: of a file that is a document, and of one that begins with a length and a document.
fn documents(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    if let Ok(document) = serde_json::from_slice::<Value>(bytes) {
        let changed = of_value(&document, "").into_iter();
        return changed.map(|(what, value)| (what, value.to_string().into_bytes())).collect();
    }
    let Some((head, rest)) = bytes.split_first_chunk::<8>() else { return Vec::new() };
    let len = usize::try_from(u64::from_le_bytes(*head)).unwrap_or(usize::MAX);
    let Some((text, rest)) = rest.split_at_checked(len) else { return Vec::new() };
    let Ok(document) = serde_json::from_slice::<Value>(text) else { return Vec::new() };
    let with_len = |(what, value): (String, Value)| {
        let mut text = value.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(8), b' ');
        (what, [&(text.len() as u64).to_le_bytes(), &text[..], rest].concat())
    };
    of_value(&document, "").into_iter().map(with_len).collect()
}

/// A value with one of its fields replaced by a value of another kind, removed, or an unknown one added.
fn of_value(value: &Value, path: &str) -> Vec<(String, Value)> {
    let mut changed = Vec::new();
    match value {
        Value::Object(map) => {
            for (key, field) in map {
                let path = format!("{path}.{key}");
                let with = |(what, field): (String, Value)| {
                    let mut map = map.clone();
                    map.insert(key.clone(), field);
                    (what, Value::from(map))
                };
                changed.extend(others(field, &path).into_iter().map(with));
                changed.extend(of_value(field, &path).into_iter().map(with));
                let mut map: Map<String, Value> = map.clone();
                map.remove(key);
                changed.push((format!("{path} removed"), Value::from(map)));
            }
            let mut map = map.clone();
            map.insert("unknown_field".to_owned(), json!({"a": 1}));
            changed.push((format!("{path}.unknown_field added"), Value::from(map)));
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                let path = format!("{path}[{at}]");
                let with = |(what, item): (String, Value)| {
                    let mut items = items.clone();
                    items[at] = item;
                    (what, Value::from(items))
                };
                changed.extend(others(item, &path).into_iter().map(with));
                changed.extend(of_value(item, &path).into_iter().map(with));
                let mut items = items.clone();
                items.remove(at);
                changed.push((format!("{path} removed"), Value::from(items)));
            }
        }
        _ => {}
    }
    changed
}

/// Values of other kinds than this one.
fn others(value: &Value, path: &str) -> Vec<(String, Value)> {
    let all = [json!(null), json!(true), json!(7), json!(-1), json!("x"), json!([]), json!({})];
    let others = all.into_iter().filter(|it| it != value);
    others.map(|it| (format!("{path} = {it}"), it)).collect()
}
