//! What can be done for a damaged file (section 7.1): a plan first, then a new file.
//!
//! ```text
//!   messages that stand and are sound    kept byte for byte
//!   all else                             frames.rs: whole frames -> kin.rs: which are one message
//!                                        -> message.rs: what they say
//!                                        -> build.rs: a message of them
//!   pieces of the old file and new bytes -> Plan -> apply.rs -> a new file
//! ```
//!
//! A plan is complete before the first byte is written. A frame is whole where its ends stand and its
//! bytes match its hash or say what such a frame says; with a hash, single bits that were flipped are
//! flipped back. Frames are copied as they are. Work is bounded by the length of the file.

mod apply;
mod bench;
mod build;
mod content;
mod edit;
mod frames;
mod kin;
mod layout;
mod mend;
mod message;
mod nested;
mod order;
mod papers;
mod patch;
mod plan;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tet_format::Losses;
use tet_io::Progress;

use crate::limits::Limits;

pub use apply::apply;
pub use edit::{Action, Edit, Loss};
pub use plan::{Plan, plan};
pub use tet_report::{Applied, Kept, Proof};

/// What a repair may do.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct RepairOptions {
    /// How much of the file's claims to believe.
    pub limits: Limits,
    /// What becomes of objects whose frames are whole and whose bytes are not.
    pub salvage: Salvage,
    /// Whether objects or metadata may be lost.
    pub losses: Losses,
    /// Threads that look at bytes; 0 means as many as the machine runs at once.
    pub threads: usize,
    /// The most bytes that the objects may decode to in one look at the file; `None` is
    /// [`usual_decoded_max`](tet_format::usual_decoded_max) of it.
    pub decoded_max: Option<u64>,
    /// Set by the caller to stop early.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Told how far the look at the file is.
    pub progress: Option<Progress>,
}

impl std::fmt::Debug for RepairOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RepairOptions")
            .field("limits", &self.limits)
            .field("salvage", &self.salvage)
            .field("losses", &self.losses)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

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
