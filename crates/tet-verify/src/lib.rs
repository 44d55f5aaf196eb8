//! Findings about `.tet` files: which rule is broken, where, and what to do.
//!
//! ```text
//!   superblock -> directory -> index header -> rows -> footer -> payloads
//!   each rule of the format, once, into a list --> findings --> report
//! ```
//!
//! [`verify`] looks at the structure of a file through positioned reads and reports everything that
//! is wrong with it, in the order in which a reader would meet it. What rests on a broken part is
//! not looked at, so that one cause gives one finding. A file without an error can be queried:
//! nothing in its structure stands in the way. [`Level::Deep`] reads and decodes every payload too.
//!
//! [`anatomy`] takes a file apart instead: every stretch with its name, and what is wrong beside it.
//!
//! The rules are those of `tet-format` and `tet-file`, used here and not stated again. Findings and reports
//! are those of `tet-report`, which the other containers use too.

#![forbid(unsafe_code)]

mod check;

pub mod protect;
pub mod repair;
pub mod sum;

mod collect;
mod error;
mod place;

pub mod anatomy;

pub use error::{Error, Result};
pub use tet_io::{Kind, Progress};
pub use tet_report::{
    Code, Finding, ForeignFindings, ForeignFound, ForeignSeen, Integrity, Level, Omitted, Place,
    Report, Severity, Strictness,
};

use tet_io::Source;

/// How closely to look at a `.tet` file, with what, and how much to report.
pub type VerifyOptions = tet_report::VerifyOptions<tet_format::Limits>;

/// Looks a file over and reports what is wrong with it.
///
/// # Errors
///
/// The source cannot be read or changed meanwhile, or the file has more rows than are looked at.
/// What is wrong with the file's bytes is no error here: it is in the report.
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
