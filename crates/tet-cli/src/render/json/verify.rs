//! `tet.verify/1`: what a check found.

use serde::Serialize;

use crate::exit::Place;

/// Results of a check of one file.
#[derive(Debug, Serialize)]
pub(crate) struct Verified {
    /// `tet.verify/1`.
    pub(crate) schema: &'static str,
    /// The file, as the user wrote it.
    pub(crate) file: String,
    /// Whether there is no error.
    pub(crate) ok: bool,
    /// How many findings are errors.
    pub(crate) errors: u64,
    /// How many findings are warnings.
    pub(crate) warnings: u64,
    /// The level of the check: structure or deep.
    pub(crate) level: &'static str,
    /// Whether payloads were read and checked: not with `--quick`.
    pub(crate) data_checked: bool,
    /// The integrity state of the file.
    pub(crate) integrity: &'static str,
    /// Whether warnings are treated as errors.
    pub(crate) strict: bool,
    /// Bytes of the file.
    pub(crate) file_len: u64,
    /// The number of datasets that were checked.
    pub(crate) dataset_count: u64,
    /// The number of index rows that were checked.
    pub(crate) row_count: u64,
    /// Bytes of all payloads; shared payloads count once.
    pub(crate) stored_len: u64,
    /// Bytes that all payloads decode to.
    pub(crate) decoded_len: u64,
    /// Bytes of payloads that were checked.
    pub(crate) payload_len: u64,
    /// Bytes between payloads that were not checked because there are too many.
    pub(crate) gap_len_left: u64,
    /// The findings: errors, warnings and notes.
    pub(crate) findings: Vec<FindingShape>,
    /// Findings that are counted but not listed.
    pub(crate) omitted: Vec<OmittedShape>,
}

/// One finding.
#[derive(Debug, Serialize)]
pub(crate) struct FindingShape {
    /// The rule's id.
    pub(crate) code: &'static str,
    /// `error`, `warning` or `note`.
    pub(crate) severity: &'static str,
    /// The level of the check that found it.
    pub(crate) level: &'static str,
    /// One sentence.
    pub(crate) message: &'static str,
    /// Where.
    #[serde(rename = "where")]
    pub(crate) place: Place,
    /// Number in the file.
    pub(crate) found: u64,
    /// Expected number, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wanted: Option<u64>,
    /// Advice on how to continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<&'static str>,
}

/// Findings that are counted but not listed.
#[derive(Debug, Serialize)]
pub(crate) struct OmittedShape {
    /// The rule's id.
    pub(crate) code: &'static str,
    /// How many more there are.
    pub(crate) count: u64,
}
