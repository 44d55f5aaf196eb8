//! Text and bare elements as containers: CSV tables, one array as JSON, raw elements.

#![forbid(unsafe_code)]

pub mod csv;
pub mod json;
mod plain;

pub use csv::Csv;
pub use json::Json;
pub use plain::Plain;

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
