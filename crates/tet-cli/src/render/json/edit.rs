//! `tet.edit/1`: what an edit of a file changed.

use serde::Serialize;

/// Changes that an edit of a file made, or would make.
#[derive(Debug, Serialize)]
pub(crate) struct Edited {
    /// `tet.edit/1`.
    pub(crate) schema: &'static str,
    /// The file, as the user wrote it.
    pub(crate) file: String,
    /// The new file, as the user wrote it; the file itself where it is replaced.
    pub(crate) output: String,
    /// Whether nothing was written.
    pub(crate) dry_run: bool,
    /// The edits, in their order.
    pub(crate) edits: Vec<EditLine>,
    /// The datasets that were copied as they are stored.
    pub(crate) kept: Vec<String>,
    /// The stored bytes of these.
    pub(crate) kept_len: u64,
    /// The other bytes of the new file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) written_len: Option<u64>,
    /// The bytes of the new file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file_len: Option<u64>,
    /// Elements that are stored differently.
    pub(crate) notes: Vec<String>,
}

/// One edit.
#[derive(Debug, Default, Serialize)]
pub(crate) struct EditLine {
    /// `rename`, `drop`, `attr`, `dims`, `labels`, `compact`, `append`, `repack` or `digests`.
    pub(crate) kind: &'static str,
    /// The edit in words.
    pub(crate) text: String,
    /// The dataset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dataset: Option<String>,
    /// Its new name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<String>,
    /// The key of an attribute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    /// The axis, by its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) axis: Option<usize>,
    /// The extents along the axis, before and after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) extents: Option<[u64; 2]>,
}
