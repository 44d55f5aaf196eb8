//! Small values as attributes: numbers, flags, short texts, and lists of them.

use serde_json::Value as Json;
use tet_format::DType;
use tet_query::AttrText;

use super::super::pickle::{Id, Pickle, Value};
use super::{LIST_COUNT_MAX, TEXT_LEN_MAX};

/// The kind of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// A short one of small values.
    Plain,
    /// A long one of small values.
    Long,
    /// One that has other values in it.
    Mixed,
}

/// Whether a value is a number, a flag or a short text. No text is copied: many values may share one.
pub(super) fn is_scalar(pickle: &Pickle, value: &Value) -> bool {
    match value {
        Value::None | Value::Bool(_) | Value::Integer(_) | Value::Float(_) => true,
        Value::Text(range) => range.len() <= TEXT_LEN_MAX,
        Value::Global { module, .. } => pickle.is(module, "torch"),
        _ => false,
    }
}

/// A number, a flag or a short text; `None` for other values.
pub(super) fn scalar(pickle: &Pickle, value: &Value) -> Option<AttrText> {
    if !is_scalar(pickle, value) {
        return None;
    }
    Some(match value {
        Value::Bool(flag) => AttrText::Json(flag.to_string()),
        Value::Integer(number) => AttrText::number(DType::Int64, &number.to_le_bytes()),
        Value::Float(number) => AttrText::number(DType::Float64, &number.to_le_bytes()),
        Value::Text(range) => AttrText::Text(pickle.text(range).into_owned()),
        Value::Global { name, .. } => AttrText::Text(format!("torch.{}", pickle.text(name))),
        _ => AttrText::Json("null".to_owned()),
    })
}

/// The kind of a list of these items.
pub(super) fn list_kind(pickle: &Pickle, items: &[Id]) -> List {
    if !items.iter().all(|item| is_scalar(pickle, pickle.value(*item))) {
        return List::Mixed;
    }
    let text_len = |id: &Id| match pickle.value(*id) {
        Value::Text(range) => range.len(),
        _ => 0,
    };
    let len = items.iter().fold(0_usize, |len, item| len.saturating_add(text_len(item)));
    if items.len() <= LIST_COUNT_MAX && len <= TEXT_LEN_MAX { List::Plain } else { List::Long }
}

/// A list of small values as JSON.
pub(super) fn list_json(pickle: &Pickle, items: &[Id]) -> String {
    let texts = items.iter().filter_map(|item| scalar(pickle, pickle.value(*item)));
    let texts = texts.map(|attr| match attr.json() {
        Some(json) => json.to_owned(),
        None => Json::from(attr.text()).to_string(),
    });
    format!("[{}]", texts.collect::<Vec<_>>().join(","))
}
