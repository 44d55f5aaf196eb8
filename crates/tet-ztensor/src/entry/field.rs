//! The fields that the format defines, and their keys.

/// The fields that the format defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Name,
    Offset,
    Size,
    Dtype,
    Shape,
    Encoding,
    Layout,
    ByteOrder,
    Checksum,
}

impl Field {
    /// The fields that every tensor must have.
    pub(super) const REQUIRED: [Field; 6] =
        [Field::Name, Field::Offset, Field::Size, Field::Dtype, Field::Shape, Field::Encoding];

    /// The key in the file.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Field::Name => "name",
            Field::Offset => "offset",
            Field::Size => "size",
            Field::Dtype => "dtype",
            Field::Shape => "shape",
            Field::Encoding => "encoding",
            Field::Layout => "layout",
            Field::ByteOrder => "data_endianness",
            Field::Checksum => "checksum",
        }
    }

    /// The field of a key.
    #[inline]
    pub(crate) fn from_key(key: &[u8]) -> Option<Field> {
        Some(match key {
            b"name" => Field::Name,
            b"offset" => Field::Offset,
            b"size" => Field::Size,
            b"dtype" => Field::Dtype,
            b"shape" => Field::Shape,
            b"encoding" => Field::Encoding,
            b"layout" => Field::Layout,
            b"data_endianness" => Field::ByteOrder,
            b"checksum" => Field::Checksum,
            _ => return None,
        })
    }

    /// The bit for all custom fields.
    pub(crate) const CUSTOM_BIT: u16 = 1 << 9;

    /// The bit for keys that are no text, whose values are not read.
    pub(crate) const UNREAD_BIT: u16 = 1 << 10;

    pub(super) const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// The key of the sparse format; a custom field if the layout is dense.
pub(crate) const SPARSE_FORMAT: &[u8] = b"sparse_format";
