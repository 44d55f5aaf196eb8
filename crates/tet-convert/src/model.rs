//! What the containers have in common: attributes, types that some lack, sparse tensors, notes.

pub(crate) mod associated;
pub(crate) mod attribute_types;
pub(crate) mod attributes;
pub(crate) mod axes;
pub(crate) mod blocks;
pub(crate) mod bytes;
pub(crate) mod cf;
pub(crate) mod dtype;
pub(crate) mod flags;
pub(crate) mod item;
pub(crate) mod kinds;
pub(crate) mod logical;
pub(crate) mod meanings;
pub(crate) mod notes;
pub(crate) mod number;
pub(crate) mod origin;
pub(crate) mod renaming;
pub(crate) mod retyped;
pub(crate) mod scratch;
pub(crate) mod sparse;
pub(crate) mod ties;
mod wide;
