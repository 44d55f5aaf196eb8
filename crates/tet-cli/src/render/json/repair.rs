//! `tet.repair/1` and `tet.digest/1`: what was planned and done, and what has changed.

use serde::Serialize;

use super::FindingShape;

/// The repair plan of a file, and the edits that were made.
#[derive(Debug, Serialize)]
pub(crate) struct Repaired {
    /// `tet.repair/1`.
    pub(crate) schema: &'static str,
    /// The file, as the user wrote it.
    pub(crate) file: String,
    /// The path of the repaired file, if one was written.
    pub(crate) output: Option<String>,
    /// The copy of the damaged file, if one was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) backup: Option<String>,
    /// Whether the file has no errors after all edits.
    pub(crate) whole: bool,
    /// The edits.
    pub(crate) edits: Vec<EditShape>,
    /// Chunks that no edit restores.
    pub(crate) lost: Vec<LostShape>,
    /// Errors that remain after all edits, or after those that were made.
    pub(crate) remaining: Vec<FindingShape>,
}

/// One edit.
#[derive(Debug, Serialize)]
pub(crate) struct EditShape {
    /// The id of the rule that was broken.
    pub(crate) code: &'static str,
    /// Requirement of the rule.
    pub(crate) message: &'static str,
    /// Description of the edit.
    pub(crate) action: String,
    /// The region it changes.
    pub(crate) region: &'static str,
    /// Where it starts.
    pub(crate) offset: u64,
    /// The number of bytes it concerns.
    pub(crate) len: u64,
    /// `digest`, `rest` or `none`.
    pub(crate) proof: &'static str,
    /// Losses of the edit.
    pub(crate) losses: Vec<String>,
    /// Whether it was made.
    pub(crate) applied: bool,
    /// Whether it loses data, so that it needs `--salvage`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) withheld: bool,
}

/// A chunk that is lost.
#[derive(Debug, Serialize)]
pub(crate) struct LostShape {
    /// The dataset's name.
    pub(crate) dataset: String,
    /// The chunk's coordinate.
    pub(crate) chunk: Vec<u64>,
    /// Bytes of its elements.
    pub(crate) len: u64,
}

/// The result of `tet digest`.
#[derive(Debug, Serialize)]
pub(crate) struct DigestShape {
    /// `tet.digest/1`.
    pub(crate) schema: &'static str,
    /// The file, as the user wrote it.
    pub(crate) file: String,
    /// The file that was written or compared with.
    pub(crate) output: Option<String>,
    /// Whether the file matches its digests.
    pub(crate) ok: bool,
    /// Bytes of the file.
    pub(crate) file_len: u64,
    /// Spans that differ.
    pub(crate) differs: Vec<SpanShape>,
    /// The parts of a .tet file that these spans change.
    pub(crate) holds: Vec<ChangedPartShape>,
}

/// A span of a file.
#[derive(Debug, Serialize)]
pub(crate) struct SpanShape {
    /// Where it starts.
    pub(crate) offset: u64,
    /// Its length in bytes.
    pub(crate) len: u64,
}

/// A part of a .tet file that has changed.
#[derive(Debug, Serialize)]
pub(crate) struct ChangedPartShape {
    /// `chunk`, `structure` or `footer`.
    pub(crate) what: &'static str,
    /// The dataset's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dataset: Option<String>,
    /// The chunk's coordinate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chunk: Option<Vec<u64>>,
}
