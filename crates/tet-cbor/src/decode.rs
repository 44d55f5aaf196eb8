//! Reads heads, strings and whole items, in one pass and with bounded memory.
//!
//! A reader has a position in its bytes and a maximum depth. Malformed items are a fault, since the
//! start of the next item is unknown then; text that is not UTF-8 is only noted, and the caller
//! decides.

use std::borrow::Cow;

use crate::fault::{Broken, Fault};

/// The major types, in the first three bits of an item.
const TEXT: u8 = 3;

/// The start of an item. A container or string without a count ends with a break.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Head {
    /// An integer.
    Unsigned(u64),
    /// The integer -1 minus this.
    Negative(u64),
    /// This number of bytes.
    Bytes(Option<u64>),
    /// This number of bytes of text.
    Text(Option<u64>),
    /// This number of items.
    Array(Option<u64>),
    /// This number of pairs of items.
    Map(Option<u64>),
    /// A tag, followed by its item.
    Tag(u64),
    /// A simple value: false is 20, true 21, null 22, undefined 23.
    Simple(u8),
    /// A floating-point number.
    Float(f64),
    /// The end of a container without a count.
    Break,
}

impl Head {
    /// Whether it is null or undefined, which is equivalent to a missing field.
    pub const fn is_null(self) -> bool {
        matches!(self, Head::Simple(22 | 23))
    }
}

/// A position in bytes that contain items.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The file offset of the bytes.
    base: u64,
    depth_max: u32,
    bad_text: Option<usize>,
}

impl<'a> Reader<'a> {
    /// A reader at `at` of bytes whose file offset is `base`, with a maximum depth.
    #[must_use]
    pub fn new(bytes: &'a [u8], at: usize, base: u64, depth_max: u32) -> Self {
        Reader { bytes, at, base, depth_max, bad_text: None }
    }

    /// The position of the first text that is not UTF-8, since it was last taken.
    #[must_use]
    pub const fn bad_text(&self) -> Option<usize> {
        self.bad_text
    }

    /// Takes the offset, and resets it.
    pub const fn take_bad_text(&mut self) -> Option<usize> {
        self.bad_text.take()
    }

    /// Notes text at this position that is not UTF-8, unless one was noted before.
    pub fn note_bad_text(&mut self, at: usize) {
        self.bad_text.get_or_insert(at);
    }

    /// The position of the reader in its bytes.
    pub const fn at(&self) -> usize {
        self.at
    }

    /// Goes back to an earlier position.
    pub const fn rewind(&mut self, at: usize) {
        self.at = at;
    }

    /// Whether no bytes are left.
    pub const fn is_at_end(&self) -> bool {
        self.bytes.len() <= self.at
    }

