//! Safetensors: the file of named arrays in which models are kept, read where it lies.
//!
//! ```text
//!   8 bytes: length of the header   header: JSON, padded with spaces   buffer: elements, gapless
//! ```
//!
//! The header is read by a scanner of our own: it keeps the order of the keys and knows the byte of
//! everything it refuses, and both the reader and `verify` need that. The reference library knows
//! neither. What it refuses is refused here too, by rules that have ids (`docs/reference/verify.md`); only a
//! tensor of an unknown dtype, or of bytes that do not fit its shape, leaves the others readable.
//!
//! A model in several files has an index, JSON too, that says which tensor is in which of them.

mod attrs;
mod canonical;
mod catalog;
mod check;
mod dtype;
mod header;
mod index;
mod json;
mod rule;
mod shards;

pub(crate) use self::attrs::is_kept as is_kept_attr;
pub(crate) use self::canonical::{
    Entry, HEADER_KEY, INDEX_KEY, header_of, header_to_keep, index_of, is_of_origin, kept_header,
    strings,
};
pub(crate) use self::catalog::open;
pub(crate) use self::check::verify;
pub(crate) use self::dtype::{StoredType, bits_of, of_dataset};
pub(crate) use self::header::{Header, LEN_MAX, METADATA_KEY, is_likely, of_text};
pub(crate) use self::index::{MAP_KEY, members};
pub(crate) use self::rule::ALL as RULES;
pub(crate) use self::shards::{open as open_index, verify as verify_index};

#[cfg(test)]
mod tests;
