//! The filters of other containers, each a [`Stage`](crate::Stage) of a pipeline.

mod deflate;
mod shuffled;

pub use deflate::Deflate;
pub use shuffled::Shuffle;
