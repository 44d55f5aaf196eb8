//! Entries (section 4): the map of one tensor, read field by field.
//!
//! A field that breaks a rule is skipped and the rest of the map is read, so that a damaged entry
//! still has its name and affects no other tensor.

mod field;
mod judge;

use std::borrow::Cow;

use tet_cbor::{Head, Items, Reader};
use tet_format::DType;

use crate::checksum::Checksum;
use crate::error::Fault;
use crate::rule;
use crate::words::{self, ByteOrder, Encoding, Layout, of_word};

pub(crate) use field::{Field, SPARSE_FORMAT};
pub(crate) use judge::{dense_len, element_count};

/// A span of the index, or, past its end, of the texts that had to be joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

/// The stored part of an entry: the rest is read again on request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) offset: u64,
    pub(crate) size: u64,
    /// Its bytes in the index.
    pub(crate) item: Text,
    pub(crate) name: Text,
    /// The span of its extents in the list of all shapes.
    pub(crate) shape: Text,
    pub(crate) checksum: Text,
    /// The number of its first fault in the list of all faults, from 1.
    pub(crate) fault: u32,
    /// The fields with a value of the right type, and whether there are custom ones.
    pub(crate) held: u16,
    pub(crate) dtype: Option<DType>,
    pub(crate) encoding: Option<Encoding>,
    pub(crate) layout: Option<Layout>,
    pub(crate) byte_order: Option<ByteOrder>,
}

impl Entry {
    /// Whether a field has a value of the right type.
    pub(crate) const fn holds(&self, field: Field) -> bool {
        self.held & field.bit() != 0
    }

    /// Whether there are fields that the format does not define.
    pub(crate) const fn has_custom(&self) -> bool {
        self.held & Field::CUSTOM_BIT != 0
    }

    /// Whether there are fields whose keys are no text.
    pub(crate) const fn has_unread(&self) -> bool {
        self.held & Field::UNREAD_BIT != 0
    }
}

