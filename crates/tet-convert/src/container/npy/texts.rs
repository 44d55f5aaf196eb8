//! Texts of NumPy, `<U5` and `|S5`, along one axis: they become the labels of an axis.

use std::io::{self, Read};

use super::literal::Literal;

/// Texts of more bytes are refused.
const LEN_MAX: u64 = 64 << 20;

/// An array of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texts {
    kind: Kind,
    /// Characters of one text, which zeros fill up.
    width: u64,
    /// How many there are.
    count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A character is a byte.
    Bytes,
    /// A character is a code point of four bytes.
    Points { is_big: bool },
}

impl Texts {
    /// What a dtype string says, if it is one of texts; of no elements yet.
    pub(super) fn of(descr: &Literal) -> Option<Self> {
        let Literal::Text(text) = descr else { return None };
        let (kind, width) = match text.as_bytes() {
            [b'<' | b'|', b'U', ..] => (Kind::Points { is_big: false }, &text[2..]),
            [b'>', b'U', ..] => (Kind::Points { is_big: true }, &text[2..]),
            [b'<' | b'|' | b'>', b'S' | b'a', ..] => (Kind::Bytes, &text[2..]),
            _ => return None,
        };
        Some(Texts { kind, width: width.parse().ok()?, count: 0 })
    }

    /// So many of them.
    pub(super) const fn repeated(self, count: u64) -> Self {
        Texts { count, ..self }
    }

    /// How many there are.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Reads all of them; nothing may follow.
    pub(crate) fn read(&self, input: &mut dyn Read) -> io::Result<Vec<String>> {
        let size = if self.kind == Kind::Bytes { 1 } else { 4 };
        let len = self.width.checked_mul(size);
        let all = len.and_then(|len| len.checked_mul(self.count));
        let (Some(len), Some(all)) = (len, all.filter(|&all| all <= LEN_MAX)) else {
            return Err(io::ErrorKind::OutOfMemory.into());
        };
        let mut bytes = Vec::new();
        input.take(all.saturating_add(1)).read_to_end(&mut bytes)?;
        if u64::try_from(bytes.len()) != Ok(all) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let len = usize::try_from(len).unwrap_or_default();
        let count = usize::try_from(self.count).map_err(|_| io::ErrorKind::OutOfMemory)?;
        if len == 0 {
            // Texts of no width take no bytes: only as many as there may be labels.
            let is_few = self.count <= LEN_MAX / 64;
            return if is_few {
                Ok(vec![String::new(); count])
            } else {
                Err(io::ErrorKind::OutOfMemory.into())
            };
        }
        let texts = bytes.chunks_exact(len).map(|bytes| self.text(bytes));
        texts.collect::<Option<Vec<_>>>().ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn text(&self, bytes: &[u8]) -> Option<String> {
        let text = match self.kind {
            Kind::Bytes => std::str::from_utf8(bytes).ok()?.to_owned(),
            Kind::Points { is_big } => {
                let points = bytes.as_chunks::<4>().0.iter();
                let point = |bytes: &[u8; 4]| {
                    let point = u32::from_le_bytes(*bytes);
                    char::from_u32(if is_big { point.swap_bytes() } else { point })
                };
                points.map(point).collect::<Option<String>>()?
            }
        };
        Some(text.trim_end_matches('\0').to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(descr: &str, count: u64, bytes: &[u8]) -> io::Result<Vec<String>> {
        let texts = Texts::of(&Literal::Text(descr.to_owned())).unwrap();
        texts.repeated(count).read(&mut &*bytes)
    }

    #[test]
    fn texts_of_both_kinds_are_read() {
        assert_eq!(read("|S2", 2, b"A\0BC").unwrap(), ["A", "BC"]);
        let points: Vec<u8> =
            ['\u{e9}', '\0', 'b', 'c'].map(|it| (it as u32).to_le_bytes()).concat();
        assert_eq!(read("<U2", 2, &points).unwrap(), ["\u{e9}", "bc"]);
        let points = [0, 0, 0, b'x', 0, 0, 0, b'y'];
        assert_eq!(read(">U1", 2, &points).unwrap(), ["x", "y"]);
        assert_eq!(read("<U0", 3, b"").unwrap(), ["", "", ""]);
    }

    #[test]
    fn what_is_no_text_is_an_error() {
        assert!(read("|S2", 2, b"ABC").is_err());
        assert!(read("|S2", 2, b"ABCDE").is_err());
        assert!(read("|S1", 1, &[0xFF]).is_err());
        assert!(read("<U1", 1, &0xD800_u32.to_le_bytes()).is_err());
        assert!(read("<U1", u64::MAX, b"").is_err());
        assert!(read("<U0", u64::MAX, b"").is_err());
        assert_eq!(Texts::of(&Literal::Text("<f4".to_owned())), None);
    }
}
