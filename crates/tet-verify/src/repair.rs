//! What can be done for a damaged file: a plan first, then a new file.
//!
//! ```text
//!   footer that proves itself -> head -> rows -> footer -> payloads -> gaps -> digests
//!         anchor.rs            head.rs  rows.rs  tail.rs   payload.rs      gaps.rs
//!   each finds what is wrong, and an edit that ends it  -> Plan -> apply.rs -> a new file
//! ```
//!
//! A plan is complete before the first byte is written. Every edit says which rule it heals, why it
//! is right, and what is lost; the original is never changed, only replaced by a whole new file.

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

/// What a repair may do.
#[derive(Clone, Debug)]
pub struct RepairOptions {
    /// How much of the file's claims to believe.
    pub limits: Limits,
    /// A file that has chunks which this one has lost.
    pub from: Option<Source>,
    /// Whether chunks of the other file are taken on trust.
    pub trust: Trust,
    /// Whether lost chunks are filled; else they stay as they are.
    pub salvage: Option<Salvage>,
    /// Whether elements or parts of the footer may be lost.
    pub losses: Losses,
    /// Bytes of chunks that are held in memory at once; what takes more is not decoded or filled.
    pub memory_budget: u64,
    /// The most bytes that the data may decode to; `None` is
    /// [`usual_decoded_max`](tet_format::usual_decoded_max) of the file.
    pub decoded_max: Option<u64>,
    /// Told the bytes that are read or written so far, and asked whether to stop.
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

/// Which chunks of another file are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Those that match a digest.
    #[default]
    Digest,
    /// In a file without digests, those of the same dataset and place too.
    Other,
}

/// How lost elements are filled: floats by NaN, integers by what the caller says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Salvage {
    /// What lost integers become; without it their chunks stay lost.
    pub fill: Option<i128>,
}

#[cfg(test)]
mod tests;
