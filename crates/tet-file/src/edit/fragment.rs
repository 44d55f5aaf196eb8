//! Recovers the readable parts of a footer whose JSON or tail is damaged.

use serde_json::Deserializer;
use serde_json::value::RawValue;
use tet_format::{Limits, Rule, Span, Strict};

use super::Member;
use crate::footer::{FooterJson, Value};

/// Members that distinguish a footer JSON from a spill.
const KNOWN: [&str; 5] =
    ["history", "metadata", "metadata_ref", "zone_maps_ref", "secondary_index_ref"];

/// The readable parts of a damaged footer.
#[derive(Clone, Debug, Default)]
pub struct FooterFragment {
    /// The span of a complete JSON, if there is one.
    pub json: Option<Span>,
    /// Whether the JSON has members of version 2.
    pub is_newer: bool,
    /// The readable members, if the JSON is not complete; a spill without a reference is included
    /// as `metadata_ref`.
    pub members: Vec<(String, Member)>,
}

impl FooterFragment {
    /// Whether nothing could be recovered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.json.is_none() && self.members.is_empty()
    }

    /// Searches for a footer in bytes that start at `at` of the file.
    #[must_use]
    pub fn find(bytes: &[u8], at: u64, limits: &Limits) -> Self {
        let mut spills = Vec::new();
        let mut next = 0;
        while let Some(skipped) = bytes.get(next..).and_then(first_nonzero) {
            next += skipped;
            let rest = bytes.get(next..).unwrap_or_default();
            let Some(len) = value_len(rest) else { break };
            let object = rest.get(..len).unwrap_or_default();
            let start = at.saturating_add(next as u64);
            let Some(keys) = keys(object, limits) else { break };
            let span = Span::new(start, len as u64);
            if keys.iter().any(|key| KNOWN.contains(&key.as_str())) {
                let is_newer =
                    keys.iter().any(|key| key == "zone_maps_ref" || key == "secondary_index_ref");
                return FooterFragment { json: span, is_newer, members: Vec::new() };
            }
            spills.extend(span);
            next += len;
        }
        let mut members = members(bytes.get(next..).unwrap_or_default(), limits);
        let has_metadata = members.iter().any(|(key, _)| key == "metadata");
        if let Some(&span) = spills.last().filter(|_| !has_metadata) {
            members.push(("metadata_ref".to_owned(), Member::Spill(span, "{}".to_owned(), None)));
        }
        FooterFragment { json: None, is_newer: false, members }
    }
}

fn first_nonzero(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|&byte| byte != 0)
}

/// The length of the JSON value at the start of bytes.
fn value_len(bytes: &[u8]) -> Option<usize> {
    let mut values = Deserializer::from_slice(bytes).into_iter::<Box<RawValue>>();
    values.next()?.ok()?;
    Some(values.byte_offset())
}

/// The keys of an object, if readers accept it.
fn keys(object: &[u8], limits: &Limits) -> Option<Vec<String>> {
    let root = Value::read(object, 0, limits, Rule::JsonSyntax, &mut Strict).ok()??;
    FooterJson::read(root, &mut Strict).ok()?;
    Some(root.members()?.into_iter().map(|(key, _)| key).collect())
}

/// The members of a damaged JSON: all before the damage, and known members after it.
fn members(bytes: &[u8], limits: &Limits) -> Vec<(String, Member)> {
    let mut found: Vec<(String, Member)> = Vec::new();
    let mut at = usize::from(bytes.first() == Some(&b'{'));
    if at == 1 {
        while let Some((key, text, len)) = bytes.get(at..).and_then(member) {
            if !is_sound(&key, &text, limits) {
                break;
            }
            at += len + 1;
            let is_new = found.iter().all(|(other, _)| *other != key);
            if is_new && key != "integrity" && !key.ends_with("_ref") {
                found.push((key, Member::Text(text)));
            }
            if bytes.get(at - 1) != Some(&b',') {
                break;
            }
        }
    }
    for key in ["history", "metadata"] {
        if found.iter().any(|(other, _)| other == key) {
            continue;
        }
        let mark = format!("\"{key}\":");
        let rest = bytes.get(at..).unwrap_or_default();
        let places = rest.windows(mark.len()).enumerate();
        let places = places.filter(|(_, window)| *window == mark.as_bytes());
        let read = |(place, _): (usize, _)| {
            let (_, text, _) = member(rest.get(place..)?)?;
            is_sound(key, &text, limits).then_some(text)
        };
        let text = places.take(100).find_map(read);
        found.extend(text.map(|text| (key.to_owned(), Member::Text(text))));
    }
    found
}

/// The key and the value at the start of bytes, and their total length.
fn member(bytes: &[u8]) -> Option<(String, String, usize)> {
    let key_len = value_len(bytes).filter(|_| bytes.first() == Some(&b'"'))?;
    let key: String = serde_json::from_slice(bytes.get(..key_len)?).ok()?;
    let colon = bytes.get(key_len).filter(|&&byte| byte == b':');
    let value = bytes.get(key_len + usize::from(colon.is_some())..).filter(|_| colon.is_some())?;
    let len = value_len(value)?;
    let text = str::from_utf8(value.get(..len)?).ok()?;
    Some((key, text.to_owned(), key_len + 1 + len))
}

/// Whether readers accept a footer with only this member.
fn is_sound(key: &str, text: &str, limits: &Limits) -> bool {
    let json = format!("{{{}:{text}}}", serde_json::Value::from(key));
    keys(json.as_bytes(), limits).is_some()
}
