//! What the checks and repairs of all containers have in common: how closely to look, what was found and where.
//!
//! ```text
//!   VerifyOptions -> the checks of a container -> Collector -> Findings with their places -> Report
//! ```
//!
//! and of all repairs: [`Plan`], [`Edit`] and what is lost by it. The rules, the code that checks them,
//! and the planners of repairs stay with each container.

#![forbid(unsafe_code)]

mod level;
mod options;

mod code;
mod finding;

mod collect;
mod foreign;

mod report;

mod pool;
mod repair;

pub use code::Code;
pub use collect::{Coded, Collector};
pub use finding::{Finding, Place, Severity};
pub use foreign::{ForeignFindings, ForeignFound, ForeignSeen};
pub use level::Level;
pub use options::{RepairOptions, Strictness, VerifyOptions};
pub use pool::Pool;
pub use repair::{Applied, Edit, Kept, Plan, Proof};
pub use report::{Omitted, Report, integrity_of};
pub use tet_format::Integrity;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
