//! The tree -> one line of JSON.

use std::fmt::Write;

use super::super::tree::{Entry, Node, Value};

/// Writes a value.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Integer(integer) => integer.to_string(),
        Value::Float(float) => format!("{float:?}"),
        Value::Text(plain) => string(plain),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|Node { value, .. }| text(value)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(entries) => {
            let member = |it: &Entry| format!("{}: {}", string(&it.key), text(&it.node.value));
            let members: Vec<String> = entries.iter().map(member).collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

/// Text as JSON. Everything that might move or color a terminal is escaped.
fn string(text: &str) -> String {
    let mut json = String::from('"');
    for next in text.chars() {
        match next {
            '"' | '\\' => json.extend(['\\', next]),
            '\'' => json.push(next),
            _ if next.escape_debug().count() == 1 => json.push(next),
            _ => {
                for unit in next.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(json, "\\u{unit:04x}");
                }
            }
        }
    }
    json.push('"');
    json
}
