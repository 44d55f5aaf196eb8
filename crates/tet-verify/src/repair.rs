//! Repairs a damaged file: makes a plan first, then a new file.
//!
//! ```text
//!   footer that matches its digest -> head -> rows -> footer -> payloads -> gaps -> digests
//!         anchor.rs            head.rs  rows.rs  tail.rs   payload.rs      gaps.rs
//!   each finds faults, and edits that correct them  -> Plan -> apply.rs -> a new file
//! ```
//!
//! A plan is complete before the first byte is written. Every edit states its rule, its proof, and
//! its losses. The original is never modified, only replaced by a complete new file.

mod anchor;
mod apply;
mod block;
mod context;
mod edit;
mod flip;
mod gaps;
mod head;
mod payload;
mod plan;
mod rows;
mod tail;

pub use apply::{Chosen, apply};
pub use edit::{Action, Change, Edit, Loss, Lost, Need};
pub(crate) use gaps::unused;
pub(crate) use plan::remaining;
pub use plan::{Plan, plan};
pub use tet_io::Output;
pub use tet_report::{Applied, Proof};

use tet_format::{Limits, Losses};
use tet_io::{Progress, Source};

/// Permissions of a repair.
#[derive(Clone, Debug)]
pub struct RepairOptions {
    /// The limits of the reader.
    pub limits: Limits,
    /// Another file with chunks that are lost in this one.
    pub from: Option<Source>,
    /// Whether chunks of the other file are used without a digest.
    pub trust: Trust,
    /// Whether lost chunks are filled; otherwise they stay damaged.
    pub salvage: Option<Salvage>,
    /// Whether elements or parts of the footer may be lost.
    pub losses: Losses,
    /// Bytes of chunks in memory at once; chunks that need more are not decoded or filled.
    pub memory_budget: u64,
    /// The most bytes that the data may decode to; `None` is
    /// [`usual_decoded_max`](tet_format::usual_decoded_max) of the file.
    pub decoded_max: Option<u64>,
    /// Receives the number of bytes processed, and may cancel.
    pub progress: Progress,
}

impl Default for RepairOptions {
    fn default() -> Self {
        RepairOptions {
            limits: Limits::default(),
            from: None,
            trust: Trust::default(),
            salvage: None,
            losses: Losses::default(),
            memory_budget: 256 << 20,
            decoded_max: None,
            progress: Progress::default(),
        }
    }
}

/// Which chunks of another file are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Those that match a digest.
    #[default]
    Digest,
    /// In a file without digests, also those of the same dataset and coordinate.
    Other,
}

/// How lost elements are filled: floats with NaN, integers with a value of the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Salvage {
    /// The value for lost integers; without it their chunks stay damaged.
    pub fill: Option<i128>,
}

#[cfg(test)]
mod tests;
