//! Keys with dots, and the values that they lead to.
//!
//! ```text
//!   mars.steps.0.to  ->  {"mars": {"steps": [{"to": 6}]}}      name, name, number, name
//! ```
//!
//! Names lead into maps, numbers into lists, tags are passed over, and nothing leads into the rest.

use std::fmt::Write;

use tet_cbor::Value;

use crate::error::{Error, Result};
use crate::metadata::{Pairs, RESERVED_KEY};

/// A key of metadata: names that lead from map to map and numbers that lead into lists, with dots
/// between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(String);

/// Words of descriptors, which nobody may say of an object beside its descriptor.
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
    /// A key of this text.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Key`] for a name that is empty.
    pub fn parse(text: &str) -> Result<Self> {
        if text.split('.').any(str::is_empty) {
            return Err(refused(text, "a name is empty"));
        }
        Ok(Key(text.to_owned()))
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// What follows `extra.` or `_extra_.`, if the key says that it is of the message.
    #[must_use]
    pub fn of_message(&self) -> Option<Key> {
        let rest = self.0.strip_prefix("extra.").or_else(|| self.0.strip_prefix("_extra_."));
        rest.map(|rest| Key(rest.to_owned()))
    }

    /// Whether it leads to what the library says.
    pub(super) fn is_reserved(&self) -> bool {
        self.0.split('.').next() == Some(RESERVED_KEY)
    }

    /// Refuses a key that is not for users to set.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Key`].
    pub fn check_settable(&self) -> Result<()> {
        if self.0.split('.').any(|name| name == RESERVED_KEY) {
            return Err(refused(&self.0, "what a library says of its messages is not set"));
        }
        let own = self.of_message();
        let name = own.as_ref().map_or(self.text(), Key::text);
        let first = name.split('.').next().unwrap_or_default();
        if own.is_some() {
            let why = "other programs find the wire version there";
            return if name == "version" { Err(refused(&self.0, why)) } else { Ok(()) };
        }
        if matches!(first, "extra" | "_extra_") {
            return Err(refused(&self.0, "what is it to say of the message? write extra.KEY"));
        }
        // `mars.type` is nobody's descriptor.
        let is_packing = first.starts_with("sp_") || first.starts_with("szip_");
        if is_packing || STRUCTURAL.contains(&first) {
            return Err(refused(&self.0, "descriptors and places of objects are not changed"));
        }
        Ok(())
    }

    /// The value that it leads to.
    #[must_use]
    pub fn find<'v>(&self, pairs: &'v Pairs) -> Option<&'v Value> {
        self.find_by(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value))
    }

    /// The same, where `of` gives the value of a name.
    pub(super) fn find_by<'v>(&self, of: impl Fn(&str) -> Option<&'v Value>) -> Option<&'v Value> {
        find(of, &self.0)
    }

    /// Puts a value where it leads to, and makes the maps on the way that are not there.
    ///
    /// # Errors
    ///
    /// Something else than a map stands in the way, or a list that has no such element.
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

    /// Takes away what it leads to, and says whether it was there.
    ///
    /// # Errors
    ///
    /// It is an element of a list.
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

    /// The error of a key that leads no further than to where so many bytes of it are left.
    pub(super) fn stuck(&self, Stuck { left_len, why }: Stuck) -> Error {
        let text_len = self.0.len().saturating_sub(left_len).saturating_sub(1);
        refused(self.0.get(..text_len).unwrap_or(&self.0), why)
    }
}

/// Where a key leads no further.
#[derive(Debug)]
pub(super) struct Stuck {
    /// The bytes of the key that are left, without the dot before them.
    left_len: usize,
    why: &'static str,
}

fn refused(key: &str, why: &'static str) -> Error {
    Error::Key { key: key.into(), why }
}

/// The whole name counts before its first part does.
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

/// The place of a name in a map.
fn place_of(pairs: &[(Value, Value)], name: &str) -> Option<usize> {
    pairs.iter().position(|(key, _)| key.as_text() == Some(name))
}

