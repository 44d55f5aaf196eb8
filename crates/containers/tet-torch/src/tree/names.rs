//! The names of values: the keys that lead to them, and what kind of value they are.

use super::super::pickle::{Id, Pickle, Value};

/// Longer keys that are no texts have the number of their entry.
const KEY_LEN_MAX: usize = 256;
/// Tuples within tuples.
const KEY_DEPTH_MAX: u32 = 4;

pub(super) fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The first letters of a text.
pub(super) fn short(text: &str, len_max: usize) -> String {
    let mut letters = text.chars();
    let head: String = letters.by_ref().take(len_max).collect();
    if letters.next().is_some() { head + "..." } else { head }
}

/// The text of a key: a text as it is, other values as Python writes them; `None` for objects and long tuples.
pub(super) fn key_text(pickle: &Pickle, id: Id) -> Option<String> {
    if let Value::Text(range) = pickle.value(id) {
        return Some(pickle.text(range).into_owned());
    }
    let mut out = String::new();
    literal(pickle, id, &mut out, 0).then_some(out)
}

/// Writes a value as Python does; `false` if it is none of those that keys usually are.
fn literal(pickle: &Pickle, id: Id, out: &mut String, depth: u32) -> bool {
    match pickle.value(id) {
        Value::None => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Integer(number) => out.push_str(&number.to_string()),
        Value::Float(number) => out.push_str(&format!("{number:?}")),
        Value::Text(range) if range.len() <= KEY_LEN_MAX => {
            let text = pickle.text(range).replace('\\', "\\\\").replace('\'', "\\'");
            out.push('\'');
            out.push_str(&text);
            out.push('\'');
        }
        Value::Global { .. } => match pickle.names(id) {
            Some((module, name)) => {
                out.push_str(&module);
                out.push('.');
                out.push_str(&name);
            }
            None => return false,
        },
        Value::Tuple(items) if depth < KEY_DEPTH_MAX => {
            out.push('(');
            for (item, number) in items.iter().zip(0_usize..) {
                out.push_str(if number == 0 { "" } else { ", " });
                if KEY_LEN_MAX < out.len() || !literal(pickle, *item, out, depth.saturating_add(1))
                {
                    return false;
                }
            }
            out.push_str(if items.len() == 1 { ",)" } else { ")" });
        }
        _ => return false,
    }
    out.len() <= KEY_LEN_MAX
}

/// The kind of a value that is not shown.
pub(super) fn kind(pickle: &Pickle, value: &Value) -> String {
    match value {
        Value::Text(range) => format!("a text of {} bytes", range.len()),
        Value::Bytes(bytes) => format!("{} bytes", bytes.range.len()),
        Value::Long => "an integer of more than 64 bits".to_owned(),
        Value::Global { module, name } => {
            let (module, name) = (pickle.text(module), pickle.text(name));
            short(&format!("{module}.{name}"), KEY_LEN_MAX)
        }
        _ => "a value without a name".to_owned(),
    }
}
