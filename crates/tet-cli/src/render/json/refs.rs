//! `tet.refs/1`: what references were written.

use serde::Serialize;

/// References that were written.
#[derive(Debug, Serialize)]
pub(crate) struct Referenced {
    /// `tet.refs/1`.
    pub(crate) schema: &'static str,
    /// The files, as the user wrote them.
    pub(crate) inputs: Vec<String>,
    /// The document, as the user wrote it.
    pub(crate) output: String,
    /// Bytes of the document.
    pub(crate) output_len: u64,
    /// Arrays that it has.
    pub(crate) array_count: usize,
    /// Chunks that are read in place.
    pub(crate) stored_count: u64,
    /// Chunks that are copied into it.
    pub(crate) inlined_count: u64,
    /// The file of filled edge chunks, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sidecar: Option<Sidecar>,
    /// Contents that are left out, or differ from those of the files.
    pub(crate) notes: Vec<String>,
}

/// The file of filled edge chunks.
#[derive(Debug, Serialize)]
pub(crate) struct Sidecar {
    /// Its path.
    pub(crate) path: String,
    /// Its bytes.
    pub(crate) len: u64,
}
