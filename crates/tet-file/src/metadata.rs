//! The metadata of a file: dimension names, labels, attributes, history.
//!
//! [`Metadata`] is the model. Reading preserves unknown members. Writing stays within the limits of
//! the oldest readers and stores the rest under the key `tet`, which they ignore (format section
//! 5). Reading merges both.

mod check;
mod encode;
mod history;
mod model;
mod read;

pub use check::{check, notes};
pub(crate) use encode::{encode, encode_history};
pub use history::HistoryRow;
pub use model::{AttrValue, DatasetMetadata, Metadata, Unknown};

#[cfg(test)]
mod tests;
