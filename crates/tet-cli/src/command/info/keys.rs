//! `tet info --keys`: what datasets have under some keys, a column each.
//!
//! ```text
//!   mars.levels.0  ->  {"mars": {"levels": [850, 500]}}  ->  850
//! ```
//!
//! A key is looked up in the structure of a dataset, then in its attributes, then in those of the file.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use tet_query::{AttrText, Dataset, nearest_word};

use super::Contents;
use super::chunks::Stored;
use super::metadata;
use crate::context::Context;
use crate::escape::Escaped;
use crate::exit::{Failure, Result};
use crate::render::json::Attr;
use crate::render::table::{Side, Table};

/// Keys that are about the structure.
const STRUCTURE: [&str; 6] = ["name", "dtype", "shape", "chunks", "codec", "stored"];
/// Keys of files that are compared with one that no dataset has.
const WORDS_MAX: usize = 10_000;
/// Maps in maps that are searched for such keys.
const DEPTH_MAX: usize = 8;

/// The values of a dataset, one for each key.
type Values = Vec<Option<Attr>>;

/// The keys that are listed.
pub(super) struct Keys<'a> {
    asked: &'a [String],
    /// Whether a file that was looked at has it.
    is_known: Vec<bool>,
    /// The keys of files that lack one that is asked for.
    words: BTreeSet<String>,
}

impl<'a> Keys<'a> {
    pub(super) fn new(asked: &'a [String]) -> Keys<'a> {
        let is_known = asked.iter().map(|key| STRUCTURE.contains(&key.as_str())).collect();
        Keys { asked, is_known, words: BTreeSet::new() }
    }

    /// Whether there are any.
    pub(super) fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// The values of all datasets of a file.
    pub(super) fn values(&mut self, contents: &Contents) -> Vec<Values> {
        let catalog = &contents.opened.catalog;
        let file: Values = self.asked.iter().map(|key| of_attrs(catalog.attrs(), key)).collect();
        let datasets = catalog.datasets().iter().zip(&contents.stored);
        let values: Vec<Values> = datasets
            .map(|(dataset, stored)| {
                let keys = self.asked.iter().zip(&file);
                keys.map(|(key, file)| {
                    let own = of_structure(dataset, stored, key);
                    own.or_else(|| of_attrs(&dataset.attrs, key)).or_else(|| file.clone())
                })
                .collect()
            })
            .collect();
        let mut is_whole = true;
        for (at, is_known) in self.is_known.iter_mut().enumerate() {
            let is_here = values.iter().any(|values| values[at].is_some());
            *is_known |= is_here || file[at].is_some();
            is_whole &= *is_known;
        }
        if !is_whole {
            let attrs = catalog.datasets().iter().map(|dataset| &dataset.attrs);
            for (key, value) in attrs.chain([catalog.attrs()]).flatten() {
                add_words(key, value.text(), DEPTH_MAX, &mut self.words);
            }
        }
        values
    }

    /// Checks that each key is one of a file.
    ///
    /// # Errors
    ///
    /// No dataset and no file has it; the error names similar ones.
    pub(super) fn check(&self) -> Result<()> {
        let mut keys = self.asked.iter().zip(&self.is_known);
        let Some((key, _)) = keys.find(|(_, is_known)| !**is_known) else { return Ok(()) };
        let failure = Failure::usage("no-such-key", format!("no dataset has the key {key:?}"));
        let end = format!(".{key}");
        let mut near: Vec<&str> =
            self.words.iter().filter(|it| it.ends_with(&end)).map(String::as_str).collect();
        near.truncate(3);
        if near.is_empty() {
            let words = STRUCTURE.into_iter().chain(self.words.iter().map(String::as_str));
            near.extend(nearest_word(key, words));
        }
        let quoted: Vec<String> = near.iter().map(|it| format!("{it:?}")).collect();
        Err(failure.hint(match quoted.is_empty() {
            true => "`tet info FILE --metadata` lists the attributes".to_owned(),
            false => format!("did you mean {}?", quoted.join(" or ")),
        }))
    }

    /// The values of a dataset by their keys.
    pub(super) fn named(&self, values: Values) -> BTreeMap<String, Option<Attr>> {
        self.asked.iter().cloned().zip(values).collect()
    }

    /// Prints a row for each dataset.
    ///
    /// # Errors
    ///
    /// Writing to standard output fails.
    pub(super) fn write(&self, rows: &[Values], context: &mut Context<'_>) -> Result<()> {
        let mut table = Table::new(&vec![("", Side::Left); self.asked.len()]);
        table.row(self.asked);
        for values in rows {
            table.row(values.iter().map(|it| it.as_ref().map_or("-".to_owned(), metadata::text)));
        }
        context.line("")?;
        for line in table.lines(context.table_width(), context.paint) {
            context.line(line)?;
        }
        Ok(())
    }
}

fn of_structure(dataset: &Dataset, stored: &Stored, key: &str) -> Option<Attr> {
    let grid = Some(&dataset.grid).filter(|_| dataset.has_shape);
    let (name, axis) = key.split_once('.').unwrap_or((key, ""));
    let extents = match name {
        "shape" => dataset.shape(),
        "chunks" => grid?.chunk_shape().as_slice(),
        _ if !axis.is_empty() => return None,
        "name" => return Some(Attr::Text(dataset.name.clone())),
        "dtype" => return Some(Attr::Text(dataset.dtype_name.clone())),
        "codec" if stored.codecs.is_empty() => return None,
        "codec" => return Some(Attr::Text(stored.codecs.join("+"))),
        "stored" => return json(&stored.stored_len?),
        _ => return None,
    };
    grid?;
    if axis.is_empty() { json(&extents) } else { json(extents.get(number(axis)?)?) }
}

fn json(value: &impl serde::Serialize) -> Option<Attr> {
    serde_json::value::to_raw_value(value).ok().map(Attr::Json)
}

/// The number of an element, from its digits.
fn number(text: &str) -> Option<usize> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Whether a key is, or leads into, one of these attributes.
pub(crate) fn has_key(attrs: &BTreeMap<String, AttrText>, key: &str) -> bool {
    of_attrs(attrs, key).is_some()
}

fn of_attrs(attrs: &BTreeMap<String, AttrText>, key: &str) -> Option<Attr> {
    if let Some(value) = attrs.get(key) {
        return Some(metadata::attr(value));
    }
    let mut places = key.rmatch_indices('.');
    places.find_map(|(at, _)| match attrs.get(&key[..at])? {
        AttrText::Text(_) => None,
        value => inside(value.text(), &key[at + 1..]),
    })
}

/// The value that a path leads to in a map or a list.
fn inside(json: &str, path: &str) -> Option<Attr> {
    match json.as_bytes().first()? {
        b'{' => {
            let map: BTreeMap<String, &RawValue> = serde_json::from_str(json).ok()?;
            along(path, |name| map.get(name).copied())
        }
        b'[' => {
            let list: Vec<&RawValue> = serde_json::from_str(json).ok()?;
            along(path, |name| list.get(number(name)?).copied())
        }
        _ => None,
    }
}

/// The value at the end of a path; a name with dots comes before its first part.
fn along<'j>(path: &str, of: impl Fn(&str) -> Option<&'j RawValue>) -> Option<Attr> {
    if let Some(value) = of(path) {
        return Some(of_raw(value));
    }
    let mut places = path.rmatch_indices('.');
    places.find_map(|(at, _)| inside(of(&path[..at])?.get(), &path[at + 1..]))
}

