//! The provenance of an edited message.

use crate::maker::Maker;

/// What `_reserved_` of a new message contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// The provenance of the source message; of the first one if there are several.
    Kept,
    /// A new provenance.
    New(Maker),
    /// Nothing.
    Absent,
}
