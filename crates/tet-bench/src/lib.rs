//! Workloads, each measured together with its own limit.
//!
//! ```text
//!   limit   work   limit     limit   work   limit     ...     at least 15 rounds
//!   `------ ratio ------'    `------ ratio ------'            median, min, max
//! ```
//!
//! A ratio says how much of what the machine can do the work reaches, and holds when the machine
//! is busy. A median above 1.10 says that the limit is badly built, and spoils the run.

#![forbid(unsafe_code)]

pub mod data;
pub mod limit;
pub mod measure;
pub mod model;
pub mod peer;
pub mod report;
pub mod workloads;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
