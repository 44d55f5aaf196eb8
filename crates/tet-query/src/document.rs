//! The query document: one flat JSON or TOML document that says what to read and what to make of it.
//!
//! ```text
//!   text -- json, toml --> tree (values that know their place) -- keys --> Query
//!   Query + catalog -- resolve --> dataset, hyperslab, reduction
//! ```
//!
//! Unknown and doubled keys are refused at every level, and every error points at its place: line,
//! column, caret, path, and what is allowed there.

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

pub use self::error::DocumentError;
pub use self::query::{
    GroupBy, LabelFilter, Pad, Query, QueryAlign, QueryExecution, QueryReduction, QueryTransform,
    QueryWindow, Write, WriteBase, WriteTarget,
};
pub use self::resolve::{Ask, Resolved};

/// The longest document, in bytes.
pub const LEN_MAX: usize = 1 << 20;

/// The deepest nesting of a document, in levels.
pub const DEPTH_MAX: usize = 64;

#[cfg(test)]
mod tests;
