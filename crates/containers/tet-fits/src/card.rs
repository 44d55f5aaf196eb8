//! One card of a header: a keyword and its value, in 80 bytes.

use tet_format::DType;
use tet_query::AttrText;

/// Bytes of a card.
pub(super) const CARD_LEN: usize = 80;

/// A card.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Card {
    /// A keyword and its value; `is_sound` is false for a value that the standard does not have.
    Value { name: String, value: Value, is_sound: bool },
    /// The next part of a long text.
    Continue(String),
    /// A line of text, of the keyword `COMMENT`, `HISTORY`, or none.
    Line { name: String, text: String },
    /// The end of the header.
    End,
}

/// The value of a card.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    Flag(bool),
    Integer(i64),
    Float(f64),
    Complex(f64, f64),
    Undefined,
}

impl Card {
    pub(super) fn read(bytes: &[u8]) -> Card {
        let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
        let is_plain = bytes.iter().all(|byte| (b' '..=b'~').contains(byte));
        let (name, rest) = text.split_at(text.char_indices().nth(8).map_or(text.len(), |it| it.0));
        let name = name.trim_end();
        if is_end(bytes) {
            return Card::End;
        }
        if name == "CONTINUE" && !rest.starts_with('=') {
            let (value, _) = Value::read(rest);
            let text = if let Value::Text(text) = value { text } else { String::new() };
            return Card::Continue(text);
        }
        let is_text = matches!(name, "COMMENT" | "HISTORY" | "");
        let (name, rest, is_named) = match (name, rest.strip_prefix('='), rest.split_once('=')) {
            (name, Some(rest), _) if !is_text => (name, rest, is_keyword(name)),
            ("HIERARCH", None, Some((long, rest))) => (long.trim(), rest, true),
            (name, ..) => {
                let (name, text) = (name.to_owned(), rest.trim_end().to_owned());
                return Card::Line { name, text };
            }
        };
        let (value, is_value) = Value::read(rest);
        Card::Value { name: name.to_owned(), value, is_sound: is_plain && is_named && is_value }
    }
}

/// Whether a card is the last one: `END`, also where something follows it that makes no longer keyword of it.
fn is_end(bytes: &[u8]) -> bool {
    let next = bytes.strip_prefix(b"END").and_then(|rest| rest.iter().find(|byte| **byte != b' '));
    let is_near = bytes.starts_with(b"END");
    is_near
        && next.is_none_or(|byte| {
            !byte.is_ascii_uppercase() && !byte.is_ascii_digit() && !b"-_=".contains(byte)
        })
}

fn is_keyword(name: &str) -> bool {
    let is_letter =
        |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    !name.is_empty() && name.bytes().all(is_letter)
}

impl Value {
    /// The value of what follows a keyword, and whether the standard describes it.
    fn read(text: &str) -> (Value, bool) {
        let text = text.trim_start();
        if let Some(quoted) = text.strip_prefix('\'') {
            return quoted_text(quoted);
        }
        let text = text.split('/').next().unwrap_or_default().trim();
        let value = match text {
            "" => Some(Value::Undefined),
            "T" => Some(Value::Flag(true)),
            "F" => Some(Value::Flag(false)),
            text => complex(text).or_else(|| number(text)),
        };
        let is_sound = value.is_some();
        (value.unwrap_or_else(|| Value::Text(text.to_owned())), is_sound)
    }

    /// The value as an attribute.
    pub(super) fn attr(&self) -> AttrText {
        match self {
            Value::Text(text) => AttrText::Text(text.clone()),
            Value::Flag(flag) => AttrText::Json(flag.to_string()),
            Value::Integer(number) => AttrText::number(DType::Int64, &number.to_le_bytes()),
            Value::Float(number) => AttrText::number(DType::Float64, &number.to_le_bytes()),
            Value::Complex(one, other) => {
                let bytes = [one.to_le_bytes(), other.to_le_bytes()].concat();
                AttrText::numbers(DType::Float64, &bytes)
            }
            Value::Undefined => AttrText::Json("null".to_owned()),
        }
    }

