//! TOML text -> the spanned tree.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::DEPTH_MAX;
use super::error::DocumentError;
use super::tree::{Entry, Node, Value, double};

type Result<T> = std::result::Result<T, DocumentError>;

/// Reads a TOML document.
pub(crate) fn read(text: &str) -> Result<Node> {
    let table = DeTable::parse(text).map_err(|error| {
        let end = text.len()..text.len();
        let message = error.message().lines().next().unwrap_or_default().to_owned();
        DocumentError::at(text, &error.span().unwrap_or(end), message)
    })?;
    let span = 0..text.len();
    let value = table_of(text, table.into_inner(), &span, 1)?;
    Ok(Node { value, span })
}

fn table_of(text: &str, table: DeTable<'_>, span: &Range<usize>, depth: usize) -> Result<Value> {
    check_depth(text, span, depth)?;
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table {
        let key_span = key.span();
        let key = key.into_inner().into_owned();
        let span = value.span();
        let value = value_of(text, value.into_inner(), &span, depth)?;
        entries.push(Entry { key, key_span, node: Node { value, span } });
    }
    entries.sort_by_key(|entry| entry.key_span.start);
    Ok(Value::Table(entries))
}

fn value_of(text: &str, value: DeValue<'_>, span: &Range<usize>, depth: usize) -> Result<Value> {
    Ok(match value {
        DeValue::String(it) => Value::Text(it.into_owned()),
        DeValue::Boolean(it) => Value::Bool(it),
        DeValue::Datetime(it) => Value::Text(it.to_string()),
        DeValue::Integer(it) => {
            let integer = i128::from_str_radix(it.as_str(), it.radix());
            Value::Integer(integer.map_err(|_| beyond(text, span))?)
        }
        DeValue::Float(it) => {
            let literal = it.as_str();
            if literal.ends_with("inf") || literal.ends_with("nan") {
                return Err(beyond(text, span));
            }
            Value::Float(double(literal).map_err(|message| DocumentError::at(text, span, message))?)
        }
        DeValue::Array(items) => {
            check_depth(text, span, depth + 1)?;
            let items = items.into_iter().map(|item| {
                let span = item.span();
                let value = value_of(text, item.into_inner(), &span, depth + 1)?;
                Ok(Node { value, span })
            });
            Value::List(items.collect::<Result<_>>()?)
        }
        DeValue::Table(table) => table_of(text, table, span, depth + 1)?,
    })
}

fn check_depth(text: &str, span: &Range<usize>, depth: usize) -> Result<()> {
    if DEPTH_MAX < depth {
        let message = format!("nested deeper than {DEPTH_MAX} levels");
        return Err(DocumentError::at(text, span, message));
    }
    Ok(())
}

fn beyond(text: &str, span: &Range<usize>) -> DocumentError {
    DocumentError::at(text, span, "the number is beyond what a document holds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_syntaxes_make_one_tree() {
        let toml = "dataset = \"a\"\nn = 0x1F\nwhen = 2024-01-01\nx = 1.5\nlist = [1, true]\n\
                    [[selection]]\nstart = 1_000\n[[selection]]\n[execution]\nthreads = 2\n";
        let Value::Table(entries) = read(toml).unwrap().value else { panic!("a table") };
        let keys: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["dataset", "n", "when", "x", "list", "selection", "execution"]);
        assert_eq!(&toml[entries[0].key_span.clone()], "dataset");
        assert_eq!(&toml[entries[0].node.span.clone()], "\"a\"");
        assert_eq!(entries[1].node.value, Value::Integer(31));
        assert_eq!(entries[2].node.value, Value::Text("2024-01-01".to_owned()));
        assert_eq!(entries[3].node.value, Value::Float(1.5));
        let Value::List(axes) = &entries[5].node.value else { panic!("a list") };
        assert_eq!(axes.len(), 2);
    }

    #[test]
    fn wrong_text_is_refused_at_its_place() {
        for (toml, line) in [
            ("a = ", 1),
            ("a = 1\na = 2", 2),
            ("a = 1\n[a]", 2),
            ("\n\n= 1", 3),
            ("a = inf", 1),
            ("a = nan", 1),
            ("a = 1e-999", 1),
            ("a = \"x", 1),
        ] {
            assert_eq!(read(toml).unwrap_err().line(), Some(line), "{toml}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("a = {}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&nested(DEPTH_MAX - 1)).is_ok());
        assert!(read(&nested(DEPTH_MAX)).is_err());
        assert!(read(&nested(1 << 16)).is_err());
        let dotted = |depth: usize| format!("{}a = 1", "a.".repeat(depth));
        assert!(read(&dotted(DEPTH_MAX - 1)).is_ok());
        assert!(read(&dotted(DEPTH_MAX)).is_err());
        assert!(read(&dotted(1 << 18)).is_err());
        assert!(read(&format!("[{}a]", "a.".repeat(1 << 18))).is_err());
        assert!(read(&format!("a = {{ {}a = 1 }}", "a.".repeat(1 << 18))).is_err());
    }
}
