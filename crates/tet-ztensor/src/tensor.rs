//! One tensor of the index, with the readable fields of its entry.

use std::borrow::Cow;

use tet_cbor as cbor;
use tet_format::{DType, Span};

use crate::checksum::Checksum;
use crate::entry::{Entry, Field, dense_len, element_count};
use crate::error::{Error, Fault, Result};
use crate::index::Index;
use crate::rule;
use crate::words::{ByteOrder, Encoding, Layout};
use tet_cbor::Value;

impl Index {
    /// The tensor at a position.
    #[must_use]
    pub fn tensor(&self, position: usize) -> Option<Tensor<'_>> {
        Some(Tensor { index: self, position, entry: self.entries().get(position)? })
    }

    /// All tensors, in the order of the index.
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = Tensor<'_>> + DoubleEndedIterator {
        let entries = self.entries().iter().enumerate();
        entries.map(|(position, entry)| Tensor { index: self, position, entry })
    }

    /// The tensor with a name, or at the position of `#N` if no tensor has that name.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NoSuchTensor`] or [`Error::Ambiguous`] unless exactly one tensor matches.
    pub fn find(&self, name: &str) -> Result<Tensor<'_>> {
        let positions = self.positions(name);
        let position = match positions.as_slice() {
            [position] => Some(*position),
            [] => name.strip_prefix('#').and_then(|number| number.parse().ok()),
            _ => return Err(Error::Ambiguous { name: name.to_owned(), positions }),
        };
        let tensor = position.and_then(|position| self.tensor(position));
        tensor.ok_or_else(|| Error::NoSuchTensor { name: name.to_owned() })
    }
}

/// One tensor of the index: the fields of its entry, valid or not.
#[derive(Clone, Copy, Debug)]
pub struct Tensor<'a> {
    index: &'a Index,
    position: usize,
    entry: &'a Entry,
}

