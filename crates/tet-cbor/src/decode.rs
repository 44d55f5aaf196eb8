//! Heads, strings and the end of items, each read once and from bounded memory.
//!
//! A reader stands at a place in its bytes and knows how deep it is allowed to go. What is not
//! well-formed is a fault, since nobody knows where the next item starts; text that is not UTF-8 is
//! noted, and a matter of the item that it stands in.

use std::borrow::Cow;

use crate::fault::{Broken, Fault};

/// The major types, as the first three bits of an item have them.
const TEXT: u8 = 3;

/// The start of an item. A count that is `None` lasts until a break.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Head {
    /// An integer.
    Unsigned(u64),
    /// An integer of -1 less this.
    Negative(u64),
    /// So many bytes.
    Bytes(Option<u64>),
    /// So many bytes of text.
    Text(Option<u64>),
    /// So many items.
    Array(Option<u64>),
    /// So many pairs of items.
    Map(Option<u64>),
    /// A tag, with its item to come.
    Tag(u64),
    /// A simple value: false is 20, true 21, null 22, undefined 23.
    Simple(u8),
    /// A floating-point number.
    Float(f64),
    /// The end of a container without a count.
    Break,
}

impl Head {
    /// Whether it is null or undefined, which says as much as a field that is not there.
    pub const fn is_null(self) -> bool {
        matches!(self, Head::Simple(22 | 23))
    }
}

/// A place in bytes that hold items.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where the bytes start in the file.
    base: u64,
    depth_max: u32,
    bad_text: Option<usize>,
}

impl<'a> Reader<'a> {
    /// A reader that stands at `at` of bytes that start at `base` of the file, and goes so deep.
    #[must_use]
    pub fn new(bytes: &'a [u8], at: usize, base: u64, depth_max: u32) -> Self {
        Reader { bytes, at, base, depth_max, bad_text: None }
    }

    /// Where the first text stands that is not UTF-8, since it was last taken.
    #[must_use]
    pub const fn bad_text(&self) -> Option<usize> {
        self.bad_text
    }

    /// The same, and no text so far is bad.
    pub const fn take_bad_text(&mut self) -> Option<usize> {
        self.bad_text.take()
    }

    /// Takes note of text at this place that is not UTF-8, unless there was some before.
    pub fn note_bad_text(&mut self, at: usize) {
        self.bad_text.get_or_insert(at);
    }

    /// Where the reader stands in its bytes.
    pub const fn at(&self) -> usize {
        self.at
    }

    /// Goes back to a place where it stood before.
    pub const fn rewind(&mut self, at: usize) {
        self.at = at;
    }

    /// Whether no byte is left.
    pub const fn is_at_end(&self) -> bool {
        self.bytes.len() <= self.at
    }

    /// All its bytes.
    pub const fn all(&self) -> &'a [u8] {
        self.bytes
    }

    /// The bytes from a place up to where the reader stands.
    pub fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    /// A place in the file.
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

    /// Takes the next bytes.
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
        // Numbers in CBOR have their highest byte first.
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

    /// The head of an item that indexes seldom hold.
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

    /// The number of so many bytes that follows a head.
    #[inline]
    fn argument<const LEN: usize>(&mut self) -> Result<u64, Fault> {
        let bytes = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<LEN>());
        let Some(bytes) = bytes else { return Err(self.cut_short(LEN as u64)) };
        self.at += LEN;
        Ok(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// A count is believed only as far as there are bytes for so many items.
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

    /// Reads a head, past tags: before a field that we know they say nothing.
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

    /// The depth inside an item that stands at `depth`.
    ///
    /// # Errors
    ///
    /// Returns a fault where that is deeper than is allowed.
    pub fn deeper(&self, depth: u32) -> Result<u32, Fault> {
        let inside = depth.saturating_add(1);
        if inside <= self.depth_max {
            return Ok(inside);
        }
        let (found, wanted) = (inside.into(), self.depth_max.into());
        Err(Fault { broken: Broken::Depth, at: self.place(self.at), found, wanted })
    }

    /// The text that starts here, if it is in one piece and short: nearly always.
    #[inline]
    pub fn short_text(&mut self) -> Option<&'a [u8]> {
        let (first, rest) = self.bytes.get(self.at..)?.split_first()?;
        let len = usize::from(first.wrapping_sub(TEXT << 5));
        let text = rest.get(..len).filter(|_| len < 24)?;
        self.at += 1 + len;
        Some(text)
    }

    /// The bytes of a string whose head was just read, without a look at what they are.
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

    /// Notes text that is not UTF-8. Every piece of text must be text by itself.
    fn judge_text(&mut self, head: Head, text: &[u8], at: usize) {
        // Nearly all is ASCII, which is told at once.
        if matches!(head, Head::Text(_)) && self.bad_text.is_none() && !text.is_ascii() {
            let error = std::str::from_utf8(text).err();
            self.bad_text = error.map(|error| at + error.valid_up_to());
        }
    }

    /// Passes over an item that stands at `depth`.
    ///
    /// # Errors
    ///
    /// Returns a fault where there is no well-formed item.
    pub fn skip(&mut self, depth: u32) -> Result<(), Fault> {
        let start = self.at;
        let head = self.head()?;
        self.skip_rest(head, start, depth)
    }

    /// Passes over the rest of an item whose head was just read.
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

/// The items, or pairs, of a container that are still to come.
#[derive(Clone, Copy, Debug)]
pub struct Items {
    left: Option<u64>,
}

impl Items {
    /// The items of a container of which only the head was read.
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
