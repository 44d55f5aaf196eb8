//! `tet.dump/1`: a field of a file.

use serde::Serialize;

/// A field or another segment of a file.
#[derive(Debug, Serialize)]
pub(crate) struct DumpedField {
    /// `tet.dump/1`.
    pub(crate) schema: &'static str,
    /// The region of the file.
    pub(crate) region: &'static str,
    /// The field, or the kind of the segment.
    pub(crate) field: &'static str,
    /// Where it starts in the file.
    pub(crate) offset: u64,
    /// Its length in bytes.
    pub(crate) len: u64,
    /// Its bytes, or the first 64 of them, in hex.
    pub(crate) bytes: String,
    /// The value, if all bytes are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<FieldValue>,
    /// Meaning of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) meaning: Option<String>,
    /// The position of the dataset in the directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dataset: Option<u64>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// The row of the index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) row: Option<u64>,
    /// The chunk's coordinate in the grid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chunk: Option<Vec<u64>>,
    /// How a payload is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) codec: Option<String>,
    /// The requested byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<AskedByte>,
    /// Broken rules and other remarks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) remarks: Vec<RemarkShape>,
}

/// The value of a field.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum FieldValue {
    /// A number, or a tag.
    Number(u64),
    /// Extents, or a coordinate.
    Numbers(Vec<u64>),
    /// Text.
    Text(String),
}

/// The requested byte.
#[derive(Debug, Serialize)]
pub(crate) struct AskedByte {
    /// Its offset in the file.
    pub(crate) offset: u64,
    /// Its offset in the field or payload.
    pub(crate) within: u64,
    /// Its value.
    pub(crate) byte: u8,
    /// The element of the dataset that contains it, if the payload is raw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) element: Option<Vec<u64>>,
}

/// A broken rule or another remark.
#[derive(Debug, Serialize)]
pub(crate) struct RemarkShape {
    /// The rule's id.
    pub(crate) code: &'static str,
    /// `error`, `warning` or `note`.
    pub(crate) severity: &'static str,
    /// One sentence.
    pub(crate) message: &'static str,
    /// The offset of the byte that shows it.
    pub(crate) offset: u64,
    /// Number in the file.
    pub(crate) found: u64,
    /// Expected number, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wanted: Option<u64>,
}
