//! What the checks of all containers have in common: how closely to look, what was found and where.
//!
//! ```text
//!   VerifyOptions -> the checks of a container -> Collector -> Findings with their places -> Report
//! ```
//!
//! The rules, and the code that checks them, stay with each container.

#![forbid(unsafe_code)]

mod level;
mod options;

mod code;
mod finding;

mod collect;
mod foreign;

mod integrity;
mod report;

mod pool;

pub use code::Code;
pub use collect::{Coded, Collector};
pub use finding::{Finding, Place, Severity};
pub use foreign::{ForeignFindings, ForeignFound, ForeignSeen};
pub use integrity::Integrity;
pub use level::Level;
pub use options::{Strictness, VerifyOptions};
pub use pool::Pool;
pub use report::{Omitted, Report};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