    /// The value as a number.
    #[allow(
        clippy::cast_precision_loss,
        reason = "the nearest float is what scales are computed with"
    )]
    pub(super) const fn number(&self) -> Option<f64> {
        match self {
            Value::Integer(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            _ => None,
        }
    }
}

/// A text up to its closing quote; a quote inside is written twice, and spaces at the end do not count.
fn quoted_text(text: &str) -> (Value, bool) {
    let mut out = String::new();
    let mut letters = text.chars().peekable();
    let mut is_closed = false;
    while let Some(letter) = letters.next() {
        if letter == '\'' && letters.next_if_eq(&'\'').is_none() {
            is_closed = true;
            break;
        }
        out.push(letter);
    }
    let rest: String = letters.collect();
    let rest = rest.trim_start();
    let is_sound = is_closed && (rest.is_empty() || rest.starts_with('/'));
    out.truncate(out.trim_end_matches(' ').len());
    (Value::Text(out), is_sound)
}

fn complex(text: &str) -> Option<Value> {
    let (one, other) = text.strip_prefix('(')?.strip_suffix(')')?.split_once(',')?;
    Some(Value::Complex(number(one.trim())?.number()?, number(other.trim())?.number()?))
}

/// A number of the digits that the standard allows: no words such as `inf`.
fn number(text: &str) -> Option<Value> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || b"+-.EDed".contains(&byte);
    if !text.bytes().all(is_digit) {
        return None;
    }
    let is_whole = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-".contains(&byte));
    if let (true, Ok(number)) = (is_whole, text.parse()) {
        return Some(Value::Integer(number));
    }
    text.replace(['D', 'd'], "E").parse().ok().map(Value::Float)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> (Value, bool) {
        match Card::read(format!("{:80}", format!("KEY     = {text}")).as_bytes()) {
            Card::Value { value, is_sound, .. } => (value, is_sound),
            card => panic!("{card:?}"),
        }
    }

    #[test]
    fn values_have_the_types_of_the_standard() {
        let text = |text: &str| Value::Text(text.to_owned());
        for (card, found) in [
            ("                   T / a flag", Value::Flag(true)),
            ("F", Value::Flag(false)),
            ("-42 / an integer", Value::Integer(-42)),
            ("+9223372036854775807", Value::Integer(i64::MAX)),
            ("9223372036854775808", Value::Float(9_223_372_036_854_775_808.0)),
            ("1.5", Value::Float(1.5)),
            ("-.5E+3", Value::Float(-500.0)),
            ("1.D-2", Value::Float(0.01)),
            ("(1.0, -2)", Value::Complex(1.0, -2.0)),
            ("'M 31   '           / a name", text("M 31")),
            ("' O''HARA / 2'", text(" O'HARA / 2")),
            ("''", text("")),
            ("   / nothing", Value::Undefined),
        ] {
            assert_eq!(value(card), (found, true), "{card}");
        }
        for card in ["inf", "nan", "'open", "'a' b", "1.2.3", "TRUE", "1E"] {
            assert!(!value(card).1, "{card}");
        }
    }

    #[test]
    fn cards_are_values_lines_and_the_end() {
        let of = |text: &str| Card::read(format!("{text:80}").as_bytes());
        let line =
            |name: &str, text: &str| Card::Line { name: name.to_owned(), text: text.to_owned() };
        assert_eq!(of("END"), Card::End);
        assert_eq!(of("COMMENT = not a value"), line("COMMENT", "= not a value"));
        assert_eq!(of("HISTORY made"), line("HISTORY", "made"));
        assert_eq!(of("CONTINUE  'more&'"), Card::Continue("more&".to_owned()));
        let long = "HIERARCH ESO TEL ALT = 45.5 / degrees";
        let (name, value) = ("ESO TEL ALT".to_owned(), Value::Float(45.5));
        assert_eq!(of(long), Card::Value { name, value, is_sound: true });
        let name = "lower".to_owned();
        assert_eq!(
            of("lower   = 1"),
            Card::Value { name, value: Value::Integer(1), is_sound: false }
        );
    }
}
