//! Values that the protocols 0 and 1 write as lines of text.

use std::ops::Range;

use super::value::{Storage, Value};

/// A text of a line.
pub(super) enum Line {
    /// It is in the pickle as it is.
    Inside(Range<usize>),
    Decoded(String),
}

/// The number of a line: `I` and `L` are integers, and `00` and `01` are truths there; `F` is a float.
pub(super) fn number(text: &str, opcode: u8) -> Option<Value> {
    let text = text.trim();
    match (opcode, text) {
        (b'F', text) => text.parse().ok().map(Value::Float),
        (b'I', "00" | "01") => Some(Value::Bool(text == "01")),
        (_, text) => {
            let digits = text.strip_suffix('L').unwrap_or(text);
            let rest = digits.strip_prefix('-').unwrap_or(digits);
            let is_integer = !rest.is_empty() && rest.bytes().all(|it| it.is_ascii_digit());
            is_integer.then(|| digits.parse().map_or(Value::Long, Value::Integer))
        }
    }
}

/// The text of a line: a literal of Python in quotes, or one whose letters beyond Latin-1 are `\\uXXXX`.
pub(super) fn text(bytes: &[u8], line: Range<usize>, is_quoted: bool) -> Option<Line> {
    let mut inner = line;
    if is_quoted {
        let [first @ (b'\'' | b'"'), .., last] = bytes.get(inner.clone())? else { return None };
        if first != last {
            return None;
        }
        inner = inner.start.checked_add(1)?..inner.end.checked_sub(1)?;
    }
    let text = bytes.get(inner.clone())?;
    if text.iter().all(|byte| byte.is_ascii() && *byte != b'\\') {
        return Some(Line::Inside(inner));
    }
    let mut letters = text.iter().map(|byte| char::from(*byte));
    let mut decoded = String::with_capacity(text.len());
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            decoded.push(letter);
            continue;
        }
        match (letters.clone().next()?, is_quoted) {
            ('u', false) => {
                letters.next();
                decoded.push(code(&mut letters, 4)?);
            }
            ('U', false) => {
                letters.next();
                decoded.push(code(&mut letters, 8)?);
            }
            (_, false) => decoded.push('\\'),
            (escaped, true) => {
                letters.next();
                decoded.push(match escaped {
                    'x' => code(&mut letters, 2)?,
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    '\\' | '\'' | '"' => escaped,
                    _ => return None,
                });
            }
        }
    }
    Some(Line::Decoded(decoded))
}

/// The letter that the next hexadecimal digits are the number of.
fn code(letters: &mut impl Iterator<Item = char>, len: usize) -> Option<char> {
    let digits: String = letters.take(len).collect();
    let number = u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == len)?;
    char::from_u32(number)
}

/// The storage of a line, which is the tuple of its persistent id as Python prints it:
/// `('storage', <class 'torch.FloatStorage'>, '0', 'cpu', 12)`.
pub(super) fn storage(bytes: &[u8], line: Range<usize>) -> Option<Storage> {
    let text = str::from_utf8(bytes.get(line.clone())?).ok()?;
    let rest = text.strip_prefix("('storage', <class '")?;
    let (class, rest) = rest.split_once("'>, '")?;
    let (key, rest) = rest.split_once("', '")?;
    let (_, rest) = rest.split_once("', ")?;
    let count = rest.strip_suffix(')')?;
    let count = count.strip_suffix(", None").unwrap_or(count).parse().ok()?;
    let name = class.rsplit('.').next()?;
    let range = |part: &str| {
        let begin = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
        let begin = line.start.checked_add(begin)?;
        Some(begin..begin.checked_add(part.len())?)
    };
    Some(Storage { class: range(name)?, key: range(key)?, count })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_lines_are_those_that_python_writes() {
        let is = |text: &str, opcode: u8| number(text, opcode);
        assert!(matches!(is("01", b'I'), Some(Value::Bool(true))));
        assert!(matches!(is("-5", b'I'), Some(Value::Integer(-5))));
        assert!(matches!(is("1099511627776L", b'L'), Some(Value::Integer(1_099_511_627_776))));
        assert!(matches!(is("1180591620717411303424L", b'L'), Some(Value::Long)));
        assert!(matches!(is("0.1", b'F'), Some(Value::Float(it)) if it == 0.1));
        assert!(is("", b'I').is_none() && is("0x5", b'L').is_none() && is("-", b'I').is_none());
    }

    #[test]
    fn texts_of_lines_are_decoded() {
        let decoded = |line: &str, is_quoted| {
            let bytes: Vec<u8> = line.chars().map(|it| u8::try_from(it).unwrap()).collect();
            match text(&bytes, 0..bytes.len(), is_quoted)? {
                Line::Inside(range) => Some(line[range].to_owned()),
                Line::Decoded(text) => Some(text),
            }
        };
        assert_eq!(decoded("plain", false).as_deref(), Some("plain"));
        assert_eq!(
            decoded("caf\u{e9} \\u20ac \\U0001f600 a\\b", false).as_deref(),
            Some("caf\u{e9} \u{20ac} \u{1f600} a\\b")
        );
        assert_eq!(decoded("'it\\'s \\x41\\n'", true).as_deref(), Some("it's A\n"));
        assert_eq!(decoded("'open", true), None);
        assert_eq!(decoded("\\u20", false), None);
    }

    #[test]
    fn a_storage_is_the_tuple_that_python_prints() {
        let line = b"....('storage', <class 'torch.FloatStorage'>, '17', 'cuda:0', 12, None)";
        let found = storage(line, 4..line.len()).unwrap();
        assert_eq!(
            (&line[found.class], &line[found.key], found.count),
            (&b"FloatStorage"[..], &b"17"[..], 12)
        );
        assert!(storage(b"17", 0..2).is_none());
    }
}
