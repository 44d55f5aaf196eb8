//! Changes of small files: of each byte, and of each field of each JSON document.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use tet_tests::assemble::{refooted, resealed};

use crate::vanish::files::Sample;

/// Bytes of a run of equal ones that are changed, at both ends: those between mean nothing of their own.
const RUN_ENDS: usize = 12;
/// The bytes behind the JSON at the end of a `.tet` file, and how they end.
const FOOT: (usize, &[u8]) = (16, b"THST");

/// One changed file of a sample.
pub(crate) struct Change {
    /// The number of the file.
    pub(crate) file: usize,
    /// Description of the change.
    pub(crate) what: String,
    /// Whether an attribute that is gone is not in the file either: a field was removed or emptied.
    pub(crate) is_taken: bool,
    edit: Edit,
}

enum Edit {
    /// This byte, where there was another.
    Byte(usize, u8),
    /// A file in place of the other.
    Whole(Vec<u8>),
}

/// A changed document.
struct Changed {
    what: String,
    value: Value,
    is_taken: bool,
}

impl Change {
    /// The bytes of the changed file.
    pub(crate) fn bytes(&self, sample: &Sample) -> Cow<'_, [u8]> {
        match &self.edit {
            Edit::Whole(bytes) => Cow::Borrowed(bytes),
            Edit::Byte(at, byte) => {
                let mut bytes = sample.files[self.file].1.clone();
                bytes[*at] = *byte;
                Cow::Owned(bytes)
            }
        }
    }
}

/// All changes of a sample.
pub(crate) fn changes(sample: &Sample) -> Vec<Change> {
    let mut changes = Vec::new();
    for (file, (_, bytes)) in sample.files.iter().enumerate() {
        for at in (0..bytes.len()).filter(|&at| !is_inside_run(bytes, at)) {
            let bit = at % 8;
            let (what, edit) = (format!("bit {bit} of byte {at}"), bytes[at] ^ 1 << bit);
            changes.push(Change { file, what, is_taken: false, edit: Edit::Byte(at, edit) });
        }
        let change = |(changed, bytes): (Changed, Vec<u8>)| {
            let Changed { what, is_taken, .. } = changed;
            Change { file, what, is_taken, edit: Edit::Whole(bytes) }
        };
        changes.extend(documents(bytes).into_iter().map(change));
    }
    changes
}

/// Whether all bytes around this one are equal to it.
fn is_inside_run(bytes: &[u8], at: usize) -> bool {
    let around = at.checked_sub(RUN_ENDS).and_then(|from| bytes.get(from..=at + RUN_ENDS));
    around.is_some_and(|around| around.iter().all(|&byte| byte == bytes[at]))
}

/// Changed JSON: of a file that is a document, of one that begins with a length and a document, and of a `.tet` file.
fn documents(bytes: &[u8]) -> Vec<(Changed, Vec<u8>)> {
    if let Ok(document) = serde_json::from_slice::<Value>(bytes) {
        return changed(&document, |text| text.into_bytes());
    }
    if let Some((document, json_at)) = footer(bytes) {
        let is_sealed = document.get("digests").is_some();
        let foot = if is_sealed { resealed } else { refooted };
        return changed(&document, |text| foot(bytes, json_at, &text));
    }
    let Some((document, rest)) = header(bytes) else { return Vec::new() };
    changed(&document, |text| {
        let mut text = text.into_bytes();
        text.resize(text.len().next_multiple_of(8), b' ');
        [&(text.len() as u64).to_le_bytes(), &text[..], rest].concat()
    })
}

/// The document at the end of a `.tet` file, and where it starts.
fn footer(bytes: &[u8]) -> Option<(Value, u64)> {
    let (len, end) = FOOT;
    let (front, foot) = bytes.split_at_checked(bytes.len().checked_sub(len)?)?;
    let json_len = usize::try_from(u64::from_le_bytes(*foot.first_chunk()?)).ok()?;
    let json_at = front.len().checked_sub(json_len).filter(|_| foot.ends_with(end))?;
    Some((serde_json::from_slice(&front[json_at..]).ok()?, json_at as u64))
}

/// The document at the beginning of a file, behind its length, and the rest of the file.
fn header(bytes: &[u8]) -> Option<(Value, &[u8])> {
    let (len, rest) = bytes.split_first_chunk::<8>()?;
    let (text, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
    Some((serde_json::from_slice(text).ok()?, rest))
}

fn changed(document: &Value, file: impl Fn(String) -> Vec<u8>) -> Vec<(Changed, Vec<u8>)> {
    let changed = of_value(document, "").into_iter();
    changed.map(|it| (file(it.value.to_string()), it)).map(|(bytes, it)| (it, bytes)).collect()
}

/// A value with one of its fields replaced by a value of another kind, removed, or an unknown one added; a document in
/// a text is changed too.
fn of_value(value: &Value, path: &str) -> Vec<Changed> {
    match value {
        Value::Object(map) => of_object(map, path),
        Value::Array(items) => of_array(items, path),
        Value::String(text) if text.starts_with(['{', '[']) => {
            let Ok(document) = serde_json::from_str::<Value>(text) else { return Vec::new() };
            let text = |it: Changed| Changed { value: it.value.to_string().into(), ..it };
            of_value(&document, path).into_iter().map(text).collect()
        }
        _ => Vec::new(),
    }
}

fn of_object(map: &Map<String, Value>, path: &str) -> Vec<Changed> {
    let mut changed = Vec::new();
    for (key, field) in map {
        let path = format!("{path}.{key}");
        let with = |it: Changed| {
            let mut map = map.clone();
            map.insert(key.clone(), it.value);
            Changed { value: map.into(), ..it }
        };
        changed.extend(others(field, &path).into_iter().map(with));
        changed.extend(of_value(field, &path).into_iter().map(with));
        let mut map = map.clone();
        map.remove(key);
        changed.push(Changed {
            what: format!("{path} removed"),
            value: map.into(),
            is_taken: true,
        });
    }
    let mut map = map.clone();
    map.insert("unknown_field".to_owned(), json!({"a": 1}));
    let what = format!("{path}.unknown_field added");
    changed.push(Changed { what, value: map.into(), is_taken: false });
    changed
}

fn of_array(items: &[Value], path: &str) -> Vec<Changed> {
    let mut changed = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let path = format!("{path}[{at}]");
        let with = |it: Changed| {
            let mut items = items.to_vec();
            items[at] = it.value;
            Changed { value: items.into(), ..it }
        };
        changed.extend(others(item, &path).into_iter().map(with));
        changed.extend(of_value(item, &path).into_iter().map(with));
        let mut items = items.to_vec();
        items.remove(at);
        changed.push(Changed {
            what: format!("{path} removed"),
            value: items.into(),
            is_taken: true,
        });
    }
    changed
}

/// Values of other kinds than this one.
fn others(value: &Value, path: &str) -> Vec<Changed> {
    let all = [json!(null), json!(true), json!(7), json!(-1), json!("x"), json!([]), json!({})];
    let others = all.into_iter().filter(|it| it != value);
    let changed = |it: Value| Changed {
        what: format!("{path} = {it}"),
        is_taken: it == json!({}) || it.is_null(),
        value: it,
    };
    others.map(changed).collect()
}
