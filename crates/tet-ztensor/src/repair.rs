//! What can be done for a damaged file (section 10): a plan first, then a new file.
//!
//! ```text
//!   index as it is -> one bit -> whole at the end -> left of it -> older one -> cut short -> its tensors
//!   plan.rs           flip.rs    tail.rs             salvage.rs    older.rs     salvage.rs   verify
//!   what is found, and what it costs -> Plan -> apply.rs -> a new file
//! ```
//!
//! A plan is complete before the first byte is written. An index is taken for one of this file only
//! if it begins where its last blob ends: one inside a blob, of a file within the file, does not.
//! Work is bounded by the length of the file.

mod apply;
mod bench;
mod edit;
mod flip;
mod older;
mod plan;
mod salvage;
mod tail;

pub use apply::apply;
pub use edit::{Action, Edit, Loss};
pub use plan::{Plan, plan};

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use tet_report::{Applied, Proof};

use tet_format::Losses;
use tet_io::{Progress, Watch};

use crate::limits::Limits;

/// What a repair may do.
#[derive(Clone, Default)]
pub struct RepairOptions {
    /// How much of the file's claims to believe.
    pub limits: Limits,
    /// Which tensors are taken out of the index.
    pub salvage: Salvage,
    /// Whether tensors may be lost.
    pub losses: Losses,
    /// Bytes that decoding may hold; `None` is 1 GiB.
    pub memory_budget: Option<u64>,
    /// The most bytes that all blobs together may decode to; `None` is
    /// [`usual_decoded_max`](tet_format::usual_decoded_max) of the file.
    pub decoded_max: Option<u64>,
    /// Set by the caller to stop early.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Called with the number of bytes read so far and the total.
    pub progress: Option<Progress>,
}

impl RepairOptions {
    /// Reports the progress of a read of `all` bytes.
    fn watch(&self, all: u64) -> Watch<'_> {
        Watch::new(self.cancel.as_deref(), self.progress.as_ref(), all)
    }
}

impl fmt::Debug for RepairOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RepairOptions")
            .field("limits", &self.limits)
            .field("salvage", &self.salvage)
            .field("losses", &self.losses)
            .finish_non_exhaustive()
    }
}

/// Which tensors are taken out of an index that can be read. Those of kinds that are not known here
/// stay in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Salvage {
    /// None: what is damaged is only told.
    #[default]
    None,
    /// Those whose entries break a rule.
    Entries,
    /// And those whose blobs do not match their checksums or do not decode.
    Blobs,
}

#[cfg(test)]
mod tests;
