//! Encodes metadata as JSON, within the limits of the oldest readers.
//!
//! The limits are those of the format specification; what exceeds them is stored under the key
//! `tet`, in the same form as the plain metadata.

use std::collections::BTreeMap;

use super::history::HistoryRow;
use super::model::{AttrValue, DatasetMetadata, Metadata, Unknown};
use crate::error::Result;
use crate::footer::check_text;

/// The longest string in plain metadata, in bytes. None may be empty.
const STRING_LEN_MAX: usize = 1024;
/// The most attributes of one dataset, or of the file.
const ATTR_COUNT_MAX: usize = 64;
/// The most labels of one axis.
const LABEL_COUNT_MAX: usize = 64;
/// The most datasets with metadata.
const DATASET_COUNT_MAX: usize = 256;

/// The deepest JSON value that readers accept inside the footer.
const DEPTH_MAX: u32 = 56;

/// The JSON of the metadata.
pub(crate) fn encode(metadata: &Metadata) -> Result<String> {
    let (file, file_extended) = encode_attrs(&metadata.file, ATTR_COUNT_MAX)?;
    let (datasets, datasets_extended) = encode_datasets(&metadata.datasets)?;
    let mut extended = Object::default();
    extended.push_object("file", file_extended);
    extended.push_object("datasets", datasets_extended);
    extended.push_unknown(&metadata.unknown_tet)?;
    let mut plain = Object::default();
    plain.push_object("file", file);
    plain.push_object("datasets", datasets);
    plain.push_unknown(&metadata.unknown)?;
    plain.push_object("tet", extended);
    Ok(plain.into_json())
}

/// The JSON of the history. Unknown members become parameters, because the oldest readers refuse
/// them.
pub(crate) fn encode_history(rows: &[HistoryRow]) -> Result<String> {
    let rows: Vec<String> = rows.iter().map(encode_row).collect::<Result<_>>()?;
    Ok(format!("[{}]", rows.join(",")))
}

fn encode_row(row: &HistoryRow) -> Result<String> {
    let HistoryRow { op, source, at, parents, params, extra } = row;
    let mut params = params.clone();
    for (key, text) in extra {
        check_text(key, text, DEPTH_MAX)?;
        let text = serde_json::from_str(text).unwrap_or_else(|_| text.clone());
        params.entry(key.clone()).or_insert(text);
    }
    let mut object = Object::default();
    object.push("op", &string(op));
    object.push("source", &string(source));
    object.push("at", &string(at));
    if !parents.is_empty() {
        object.push("parents", &strings(parents));
    }
    let mut members = Object::default();
    for (key, text) in &params {
        members.push(key, &string(text));
    }
    object.push_object("params", members);
    Ok(object.into_json())
}

fn encode_datasets(datasets: &BTreeMap<String, DatasetMetadata>) -> Result<(Object, Object)> {
    let (mut plain, mut extended) = (Object::default(), Object::default());
    let mut plain_count = 0;
    for (name, dataset) in datasets {
        let has_room = plain_count < DATASET_COUNT_MAX && is_plain(name);
        let (members, members_extended) = encode_dataset(dataset, has_room)?;
        plain_count += usize::from(!members.is_empty());
        plain.push_object(name, members);
        extended.push_object(name, members_extended);
    }
    Ok((plain, extended))
}

/// The plain and the extended members of a dataset; all are extended if `has_room` is false.
fn encode_dataset(dataset: &DatasetMetadata, has_room: bool) -> Result<(Object, Object)> {
    let mut both = [Object::default(), Object::default()];
    let [plain, extended] = &mut both;
    if !dataset.dim_names.is_empty() {
        let is_plain = has_room && dataset.dim_names.iter().all(|name| is_plain(name));
        let object = if is_plain { &mut *plain } else { &mut *extended };
        object.push("dim_names", &strings(&dataset.dim_names));
    }
    let (coords, coords_extended) = encode_coords(dataset, has_room)?;
    plain.push_object("coords", coords);
    extended.push_object("coords", coords_extended);
    let attr_count_max = if has_room { ATTR_COUNT_MAX } else { 0 };
    let (attrs, attrs_extended) = encode_attrs(&dataset.attrs, attr_count_max)?;
    plain.push_object("attrs", attrs);
    extended.push_object("attrs", attrs_extended);
    if has_room { plain } else { extended }.push_unknown(&dataset.unknown)?;
    Ok(both.into())
}

fn encode_coords(dataset: &DatasetMetadata, has_room: bool) -> Result<(Object, Object)> {
    let (mut plain, mut extended) = (Object::default(), Object::default());
    let only_unknown =
        dataset.unknown_coords.keys().filter(|axis| !dataset.coords.contains_key(*axis));
    for axis in dataset.coords.keys().chain(only_unknown) {
        let labels = dataset.coords.get(axis);
        let mut members = Object::default();
        if let Some(labels) = labels {
            members.push("labels", &strings(labels));
        }
        if let Some(unknown) = dataset.unknown_coords.get(axis) {
            members.push_unknown(unknown)?;
        }
        let fits = |labels: &Vec<String>| {
            labels.len() <= LABEL_COUNT_MAX && labels.iter().all(|label| is_plain(label))
        };
        let is_plain = has_room && is_plain(axis) && labels.is_none_or(fits);
        if is_plain { &mut plain } else { &mut extended }.push_object(axis, members);
    }
    Ok((plain, extended))
}

fn encode_attrs(
    attrs: &BTreeMap<String, AttrValue>,
    plain_count_max: usize,
) -> Result<(Object, Object)> {
    let (mut plain, mut extended) = (Object::default(), Object::default());
    let mut plain_count = 0;
    for (key, value) in attrs {
        match value {
            AttrValue::Text(text)
                if plain_count < plain_count_max && is_plain(key) && is_plain(text) =>
            {
                plain_count += 1;
                plain.push(key, &string(text));
            }
            AttrValue::Text(text) => extended.push(key, &string(text)),
            AttrValue::Json(text) => extended.push_checked(key, text)?,
        }
    }
    Ok((plain, extended))
}

fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.len() <= STRING_LEN_MAX
}

/// The text of a JSON object, member by member.
#[derive(Default)]
struct Object(String);

impl Object {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn push(&mut self, key: &str, json: &str) {
        if !self.is_empty() {
            self.0.push(',');
        }
        self.0.push_str(&string(key));
        self.0.push(':');
        self.0.push_str(json);
    }

    /// Adds JSON from the caller or from a file, after checking it.
    fn push_checked(&mut self, key: &str, json: &str) -> Result<()> {
        check_text(key, json, DEPTH_MAX)?;
        self.push(key, json.trim());
        Ok(())
    }

    /// Adds an object, unless it is empty.
    fn push_object(&mut self, key: &str, object: Object) {
        if !object.is_empty() {
            self.push(key, &object.into_json());
        }
    }

    fn push_unknown(&mut self, unknown: &Unknown) -> Result<()> {
        unknown.iter().try_for_each(|(key, json)| self.push_checked(key, json))
    }

    fn into_json(self) -> String {
        format!("{{{}}}", self.0)
    }
}

fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn strings(texts: &[String]) -> String {
    serde_json::Value::from(texts).to_string()
}
