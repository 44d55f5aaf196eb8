//! Keys with dots, and the values that they lead to.

use std::fmt::Write;

use tet_cbor::Value;

use crate::error::{Error, Result};
use crate::metadata::{Pairs, RESERVED_KEY};

/// A key of metadata: names that lead from map to map, with dots between them.
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
        let is_packing = name.starts_with("sp_") || name.starts_with("szip_");
        // `mars.type` is nobody's descriptor.
        let is_own = !name.contains('.') && (STRUCTURAL.contains(&name) || is_packing);
        if is_own || matches!(first, "base" | "objects") {
            return Err(refused(&self.0, "descriptors and places of objects are not changed"));
        }
        Ok(())
    }

    /// The value that it leads to.
    #[must_use]
    pub fn find<'v>(&self, pairs: &'v Pairs) -> Option<&'v Value> {
        find(pairs.iter().map(|(key, value)| (key.as_str(), value)), &self.0)
    }

    /// Puts a value where it leads to; maps on the way are made, and what is no map is replaced.
    pub(super) fn put(&self, pairs: &mut Pairs, value: Value) {
        if let Some((_, found)) = pairs.iter_mut().find(|(key, _)| *key == self.0) {
            *found = value;
            return;
        }
        let Some((first, rest)) = self.0.split_once('.') else {
            pairs.push((self.0.clone(), value));
            return;
        };
        let at = pairs.iter().position(|(key, _)| key == first).unwrap_or_else(|| {
            pairs.push((first.to_owned(), Value::Map(Vec::new())));
            pairs.len() - 1
        });
        if let Some((_, inside)) = pairs.get_mut(at) {
            put_inside(inside, rest, value);
        }
    }

    /// Takes away what it leads to, and says whether it was there.
    pub(super) fn take(&self, pairs: &mut Pairs) -> bool {
        if let Some(at) = pairs.iter().position(|(key, _)| *key == self.0) {
            pairs.remove(at);
            return true;
        }
        let Some((first, rest)) = self.0.split_once('.') else { return false };
        let found = pairs.iter_mut().find(|(key, _)| key == first);
        found.is_some_and(|(_, inside)| take_inside(inside, rest))
    }
}

fn refused(key: &str, why: &'static str) -> Error {
    Error::Key { key: key.into(), why }
}

/// The whole name counts before its first part does.
fn find<'v>(
    pairs: impl Iterator<Item = (&'v str, &'v Value)> + Clone,
    path: &str,
) -> Option<&'v Value> {
    let of = |name: &str| pairs.clone().find(|(key, _)| *key == name).map(|(_, value)| value);
    if let Some(value) = of(path) {
        return Some(value);
    }
    let (first, rest) = path.split_once('.')?;
    inside(of(first)?, rest)
}

fn inside<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    match value {
        Value::Map(pairs) => {
            find(pairs.iter().filter_map(|(key, value)| Some((key.as_text()?, value))), path)
        }
        Value::Array(items) => {
            let (first, rest) = path.split_once('.').map_or((path, None), |(a, b)| (a, Some(b)));
            let item = items.get(first.parse::<usize>().ok()?)?;
            rest.map_or(Some(item), |rest| inside(item, rest))
        }
        Value::Tag(_, item) => inside(item, path),
        _ => None,
    }
}

fn put_inside(node: &mut Value, path: &str, value: Value) {
    if !matches!(node, Value::Map(_)) {
        *node = Value::Map(Vec::new());
    }
    let Value::Map(pairs) = node else { return };
    let named = |pairs: &[(Value, Value)], name: &str| {
        pairs.iter().position(|(key, _)| key.as_text() == Some(name))
    };
    let (name, rest) = match (named(pairs, path), path.split_once('.')) {
        (None, Some((first, rest))) => (first, Some(rest)),
        _ => (path, None),
    };
    let at = named(pairs, name).unwrap_or_else(|| {
        pairs.push((Value::Text(name.to_owned()), Value::Null));
        pairs.len() - 1
    });
    match (pairs.get_mut(at), rest) {
        (Some((_, inside)), Some(rest)) => put_inside(inside, rest, value),
        (Some((_, found)), None) => *found = value,
        (None, _) => {}
    }
}

fn take_inside(node: &mut Value, path: &str) -> bool {
    let Value::Map(pairs) = node else { return false };
    if let Some(at) = pairs.iter().position(|(key, _)| key.as_text() == Some(path)) {
        pairs.remove(at);
        return true;
    }
    let Some((first, rest)) = path.split_once('.') else { return false };
    let found = pairs.iter_mut().find(|(key, _)| key.as_text() == Some(first));
    found.is_some_and(|(_, inside)| take_inside(inside, rest))
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
