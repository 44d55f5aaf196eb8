//! Attributes: text, numbers with their type, and anything else as JSON.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::{Class, Datatype, Hdf5File, StoredAttribute};
use serde_json::{Map, Value};
use tet_query::AttrText;

use super::element::element;

/// The most bytes of the texts of an attribute.
pub(super) const TEXT_LEN_MAX: usize = 16 << 20;

/// The most values of one attribute that become JSON, a name or a list as one for every 16 bytes.
pub(crate) const VALUES_MAX: u64 = 1 << 20;

/// The value of an attribute; `None` where it refers to bytes that cannot be read, or has more than a
/// million values. `paths` are those of the objects, by their addresses.
pub(super) fn value(
    file: &Hdf5File,
    attribute: &StoredAttribute,
    paths: &BTreeMap<u64, String>,
) -> Option<AttrText> {
    let StoredAttribute { datatype, space, bytes, .. } = attribute;
    let is_one = space.shape.is_empty();
    if let Some(mut texts) = file.texts(datatype, bytes, TEXT_LEN_MAX).ok()? {
        return Some(match texts.pop().filter(|_| texts.is_empty()) {
            Some(text) => AttrText::Text(text),
            None => {
                let texts = file.texts(datatype, bytes, TEXT_LEN_MAX).ok()??;
                AttrText::Json(Value::from(texts).to_string())
            }
        });
    }
    if let Some(element) = element(datatype)
        && space.shape.len() + element.axes.len() <= 1
    {
        let mut bytes = bytes.clone();
        element.decode(&mut bytes);
        // NetCDF stores one number as a list of one.
        let size = element.dtype.size().and_then(|size| usize::try_from(size).ok());
        let is_one = element.axes.is_empty() && Some(bytes.len()) == size;
        return Some(match is_one {
            true => AttrText::number(element.dtype, &bytes),
            false => AttrText::numbers(element.dtype, &bytes),
        });
    }
    let size = usize::try_from(datatype.size).unwrap_or(usize::MAX);
    let context = Context { file, paths, left: Cell::new(VALUES_MAX) };
    let values = bytes.chunks_exact(size).map(|bytes| context.json(datatype, bytes, 0));
    let mut values = values.collect::<Option<Vec<Value>>>()?;
    let value = match values.len() {
        1 if is_one => values.swap_remove(0),
        _ => nested(values, &space.shape),
    };
    // A reference is the path of its object.
    Some(match value {
        Value::String(text) => AttrText::Text(text),
        value => AttrText::Json(value.to_string()),
    })
}

/// Values as lists of lists of these extents.
fn nested(values: Vec<Value>, shape: &[u64]) -> Value {
    let mut values = values;
    for &extent in shape.iter().skip(1).rev() {
        let len = usize::try_from(extent).unwrap_or(usize::MAX).max(1);
        values = values.chunks(len).map(|part| Value::from(part.to_vec())).collect();
    }
    Value::from(values)
}

struct Context<'a> {
    file: &'a Hdf5File,
    paths: &'a BTreeMap<u64, String>,
    /// How many values there may still be: members and lists can name the same bytes many times.
    left: Cell<u64>,
}

impl Context<'_> {
    /// Counts a value that takes `len` bytes more.
    fn count(&self, len: usize) -> Option<()> {
        let left = self.left.get().checked_sub(1 + len as u64 / 16)?;
        self.left.set(left);
        Some(())
    }

    /// An element as JSON.
    fn json(&self, datatype: &Datatype, bytes: &[u8], depth: u32) -> Option<Value> {
        if depth > 8 {
            return None;
        }
        self.count(bytes.len())?;
        if let Some(element) = element(datatype) {
            let mut bytes = bytes.to_vec();
            element.decode(&mut bytes);
            let number = match element.axes.is_empty() {
                true => AttrText::number(element.dtype, &bytes),
                false => AttrText::numbers(element.dtype, &bytes),
            };
            return serde_json::from_str(number.text()).ok();
        }
        if let Some(texts) = self.file.texts(datatype, bytes, TEXT_LEN_MAX).ok()? {
            let text = texts.into_iter().next()?;
            self.count(text.len())?;
            return Some(text.into());
        }
        let size = |datatype: &Datatype| usize::try_from(datatype.size).unwrap_or(usize::MAX);
        match &datatype.class {
            Class::Compound(members) => {
                let mut map = Map::new();
                for member in members {
                    self.count(member.name.len())?;
                    let start = usize::try_from(member.offset).ok()?;
                    let end = start.checked_add(size(&member.datatype))?;
                    let value = self.json(&member.datatype, bytes.get(start..end)?, depth + 1)?;
                    map.insert(member.name.clone(), value);
                }
                Some(Value::from(map))
            }
            Class::Array { base, .. } => {
                let parts = bytes.chunks_exact(size(base));
                parts.map(|bytes| self.json(base, bytes, depth + 1)).collect()
            }
            Class::List(base) => {
                let list = self.file.list(bytes, base.size).ok()?;
                self.count(list.len())?;
                let parts = list.chunks_exact(size(base));
                parts.map(|bytes| self.json(base, bytes, depth + 1)).collect()
            }
            Class::Reference(0) => {
                let address = address_of(bytes);
                Some(self.paths.get(&address).map_or(Value::Null, |path| format!("/{path}").into()))
            }
            _ => {
                let hex = bytes.iter().map(|byte| format!("{byte:02x}"));
                Some(hex.collect::<String>().into())
            }
        }
    }
}

/// The address that a reference to an object holds.
pub(super) fn address_of(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |address, &byte| address << 8 | u64::from(byte))
}
