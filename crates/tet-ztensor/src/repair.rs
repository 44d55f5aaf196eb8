//! Repairs damaged files (section 10): makes a plan first, then a new file.
//!
//! ```text
//!   intact index -> one bit -> at the file's end -> parts of it -> older one -> truncated -> its tensors
//!   plan.rs           flip.rs    tail.rs             salvage.rs    older.rs     salvage.rs   verify
//!   edits and losses -> Plan -> apply.rs -> a new file
//! ```
//!
//! A plan is complete before the first byte is written. An index belongs to this file only if it
//! starts where its last blob ends: the index of a file stored inside a blob does not. The work is
//! bounded by the length of the file.

mod apply;
mod context;
mod edit;
mod flip;
mod older;
mod plan;
mod salvage;
mod tail;

pub use apply::apply;
pub use edit::{Action, Edit, Loss};
pub use plan::{Plan, plan};

pub use tet_report::{Applied, Proof};

use crate::limits::Limits;

/// What a repair may do.
pub type RepairOptions = tet_report::RepairOptions<Limits, Salvage>;

/// Which tensors are removed from a readable index. Those of unknown kinds always stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Salvage {
    /// None: damage is only reported.
    #[default]
    None,
    /// Those whose entries break a rule.
    Entries,
    /// And those whose blobs do not match their checksums or do not decode.
    Blobs,
}

#[cfg(test)]
mod tests;
