//! Accepted and refused documents, each refusal with its exact words; and the way there and back.

mod bounds;
#[cfg(all(feature = "json", feature = "toml"))]
pub(crate) mod golden;
mod model;
#[cfg(feature = "json")]
mod round_trip;
#[cfg(all(feature = "json", feature = "toml"))]
mod wild;
