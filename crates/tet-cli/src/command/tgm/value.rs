//! Parses values of the command line: JSON if valid, else text. Integers are exact or refused.
//!
//! `serde_json` reads integers past 64 bits as floats, unless its feature `arbitrary_precision` is set:
//! that would hold for every crate of the build, and change how they read, compare and print numbers.

use serde_json::Value as Json;
use tet_convert::field_of_text;
use tet_tensogram::Value;

/// Parses a value.
///
/// # Errors
///
/// Returns an integer that CBOR does not have.
pub(super) fn value_of_text(text: &str) -> Result<Value, String> {
    let (exact, past) = exact(text);
    match (serde_json::from_str::<Json>(&exact), past) {
        (Ok(_), None) => Ok(field_of_text(&exact)),
        (Ok(_), Some(integer)) => Err(integer.to_owned()),
        (Err(_), _) => Ok(Value::Text(text.to_owned())),
    }
}

/// Replaces integers that `serde_json` would read as floats by a marker object; also returns the first
/// integer that is out of range.
fn exact(text: &str) -> (String, Option<&str>) {
    let (mut out, mut past, mut rest) = (String::new(), None, text);
    while let Some(at) = rest.find(|c: char| c == '"' || is_of_number(c)) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let len = if from.starts_with('"') { quoted_len(from) } else { number_len(from) };
        let (token, behind) = from.split_at(len);
        rest = behind;
        match integer(token) {
            Some(Ok(it)) if i128::from(i64::MIN) <= it => out.push_str(token),
            Some(Ok(it)) => out.push_str(&format!("{{\"$int\":\"{it}\"}}")),
            Some(Err(())) => {
                past = past.or(Some(token));
                out.push('0');
            }
            None => out.push_str(token),
        }
    }
    out.push_str(rest);
    (out, past)
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E')
}

fn number_len(text: &str) -> usize {
    text.find(|c| !is_of_number(c)).unwrap_or(text.len())
}

/// The length of a string with its quotes; that of the rest if it has no end.
fn quoted_len(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let is_end = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |(at, _)| at.saturating_add(1))
}

/// Parses a JSON token as an integer; an error if CBOR cannot store it.
fn integer(token: &str) -> Option<Result<i128, ()>> {
    let digits = token.strip_prefix('-').unwrap_or(token);
    let is_integer = !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'));
    let is_held = |it: &i128| (-1 << 64..1 << 64).contains(it);
    is_integer.then(|| token.parse::<i128>().ok().filter(is_held).ok_or(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_exact_or_refused() {
        let held = [
            "0",
            "-1",
            "9007199254740993",
            "9223372036854775808",
            "18446744073709551615",
            "-9223372036854775808",
            "-9223372036854775809",
            "-18446744073709551616",
        ];
        for text in held {
            let wanted = Value::Int(text.parse().unwrap());
            assert_eq!(value_of_text(text), Ok(wanted.clone()), "{text}");
            let list = value_of_text(&format!("[\"\\\"1\", {text}]"));
            assert_eq!(list, Ok(Value::Array(vec![Value::Text("\"1".to_owned()), wanted])));
        }
        let long = "1".repeat(400);
        for text in ["18446744073709551616", "-18446744073709551617", &long] {
            for whole in
                [text.to_owned(), format!("[1,{text}]"), format!("{{\"a\":{{\"b\":{text}}}}}")]
            {
                assert_eq!(value_of_text(&whole), Err(text.to_owned()), "{whole}");
            }
        }
    }

    #[test]
    fn floats_and_texts_are_what_they_look_like() {
        let floats = [("99999999999999999999.0", 1e20), ("1e20", 1e20), ("-1.5E+3", -1500.0)];
        for (text, wanted) in floats {
            assert_eq!(value_of_text(text), Ok(Value::Float(wanted)), "{text}");
        }
        let texts = [
            "id 99999999999999999999",
            "99999999999999999999-1",
            "099999999999999999999",
            "a\"99999999999999999999",
            "-",
            "",
            "[99999999999999999999",
            "2026-04-24",
            "\u{e9}1",
        ];
        for text in texts {
            assert_eq!(value_of_text(text), Ok(Value::Text(text.to_owned())), "{text}");
        }
        let quoted = value_of_text("\"99999999999999999999\"");
        assert_eq!(quoted, Ok(Value::Text("99999999999999999999".to_owned())));
    }
}
