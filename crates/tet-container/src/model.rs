//! The model that all containers share: attributes, types that some lack, sparse tensors, notes.

pub mod associated;
pub mod attribute_types;
pub mod attributes;
pub mod axes;
pub mod blocks;
pub mod bytes;
pub mod cf;
pub mod dtype;
pub mod flags;
pub mod item;
pub mod kinds;
pub mod logical;
pub mod meanings;
pub mod notes;
pub mod number;
pub mod origin;
pub mod renaming;
pub mod retyped;
pub mod scratch;
pub mod sparse;
mod wide;
