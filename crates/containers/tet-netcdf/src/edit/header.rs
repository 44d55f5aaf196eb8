//! A header that is read and written anew at the same time.

use std::collections::{BTreeMap, BTreeSet};

use tet_io::Source;

use super::{Change, Changes};
use crate::cursor::Cursor;
use crate::header::ATTRIBUTES;
use crate::value::{Type, Version};
use crate::write::attributes;
use tet_container::Result;
use tet_container::edited::unfit;
use tet_container::read::header::Parsed;
use tet_container::write::netcdf::attributes::Writing;

/// The most bytes of a file whose offsets have 32 bits.
const NARROW_MAX: u64 = 1 << 31;

/// A new header, and where the data behind it goes.
pub(super) struct MovedHeader {
    pub(super) bytes: Vec<u8>,
    /// The first byte of the data in the old file, and in the new one.
    pub(super) data_from: u64,
    pub(super) data_to: u64,
}

/// An attribute as it is stored.
struct Stored {
    name: Vec<u8>,
    tag: u32,
    count: u64,
    bytes: Vec<u8>,
}

pub(super) struct Rewriting<'a> {
    cursor: Cursor<'a>,
    changes: &'a Changes<'a>,
    version: Version,
    out: Vec<u8>,
    /// Where the offsets of variables are in the new header, and what they were.
    begins: Vec<(usize, u64)>,
    /// The positions of these variables in the old header.
    positions: Vec<usize>,
    /// Why the header cannot be written.
    refused: Option<tet_container::Error>,
}

impl<'a> Rewriting<'a> {
    pub(super) fn new(source: &'a Source, changes: &'a Changes<'a>) -> Rewriting<'a> {
        let (cursor, version) = (Cursor::new(source), Version::Cdf2);
        Rewriting {
            cursor,
            changes,
            version,
            out: Vec::new(),
            begins: Vec::new(),
            positions: Vec::new(),
            refused: None,
        }
    }

    pub(super) fn header(mut self) -> Parsed<Result<NewHeader<'a>>> {
        let head: [u8; 4] = self.cursor.array()?;
        self.out.extend(head);
        let [.., version] = head;
        self.cursor.is_wide = version == 5;
        self.cursor.has_wide_offsets = version != 1;
        if self.cursor.is_wide {
            self.version = Version::Cdf5;
        }
        // The number of records may be that of a file that was not closed.
        let width = if self.cursor.is_wide { 8 } else { 4 };
        let records = self.cursor.take(width)?.to_vec();
        self.out.extend(records);
        self.dims()?;
        self.attrs(None)?;
        self.word()?;
        let count = self.cursor.number()?;
        let dropped = u64::try_from(self.changes.dropped.len()).unwrap_or(u64::MAX);
        self.put_number(count.saturating_sub(dropped));
        for number in 0..count {
            let position = usize::try_from(number).unwrap_or(usize::MAX);
            let start = self.out.len();
            self.variable(position)?;
            if self.changes.dropped.contains(&position) {
                self.out.truncate(start);
                self.begins.pop();
            } else {
                self.positions.push(position);
            }
        }
        if let Some(refused) = self.refused.take() {
            return Ok(Err(refused));
        }
        let old_len = self.cursor.at();
        Ok(Ok(NewHeader { rewriting: self, old_len }))
    }
}

/// A new header, whose variables are where they were.
pub(super) struct NewHeader<'a> {
    rewriting: Rewriting<'a>,
    /// Bytes of the old header.
    old_len: u64,
}

impl NewHeader<'_> {
    /// Bytes of the header.
    pub(super) fn len(&self) -> u64 {
        u64::try_from(self.rewriting.out.len()).unwrap_or(u64::MAX)
    }

    /// The header of variables that begin at these bytes, by their positions in the old one.
    pub(super) fn placed(self, begins: &BTreeMap<usize, u64>) -> Result<Vec<u8>> {
        let mut rewriting = self.rewriting;
        let places = rewriting.begins.iter().map(|(at, _)| *at);
        let places: Vec<(usize, usize)> = places.zip(rewriting.positions.iter().copied()).collect();
        for (at, position) in places {
            let begin = begins.get(&position).copied().unwrap_or_default();
            rewriting.put_begin(at, begin)?;
        }
        Ok(rewriting.out)
    }

    /// The header, and where the data behind it goes.
    pub(super) fn moved(self) -> Result<MovedHeader> {
        self.rewriting.moved(self.old_len)
    }
}

impl<'a> Rewriting<'a> {
    /// Moves the data back where the header has become too long for its place.
    fn moved(mut self, old_len: u64) -> Result<MovedHeader> {
        let is_data = |&(_, begin): &(usize, u64)| old_len <= begin;
        let data_from = self.begins.iter().filter(|it| is_data(it)).map(|it| it.1).min();
        let data_from = data_from.unwrap_or(old_len);
        let new_len = u64::try_from(self.out.len()).unwrap_or(u64::MAX);
        let data_to = data_from.max(new_len.next_multiple_of(4));
        let begins: Vec<(usize, u64)> = self.begins.iter().copied().filter(is_data).collect();
        for (at, begin) in begins {
            self.put_begin(at, begin.saturating_add(data_to - data_from))?;
        }
        Ok(MovedHeader { bytes: self.out, data_from, data_to })
    }

