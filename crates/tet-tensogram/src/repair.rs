//! What can be done for a damaged file (section 7.1): a plan first, then a new file.
//!
//! ```text
//!   messages that stand and are sound    kept byte for byte
//!   all else                             frames.rs: whole frames, message by message
//!                                        -> message.rs: what they say
//!                                        -> build.rs: the old message, mended, or a new one
//!   pieces of the old file and new bytes -> Plan -> apply.rs -> a new file
//! ```
//!
//! A plan is complete before the first byte is written. A frame is whole where its ends stand and its
//! bytes match its hash or say what such a frame says; with a hash, single bits that were flipped are
//! flipped back. Frames are copied as they are. Work is bounded by the length of the file.

mod apply;
mod build;
mod content;
mod context;
mod edit;
mod frames;
mod mend;
mod message;
mod order;
mod patch;
mod plan;
mod remains;

use crate::limits::Limits;

pub use apply::apply;
pub use edit::{Action, Edit, Loss};
pub use plan::{Plan, plan};
pub use tet_report::{Applied, Kept, Proof};

/// What a repair may do.
pub type RepairOptions = tet_report::RepairOptions<Limits, Salvage>;

/// What becomes of objects and metadata whose bytes do not match their hashes, or do not decode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Salvage {
    /// They stay, and are told.
    #[default]
    None,
    /// Objects are taken out; metadata that can be read is kept as it reads.
    Objects,
}

#[cfg(test)]
mod tests;
