//! Accepted and refused documents, each refusal with its exact words; and the way there and back.

mod bounds;
pub(in crate::document) mod golden;
mod model;
#[cfg(feature = "json")]
mod round_trip;
mod wild;
