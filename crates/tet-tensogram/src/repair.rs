//! Repairs damaged files (section 7.1): makes a plan first, then a new file.
//!
//! ```text
//!   intact messages                     copied byte for byte
//!   all else                            frames.rs: intact frames, message by message
//!                                       -> message.rs: their content
//!                                       -> build.rs: the repaired message, or a new one
//!   pieces of the old file and new bytes -> Plan -> apply.rs -> a new file
//! ```
//!
//! A plan is complete before the first byte is written. A frame is intact if its header and tail
//! are valid and its bytes match its hash or have valid content. With a hash, single flipped bits
//! are corrected. Frames are copied unchanged. The work is bounded by the length of the file.

mod apply;
mod bitflip;
mod build;
mod content;
mod context;
mod edit;
mod fragment;
mod frames;
mod message;
mod order;
mod patch;
mod plan;

use crate::limits::Limits;

pub use apply::apply;
pub use edit::{Action, Edit, Loss};
pub use plan::{Plan, plan};
pub use tet_report::{Applied, KeptObject, Proof};

/// What a repair may do.
pub type RepairOptions = tet_report::RepairOptions<Limits, Salvage>;

/// What to do with objects and metadata whose bytes do not match their hashes, or do not decode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Salvage {
    /// They stay, and are reported.
    #[default]
    None,
    /// Objects are removed; metadata that can be read is copied as read.
    Objects,
}

#[cfg(test)]
mod tests;