impl<'a> Tensor<'a> {
    /// Its position in the index.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.position
    }

    /// Its name: empty if missing, up to the first invalid byte if it is not UTF-8.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.index.text(self.entry.name)
    }

    /// Its label in messages: its name, or its position if it has no name.
    #[must_use]
    pub fn label(&self) -> String {
        match self.name() {
            "" => format!("#{}", self.position),
            name => name.to_owned(),
        }
    }

    /// The first rule that its entry breaks. Such a tensor cannot be read.
    #[must_use]
    pub fn fault(&self) -> Option<&'a Fault> {
        self.index.fault(self.entry)
    }

    /// That its entry has a field that is not read, if it has one.
    #[must_use]
    pub fn unread(&self) -> Option<Fault> {
        let fault = Fault { rule: &rule::KEY_UNREAD, at: self.entry_at(), found: 0, wanted: 0 };
        self.entry.has_unread().then_some(fault)
    }

    /// Refuses a tensor whose entry breaks a rule.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Tensor`] with the first fault.
    pub fn check(&self) -> Result<()> {
        self.fault().map_or(Ok(()), |fault| Err(self.broken(*fault)))
    }

    pub(crate) fn broken(&self, fault: Fault) -> Error {
        Error::Tensor { name: self.label(), fault }
    }

    /// The dtype of its elements, if known.
    #[must_use]
    pub const fn dtype(&self) -> Option<DType> {
        self.entry.dtype
    }

    /// The name of its dtype, known or not.
    #[must_use]
    pub fn dtype_word(&self) -> Cow<'a, str> {
        let known = self.dtype().map(|dtype| dtype.name().into());
        known.or_else(|| self.word(Field::Dtype)).unwrap_or_default()
    }

    /// The extents of its axes, slowest first. Empty for a scalar, and if there are none.
    #[must_use]
    pub fn shape(&self) -> &'a [u64] {
        self.index.shape(self.entry)
    }

    /// The number of its elements, stored or not.
    #[must_use]
    pub fn element_count(&self) -> Option<u64> {
        element_count(self.shape()).filter(|_| self.entry.holds(Field::Shape))
    }

    /// The length in bytes of all its elements, stored or not.
    #[must_use]
    pub fn decoded_len(&self) -> Option<u64> {
        let len = self.dtype().and_then(|dtype| dense_len(self.shape(), dtype));
        len.filter(|_| self.entry.holds(Field::Shape))
    }

    /// Which of its elements are stored, if the layout is known.
    #[must_use]
    pub const fn layout(&self) -> Option<Layout> {
        self.entry.layout
    }

    /// The word of the sparse format, whatever the layout is.
    #[must_use]
    pub fn sparse_format(&self) -> Option<Cow<'a, str>> {
        self.text_of("sparse_format")
    }

    /// How its bytes are stored, if known.
    #[must_use]
    pub const fn encoding(&self) -> Option<Encoding> {
        self.entry.encoding
    }

    /// The byte order in effect: the stated one does not apply to zstd and to single bytes.
    #[must_use]
    pub fn byte_order(&self) -> ByteOrder {
        let is_single = self.dtype().and_then(DType::size) == Some(1) && !self.is_sparse();
        match self.entry.byte_order {
            Some(order) if self.encoding() == Some(Encoding::Raw) && !is_single => order,
            _ => ByteOrder::Little,
        }
    }

    /// The byte order stated in the entry.
    #[must_use]
    pub const fn stated_byte_order(&self) -> Option<ByteOrder> {
        self.entry.byte_order
    }

    /// Whether only some elements are stored.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        self.layout().is_some_and(Layout::is_sparse)
    }

    /// The expected checksum of its stored bytes, if the entry has one in a known form.
    #[must_use]
    pub fn checksum(&self) -> Option<Checksum> {
        Checksum::parse(self.checksum_text()?)
    }

    /// The checksum as stated in the entry.
    #[must_use]
    pub fn checksum_text(&self) -> Option<&'a str> {
        self.entry.holds(Field::Checksum).then(|| self.index.text(self.entry.checksum))
    }

    /// The offset of its blob, as stated in the entry.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.entry.holds(Field::Offset).then_some(self.entry.offset)
    }

    /// The length of its blob, as stated in the entry.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        self.entry.holds(Field::Size).then_some(self.entry.size)
    }

    /// The span of its blob, if that is before the index.
    #[must_use]
    pub fn stored(&self) -> Option<Span> {
        let span = Span::new(self.offset()?, self.size()?)?;
        self.index.span().filter(|index| span.end() <= index.start()).map(|_| span)
    }

    /// Its custom fields, in the order of the file.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Tensor`] with ZT-L4 when they hold too many items.
    pub fn custom(&self) -> Result<Vec<(String, Value)>> {
        let mut left = self.index.limits().item_count_max;
        let mut fields = Vec::new();
        if !self.entry.has_custom() {
            return Ok(fields);
        }
        let ended = self.index.for_fields(self.entry, |key, reader, depth| {
            if self.is_format_field(&key) {
                return Ok(None);
            }
            let key = String::from_utf8_lossy(&key).into_owned();
            match cbor::value(reader, depth, &mut left)? {
                Some(value) => fields.push((key, value)),
                None => return Ok(Some(())),
            }
            Ok(None)
        });
        match ended {
            Ok(None) => Ok(fields),
            Ok(Some(())) => Err(self.broken(self.items_fault())),
            Err(fault) => Err(self.broken(fault)),
        }
    }

    fn items_fault(&self) -> Fault {
        let wanted = self.index.limits().item_count_max as u64;
        let found = wanted.saturating_add(1);
        Fault { rule: &rule::LIMIT_ITEMS, at: self.entry_at(), found, wanted }
    }

    /// The first custom field with this key.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Tensor`] with ZT-L4 when it holds too many items.
    pub fn custom_value(&self, wanted: &str) -> Result<Option<Value>> {
        let mut left = self.index.limits().item_count_max;
        let found = self.index.for_fields(self.entry, |key, reader, depth| {
            if *key != *wanted.as_bytes() || self.is_format_field(&key) {
                return Ok(None);
            }
            Ok(Some(cbor::value(reader, depth, &mut left)?))
        });
        match found.map_err(|fault| self.broken(fault))? {
            None => Ok(None),
            Some(Some(value)) => Ok(Some(value)),
            Some(None) => Err(self.broken(self.items_fault())),
        }
    }

    /// Its custom fields as stored: keys, and values as CBOR.
    #[must_use]
    pub fn custom_bytes(&self) -> Vec<(Cow<'a, str>, &'a [u8])> {
        let mut fields = Vec::new();
        // Fields that were read once can be read again.
        let _ = self.index.for_fields(self.entry, |key, reader, depth| {
            if !self.is_format_field(&key) {
                let at = reader.at();
                reader.skip(depth)?;
                fields.push((lossy(key), reader.since(at)));
            }
            Ok(None::<()>)
        });
        fields
    }

    /// The bytes of its entry.
    #[must_use]
    pub fn entry_bytes(&self) -> &'a [u8] {
        self.index.item(self.entry)
    }

    /// The file offset of its entry.
    #[must_use]
    pub fn entry_at(&self) -> u64 {
        let start = self.index.span().map_or(0, Span::start);
        start.saturating_add(self.entry.item.start.into())
    }

    /// The file offset of the value of a key; of the first one if the key is repeated.
    #[must_use]
    pub fn field_at(&self, key: &str) -> Option<u64> {
        let found = self.index.for_fields(self.entry, |found, reader, _| {
            Ok((*found == *key.as_bytes()).then(|| reader.place(reader.at())))
        });
        found.ok().flatten()
    }

    /// The index that contains it.
    #[must_use]
    pub const fn index(&self) -> &'a Index {
        self.index
    }

    pub(crate) const fn entry(&self) -> &'a Entry {
        self.entry
    }

    /// Whether the format defines a key; `sparse_format` only if the layout uses it.
    fn is_format_field(&self, key: &[u8]) -> bool {
        let has_format = matches!(self.layout(), Some(Layout::Csr | Layout::Coo));
        Field::from_key(key).is_some() || has_format && key == crate::entry::SPARSE_FORMAT
    }

    fn word(&self, field: Field) -> Option<Cow<'a, str>> {
        self.text_of(field.key())
    }

    /// The first text value of a key.
    fn text_of(&self, wanted: &str) -> Option<Cow<'a, str>> {
        let found = self.index.for_fields(self.entry, |key, reader, depth| {
            if *key != *wanted.as_bytes() {
                return Ok(None);
            }
            match reader.untagged(depth)? {
                head @ cbor::Head::Text(_) => Ok(Some(Some(reader.string(head)?))),
                _ => Ok(Some(None)),
            }
        });
        found.ok().flatten().flatten().map(lossy)
    }
}

fn lossy(text: Cow<'_, [u8]>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => String::from_utf8_lossy(text),
        Cow::Owned(text) => Cow::Owned(String::from_utf8_lossy(&text).into_owned()),
    }
}
