//! The query document: one flat JSON or TOML document that says what to read and what to make of it.
//!
//! ```text
//!   text -- json, toml --> tree (values that know their place) -- keys --> Query
//!   Query + catalog -- resolve --> dataset, hyperslab, reduction
//! ```
//!
//! Unknown and doubled keys are refused at every level, and every error points at its place: line,
//! column, caret, path, and what is allowed there.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(any(feature = "json", feature = "toml")),
    allow(dead_code, reason = "without a syntax nothing is read")
)]

mod check;
mod error;
#[cfg(feature = "json")]
mod json;
mod keys;
mod origin;
mod parse;
mod query;
mod read;
mod resolve;
mod text;
#[cfg(feature = "toml")]
mod toml;
mod tree;

pub use self::error::{DocumentError, Error, Result};
pub use self::query::{
    GroupBy, LabelFilter, Pad, Query, QueryAlign, QueryExecution, QueryReduction, QueryTransform,
    QueryWindow, Write, WriteBase, WriteTarget,
};
pub use self::resolve::{Answered, Ask, Resolved};

/// The longest document, in bytes.
pub const LEN_MAX: usize = 1 << 20;

/// The deepest nesting of a document, in levels.
pub const DEPTH_MAX: usize = 64;

#[cfg(test)]
mod tests;

// The oracle is not part of the crate.
#[cfg(all(test, feature = "json"))]
#[path = "../../../tests/src/naive/mod.rs"]
#[allow(unreachable_pub, unused_imports, dead_code, reason = "public, and used, where it lives")]
mod naive;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
