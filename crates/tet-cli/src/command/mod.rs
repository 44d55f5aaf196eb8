//! The commands, one file each.

pub(crate) mod cat;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod digest;
pub(crate) mod dump;
pub(crate) mod edit;
pub(crate) mod explain;
pub(crate) mod info;
pub(crate) mod man;
pub(crate) mod plot;
pub(crate) mod query;
#[cfg(feature = "zarr")]
pub(crate) mod refs;
pub(crate) mod repair;
pub(crate) mod series;
pub(crate) mod stats;
pub(crate) mod verify;