    /// All its bytes.
    pub const fn all(&self) -> &'a [u8] {
        self.bytes
    }

    /// The bytes from a position up to that of the reader.
    pub fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    /// The file offset of a position.
    pub const fn place(&self, at: usize) -> u64 {
        self.base.saturating_add(at as u64)
    }

    fn malformed(&self, at: usize) -> Fault {
        let found = self.bytes.get(at).copied().unwrap_or_default().into();
        Fault { broken: Broken::Syntax, at: self.place(at), found, wanted: 0 }
    }

    fn cut_short(&self, wanted: u64) -> Fault {
        let found = self.bytes.len().saturating_sub(self.at) as u64;
        Fault { broken: Broken::Syntax, at: self.place(self.at), found, wanted }
    }

    /// Reads the next bytes.
    fn take(&mut self, len: u64) -> Result<&'a [u8], Fault> {
        let end = usize::try_from(len).ok().and_then(|len| self.at.checked_add(len));
        let taken = end.and_then(|end| self.bytes.get(self.at..end));
        let taken = taken.ok_or_else(|| self.cut_short(len))?;
        self.at += taken.len();
        Ok(taken)
    }

    /// Reads a head.
    ///
    /// # Errors
    ///
    /// Returns a fault where there is no well-formed item.
    #[inline]
    pub fn head(&mut self) -> Result<Head, Fault> {
        let start = self.at;
        let Some(first) = self.bytes.get(start).copied() else { return Err(self.cut_short(1)) };
        self.at += 1;
        let (major, low) = (first >> 5, first & 0x1F);
        // Numbers in CBOR are big-endian.
        let argument = match low {
            0..24 => Some(u64::from(low)),
            24 => Some(self.argument::<1>()?),
            25 => Some(self.argument::<2>()?),
            26 => Some(self.argument::<4>()?),
            27 => Some(self.argument::<8>()?),
            31 => None,
            _ => return Err(self.malformed(start)),
        };
        match (major, argument) {
            (0, Some(number)) => Ok(Head::Unsigned(number)),
            (3, len) => Ok(Head::Text(len)),
            (4, count) => Ok(Head::Array(self.bounded(count, 1, start)?)),
            (5, count) => Ok(Head::Map(self.bounded(count, 2, start)?)),
            _ => self.rarer(first, argument, start),
        }
    }

    /// The head of a less frequent item.
    fn rarer(&self, first: u8, argument: Option<u64>, start: usize) -> Result<Head, Fault> {
        let head = match (first >> 5, argument) {
            (1, Some(number)) => Head::Negative(number),
            (2, len) => Head::Bytes(len),
            (6, Some(tag)) => Head::Tag(tag),
            (7, None) => Head::Break,
            (7, Some(number)) => match first & 0x1F {
                25 => {
                    let bits = u16::try_from(number).unwrap_or_default();
                    Head::Float(half::f16::from_bits(bits).to_f64())
                }
                26 => {
                    let bits = u32::try_from(number).unwrap_or_default();
                    Head::Float(f32::from_bits(bits).into())
                }
                27 => Head::Float(f64::from_bits(number)),
                24 if number < 32 => return Err(self.malformed(start)),
                _ => Head::Simple(u8::try_from(number).unwrap_or_default()),
            },
            _ => return Err(self.malformed(start)),
        };
        Ok(head)
    }

    /// The big-endian number that follows a head.
    #[inline]
    fn argument<const LEN: usize>(&mut self) -> Result<u64, Fault> {
        let bytes = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<LEN>());
        let Some(bytes) = bytes else { return Err(self.cut_short(LEN as u64)) };
        self.at += LEN;
        Ok(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// A count must not exceed the number of items that fit in the remaining bytes.
    fn bounded(&self, count: Option<u64>, item_len: u64, at: usize) -> Result<Option<u64>, Fault> {
        let left = self.bytes.len().saturating_sub(self.at) as u64;
        match count {
            Some(count) if left / item_len < count => {
                let broken = Broken::Syntax;
                Err(Fault { broken, at: self.place(at), found: left, wanted: count })
            }
            count => Ok(count),
        }
    }

    /// Reads a head and skips tags, which have no meaning before known fields.
    ///
    /// # Errors
    ///
    /// Returns a fault where there is no well-formed item.
    #[inline]
    pub fn untagged(&mut self, depth: u32) -> Result<Head, Fault> {
        let mut depth = depth;
        loop {
            match self.head()? {
                Head::Tag(_) => depth = self.deeper(depth)?,
                head => return Ok(head),
            }
        }
    }

    /// The depth inside an item at `depth`.
    ///
    /// # Errors
    ///
    /// Returns a fault if that exceeds the maximum depth.
    pub fn deeper(&self, depth: u32) -> Result<u32, Fault> {
        let inside = depth.saturating_add(1);
        if inside <= self.depth_max {
            return Ok(inside);
        }
        let (found, wanted) = (inside.into(), self.depth_max.into());
        Err(Fault { broken: Broken::Depth, at: self.place(self.at), found, wanted })
    }

    /// The text at the current position, if it is in one piece and short, as nearly always.
    #[inline]
    pub fn short_text(&mut self) -> Option<&'a [u8]> {
        let (first, rest) = self.bytes.get(self.at..)?.split_first()?;
        let len = usize::from(first.wrapping_sub(TEXT << 5));
        let text = rest.get(..len).filter(|_| len < 24)?;
        self.at += 1 + len;
        Some(text)
    }

    /// The bytes of a string whose head was just read, without checking UTF-8.
    ///
    /// # Errors
    ///
    /// Returns a fault where there is no well-formed item.
    pub fn string(&mut self, head: Head) -> Result<Cow<'a, [u8]>, Fault> {
        let (Head::Bytes(len) | Head::Text(len)) = head else {
            return Err(self.malformed(self.at));
        };
        if let Some(len) = len {
            let at = self.at;
            let text = self.take(len)?;
            self.judge_text(head, text, at);
            return Ok(Cow::Borrowed(text));
        }
        let mut joined = Vec::new();
        loop {
            let start = self.at;
            match (self.head()?, head) {
                (Head::Break, _) => return Ok(Cow::Owned(joined)),
                (Head::Text(Some(len)), Head::Text(_))
                | (Head::Bytes(Some(len)), Head::Bytes(_)) => {
                    let at = self.at;
                    let piece = self.take(len)?;
                    self.judge_text(head, piece, at);
                    joined.extend_from_slice(piece);
                }
                _ => return Err(self.malformed(start)),
            }
        }
    }

    /// Notes text that is not UTF-8. Every piece of text must be valid by itself.
    fn judge_text(&mut self, head: Head, text: &[u8], at: usize) {
        // Nearly all is ASCII, which is fast to check.
        if matches!(head, Head::Text(_)) && self.bad_text.is_none() && !text.is_ascii() {
            let error = std::str::from_utf8(text).err();
            self.bad_text = error.map(|error| at + error.valid_up_to());
        }
    }

    /// Skips an item at `depth`.
    ///
    /// # Errors
    ///
    /// Returns a fault where there is no well-formed item.
    pub fn skip(&mut self, depth: u32) -> Result<(), Fault> {
        let start = self.at;
        let head = self.head()?;
        self.skip_rest(head, start, depth)
    }

    /// Skips the rest of an item whose head was just read.
    ///
    /// # Errors
    ///
    /// Returns a fault where there is no well-formed item.
    pub fn skip_rest(&mut self, head: Head, start: usize, depth: u32) -> Result<(), Fault> {
        let (mut items, pair) = match head {
            Head::Break => return Err(self.malformed(start)),
            Head::Bytes(_) | Head::Text(_) => return self.string(head).map(|_| ()),
            Head::Array(count) => (Items::new(count), 1),
            Head::Map(count) => (Items::new(count), 2),
            Head::Tag(_) => (Items::new(Some(1)), 1),
            _ => return Ok(()),
        };
        let inside = self.deeper(depth)?;
        while items.next(self) {
            for _ in 0..pair {
                self.skip(inside)?;
            }
        }
        Ok(())
    }
}

/// The remaining items or pairs of a container.
#[derive(Clone, Copy, Debug)]
pub struct Items {
    left: Option<u64>,
}

impl Items {
    /// The items of a container whose head was just read.
    #[must_use]
    pub const fn new(count: Option<u64>) -> Self {
        Items { left: count }
    }

    /// Whether another one follows.
    #[inline]
    pub fn next(&mut self, reader: &mut Reader<'_>) -> bool {
        match &mut self.left {
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
            None if reader.bytes.get(reader.at) == Some(&0xFF) => {
                reader.at += 1;
                false
            }
            None => true,
        }
    }
}
