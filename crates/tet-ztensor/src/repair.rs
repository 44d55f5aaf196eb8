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
