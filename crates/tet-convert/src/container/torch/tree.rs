//! The result of a pickle as a flat list: tensors and small values, each with the path to it.
//!
//! ```text
//!   {"model": {"layer.weight": tensor}, "epoch": 3, "lr": [0.1, 0.2]}
//!   model.layer.weight                   epoch    lr
//! ```

use std::collections::BTreeMap;

use serde_json::Value as Json;
use tet_format::{DType, ForeignFault};
use tet_query::AttrText;

use super::pickle::{Pickle, Rebuilt, Value};
use super::rule;

/// Values within values.
const DEPTH_MAX: u64 = 64;
/// Bytes of all names together.
const NAMES_LEN_MAX: usize = 64 << 20;
/// Longer lists and texts are counted.
const LIST_COUNT_MAX: usize = 1024;
const TEXT_LEN_MAX: usize = 64 << 10;

/// What a pickle contains.
#[derive(Debug, Default)]
pub(super) struct Tree<'a> {
    pub(super) tensors: Vec<(String, &'a Rebuilt)>,
    pub(super) attrs: BTreeMap<String, AttrText>,
    /// Values that are not shown: objects, bytes, long lists.
    pub(super) hidden_count: usize,
    /// The path to what is too deep.
    pub(super) deep: Option<String>,
    names_len: usize,
    visit_count: u64,
}

/// Lists a pickle; `name` is that of a tensor which is all of it.
pub(super) fn of<'a>(pickle: &'a Pickle, name: &str) -> Result<Tree<'a>, ForeignFault> {
    let mut tree = Tree::default();
    if let Value::Tensor(tensor) = pickle.value(pickle.root) {
        tree.tensors.push((name.to_owned(), tensor));
        return Ok(tree);
    }
    tree.visit(pickle, pickle.root, "", 0)?;
    Ok(tree)
}

impl<'a> Tree<'a> {
    fn visit(
        &mut self,
        pickle: &'a Pickle,
        id: u32,
        path: &str,
        depth: u64,
    ) -> Result<(), ForeignFault> {
        self.visit_count = self.visit_count.saturating_add(1);
        self.count_len(path.len())?;
        let is_deep = DEPTH_MAX <= depth || VISIT_COUNT_MAX <= self.visit_count;
        match pickle.value(id) {
            Value::Tensor(tensor) => self.tensors.push((path.to_owned(), tensor)),
            Value::Map(_) | Value::List(_) | Value::Tuple(_) if is_deep => {
                self.deep.get_or_insert_with(|| path.to_owned());
            }
            Value::Map(entries) => {
                let is_plain = |id: u32| scalar(pickle, pickle.value(id)).is_some();
                let plain_count = entries.iter().filter(|(_, value)| is_plain(*value)).count();
                for (key, value) in entries {
                    match key_text(pickle, *key) {
                        _ if LIST_COUNT_MAX < plain_count && is_plain(*value) => self.hide(),
                        Some(key) => self.visit(pickle, *value, &joined(path, &key), depth + 1)?,
                        None => self.hide(),
                    }
                }
            }
            Value::List(items) | Value::Tuple(items) => {
                if let Some(list) = plain_list(pickle, items).filter(|_| !path.is_empty()) {
                    return self.attr(path, AttrText::Json(list));
                }
                for (item, number) in items.iter().zip(0_u64..) {
                    if scalar(pickle, pickle.value(*item)).is_some() {
                        self.hide();
                        continue;
                    }
                    self.visit(pickle, *item, &joined(path, &number.to_string()), depth + 1)?;
                }
            }
            value => match scalar(pickle, value) {
                Some(attr) if !path.is_empty() => self.attr(path, attr)?,
                _ => self.hide(),
            },
        }
        Ok(())
    }

    fn attr(&mut self, path: &str, value: AttrText) -> Result<(), ForeignFault> {
        self.count_len(value.text().len())?;
        self.attrs.entry(path.to_owned()).or_insert(value);
        Ok(())
    }

    fn hide(&mut self) {
        self.hidden_count = self.hidden_count.saturating_add(1);
    }

    /// Counts bytes of names and values.
    fn count_len(&mut self, len: usize) -> Result<(), ForeignFault> {
        self.names_len = self.names_len.saturating_add(len);
        if self.names_len <= NAMES_LEN_MAX {
            return Ok(());
        }
        let of = |len: usize| u64::try_from(len).unwrap_or(u64::MAX);
        let (found, wanted) = (of(self.names_len), of(NAMES_LEN_MAX));
        Err(ForeignFault { rule: &rule::LIMIT_NAMES, at: 0, found, wanted })
    }
}

/// Values that are visited; one that is reached by several paths is visited as often.
const VISIT_COUNT_MAX: u64 = 1 << 22;

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The text of a key: a text, or a number.
fn key_text(pickle: &Pickle, id: u32) -> Option<String> {
    match pickle.value(id) {
        Value::Text(range) => Some(pickle.text(range).into_owned()),
        Value::Integer(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A number, a flag or a short text; `None` for other values.
fn scalar(pickle: &Pickle, value: &Value) -> Option<AttrText> {
    Some(match value {
        Value::None => AttrText::Json("null".to_owned()),
        Value::Bool(flag) => AttrText::Json(flag.to_string()),
        Value::Integer(number) => AttrText::number(DType::Int64, &number.to_le_bytes()),
        Value::Float(number) => AttrText::number(DType::Float64, &number.to_le_bytes()),
        Value::Text(range) if range.len() <= TEXT_LEN_MAX => {
            AttrText::Text(pickle.text(range).into_owned())
        }
        Value::Global { module, name } if pickle.text(module) == "torch" => {
            AttrText::Text(format!("torch.{}", pickle.text(name)))
        }
        _ => return None,
    })
}

/// A list of such values as JSON.
fn plain_list(pickle: &Pickle, items: &[u32]) -> Option<String> {
    if LIST_COUNT_MAX < items.len() {
        return None;
    }
    let mut out = String::from("[");
    for (nth, item) in items.iter().enumerate() {
        let attr = scalar(pickle, pickle.value(*item))?;
        out.push_str(if nth == 0 { "" } else { "," });
        match attr.json() {
            Some(json) => out.push_str(json),
            None => out.push_str(&Json::from(attr.text()).to_string()),
        }
        if TEXT_LEN_MAX < out.len() {
            return None;
        }
    }
    out.push(']');
    Some(out)
}
