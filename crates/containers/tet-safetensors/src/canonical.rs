//! The header as the reference library writes it, byte for byte.
//!
//! Tensors are sorted by dtype, the last of the library's list first, then by name; the file's strings
//! by key, where the library has no order. A header in another order is stored as it is by the
//! containers that its tensors are converted to, so that the file can be made again.

use std::collections::HashMap;
use std::fmt::Write as _;

use tet_io::Source;
use tet_query::{Catalog, Dataset};

use super::attrs::{self, ATTRS_KEY};
use super::dtype::{StoredType, of_dataset};
use super::header::{self, METADATA_KEY};
use super::index::TOTAL_KEY;
use tet_container::Result;
use tet_container::model::origin::{ORDER_KEY, is_of_origin};

/// Bytes to a multiple of which a header is padded.
const PADDED_TO: usize = 8;

/// A tensor of a header that is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its name.
    pub(crate) name: String,
    /// Type in the file.
    pub(crate) stored: StoredType,
    /// Its shape.
    pub(crate) shape: Vec<u64>,
    /// Its bytes.
    pub(crate) len: u64,
}

impl Entry {
    /// The order in which the reference library writes tensors.
    pub(crate) fn order(&self, other: &Entry) -> std::cmp::Ordering {
        other.stored.rank.cmp(&self.stored.rank).then_with(|| self.name.cmp(&other.name))
    }
}

/// The header of tensors that follow one another as they are given, padded.
pub(crate) fn header_of<'a>(
    metadata: &[(String, String)],
    entries: impl Iterator<Item = &'a Entry>,
) -> String {
    let mut out = String::from("{");
    if !metadata.is_empty() {
        string(&mut out, METADATA_KEY);
        out.push_str(":{");
        for (at, (key, value)) in metadata.iter().enumerate() {
            out.push_str(if at == 0 { "" } else { "," });
            string(&mut out, key);
            out.push(':');
            string(&mut out, value);
        }
        out.push('}');
    }
    let mut begin = 0_u64;
    for entry in entries {
        out.push_str(if out.len() == 1 { "" } else { "," });
        string(&mut out, &entry.name);
        let end = begin.saturating_add(entry.len);
        let shape: Vec<String> = entry.shape.iter().map(ToString::to_string).collect();
        let (dtype, shape) = (entry.stored.name, shape.join(","));
        let entry = format!(
            ":{{\"dtype\":\"{dtype}\",\"shape\":[{shape}],\"data_offsets\":[{begin},{end}]}}"
        );
        out.push_str(&entry);
        begin = end;
    }
    out.push('}');
    while !out.len().is_multiple_of(PADDED_TO) {
        out.push(' ');
    }
    out
}

/// The index of a model: the bytes of all tensors, its other metadata as members of JSON, and the
/// shard of each tensor.
pub(crate) fn index_of<'a>(
    total: u64,
    about: &[(String, String)],
    map: impl Iterator<Item = (&'a str, &'a str)>,
) -> String {
    let mut out = String::from("{\n  \"metadata\": {");
    let total = (TOTAL_KEY.to_owned(), total.to_string());
    for (at, (key, value)) in about.iter().chain([&total]).enumerate() {
        out.push_str(if at == 0 { "\n    " } else { ",\n    " });
        string(&mut out, key);
        out.push_str(": ");
        out.push_str(value);
    }
    out.push_str("\n  },\n  \"weight_map\": {");
    for (at, (name, shard)) in map.enumerate() {
        out.push_str(if at == 0 { "\n    " } else { ",\n    " });
        string(&mut out, name);
        out.push_str(": ");
        string(&mut out, shard);
    }
    out.push_str("\n  }\n}\n");
    out
}

/// A string of JSON, escaped no more than it must be.
fn string(out: &mut String, text: &str) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' => {
                // Writing into a string does not fail.
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
            _ => out.push(char),
        }
    }
    out.push('"');
}

