//! Sparse tensors in memory: the stored elements and their positions.
//!
//! ```text
//!   csr   indptr: rows + 1 | indices: count | values: count
//!   coo   coords: count x rank | values: count
//! ```
//!
//! Files have them as one blob, which their own crates read, or as dense parts (`docs/spec/ztensor.md`, section 6), whose
//! names, shapes and rules are here.

#![forbid(unsafe_code)]

pub mod parts;
pub mod rule;

mod places;
mod scattered;
mod sparse;

pub use places::Places;
pub use scattered::Scattered;
pub use sparse::Sparse;

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
