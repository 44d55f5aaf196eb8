//! The Python literals a `.npy` header may hold, read without evaluating anything.

/// How deep tuples, lists and dicts may nest; NumPy's own headers need three.
const DEPTH_MAX: u32 = 16;

/// A Python literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    Text(String),
    Bool(bool),
    Int(u64),
    Tuple(Vec<Literal>),
    List(Vec<Literal>),
    Dict(Vec<(Literal, Literal)>),
}

/// Where a literal stops being one, in characters from its start, and what was wanted there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) wanted: &'static str,
}

/// Reads one literal and the white space around it; nothing else may follow.
pub(crate) fn parse(text: &str) -> Result<Literal, Fault> {
    let mut cursor = Cursor { rest: text, at: 0, depth: 0 };
    let literal = cursor.literal()?;
    cursor.space();
    if cursor.rest.is_empty() { Ok(literal) } else { Err(cursor.fault("the end of the header")) }
}

struct Cursor<'a> {
    rest: &'a str,
    at: usize,
    depth: u32,
}

impl Cursor<'_> {
    fn fault(&self, wanted: &'static str) -> Fault {
        Fault { at: self.at, wanted }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let first = chars.next()?;
        self.rest = chars.as_str();
        self.at += 1;
        Some(first)
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|c| matches!(c, ' ' | '\t' | '\n' | '\r')) {
            self.next();
        }
    }

    /// Takes `wanted`, after white space, if it is there.
    fn take(&mut self, wanted: char) -> bool {
        self.space();
        let there = self.peek() == Some(wanted);
        if there {
            self.next();
        }
        there
    }

    fn literal(&mut self) -> Result<Literal, Fault> {
        self.space();
        match self.peek() {
            Some(open @ ('(' | '[' | '{')) => {
                if self.depth == DEPTH_MAX {
                    return Err(self.fault("less nesting"));
                }
                self.next();
                self.depth += 1;
                let nested = match open {
                    '(' => self.tuple(),
                    '[' => Ok(Literal::List(self.items(']', "`,` or `]`")?.0)),
                    _ => self.dict(),
                };
                self.depth -= 1;
                nested
            }
            Some(quote @ ('\'' | '"')) => {
                self.next();
                self.text(quote).map(Literal::Text)
            }
            Some('0'..='9') => self.int(),
            Some('A'..='Z' | 'a'..='z') => self.word(),
            _ => Err(self.fault("a value")),
        }
    }

    /// The items up to `close`, and whether a comma stood after the last.
    fn items(&mut self, close: char, wanted: &'static str) -> Result<(Vec<Literal>, bool), Fault> {
        let mut items = Vec::new();
        let mut comma = false;
        while !self.take(close) {
            if !items.is_empty() && !comma {
                return Err(self.fault(wanted));
            }
            items.push(self.literal()?);
            comma = self.take(',');
        }
        Ok((items, comma))
    }

    /// `()`, `(a,)`, `(a, b)`; and `(a)`, which is `a`.
    fn tuple(&mut self) -> Result<Literal, Fault> {
        let (mut items, comma) = self.items(')', "`,` or `)`")?;
        if items.len() == 1 && !comma {
            return items.pop().ok_or_else(|| self.fault("a value"));
        }
        Ok(Literal::Tuple(items))
    }

    fn dict(&mut self) -> Result<Literal, Fault> {
        let mut members = Vec::new();
        let mut comma = true;
        while !self.take('}') {
            if !comma {
                return Err(self.fault("`,` or `}`"));
            }
            let key = self.literal()?;
            if !self.take(':') {
                return Err(self.fault("`:`"));
            }
            members.push((key, self.literal()?));
            comma = self.take(',');
        }
        Ok(Literal::Dict(members))
    }

    fn text(&mut self, quote: char) -> Result<String, Fault> {
        let mut text = String::new();
        loop {
            match self.next() {
                Some(c) if c == quote => return Ok(text),
                Some('\\') => {
                    let escaped = self.escape().ok_or_else(|| self.fault("a known escape"))?;
                    text.push(escaped);
                }
                Some(c) if c != '\n' && c != '\0' => text.push(c),
                _ => return Err(self.fault("a closing quote")),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let digit_count = match self.next()? {
            c @ ('\\' | '\'' | '"') => return Some(c),
            'n' => return Some('\n'),
            'r' => return Some('\r'),
            't' => return Some('\t'),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => return None,
        };
        let mut code = 0_u32;
        for _ in 0..digit_count {
            code = code.checked_mul(16)?.checked_add(self.next()?.to_digit(16)?)?;
        }
        char::from_u32(code)
    }

    /// A decimal integer; Python 2 wrote a long one with an `L` at its end.
    fn int(&mut self) -> Result<Literal, Fault> {
        let wanted = "an integer below 2^64";
        let mut value = 0_u64;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            let grown = value.checked_mul(10).and_then(|v| v.checked_add(u64::from(digit)));
            value = grown.ok_or_else(|| self.fault(wanted))?;
            self.next();
        }
        if self.peek() == Some('L') {
            self.next();
        }
        match self.peek() {
            Some(c) if c.is_alphanumeric() || matches!(c, '.' | '_') => Err(self.fault(wanted)),
            _ => Ok(Literal::Int(value)),
        }
    }

    fn word(&mut self) -> Result<Literal, Fault> {
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word)
                && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
            {
                self.rest = rest;
                self.at += word.len();
                return Ok(Literal::Bool(value));
            }
        }
        Err(self.fault("a value"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Literal {
        Literal::Text(text.to_owned())
    }

    #[test]
    fn literals_read_as_python_reads_them() {
        use Literal::{Bool, Dict, Int, List, Tuple};
        for (source, literal) in [
            ("'<f8'", text("<f8")),
            (r#""it's""#, text("it's")),
            (r"'\x41\u00e9\\\n'", text("A\u{e9}\\\n")),
            (" True ", Bool(true)),
            ("False", Bool(false)),
            ("()", Tuple(vec![])),
            ("(3,)", Tuple(vec![Int(3)])),
            ("(3)", Int(3)),
            ("(3L, 4)", Tuple(vec![Int(3), Int(4)])),
            ("(3, 4, )", Tuple(vec![Int(3), Int(4)])),
            ("[]", List(vec![])),
            ("[('a', '<f8'),]", List(vec![Tuple(vec![text("a"), text("<f8")])])),
            ("{}", Dict(vec![])),
            (
                "{'a': 1, 'b': (2,), }\n",
                Dict(vec![(text("a"), Int(1)), (text("b"), Tuple(vec![Int(2)]))]),
            ),
            ("18446744073709551615", Int(u64::MAX)),
        ] {
            assert_eq!(parse(source), Ok(literal), "{source}");
        }
    }

    #[test]
    fn anything_else_is_a_fault_at_its_place() {
        for (source, at) in [
            ("", 0),
            ("-1", 0),
            ("1.5", 1),
            ("1e5", 1),
            ("0x10", 1),
            ("18446744073709551616", 19),
            ("Trueish", 0),
            ("None", 0),
            ("__import__('os')", 0),
            ("(1 2)", 3),
            ("(1,,)", 3),
            ("(1", 2),
            ("'abc", 4),
            (r"'\q'", 3),
            (r"'\ud800'", 7),
            ("{'a' 1}", 5),
            ("{'a': 1 'b': 2}", 8),
            ("{'a': 1} x", 9),
            ("[1)", 2),
        ] {
            assert_eq!(parse(source).map_err(|fault| fault.at), Err(at), "{source}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        assert!(parse(&format!("{}{}", "[".repeat(16), "]".repeat(16))).is_ok());
        assert_eq!(parse(&"[".repeat(60_000)).map_err(|fault| fault.at), Err(16));
        assert_eq!(parse(&"{".repeat(60_000)).map_err(|fault| fault.at), Err(16));
    }
}
