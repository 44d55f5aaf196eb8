//! Findings about `.tet` files: which rule is broken, where, and what to do.
//!
//! ```text
//!   superblock -> directory -> index header -> rows -> footer -> payloads
//!   each rule of the format, once, into a list --> findings --> report
//! ```
//!
//! [`verify`] reads the structure of a file and reports every broken rule, in the order in which a
//! reader would find them. Parts that depend on a broken part are not checked, so that one cause
//! gives one finding. A file without an error can be queried. [`Level::Deep`] also reads and
//! decodes every payload.
//!
//! [`file_map`] lists the segments of a file instead, each with its name and its faults.
//!
//! The rules are those of `tet-format` and `tet-file`. Findings and reports are those of
//! `tet-report`, as for the other containers.

#![forbid(unsafe_code)]

mod check;

pub mod protect;
pub mod repair;
pub mod sum;

mod collect;
mod error;
mod place;

pub mod file_map;

pub use error::{Error, Result};
pub use tet_io::{Kind, Progress};
pub use tet_report::{
    Code, Finding, ForeignFindings, ForeignFound, ForeignSeen, Integrity, Level, Location, Omitted,
    Report, Severity, Strictness,
};

use tet_io::Source;

/// How thoroughly to check a `.tet` file, with which limits, and how much to report.
pub type VerifyOptions = tet_report::VerifyOptions<tet_format::Limits>;

/// Checks a file and reports what is wrong with it.
///
/// # Errors
///
/// The source cannot be read or changed meanwhile, or the file has more rows than the limit. Faults
/// of the bytes are in the report; they are no error of this call.
pub fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut collector = collect::Collector::new(options.findings_max);
    let seen = check::file(source, options, &mut collector)?;
    let (entries, counts) = collector.into_parts();
    let places = place::Places::new(source, &seen);
    let findings = entries.iter().map(|entry| places.finding(entry)).collect::<Result<_>>()?;
    source.check_unchanged()?;
    Ok(Report {
        integrity: seen.integrity,
        file_len: source.len(),
        dataset_count: u64::try_from(seen.datasets.len()).unwrap_or(u64::MAX),
        row_count: seen.row_count,
        stored_len: seen.stored_len,
        decoded_len: seen.decoded_len,
        payload_len: seen.payload_len,
        checked_len: seen.payload_len,
        gap_len_left: seen.gap_len_left,
        ..Report::new(options, findings, &counts)
    })
}

#[cfg(test)]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
