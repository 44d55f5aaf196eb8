//! Metadata keys with dots, and the values they lead to.
//!
//! ```text
//!   mars.steps.0.to  ->  {"mars": {"steps": [{"to": 6}]}}      name, name, number, name
//! ```
//!
//! Names lead into maps, numbers into lists; tags are skipped; other values have no parts.

use tet_cbor::Value;

use crate::error::{Error, Result};
use crate::metadata::{Pairs, RESERVED_KEY};

/// A metadata key: names of map entries and numbers of list elements, separated by dots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(String);

/// Descriptor keys, which object metadata must not contain.
const STRUCTURAL: [&str; 23] = [
    "base",
    "binary_scale_factor",
    "bits_per_value",
    "byte_order",
    "compression",
    "decimal_scale_factor",
    "dtype",
    "encoding",
    "filter",
    "hash",
    "masks",
    "message",
    "ndim",
    "object",
    "objects",
    "reference_value",
    "shape",
    "shuffle_element_size",
    "strides",
    "szip_block_offsets",
    "szip_block_size",
    "type",
    "version",
];

impl Key {
    /// Parses a key.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Key`] when a name in it is empty.
    pub fn parse(text: &str) -> Result<Self> {
        if text.split('.').any(str::is_empty) {
            return Err(refused(text, "a name is empty"));
        }
        Ok(Key(text.to_owned()))
    }

    /// The key as text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The rest of a key that starts with `extra.` or `_extra_.`: a key of the message.
    #[must_use]
    pub fn of_message(&self) -> Option<Key> {
        let rest = self.0.strip_prefix("extra.").or_else(|| self.0.strip_prefix("_extra_."));
        rest.map(|rest| Key(rest.to_owned()))
    }

    /// Refuses a key that users cannot set.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Key`].
    pub fn check_settable(&self) -> Result<()> {
        if self.0.split('.').any(|name| name == RESERVED_KEY) {
            return Err(refused(&self.0, "only the library writes `_reserved_`"));
        }
        let own = self.of_message();
        let name = own.as_ref().map_or(self.text(), Key::text);
        let first = name.split('.').next().unwrap_or_default();
        if own.is_some() {
            let why = "other programs find the wire version there";
            return if name == "version" { Err(refused(&self.0, why)) } else { Ok(()) };
        }
        if matches!(first, "extra" | "_extra_") {
            return Err(refused(&self.0, "to set a key of the message, write extra.KEY"));
        }
        // A nested key such as `mars.type` is not a descriptor key.
        let is_packing = first.starts_with("sp_") || first.starts_with("szip_");
        if is_packing || STRUCTURAL.contains(&first) {
            return Err(refused(&self.0, "descriptors and offsets of objects cannot be changed"));
        }
        Ok(())
    }

    /// The value that it leads to.
    #[must_use]
    pub fn find<'v>(&self, pairs: &'v Pairs) -> Option<&'v Value> {
        find(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value), &self.0)
    }

    /// Sets the value of the key, and creates the maps on the way that are missing.
    ///
    /// # Errors
    ///
    /// Fails at a value that is no map, or at a list that has no such element.
    pub(super) fn put(&self, pairs: &mut Pairs, value: Value) -> Result<(), Stuck> {
        if let Some((_, found)) = pairs.iter_mut().find(|(key, _)| *key == self.0) {
            *found = value;
            return Ok(());
        }
        let Some((first, rest)) = self.0.split_once('.') else {
            pairs.push((self.0.clone(), value));
            return Ok(());
        };
        match pairs.iter_mut().find(|(key, _)| key == first) {
            Some((_, inside)) => put_inside(inside, rest, value),
            None => {
                pairs.push((first.to_owned(), nested(rest, value)));
                Ok(())
            }
        }
    }

    /// Removes the value of the key. Returns whether it was there.
    ///
    /// # Errors
    ///
    /// Fails for an element of a list.
    pub(super) fn take(&self, pairs: &mut Pairs) -> Result<bool, Stuck> {
        if let Some(at) = pairs.iter().position(|(key, _)| *key == self.0) {
            pairs.remove(at);
            return Ok(true);
        }
        let Some((first, rest)) = self.0.split_once('.') else { return Ok(false) };
        let Some((_, inside)) = pairs.iter_mut().find(|(key, _)| key == first) else {
            return Ok(false);
        };
        take_inside(inside, rest)
    }

    /// The error of a key that leads to nothing from its last `left_len` bytes on.
    pub(super) fn stuck(&self, Stuck { left_len, why }: Stuck) -> Error {
        let text_len = self.0.len().saturating_sub(left_len).saturating_sub(1);
        refused(self.0.get(..text_len).unwrap_or(&self.0), why)
    }
}

/// The part of a key that leads nowhere, and why.
#[derive(Debug)]
pub(super) struct Stuck {
    /// The length in bytes of the rest of the key, without the dot before it.
    left_len: usize,
    why: &'static str,
}

