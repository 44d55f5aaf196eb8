//! The tree -> TOML, one line for every key at the top.

use std::fmt::Write;

use super::super::tree::{Entry, Node, Value};

/// Writes the entries of a document.
pub(super) fn text(entries: &[Entry]) -> String {
    entries.iter().map(|entry| member(entry) + "\n").collect()
}

fn member(entry: &Entry) -> String {
    format!("{} = {}", key(&entry.key), value(&entry.node.value))
}

fn value(of: &Value) -> String {
    match of {
        // No query holds a null: TOML has none.
        Value::Null => String::new(),
        Value::Bool(truth) => truth.to_string(),
        Value::Integer(integer) => integer.to_string(),
        Value::Float(float) => format!("{float:?}"),
        Value::Text(plain) => string(plain),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|Node { value: it, .. }| value(it)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Table(entries) => {
            let members: Vec<String> = entries.iter().map(member).collect();
            format!("{{ {} }}", members.join(", "))
        }
    }
}

fn key(key: &str) -> String {
    let bare = |next: char| next.is_ascii_alphanumeric() || next == '_' || next == '-';
    if !key.is_empty() && key.chars().all(bare) { key.to_owned() } else { string(key) }
}

/// Text as TOML. Everything that might move or color a terminal is escaped.
fn string(text: &str) -> String {
    let mut toml = String::from('"');
    for next in text.chars() {
        match next {
            '"' | '\\' => toml.extend(['\\', next]),
            '\'' => toml.push(next),
            _ if next.escape_debug().count() == 1 => toml.push(next),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(toml, "\\U{:08X}", u32::from(next));
            }
        }
    }
    toml.push('"');
    toml
}
