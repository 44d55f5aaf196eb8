//! Edits files by writing new ones (section 10): remaining blobs are copied, the index is
//! rewritten.
//!
//! ```text
//!   Draft::open   rename, remove, set, unset, compact   save, save_with
//!   old file      the entries of the new index           copied blobs, appended tensors, index
//! ```
//!
//! Unchanged fields of an entry are copied byte for byte, so that an entry of a newer program stays
//! intact. The target path holds the old or the new file at any time.

mod draft;
mod fields;
mod place;

pub use draft::Draft;
pub use tet_io::Output;

#[cfg(test)]
mod tests;