    /// Sets the first byte of a variable, which the header has at byte `at`.
    fn put_begin(&mut self, at: usize, begin: u64) -> Result<()> {
        let bytes = begin.to_be_bytes();
        let bytes = if self.cursor.has_wide_offsets { &bytes[..] } else { &bytes[4..] };
        if !self.cursor.has_wide_offsets && NARROW_MAX <= begin {
            return Err(unfit(
                "its data would begin behind byte 2^31, where its version has no offsets",
            ));
        }
        if let Some(place) = self.out.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
        Ok(())
    }

    fn word(&mut self) -> Parsed<u32> {
        let word = self.cursor.word()?;
        self.out.extend(word.to_be_bytes());
        Ok(word)
    }

    fn number(&mut self) -> Parsed<u64> {
        let number = self.cursor.number()?;
        self.put_number(number);
        Ok(number)
    }

    fn put_number(&mut self, number: u64) {
        match self.version {
            Version::Cdf5 => self.out.extend(number.to_be_bytes()),
            Version::Cdf2 => {
                self.out.extend(u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes());
            }
        }
    }

    fn put_padded(&mut self, bytes: &[u8]) {
        self.out.extend(bytes);
        self.out.resize(self.out.len().next_multiple_of(4), 0);
    }

    fn put_text(&mut self, text: &[u8]) {
        self.put_number(u64::try_from(text.len()).unwrap_or(u64::MAX));
        self.put_padded(text);
    }

    fn text(&mut self) -> Parsed<Vec<u8>> {
        let len = self.cursor.number()?;
        Ok(self.cursor.take_padded(len)?.to_vec())
    }

    fn dims(&mut self) -> Parsed<()> {
        self.word()?;
        let mut taken = BTreeSet::new();
        for _ in 0..self.number()? {
            let old = self.text()?;
            let renamed = self.changes.dims.get(&*String::from_utf8_lossy(&old));
            let name = renamed.map_or(old, |name| name.clone().into_bytes());
            self.put_text(&name);
            self.number()?;
            if !taken.insert(name) {
                let what = "two dimensions would have one name";
                self.refused.get_or_insert(unfit(what));
            }
        }
        Ok(())
    }

    /// Attributes of the variable at a position, or of the file.
    fn attrs(&mut self, of: Option<usize>) -> Parsed<()> {
        self.cursor.word()?;
        let mut stored = Vec::new();
        for _ in 0..self.cursor.number()? {
            let name = self.text()?;
            let (tag, count) = (self.cursor.word()?, self.cursor.number()?);
            let size = Type::from_tag(tag, self.cursor.is_wide).map_or(1, Type::size);
            let bytes = self.cursor.take_padded(count.saturating_mul(size))?.to_vec();
            stored.push(Stored { name, tag, count, bytes });
        }
        for change in self.changes.attrs.get(&of).into_iter().flatten() {
            self.change(&mut stored, change);
        }
        let count = stored.len();
        self.out.extend(if count == 0 { 0 } else { ATTRIBUTES }.to_be_bytes());
        self.put_number(u64::try_from(count).unwrap_or(u64::MAX));
        for it in stored {
            self.put_text(&it.name);
            self.out.extend(it.tag.to_be_bytes());
            self.put_number(it.count);
            self.put_padded(&it.bytes);
        }
        Ok(())
    }

    fn change(&mut self, stored: &mut Vec<Stored>, change: &Change<'_>) {
        let is_it = |it: &Stored| it.name == change.key.as_bytes();
        let Some(attr) = change.value else {
            return stored.retain(|it| !is_it(it));
        };
        let (value, writing) = attributes::value(change.key, attr, change.of, self.version);
        if writing == Writing::AsJson {
            let (key, text) = (change.key, attr.text());
            let what = format!("NetCDF cannot store the attribute {key:?} with the value {text}");
            self.refused.get_or_insert(unfit(what));
        }
        let new = Stored {
            name: change.key.as_bytes().to_vec(),
            tag: value.stored.tag().unwrap_or_default(),
            count: u64::try_from(value.count).unwrap_or(u64::MAX),
            bytes: value.bytes,
        };
        match stored.iter_mut().find(|it| is_it(it)) {
            Some(old) => *old = new,
            None => stored.push(new),
        }
    }

    fn variable(&mut self, position: usize) -> Parsed<()> {
        let old = self.text()?;
        let name = self.changes.names.get(&position).map_or(old, |name| name.as_bytes().to_vec());
        self.put_text(&name);
        for _ in 0..self.number()? {
            self.number()?;
        }
        self.attrs(Some(position))?;
        self.word()?;
        self.number()?;
        let begin = self.cursor.offset()?;
        self.begins.push((self.out.len(), begin));
        let width = if self.cursor.has_wide_offsets { 0 } else { 4 };
        self.out.extend(&begin.to_be_bytes()[width..]);
        Ok(())
    }
}
