//! Files that break one rule at one byte, each with a twin that does not.
//!
//! The byte is the first one of the field that would have to change.

pub mod digest;
pub mod directory;
pub mod footer;
pub mod index;
pub mod limits;
pub mod metadata;
pub mod odd;
pub mod payload;
pub mod statistics;
pub mod superblock;

use crate::case::Reject;

/// All rejected files, in the order of `docs/spec/format.md`.
#[must_use]
pub fn cases() -> Vec<Reject> {
    [
        superblock::cases(),
        directory::cases(),
        index::cases(),
        payload::cases(),
        footer::cases(),
        metadata::cases(),
        digest::cases(),
        statistics::cases(),
        limits::cases(),
    ]
    .concat()
}