fn refused(key: &str, why: &'static str) -> Error {
    Error::Key { key: key.into(), why }
}

/// A name with dots is looked up as a whole before its first part is.
fn find<'v>(of: impl Fn(&str) -> Option<&'v Value>, path: &str) -> Option<&'v Value> {
    of(path).or_else(|| {
        let (first, rest) = path.split_once('.')?;
        inside(of(first)?, rest)
    })
}

fn inside<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    match value {
        Value::Map(pairs) => find(|name| Some(&pairs.get(place_of(pairs, name)?)?.1), path),
        Value::Array(items) => {
            let (number, rest) = parted(path);
            let item = items.get(number_of(number)?)?;
            rest.map_or(Some(item), |rest| inside(item, rest))
        }
        Value::Tag(_, item) => inside(item, path),
        _ => None,
    }
}

/// The first name of a path, and what follows it.
fn parted(path: &str) -> (&str, Option<&str>) {
    path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)))
}

/// The index of a name in a map.
fn place_of(pairs: &[(Value, Value)], name: &str) -> Option<usize> {
    pairs.iter().position(|(key, _)| key.as_text() == Some(name))
}

/// The index of an element, from its digits.
fn number_of(name: &str) -> Option<usize> {
    name.bytes().all(|byte| byte.is_ascii_digit()).then(|| name.parse().ok())?
}

/// Nested maps that hold `value` at `path`.
fn nested(path: &str, value: Value) -> Value {
    let names = path.rsplit('.');
    names.fold(value, |value, name| Value::Map(vec![(Value::Text(name.to_owned()), value)]))
}

/// The element of a list that a path leads to, and the rest of the path.
fn element<'v, 'p>(
    items: &'v mut [Value],
    path: &'p str,
) -> Result<(&'v mut Value, Option<&'p str>), Stuck> {
    let stuck = |why| Stuck { left_len: path.len(), why };
    let (number, rest) = parted(path);
    let Some(number) = number_of(number) else {
        return Err(stuck("it leads to a list, whose elements have numbers, from 0"));
    };
    let item = items.get_mut(number);
    Ok((item.ok_or(stuck("it leads to a list that has no element of this number"))?, rest))
}

fn put_inside(node: &mut Value, path: &str, value: Value) -> Result<(), Stuck> {
    match node {
        Value::Map(pairs) => {
            let (name, rest) = match place_of(pairs, path) {
                Some(_) => (path, None),
                None => parted(path),
            };
            if let Some((_, found)) = place_of(pairs, name).and_then(|at| pairs.get_mut(at)) {
                return put_at(found, rest, value);
            }
            let value = match rest {
                Some(rest) => nested(rest, value),
                None => value,
            };
            pairs.push((Value::Text(name.to_owned()), value));
            Ok(())
        }
        Value::Array(items) => {
            let (item, rest) = element(items, path)?;
            put_at(item, rest, value)
        }
        Value::Tag(_, item) => put_inside(item, path, value),
        other => Err(Stuck { left_len: path.len(), why: not_a_container(other) }),
    }
}

/// Replaces a value, or the value that a path leads to from there.
fn put_at(found: &mut Value, rest: Option<&str>, value: Value) -> Result<(), Stuck> {
    match rest {
        Some(rest) => put_inside(found, rest, value),
        None => {
            *found = value;
            Ok(())
        }
    }
}

/// Why a key cannot lead into a value.
fn not_a_container(value: &Value) -> &'static str {
    match value {
        Value::Text(_) => "it leads to a text, not to a map or list",
        Value::Int(_) | Value::Float(_) => "it leads to a number, not to a map or list",
        Value::Bool(_) => "it leads to true or false, not to a map or list",
        Value::Null | Value::Undefined => "it leads to null, not to a map or list",
        Value::Bytes(_) => "it leads to bytes, not to a map or list",
        _ => "it leads to a single value, not to a map or list",
    }
}

fn take_inside(node: &mut Value, path: &str) -> Result<bool, Stuck> {
    match node {
        Value::Map(pairs) => {
            if let Some(at) = place_of(pairs, path) {
                pairs.remove(at);
                return Ok(true);
            }
            let Some((first, rest)) = path.split_once('.') else { return Ok(false) };
            let found = place_of(pairs, first).and_then(|at| pairs.get_mut(at));
            found.map_or(Ok(false), |(_, inside)| take_inside(inside, rest))
        }
        Value::Array(items) => match element(items, path) {
            Ok((item, Some(rest))) => take_inside(item, rest),
            Ok((_, None)) => {
                let why = "elements of a list cannot be removed: set the list";
                Err(Stuck { left_len: path.len(), why })
            }
            Err(_) => Ok(false),
        },
        Value::Tag(_, item) => take_inside(item, path),
        _ => Ok(false),
    }
}
