//! What a file says about itself: dimension names, labels, attributes, history.
//!
//! [`Metadata`] is the model. Reading keeps every member it does not know; writing stays within
//! what the oldest readers take and puts the rest under the key `tet`, which they ignore (format
//! section 5). Reading puts both together again.

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
