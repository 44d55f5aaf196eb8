//! The values of fields.

use super::ByteField;
use crate::digest::WireDigestBlock;
use crate::directory::{WireDirectory, WireRecord};
use crate::footer::WireTail;
use crate::index::{IndexHeader, IndexRow};
use crate::region::Region;
use crate::superblock::WireSuperblock;
use crate::wire::{self, Field, Wire};

/// The value of a field, valid or not.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// A length, a count, an offset or a version.
    Number(u64),
    /// Extents or a coordinate.
    Numbers(Numbers<'a>),
    /// Flag bits of the superblock.
    Flags(u32),
    /// The tag of a type.
    DType(u32),
    /// The tag of a codec.
    Codec(u32),
    /// A magic, a name or JSON: bytes that should be text.
    Text(&'a [u8]),
    /// Bytes without a meaning here: payloads, padding, gaps, truncated fields.
    Bytes(&'a [u8]),
}

/// Numbers of 8 bytes each.
#[derive(Clone, Debug)]
pub struct Numbers<'a> {
    bytes: core::slice::Iter<'a, [u8; 8]>,
}

impl Iterator for Numbers<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.bytes.next().map(|bytes| u64::get(bytes))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.bytes.size_hint()
    }
}

impl ExactSizeIterator for Numbers<'_> {}

/// Decodes the field at a place. `bytes` are all its bytes or the first ones.
#[must_use]
pub fn value<'a>(place: &ByteField, bytes: &'a [u8]) -> Value<'a> {
    let width = table(place).iter().find(|field| field.name == place.field).map(|it| it.width);
    if width.is_some_and(|width| width != wire::len_of(bytes)) {
        return Value::Bytes(bytes);
    }
    match place.field {
        "magic" | "name" | "json" => Value::Text(bytes),
        "coord" | "shape" | "chunk_shape" => {
            let (numbers, _) = bytes.as_chunks();
            Value::Numbers(Numbers { bytes: numbers.iter() })
        }
        field => match (field, number(bytes).filter(|_| width.is_some())) {
            (_, None) => Value::Bytes(bytes),
            ("flags", Some(bits)) => Value::Flags(low(bits)),
            ("dtype", Some(tag)) => Value::DType(low(tag)),
            ("codec", Some(tag)) => Value::Codec(low(tag)),
            (_, Some(number)) => Value::Number(number),
        },
    }
}

/// The table that contains the field; empty for names, extents and whole regions.
fn table(place: &ByteField) -> &'static [Field] {
    match (place.region, place.record) {
        (Region::Superblock, _) => WireSuperblock::FIELDS,
        (Region::Directory, None) => WireDirectory::FIELDS,
        (Region::Directory, Some(_)) => WireRecord::FIELDS,
        (Region::Index, None) => IndexHeader::FIELDS,
        (Region::Index, Some(_)) => IndexRow::FIELDS,
        (Region::Footer, _) if field_of(WireDigestBlock::FIELDS, place) => WireDigestBlock::FIELDS,
        (Region::Footer, _) => WireTail::FIELDS,
        _ => &[],
    }
}

/// Whether the place is a field of this table and not of the tail's.
fn field_of(fields: &[Field], place: &ByteField) -> bool {
    let has = |fields: &[Field]| fields.iter().any(|field| field.name == place.field);
    has(fields) && !has(WireTail::FIELDS)
}

fn number(bytes: &[u8]) -> Option<u64> {
    match bytes.len() {
        u16::WIDTH => Some(u16::get(bytes).into()),
        u32::WIDTH => Some(u32::get(bytes).into()),
        u64::WIDTH => Some(u64::get(bytes)),
        _ => None,
    }
}

/// The value of a 4-byte field.
fn low(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
