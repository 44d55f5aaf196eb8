//! Encodes entries, with keys in the order that programs of 0.1.x use.

use tet_cbor as cbor;

use super::declaration::Declaration;
use crate::entry::Field;
use crate::error::{Error, Result};
use crate::words::{ByteOrder, Encoding};
use tet_cbor::Value;

/// The position of the stored bytes of a tensor, and how they are stored.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) decoded_len: u64,
    pub(super) encoding: Encoding,
    pub(super) checksum: Option<String>,
}

/// The content of an entry that is known before the elements.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) declaration: Declaration,
    pub(super) layout: &'static str,
    pub(super) custom: Vec<u8>,
    /// The number of bytes that the writer expects.
    pub(super) decoded_len: u64,
}

impl Declared {
    /// The entry of a tensor at a position.
    pub(super) fn entry<'a>(&'a self, placed: &'a Placed) -> Entry<'a> {
        Entry {
            name: &self.declaration.name,
            offset: placed.offset,
            size: placed.size,
            dtype: self.declaration.dtype_word(),
            layout: self.layout,
            shape: &self.declaration.shape,
            encoding: placed.encoding,
            has_byte_order: self.declaration.has_byte_order(),
            checksum: placed.checksum.as_deref(),
            custom: &self.custom,
        }
    }
}

/// The fields of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    pub(super) name: &'a str,
    pub(super) offset: u64,
    pub(super) size: u64,
    pub(super) dtype: &'a str,
    pub(super) layout: &'a str,
    pub(super) shape: &'a [u64],
    pub(super) encoding: Encoding,
    /// Whether the byte order is written.
    pub(super) has_byte_order: bool,
    pub(super) checksum: Option<&'a str>,
    /// The custom fields, as returned by [`custom_bytes`].
    pub(super) custom: &'a [u8],
}

impl Entry<'_> {
    /// Appends the entry.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.push(cbor::MAP_OPEN);
        pair(Field::Name, self.name, out);
        cbor::text(Field::Offset.key(), out);
        cbor::unsigned(self.offset, out);
        cbor::text(Field::Size.key(), out);
        cbor::unsigned(self.size, out);
        pair(Field::Dtype, self.dtype, out);
        pair(Field::Layout, self.layout, out);
        cbor::text(Field::Shape.key(), out);
        cbor::array_head(self.shape.len() as u64, out);
        self.shape.iter().for_each(|&extent| cbor::unsigned(extent, out));
        pair(Field::Encoding, self.encoding.word(), out);
        if self.encoding == Encoding::Raw && self.has_byte_order {
            pair(Field::ByteOrder, ByteOrder::Little.word(), out);
        }
        if let Some(checksum) = self.checksum {
            pair(Field::Checksum, checksum, out);
        }
        out.extend_from_slice(self.custom);
        out.push(cbor::BREAK);
    }
}

fn pair(field: Field, value: &str, out: &mut Vec<u8>) {
    cbor::text(field.key(), out);
    cbor::text(value, out);
}

/// Encodes custom fields, in ascending order of the bytes of their keys.
///
/// # Errors
///
/// Returns [`Error::Unwritable`] when a key is defined by the format or repeated, and when readers
/// of 0.1.x would refuse a value.
pub(crate) fn custom_bytes(name: &str, custom: &[(String, Value)]) -> Result<Vec<u8>> {
    let unwritable = |why| Error::Unwritable { name: name.to_owned(), why };
    let mut fields: Vec<_> = custom.iter().collect();
    fields.sort_by(|one, other| one.0.as_bytes().cmp(other.0.as_bytes()));
    if fields.iter().zip(fields.iter().skip(1)).any(|(one, next)| one.0 == next.0) {
        return Err(unwritable("a custom field is repeated"));
    }
    let mut out = Vec::new();
    for (key, value) in fields {
        if Field::from_key(key.as_bytes()).is_some() {
            return Err(unwritable("a custom field has a name that the format defines"));
        }
        cbor::check_value(value).map_err(unwritable)?;
        cbor::text(key, &mut out);
        cbor::encode(value, &mut out);
    }
    Ok(out)
}
