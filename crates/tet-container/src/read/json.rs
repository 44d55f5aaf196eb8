//! A strict scanner of JSON that knows where it is. It builds no tree and recurses nowhere.

use std::borrow::Cow;

/// Brackets that may be open at once in a value that is skipped.
const DEPTH_MAX: usize = 128;

/// Where the text is not what it should be, in bytes from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It is not JSON.
    Syntax(usize),
    /// It is JSON of another type.
    Type(usize),
}

type Result<T> = std::result::Result<T, Unfit>;

/// A place in a text.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    /// A cursor at the first byte.
    pub fn new(text: &'a str) -> Self {
        Scanner { text, at: 0 }
    }

    /// Where the next token starts.
    pub fn place(&mut self) -> usize {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.at
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn syntax<T>(&self) -> Result<T> {
        Err(Unfit::Syntax(self.at))
    }

    /// Takes `wanted` if it comes next.
    fn takes(&mut self, wanted: u8) -> bool {
        self.place();
        let is_next = self.byte() == Some(wanted);
        self.at += usize::from(is_next);
        is_next
    }

    /// Takes `wanted`, which must come next.
    fn expect(&mut self, wanted: u8) -> Result<()> {
        if self.takes(wanted) { Ok(()) } else { self.syntax() }
    }

    /// A value starts here that does not start with the byte of the type that is wanted.
    fn other(&mut self) -> Unfit {
        let at = self.place();
        let mut rest = self.clone();
        match rest.skip() {
            Err(unfit) => unfit,
            // Such as the 1 of 01.
            Ok(()) if matches!(rest.byte(), Some(byte) if !b" \t\n\r,:]}".contains(&byte)) => {
                Unfit::Syntax(rest.at)
            }
            Ok(()) => Unfit::Type(at),
        }
    }

    /// Nothing may follow.
    ///
    /// # Errors
    /// Something follows.
    pub fn end(&mut self) -> Result<()> {
        self.place();
        if self.at == self.text.len() { Ok(()) } else { self.syntax() }
    }

    /// Calls `each` with every key, which takes the value.
    ///
    /// # Errors
    /// The text is no object, is nested too deep, or as `each`.
    pub fn object<E: From<Unfit>>(
        &mut self,
        mut each: impl FnMut(&mut Self, usize, Cow<'a, str>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        if !self.takes(b'{') {
            return Err(self.other().into());
        }
        if self.takes(b'}') {
            return Ok(());
        }
        loop {
            let at = self.place();
            if self.byte() != Some(b'"') {
                return Err(Unfit::Syntax(at).into());
            }
            let key = self.string()?;
            self.expect(b':')?;
            each(self, at, key)?;
            if self.takes(b'}') {
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    /// Calls `each` at every element of an array, which takes it.
    ///
    /// # Errors
    /// The text is no array, is nested too deep, or as `each`.
    pub fn array<E: From<Unfit>>(
        &mut self,
        mut each: impl FnMut(&mut Self) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        if !self.takes(b'[') {
            return Err(self.other().into());
        }
        if self.takes(b']') {
            return Ok(());
        }
        loop {
            each(self)?;
            if self.takes(b']') {
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    /// An array of unsigned integers.
    ///
    /// # Errors
    /// The text is no array of unsigned integers of 64 bits.
    pub fn numbers(&mut self) -> Result<Vec<u64>> {
        let mut numbers = Vec::new();
        self.array(|scanner| -> Result<()> {
            numbers.push(scanner.number()?);
            Ok(())
        })?;
        Ok(numbers)
    }

    /// An unsigned integer of 64 bits.
    ///
    /// # Errors
    /// The text is no such integer.
    pub fn number(&mut self) -> Result<u64> {
        let at = self.place();
        let digits = self.text.as_bytes().get(at..).unwrap_or_default();
        let len = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let goes_on = matches!(digits.get(len), Some(b'.' | b'e' | b'E'));
        let has_zeros = len > 1 && digits.first() == Some(&b'0');
        let value = self.text.get(at..at + len).and_then(|digits| digits.parse().ok());
        match value {
            Some(value) if !goes_on && !has_zeros => {
                self.at += len;
                Ok(value)
            }
            _ => Err(self.other()),
        }
    }

    /// A string.
    ///
    /// # Errors
    /// The text is no string of JSON.
    pub fn string(&mut self) -> Result<Cow<'a, str>> {
        if !self.takes(b'"') {
            return Err(self.other());
        }
        let start = self.at;
        let mut text = String::new();
        let mut plain = start;
        loop {
            match self.byte() {
                Some(b'"') => {
                    let rest = &self.text[plain..self.at];
                    self.at += 1;
                    if plain == start {
                        return Ok(Cow::Borrowed(rest));
                    }
                    text.push_str(rest);
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => {
                    text.push_str(&self.text[plain..self.at]);
                    self.at += 1;
                    text.push(self.escape()?);
                    plain = self.at;
                }
                Some(0..0x20) | None => return self.syntax(),
                Some(_) => self.at += 1,
            }
        }
    }

    /// Reads the character of an escape, after its backslash.
    fn escape(&mut self) -> Result<char> {
        let at = self.at;
        let byte = self.byte();
        self.at += 1;
        Ok(match byte {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self.hex().ok_or(Unfit::Syntax(at))?;
                let is_half = (0xd800..0xdc00).contains(&first);
                let pair = [first, if is_half { self.half().ok_or(Unfit::Syntax(at))? } else { 0 }];
                let units = if is_half { &pair[..] } else { &pair[..1] };
                let read = char::decode_utf16(units.iter().copied()).next();
                return read.and_then(std::result::Result::ok).ok_or(Unfit::Syntax(at));
            }
            _ => return Err(Unfit::Syntax(at)),
        })
    }

    /// The second half of a surrogate pair.
    fn half(&mut self) -> Option<u16> {
        let is_escape = self.text.as_bytes().get(self.at..)?.starts_with(b"\\u");
        self.at += 2;
        if is_escape { self.hex() } else { None }
    }

    fn hex(&mut self) -> Option<u16> {
        let digits = self.text.get(self.at..self.at + 4)?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        self.at += 4;
        if is_hex { u16::from_str_radix(digits, 16).ok() } else { None }
    }

    /// Takes `null` if it comes next.
    pub fn null(&mut self) -> bool {
        self.place();
        let is_next = self.text.as_bytes().get(self.at..).is_some_and(|it| it.starts_with(b"null"));
        self.at += if is_next { 4 } else { 0 };
        is_next
    }

    /// Goes past a value of any type, and gives its text.
    ///
    /// # Errors
    /// The text is no JSON, or nested too deep.
    pub fn raw(&mut self) -> Result<&'a str> {
        let start = self.place();
        self.skip()?;
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    /// Goes past a value of any type.
    ///
    /// # Errors
    /// The text is no JSON, or nested too deep.
    pub fn skip(&mut self) -> Result<()> {
        let mut open = Vec::new();
        loop {
            self.place();
            match self.byte() {
                Some(bracket @ (b'{' | b'[')) => {
                    self.at += 1;
                    if open.len() == DEPTH_MAX {
                        return self.syntax();
                    }
                    let closing = if bracket == b'{' { b'}' } else { b']' };
                    if !self.takes(closing) {
                        open.push(closing);
                        self.key(closing)?;
                        continue;
                    }
                }
                Some(b'"') => drop(self.string()?),
                _ => self.word()?,
            }
            // A value has ended, and with it maybe what holds it.
            loop {
                let Some(&closing) = open.last() else { return Ok(()) };
                if self.takes(closing) {
                    open.pop();
                } else {
                    self.expect(b',')?;
                    self.key(closing)?;
                    break;
                }
            }
        }
    }

    /// Goes past the key of the next value, inside an object.
    fn key(&mut self, closing: u8) -> Result<()> {
        if closing == b'}' {
            let at = self.place();
            if self.byte() != Some(b'"') {
                return Err(Unfit::Syntax(at));
            }
            self.string()?;
            self.expect(b':')?;
        }
        Ok(())
    }

    /// Goes past a number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<()> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        for word in [&b"true"[..], b"false", b"null"] {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(());
            }
        }
        match number_len(rest) {
            Some(len) => {
                self.at += len;
                Ok(())
            }
            None => self.syntax(),
        }
    }
}

/// How long the number is that the bytes begin with.
fn number_len(bytes: &[u8]) -> Option<usize> {
    let digits = |at: usize| {
        bytes.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut len = usize::from(bytes.first() == Some(&b'-'));
    len += match bytes.get(len)? {
        b'0' => 1,
        b'1'..=b'9' => digits(len),
        _ => return None,
    };
    if bytes.get(len) == Some(&b'.') {
        let fraction = digits(len + 1);
        len += if fraction == 0 { return None } else { 1 + fraction };
    }
    if matches!(bytes.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
        let exponent = digits(len + 1 + sign);
        len += if exponent == 0 { return None } else { 1 + sign + exponent };
    }
    Some(len)
}
