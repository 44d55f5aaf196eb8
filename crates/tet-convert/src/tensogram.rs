//! Tensogram v3 files, read where they lie.
//!
//! The format is `tet-tensogram`'s; here its objects become datasets, in the order of the file, its
//! rules findings, and what is said of objects attributes. An object that is stored as it is is slabs
//! of one array, one that can be decoded in parts is a chunk for each, any other is one chunk. The
//! hash of a frame is the seal of its object.

mod catalog;
mod check;
pub(crate) mod keys;
mod lost;
mod numbers;
mod parts;
mod seal;
mod stack;

pub(crate) use self::catalog::open;
pub(crate) use self::check::verify;
pub(crate) use self::numbers::numbered;
pub(crate) use self::stack::{Choice, stacked};
pub(crate) use tet_tensogram::rule::ALL as RULES;

/// Rules of the order of frames, which cost nothing of a message: order, preceders, no metadata.
pub(crate) const FORM_RULES: [&str; 3] = ["TGM-F6", "TGM-F7", "TGM-M9"];
