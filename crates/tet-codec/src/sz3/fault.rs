//! Faults of a stream.

use crate::error::Error;

pub(super) const NAME: &str = "sz3";

/// The error for bytes that are no stream.
pub(super) const fn corrupt(reason: &'static str) -> Error {
    Error::Corrupt { codec: NAME, reason }
}

/// The error for a stream that is not read.
pub(super) const fn unsupported(reason: &'static str) -> Error {
    Error::Unsupported { codec: NAME, reason }
}
