//! JSON text -> the spanned tree. Strict RFC 8259, bounded in depth, duplicate keys refused.

use std::collections::BTreeMap;
use std::ops::Range;

use super::DEPTH_MAX;
use super::error::DocumentError;
use super::tree::{Entry, Node, Value, double};

type Result<T> = std::result::Result<T, DocumentError>;

/// Reads one JSON value that is the whole text.
pub(crate) fn read(text: &str) -> Result<Node> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    reader.skip_space();
    let node = reader.value()?;
    reader.skip_space();
    match reader.peek() {
        None => Ok(node),
        Some(_) => Err(reader.wrong("nothing may follow the document")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Steps over this byte if it comes next, after space.
    fn take(&mut self, wanted: u8) -> bool {
        self.skip_space();
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn wrong(&self, message: impl Into<String>) -> DocumentError {
        self.wrong_at(&(self.at..self.at + 1), message)
    }

    fn wrong_at(&self, span: &Range<usize>, message: impl Into<String>) -> DocumentError {
        DocumentError::at(self.text, span, message)
    }

    fn value(&mut self) -> Result<Node> {
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => self.deeper(Self::table)?,
            Some(b'[') => self.deeper(Self::list)?,
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(_) => self.word()?,
            None => return Err(self.wrong("the document ends where a value is wanted")),
        };
        Ok(Node { value, span: start..self.at })
    }

    fn deeper(&mut self, read: fn(&mut Self) -> Result<Value>) -> Result<Value> {
        if self.depth == DEPTH_MAX {
            return Err(self.wrong(format!("nested deeper than {DEPTH_MAX} levels")));
        }
        self.depth += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn list(&mut self) -> Result<Value> {
        self.at += 1;
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(Value::List(items));
        }
        loop {
            self.skip_space();
            items.push(self.value()?);
            if self.take(b']') {
                return Ok(Value::List(items));
            }
            if !self.take(b',') {
                return Err(self.wrong("a comma or `]` is wanted"));
            }
        }
    }

    fn table(&mut self) -> Result<Value> {
        self.at += 1;
        let mut entries = Vec::new();
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        if self.take(b'}') {
            return Ok(Value::Table(entries));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.wrong("a key in double quotes is wanted"));
            }
            let start = self.at;
            let key = self.string()?;
            let key_span = start..self.at;
            if let Some(first) = seen.insert(key.clone(), start) {
                let line = self.text[..first].matches('\n').count() + 1;
                let message = format!("the key {key:?} is given twice, first on line {line}");
                return Err(self.wrong_at(&key_span, message));
            }
            if !self.take(b':') {
                return Err(self.wrong("a colon is wanted after the key"));
            }
            self.skip_space();
            let node = self.value()?;
            entries.push(Entry { key, key_span, node });
            if self.take(b'}') {
                return Ok(Value::Table(entries));
            }
            if !self.take(b',') {
                return Err(self.wrong("a comma or `}` is wanted"));
            }
        }
    }

    fn word(&mut self) -> Result<Value> {
        let rest = &self.text[self.at..];
        for (word, value) in
            [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)]
        {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.wrong("a value is wanted"))
    }

    fn digits(&mut self) -> Result<()> {
        let start = self.at;
        while self.peek().is_some_and(|next| next.is_ascii_digit()) {
            self.at += 1;
        }
        if start == self.at { Err(self.wrong("a digit is wanted")) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<Value> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        let mut whole = true;
        if self.peek() == Some(b'.') {
            whole = false;
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            whole = false;
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'-' | b'+')));
            self.digits()?;
        }
        let digits = &self.text[start..self.at];
        let integer = if whole { digits.parse().ok().map(Value::Integer) } else { None };
        match integer {
            Some(integer) => Ok(integer),
            None => double(digits)
                .map(Value::Float)
                .map_err(|message| self.wrong_at(&(start..self.at), message)),
        }
    }

    fn string(&mut self) -> Result<String> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let plain = self.at;
            while self.peek().is_some_and(|next| next != b'"' && next != b'\\' && 0x20 <= next) {
                self.at += 1;
            }
            text.push_str(&self.text[plain..self.at]);
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return Err(self.wrong("a control character must be escaped")),
                None => return Err(self.wrong_at(&(start..start + 1), "the quote is never closed")),
            }
        }
        self.at += 1;
        Ok(text)
    }

    fn escape(&mut self) -> Result<char> {
        let start = self.at;
        self.at += 1;
        let escape = self.peek();
        self.at += usize::from(escape.is_some_and(|next| next.is_ascii()));
        Ok(match escape {
            Some(plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self.hex(start)?;
                let mut scalar = Some(first);
                if (0xd800..0xdc00).contains(&first) {
                    scalar = None;
                    if self.text[self.at..].starts_with("\\u") {
                        self.at += 2;
                        let low = self.hex(start)?;
                        let pair = || Some(0x1_0000 + ((first - 0xd800) << 10) + (low - 0xdc00));
                        scalar = if (0xdc00..0xe000).contains(&low) { pair() } else { None };
                    }
                }
                scalar.and_then(char::from_u32).ok_or_else(|| {
                    self.wrong_at(&(start..self.at), "half a surrogate pair is no character")
                })?
            }
            _ => return Err(self.wrong_at(&(start..self.at), "unknown escape")),
        })
    }

    fn hex(&mut self, start: usize) -> Result<u32> {
        let digits = self.text.get(self.at..self.at + 4).unwrap_or_default();
        let all_hex = digits.len() == 4 && digits.bytes().all(|it| it.is_ascii_hexdigit());
        match u32::from_str_radix(digits, 16) {
            Ok(unit) if all_hex => {
                self.at += 4;
                Ok(unit)
            }
            _ => Err(self.wrong_at(&(start..self.at), "four hexadecimal digits are wanted")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        read(text).unwrap_or_else(|error| panic!("{text}: {error}")).value
    }

    #[test]
    fn values_read() {
        let text = |text: &str| Value::Text(text.to_owned());
        for (json, wanted) in [
            ("null", Value::Null),
            (" true ", Value::Bool(true)),
            ("0", Value::Integer(0)),
            ("-0", Value::Integer(0)),
            ("18446744073709551615", Value::Integer(u64::MAX.into())),
            ("-9007199254740993", Value::Integer(-9_007_199_254_740_993)),
            ("1.5e2", Value::Float(150.0)),
            ("1E-2", Value::Float(0.01)),
            ("0.0e-999", Value::Float(0.0)),
            ("5e-324", Value::Float(5e-324)),
            ("\"a\\n\\u00e9\\ud83d\\ude00\\/\"", text("a\n\u{e9}\u{1f600}/")),
            ("[]", Value::List(vec![])),
            ("{ }", Value::Table(vec![])),
        ] {
            assert_eq!(value(json), wanted, "{json}");
        }
        let Value::List(items) = value("[1, [2] ,\"x\"]") else { panic!("a list") };
        let spans: Vec<_> = items.iter().map(|item| item.span.clone()).collect();
        assert_eq!(spans, [1..2, 4..7, 9..12]);
    }

    #[test]
    fn anything_else_is_refused_at_its_place() {
        for (json, line, column, message) in [
            ("", 1, 1, "the document ends where a value is wanted"),
            ("[1,", 1, 4, "the document ends where a value is wanted"),
            ("[1,]", 1, 4, "a value is wanted"),
            ("[1 2]", 1, 4, "a comma or `]` is wanted"),
            ("{\"a\":1,}", 1, 8, "a key in double quotes is wanted"),
            ("{a:1}", 1, 2, "a key in double quotes is wanted"),
            ("{\"a\" 1}", 1, 6, "a colon is wanted after the key"),
            ("{\"a\":1 \"b\":2}", 1, 8, "a comma or `}` is wanted"),
            ("{\"a\":1}\nx", 2, 1, "nothing may follow the document"),
            ("{\n\"a\":1,\n\"a\":2}", 3, 1, "the key \"a\" is given twice, first on line 2"),
            ("{\"a\":1,\"\\u0061\":2}", 1, 8, "the key \"a\" is given twice, first on line 1"),
            ("01", 1, 2, "nothing may follow the document"),
            ("-", 1, 2, "a digit is wanted"),
            ("1.", 1, 3, "a digit is wanted"),
            ("1e", 1, 3, "a digit is wanted"),
            ("1e999", 1, 1, "the number is beyond what a double holds"),
            ("-0.01e-999", 1, 1, "the number is so small that a double makes 0 of it"),
            ("NaN", 1, 1, "a value is wanted"),
            ("+1", 1, 1, "a value is wanted"),
            ("'a'", 1, 1, "a value is wanted"),
            ("\"a", 1, 1, "the quote is never closed"),
            ("\"a\nb\"", 1, 3, "a control character must be escaped"),
            ("\"\\x\"", 1, 2, "unknown escape"),
            ("\"\\u12g4\"", 1, 2, "four hexadecimal digits are wanted"),
            ("\"\\u+123\"", 1, 2, "four hexadecimal digits are wanted"),
            ("\"\\ud83d\"", 1, 2, "half a surrogate pair is no character"),
            ("\"\\ud83d\\u0041\"", 1, 2, "half a surrogate pair is no character"),
            ("\"\\ude00\"", 1, 2, "half a surrogate pair is no character"),
            ("// no\n1", 1, 1, "a value is wanted"),
        ] {
            let error = read(json).unwrap_err();
            assert_eq!(error.message(), message, "{json}");
            assert_eq!((error.line(), error.column()), (Some(line), Some(column)), "{json}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&nested(DEPTH_MAX)).is_ok());
        let error = read(&nested(DEPTH_MAX + 1)).unwrap_err();
        assert_eq!(error.message(), "nested deeper than 64 levels");
        assert!(read(&"[".repeat(1 << 20)).is_err());
        assert!(read(&"{\"a\":".repeat(1 << 17)).is_err());
    }

    #[test]
    fn every_cut_of_a_document_is_an_error_or_a_value() {
        let json = "{\"d\\u00e9\": [1, -2.5e3, true, null, \"\u{1f600}\"], \"e\": {\"f\": []}}";
        for end in (0..json.len()).filter(|&end| json.is_char_boundary(end)) {
            assert!(read(&json[..end]).is_err(), "{end}");
        }
        assert!(read(json).is_ok());
    }
}