/// Receives every fault, with the position of its entry and the field.
pub(crate) type Sink<'s> = &'s mut dyn FnMut(usize, Fault, &'static str);

/// The state that all entries share.
pub(crate) struct Entries<'a, 's> {
    pub(crate) reader: Reader<'a>,
    /// The length of the index.
    pub(crate) index_len: u32,
    /// The file offset of the index.
    pub(crate) index_start: u64,
    pub(crate) extents: Vec<u64>,
    pub(crate) extent_count_max: usize,
    pub(crate) joined: Vec<u8>,
    pub(crate) sink: Sink<'s>,
    /// The keys of custom fields of the current entry.
    custom: Vec<Text>,
}

#[derive(Default)]
struct Draft {
    position: usize,
    entry: Entry,
    /// The offsets of the field values.
    at: [usize; 9],
    /// The fields whose keys were seen.
    seen: u16,
    /// Whether the layout is `sparse`, and its format.
    is_sparse: bool,
    sparse_format: Option<(usize, Option<Layout>)>,
    fault: Option<Fault>,
}

/// The depth of an entry in the array of the index.
const DEPTH: u32 = 1;

impl<'a, 's> Entries<'a, 's> {
    pub(crate) fn new(reader: Reader<'a>, index_start: u64, sink: Sink<'s>) -> Self {
        Entries {
            reader,
            index_len: 0,
            index_start,
            extents: Vec::new(),
            extent_count_max: usize::MAX,
            joined: Vec::new(),
            sink,
            custom: Vec::new(),
        }
    }

    /// Reads the entry at a position. Returns it with its first fault.
    pub(crate) fn read(&mut self, position: usize) -> Result<(Entry, Option<Fault>), Fault> {
        let start = self.reader.at();
        let mut draft = Draft { position, ..Draft::default() };
        draft.entry.shape.start = small(self.extents.len());
        self.custom.clear();
        match self.reader.untagged(DEPTH)? {
            Head::Map(count) => {
                self.map(&mut draft, count)?;
                self.check_custom(&mut draft, start);
                self.judge(&mut draft, start);
            }
            head => {
                self.reader.skip_rest(head, start, DEPTH)?;
                self.fault(&mut draft, &rule::ENTRY_MAP, start, "");
            }
        }
        draft.entry.item = Text { start: small(start), len: small(self.reader.at() - start) };
        if let Some(at) = self.reader.take_bad_text() {
            self.fault(&mut draft, &rule::NAME_TEXT, at, "");
        }
        Ok((draft.entry, draft.fault))
    }

    fn map(&mut self, draft: &mut Draft, count: Option<u64>) -> Result<(), Fault> {
        let inside = self.reader.deeper(DEPTH)?;
        let mut items = Items::new(count);
        while items.next(&mut self.reader) {
            let key_at = self.reader.at();
            let key = match self.reader.short_text() {
                Some(key) => Cow::Borrowed(key),
                None => match self.reader.untagged(inside)? {
                    head @ Head::Text(_) => self.reader.string(head)?,
                    head => {
                        self.reader.skip_rest(head, key_at, inside)?;
                        // A key that is not text leaves the others readable.
                        draft.entry.held |= Field::UNREAD_BIT;
                        self.reader.skip(inside)?;
                        continue;
                    }
                },
            };
            match Field::from_key(&key) {
                Some(field) => self.field(draft, field, key_at, inside)?,
                None => self.custom_field(draft, key, key_at, inside)?,
            }
        }
        Ok(())
    }

    fn custom_field(
        &mut self,
        draft: &mut Draft,
        key: Cow<'a, [u8]>,
        key_at: usize,
        inside: u32,
    ) -> Result<(), Fault> {
        if std::str::from_utf8(&key).is_err() {
            self.reader.note_bad_text(key_at);
        }
        draft.entry.held |= Field::CUSTOM_BIT;
        let is_format = *key == *SPARSE_FORMAT;
        let text = self.keep(key);
        self.custom.push(text);
        if is_format && draft.sparse_format.is_none() {
            let at = self.reader.at();
            let format = match self.word(inside)? {
                Some(Some(word)) if *word == *b"csr" => Some(Layout::Csr),
                Some(Some(word)) if *word == *b"coo" => Some(Layout::Coo),
                _ => None,
            };
            draft.sparse_format = Some((at, format));
            self.reader.rewind(at);
        }
        Ok(self.reader.skip(inside)?)
    }

    /// Repeated custom keys are checked once the entry is known to be a map.
    fn check_custom(&mut self, draft: &mut Draft, start: usize) {
        let mut keys = std::mem::take(&mut self.custom);
        if keys.len() > 1 {
            let bytes = |text: &Text| self.text(*text);
            keys.sort_unstable_by(|a, b| bytes(a).cmp(bytes(b)).then(a.start.cmp(&b.start)));
            let twice = keys.windows(2).find(|pair| bytes(&pair[0]) == bytes(&pair[1]));
            let at = twice.and_then(|pair| usize::try_from(pair[1].start).ok());
            if let Some(at) = at {
                // Keys in pieces are stored elsewhere: then the offset is that of the entry.
                let at = if self.index_len() <= at { start } else { at };
                self.fault(draft, &rule::KEY_TWICE, at, "");
            }
        }
        self.custom = keys;
    }

    fn field(
        &mut self,
        draft: &mut Draft,
        field: Field,
        key_at: usize,
        inside: u32,
    ) -> Result<(), Fault> {
        if draft.seen & field.bit() != 0 {
            self.fault(draft, &rule::KEY_TWICE, key_at, field.key());
            return Ok(self.reader.skip(inside)?);
        }
        draft.seen |= field.bit();
        let at = self.reader.at();
        draft.at[field as usize] = at;
        let is_of_type = match field {
            Field::Name => self.name(draft, inside)?,
            Field::Offset => self.number(&mut draft.entry.offset, inside)?,
            Field::Size => self.number(&mut draft.entry.size, inside)?,
            Field::Shape => return self.shape(draft, inside),
            _ => return self.worded(draft, field, inside),
        };
        if is_of_type {
            draft.entry.held |= field.bit();
        } else {
            self.wrong_type(draft, field, at, inside)?;
        }
        Ok(())
    }

    fn wrong_type(
        &mut self,
        draft: &mut Draft,
        field: Field,
        at: usize,
        inside: u32,
    ) -> Result<(), Fault> {
        self.reader.rewind(at);
        self.reader.skip(inside)?;
        self.fault(draft, &rule::KEY_TYPE, at, field.key());
        Ok(())
    }

    fn number(&mut self, number: &mut u64, inside: u32) -> Result<bool, Fault> {
        let Head::Unsigned(found) = self.reader.untagged(inside)? else { return Ok(false) };
        *number = found;
        Ok(true)
    }

    fn name(&mut self, draft: &mut Draft, inside: u32) -> Result<bool, Fault> {
        let head = self.reader.untagged(inside)?;
        if !matches!(head, Head::Text(_)) {
            return Ok(false);
        }
        let name = self.reader.string(head)?;
        draft.entry.name = self.keep(name);
        Ok(true)
    }

    fn shape(&mut self, draft: &mut Draft, inside: u32) -> Result<(), Fault> {
        let (at, start) = (self.reader.at(), self.extents.len());
        let Head::Array(count) = self.reader.untagged(inside)? else {
            return self.wrong_type(draft, Field::Shape, at, inside);
        };
        let within = self.reader.deeper(inside)?;
        let mut items = Items::new(count);
        while items.next(&mut self.reader) {
            let Head::Unsigned(extent) = self.reader.untagged(within)? else {
                self.extents.truncate(start);
                return self.wrong_type(draft, Field::Shape, at, inside);
            };
            if self.extent_count_max <= self.extents.len() {
                let (at, wanted) = (self.reader.place(at), self.extent_count_max as u64);
                return Err(Fault { rule: &rule::LIMIT_ENTRIES, at, found: wanted + 1, wanted });
            }
            self.extents.push(extent);
        }
        draft.entry.shape.len = small(self.extents.len() - start);
        draft.entry.held |= Field::Shape.bit();
        Ok(())
    }

    /// The text at the current position: `None` if it is another type, `Some(None)` if it is null.
    #[inline]
    fn word(&mut self, inside: u32) -> Result<Option<Option<Cow<'a, [u8]>>>, Fault> {
        if let Some(word) = self.reader.short_text() {
            return Ok(Some(Some(Cow::Borrowed(word))));
        }
        let head = self.reader.untagged(inside)?;
        match head {
            Head::Text(_) => Ok(Some(Some(self.reader.string(head)?))),
            head if head.is_null() => Ok(Some(None)),
            _ => Ok(None),
        }
    }

    fn worded(&mut self, draft: &mut Draft, field: Field, inside: u32) -> Result<(), Fault> {
        let at = self.reader.at();
        let is_required = Field::REQUIRED.contains(&field);
        let word = match self.word(inside)? {
            Some(Some(word)) => word,
            Some(None) if !is_required => return Ok(()),
            _ => return self.wrong_type(draft, field, at, inside),
        };
        let entry = &mut draft.entry;
        let (is_known, rule) = match field {
            Field::Dtype => {
                entry.dtype = of_word(words::DTYPES, DType::name, &word);
                (entry.dtype.is_some(), &rule::DTYPE_KNOWN)
            }
            Field::Encoding => {
                entry.encoding = of_word(Encoding::ALL, Encoding::word, &word);
                (entry.encoding.is_some(), &rule::ENCODING_KNOWN)
            }
            Field::ByteOrder => {
                entry.byte_order = of_word(ByteOrder::ALL, ByteOrder::word, &word);
                (entry.byte_order.is_some(), &rule::BYTE_ORDER_KNOWN)
            }
            Field::Layout => {
                entry.layout = of_word(Layout::WORDED, Layout::word, &word);
                draft.is_sparse = *word == *b"sparse";
                (entry.layout.is_some() || draft.is_sparse, &rule::LAYOUT_KNOWN)
            }
            _ => (Checksum::of_bytes(&word).is_some(), &rule::CHECKSUM_FORM),
        };
        // All known words are text.
        if !is_known && std::str::from_utf8(&word).is_err() {
            self.reader.note_bad_text(at);
            return Ok(());
        }
        if field == Field::Checksum {
            draft.entry.checksum = self.keep(word);
        }
        draft.entry.held |= field.bit();
        if !is_known {
            self.fault(draft, rule, at, field.key());
        }
        Ok(())
    }

    /// Stores the text that ends at the current position: its span, or a copy if it came in pieces.
    fn keep(&mut self, text: Cow<'a, [u8]>) -> Text {
        let len = small(text.len());
        let start = match text {
            Cow::Borrowed(_) => small(self.reader.at()).saturating_sub(len),
            Cow::Owned(text) => {
                let start = self.index_len.saturating_add(small(self.joined.len()));
                self.joined.extend_from_slice(&text);
                start
            }
        };
        Text { start, len }
    }

    fn text(&self, text: Text) -> &[u8] {
        resolve(self.reader.all(), &self.joined, text)
    }

    fn index_len(&self) -> usize {
        self.reader.all().len()
    }
}

pub(crate) fn resolve<'t>(bytes: &'t [u8], joined: &'t [u8], text: Text) -> &'t [u8] {
    let [start, len] = [text.start, text.len].map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    let (bytes, start) = match start.checked_sub(bytes.len()) {
        Some(start) => (joined, start),
        None => (bytes, start),
    };
    bytes.get(start..).and_then(|bytes| bytes.get(..len)).unwrap_or_default()
}

/// Offsets in an index fit in 32 bits, since its length does.
fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
