//! Who made a message that is edited.

use crate::maker::Maker;

/// What a new message says of its making, in `_reserved_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// What the message said that it was made of; the first one, if there are several.
    Kept,
    /// That it is new.
    New(Maker),
    /// Nothing.
    Absent,
}