/// The strings among the attributes of a file, but for those that are ours.
fn metadata_of(catalog: &Catalog) -> Vec<(String, String)> {
    let texts = catalog.attrs().iter().filter(|(key, _)| !is_of_origin(key));
    let texts = texts.map(|(key, value)| (key.clone(), value.text().to_owned()));
    let mut texts: Vec<(String, String)> = texts.collect();
    let order = catalog.attrs().get(ORDER_KEY);
    let order = order.and_then(|order| serde_json::from_str::<Vec<String>>(order.text()).ok());
    let order = order.unwrap_or_default();
    let places: HashMap<&str, usize> = order.iter().map(String::as_str).zip(0..).collect();
    texts.sort_by_key(|(key, _)| places.get(key.as_str()).copied().unwrap_or(usize::MAX));
    texts
}

/// The strings of a file of these datasets, with the attributes of each.
pub(crate) fn strings<'d>(
    catalog: &Catalog,
    datasets: impl Iterator<Item = &'d Dataset>,
) -> Vec<(String, String)> {
    let mut strings = metadata_of(catalog);
    match (strings.iter_mut().find(|(key, _)| key == ATTRS_KEY), attrs::of_datasets(datasets)) {
        (Some((_, held)), Some(text)) => *held = text,
        (None, Some(text)) => {
            let at = strings.partition_point(|(key, _)| key.as_str() < ATTRS_KEY);
            strings.insert(at, (ATTRS_KEY.to_owned(), text));
        }
        (_, None) => strings.retain(|(key, _)| key != ATTRS_KEY),
    }
    strings
}

/// The header of a safetensors file, when it is not the one that the reference library would write.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn header_unless_canonical(
    source: &Source,
    catalog: &Catalog,
) -> Result<Option<String>> {
    let Some(text) = header::read_text(source)? else { return Ok(None) };
    let entries = catalog.datasets().iter().map(|dataset| {
        let stored = of_dataset(dataset)?;
        let (name, shape) = (dataset.name.clone(), dataset.shape().to_vec());
        Some(Entry { name, stored, len: stored.byte_len(&shape)?, shape })
    });
    let Some(mut entries) = entries.collect::<Option<Vec<_>>>() else { return Ok(Some(text)) };
    entries.sort_by(Entry::order);
    let strings = strings(catalog, catalog.datasets().iter());
    let canonical = header_of(&strings, entries.iter());
    Ok((canonical != text).then_some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, dtype: &str, shape: &[u64]) -> Entry {
        let stored = StoredType::from_name(dtype).unwrap();
        let (name, shape) = (name.to_owned(), shape.to_vec());
        Entry { name, stored, len: stored.byte_len(&shape).unwrap(), shape }
    }

    #[test]
    fn headers_are_those_of_the_reference_library() {
        // Written by its version 0.8.
        let wanted = "{\"__metadata__\":{\"x\":\"\u{e9}\\n\\u0007\\\"\\\\/\"},\
            \"s\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8]},\
            \"c\":{\"dtype\":\"C64\",\"shape\":[1],\"data_offsets\":[8,16]},\
            \"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[16,32]},\
            \"z\":{\"dtype\":\"U16\",\"shape\":[0,3],\"data_offsets\":[32,32]},\
            \"b\":{\"dtype\":\"I8\",\"shape\":[3],\"data_offsets\":[32,35]},\
            \"t\":{\"dtype\":\"BOOL\",\"shape\":[1],\"data_offsets\":[35,36]}}";
        let mut entries = [
            entry("t", "BOOL", &[1]),
            entry("z", "U16", &[0, 3]),
            entry("a", "F32", &[4]),
            entry("b", "I8", &[3]),
            entry("c", "C64", &[1]),
            entry("s", "F64", &[]),
        ];
        entries.sort_by(Entry::order);
        let metadata = [("x".to_owned(), "\u{e9}\n\u{7}\"\\/".to_owned())];
        let header = header_of(&metadata, entries.iter());
        assert_eq!(header.trim_end(), wanted);
        assert!(header.len().is_multiple_of(8) && header.len() < wanted.len() + 8);
        assert_eq!(header_of(&[], [].iter()), "{}      ");
    }
}
