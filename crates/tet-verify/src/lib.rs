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
//! nothing in its structure stands in the way. Payloads are not decoded.
//!
//! The rules are those of `tet-format` and `tet-file`, told here and not restated.

#![forbid(unsafe_code)]

mod level;

mod code;

mod finding;

mod report;

mod check;

pub mod protect;
pub mod repair;
pub mod sum;

mod collect;
mod error;
mod place;

pub use code::Code;
pub use error::{Error, Result};
pub use finding::{Finding, Place, Severity};
pub use level::Level;
pub use report::{Omitted, Report};
pub use tet_io::Kind;

use tet_format::Limits;
use tet_io::Source;

/// How closely to look, and how much to say.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct VerifyOptions {
    /// How closely to look.
    pub level: Level,
    /// How much of the file's claims to believe.
    pub limits: Limits,
    /// How many findings of one code are told; the rest are counted.
    pub findings_max: usize,
    /// The most index rows that are looked at: each takes 24 bytes of memory, twice over.
    pub row_count_max: u64,
    /// The most bytes between payloads that are looked at.
    pub gap_len_max: u64,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        VerifyOptions {
            level: Level::Structure,
            limits: Limits::default(),
            findings_max: 64,
            row_count_max: 1 << 24,
            gap_len_max: 64 << 20,
        }
    }
}

/// Looks a file over and reports what is wrong with it.
///
/// # Errors
///
/// The source cannot be read or changed meanwhile, or the file has more rows than are looked at.
/// What is wrong with the file's bytes is no error here: it is in the report.
pub fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut collector = collect::Collector::new(options.findings_max);
    let seen = check::file(source, options, &mut collector)?;
    let report = report::report(source, options.level, &seen, collector)?;
    source.check_unchanged()?;
    Ok(report)
}

#[cfg(test)]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
