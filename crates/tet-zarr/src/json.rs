//! Metadata documents as JSON: bounded, and with the numbers that Python writes outside of JSON.

use serde_json::{Map, Value};

use crate::error::{Broken, broken, len};
use crate::rule;

/// The longest document, in bytes.
pub(crate) const DOCUMENT_LEN_MAX: u64 = 64 << 20;

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// The object of a document. `NaN`, `Infinity` and `-Infinity`, which Python writes without quotes,
/// become texts.
pub(crate) fn object(bytes: &[u8]) -> Result<Object, Broken> {
    if DOCUMENT_LEN_MAX < len(bytes.len()) {
        return Err(broken(&rule::LIMIT_DOCUMENT, len(bytes.len()), DOCUMENT_LEN_MAX));
    }
    let value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => match quoted(bytes).and_then(|text| serde_json::from_slice(&text).ok()) {
            Some(value) => value,
            None => {
                let at = len(byte_of(bytes, error.line(), error.column()));
                return Err(Broken { at, ..broken(&rule::JSON, 0, 0) });
            }
        },
    };
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(broken(&rule::JSON, 0, 0)),
    }
}

/// The byte at a line and a column, both counted from 1.
fn byte_of(bytes: &[u8], line: usize, column: usize) -> usize {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let before: usize = lines.by_ref().take(line.saturating_sub(1)).map(|it| it.len() + 1).sum();
    (before + column.saturating_sub(1)).min(bytes.len())
}

/// The text with quotes around the words that are no JSON; `None` if there is no such word.
fn quoted(bytes: &[u8]) -> Option<Vec<u8>> {
    const WORDS: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];
    let mut text = Vec::new();
    text.try_reserve(bytes.len()).ok()?;
    let (mut rest, mut is_text, mut found) = (bytes, false, false);
    while let Some((&byte, after)) = rest.split_first() {
        let word = WORDS.iter().find(|word| !is_text && rest.starts_with(word));
        if let Some(word) = word {
            found = true;
            text.push(b'"');
            text.extend_from_slice(word);
            text.push(b'"');
            rest = rest.get(word.len()..)?;
            continue;
        }
        text.push(byte);
        rest = after;
        if is_text && byte == b'\\' {
            let (&escaped, after) = rest.split_first()?;
            text.push(escaped);
            rest = after;
        } else if byte == b'"' {
            is_text = !is_text;
        }
    }
    found.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_of_python_become_texts() {
        let object = object(br#"{"a": NaN, "b": [-Infinity, Infinity], "c": "\"NaN"}"#).unwrap();
        let wanted = json!({"a": "NaN", "b": ["-Infinity", "Infinity"], "c": "\"NaN"});
        assert_eq!(Value::Object(object), wanted);
    }

    #[test]
    fn a_fault_has_its_byte() {
        assert_eq!(object(b"{\n  \"a\": ?}").unwrap_err().at, 9);
        assert_eq!(object(b"[1]").unwrap_err().rule.id, "ZR-M2");
        let deep = "[".repeat(100_000);
        assert_eq!(object(deep.as_bytes()).unwrap_err().rule.id, "ZR-M2");
    }
}