fn of_raw(value: &RawValue) -> Attr {
    match serde_json::from_str::<String>(value.get()) {
        Ok(text) => Attr::Text(text),
        Err(_) => metadata::attr(&AttrText::Json(value.get().to_owned())),
    }
}

/// Adds a key, and those that lead into its value.
fn add_words(key: &str, json: &str, depth: usize, words: &mut BTreeSet<String>) {
    if WORDS_MAX <= words.len() || key.chars().any(crate::escape::acts) {
        return;
    }
    words.insert(Escaped(key).to_string());
    if depth == 0 || !json.starts_with('{') {
        return;
    }
    let Ok(map) = serde_json::from_str::<BTreeMap<String, &RawValue>>(json) else { return };
    for (name, value) in map {
        add_words(&format!("{key}.{name}"), value.get(), depth - 1, words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: Option<Attr>) -> Option<String> {
        value.map(|value| metadata::text(&value))
    }

    #[test]
    fn keys_lead_into_maps_and_lists() {
        let json = |text: &str| AttrText::Json(text.to_owned());
        let attrs: BTreeMap<String, AttrText> = [
            (
                "mars",
                json(r#"{"param":"2t","levels":[850,{"to":[6,18446744073709551615]}],"a.b":1}"#),
            ),
            ("a.b", json("2")),
            ("a", json(r#"{"b":3,"c":4}"#)),
            ("note", AttrText::Text(r#"{"x":1}"#.to_owned())),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into();
        for (key, wanted) in [
            ("mars.param", Some("2t")),
            ("mars.levels.0", Some("850")),
            ("mars.levels.1.to.1", Some("18446744073709551615")),
            ("mars.levels.1.to", Some("[6,18446744073709551615]")),
            ("mars.a.b", Some("1")),
            ("a.b", Some("2")),
            ("a.c", Some("4")),
            ("note", Some(r#"{"x":1}"#)),
            ("note.x", None),
            ("mars.levels.2", None),
            ("mars.levels.+1", None),
            ("mars.levels.", None),
            ("mars.param.x", None),
            ("mars.", None),
            (".", None),
            ("", None),
        ] {
            assert_eq!(text(of_attrs(&attrs, key)).as_deref(), wanted, "{key}");
        }
    }

    #[test]
    fn keys_of_maps_are_words() {
        let mut words = BTreeSet::new();
        add_words("mars", r#"{"param":"2t","step":{"to":6}}"#, DEPTH_MAX, &mut words);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(words, ["mars", "mars.param", "mars.step", "mars.step.to"]);
    }
}