/// The number of an element, as digits say it.
fn number_of(name: &str) -> Option<usize> {
    name.bytes().all(|byte| byte.is_ascii_digit()).then(|| name.parse().ok())?
}

/// Maps that lead to a value.
fn nested(path: &str, value: Value) -> Value {
    let names = path.rsplit('.');
    names.fold(value, |value, name| Value::Map(vec![(Value::Text(name.to_owned()), value)]))
}

/// The element of a list that a path leads to, and what follows.
fn element<'v, 'p>(
    items: &'v mut [Value],
    path: &'p str,
) -> Result<(&'v mut Value, Option<&'p str>), Stuck> {
    let stuck = |why| Stuck { left_len: path.len(), why };
    let (number, rest) = parted(path);
    let Some(number) = number_of(number) else {
        return Err(stuck("a list stands there, whose elements have numbers, from 0"));
    };
    let item = items.get_mut(number);
    Ok((item.ok_or(stuck("a list stands there that has no element of this number"))?, rest))
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
        other => Err(Stuck { left_len: path.len(), why: standing(other) }),
    }
}

/// Puts a value in the place of one, or where a path leads to from there.
fn put_at(found: &mut Value, rest: Option<&str>, value: Value) -> Result<(), Stuck> {
    match rest {
        Some(rest) => put_inside(found, rest, value),
        None => {
            *found = value;
            Ok(())
        }
    }
}

/// What stands where a key leads no further.
fn standing(value: &Value) -> &'static str {
    match value {
        Value::Text(_) => "a text stands there, no map or list",
        Value::Int(_) | Value::Float(_) => "a number stands there, no map or list",
        Value::Bool(_) => "true or false stands there, no map or list",
        Value::Null | Value::Undefined => "null stands there, no map or list",
        Value::Bytes(_) => "bytes stand there, no map or list",
        _ => "a single value stands there, no map or list",
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
                let why = "a list stands there, whose elements are not taken away: set the list";
                Err(Stuck { left_len: path.len(), why })
            }
            Err(_) => Ok(false),
        },
        Value::Tag(_, item) => take_inside(item, path),
        _ => Ok(false),
    }
}

/// A value as text: text as it is, anything else in the manner of JSON.
#[must_use]
pub fn text_of(value: &Value) -> String {
    if let Value::Text(text) = value {
        return text.clone();
    }
    let mut out = String::new();
    spell(value, &mut out);
    out
}

fn spell(value: &Value, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = match value {
        Value::Null => write!(out, "null"),
        Value::Undefined => write!(out, "undefined"),
        Value::Bool(truth) => write!(out, "{truth}"),
        Value::Int(number) => write!(out, "{number}"),
        Value::Float(number) => write!(out, "{number:?}"),
        Value::Text(text) => write!(out, "{text:?}"),
        Value::Bytes(bytes) => {
            bytes.iter().for_each(|byte| out.extend([byte >> 4, byte & 15].map(digit)));
            Ok(())
        }
        Value::Array(items) => {
            separated(out, ['[', ']'], items.iter(), spell);
            Ok(())
        }
        Value::Map(pairs) => {
            separated(out, ['{', '}'], pairs.iter(), |(key, value), out| {
                spell(key, out);
                out.push(':');
                spell(value, out);
            });
            Ok(())
        }
        Value::Tag(_, item) => {
            spell(item, out);
            Ok(())
        }
        Value::Simple(number) => write!(out, "simple({number})"),
        _ => Ok(()),
    };
}

fn digit(nibble: u8) -> char {
    char::from_digit(nibble.into(), 16).unwrap_or('0')
}

fn separated<T>(
    out: &mut String,
    [open, close]: [char; 2],
    items: impl Iterator<Item = T>,
    spell: impl Fn(T, &mut String),
) {
    out.push(open);
    for (at, item) in items.enumerate() {
        if at != 0 {
            out.push(',');
        }
        spell(item, out);
    }
    out.push(close);
}
