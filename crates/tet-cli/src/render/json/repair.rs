//! `tet.repair/1` and `tet.digest/1`: what was planned and done, and what has changed.

use serde::Serialize;

use super::FindingShape;

/// What can be done for a file, and what was.
#[derive(Debug, Serialize)]
pub(crate) struct Repaired {
    /// `tet.repair/1`.
    pub(crate) schema: &'static str,
    /// The file, as the user wrote it.
    pub(crate) file: String,
    /// Where the repaired file is, when one was written.
    pub(crate) output: Option<String>,
    /// The copy of the damaged file, when one was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) backup: Option<String>,
    /// Whether the file is sound after all edits.
    pub(crate) whole: bool,
    /// The edits.
    pub(crate) edits: Vec<EditShape>,
    /// Sound objects of damaged messages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) kept: Vec<KeptShape>,
    /// Chunks that no edit brings back.
    pub(crate) lost: Vec<LostShape>,
    /// Errors that are left after all edits, or after those that were made.
    pub(crate) remaining: Vec<FindingShape>,
}

/// One edit.
#[derive(Debug, Serialize)]
pub(crate) struct EditShape {
    /// The id of the rule it heals.
    pub(crate) code: &'static str,
    /// What the rule asks for.
    pub(crate) message: &'static str,
    /// What the edit does.
    pub(crate) action: String,
    /// The region it changes.
    pub(crate) region: &'static str,
    /// Where it starts.
    pub(crate) offset: u64,
    /// How many bytes it is about.
    pub(crate) len: u64,
    /// `digest`, `rest` or `none`.
    pub(crate) proof: &'static str,
    /// What is lost.
    pub(crate) losses: Vec<String>,
    /// Whether it was made.
    pub(crate) applied: bool,
    /// Whether it loses something and is made with `--salvage` only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) withheld: bool,
}

/// An object of a damaged message that is sound.
#[derive(Debug, Serialize)]
pub(crate) struct KeptShape {
    /// Where its frame starts in the damaged file.
    pub(crate) offset: u64,
    /// Whether its bytes match a hash.
    pub(crate) verified: bool,
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

/// What a command about digests found or did.
#[derive(Debug, Serialize)]
pub(crate) struct DigestShape {
    /// `tet.digest/1`.
    pub(crate) schema: &'static str,
    /// The file, as the user wrote it.
    pub(crate) file: String,
    /// What was written, or compared with.
    pub(crate) output: Option<String>,
    /// Whether the file is what its digests say.
    pub(crate) ok: bool,
    /// Bytes of the file.
    pub(crate) file_len: u64,
    /// Stretches that differ.
    pub(crate) differs: Vec<StretchShape>,
    /// What lies there, in a .tet file.
    pub(crate) holds: Vec<HeldShape>,
}

/// A stretch of a file.
#[derive(Debug, Serialize)]
pub(crate) struct StretchShape {
    /// Where it starts.
    pub(crate) offset: u64,
    /// How many bytes.
    pub(crate) len: u64,
}

/// What lies in a stretch.
#[derive(Debug, Serialize)]
pub(crate) struct HeldShape {
    /// `chunk`, `structure` or `footer`.
    pub(crate) what: &'static str,
    /// The dataset's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dataset: Option<String>,
    /// The chunk's coordinate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chunk: Option<Vec<u64>>,
}
