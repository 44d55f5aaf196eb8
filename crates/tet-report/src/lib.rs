//! Shared types for checks and repairs of all containers: levels, findings, reports, plans.
//!
//! ```text
//!   VerifyOptions -> the checks of a container -> Collector -> Findings with their places -> Report
//! ```
//!
//! Repairs share [`Plan`], [`Edit`] and their losses. Each container has its own rules and checks.

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
pub use finding::{Finding, Location, Severity};
pub use foreign::{ForeignFindings, ForeignFound, ForeignSeen};
pub use level::Level;
pub use options::{Strictness, VerifyOptions};
pub use pool::{Pool, ensure_threads};
pub use repair::{Applied, Edit, Plan, Proof};
pub use report::{Omitted, Report, integrity_of};
pub use tet_format::Integrity;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
