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
//! The rules are those of `tet-format` and `tet-file`, told here and not restated. Those who know
//! another container report on it through [`ForeignFindings`].

#![forbid(unsafe_code)]

mod integrity;
mod level;

mod options;

mod code;

mod finding;

mod foreign;

mod report;

mod check;

pub mod protect;
pub mod repair;
pub mod sum;

mod collect;
mod error;
mod place;
mod pool;

pub mod anatomy;

pub use code::Code;
pub use error::{Error, Result};
pub use finding::{Finding, Place, Severity};
pub use foreign::{ForeignFindings, ForeignFound, ForeignSeen};
pub use integrity::Integrity;
pub use level::Level;
pub use options::{Strictness, VerifyOptions};
pub use report::{Omitted, Report};
pub use tet_io::{Kind, Progress};

use tet_io::Source;

/// Looks a file over and reports what is wrong with it.
///
/// # Errors
///
/// The source cannot be read or changed meanwhile, or the file has more rows than are looked at.
/// What is wrong with the file's bytes is no error here: it is in the report.
pub fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut collector = collect::Collector::new(options.findings_max);
    let seen = check::file(source, options, &mut collector)?;
    let report = report::report(source, options, &seen, collector)?;
    source.check_unchanged()?;
    Ok(report)
}

#[cfg(test)]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
