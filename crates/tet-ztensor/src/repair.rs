//! What can be done for a damaged file (section 10): a plan first, then a new file.
//!
//! ```text
//!   index as it stands -> whole at the end -> left of it -> older one -> cut short -> its tensors
//!   plan.rs               tail.rs             salvage.rs    older.rs     salvage.rs   verify
//!   what is found, and what it costs -> Plan -> apply.rs -> a new file
//! ```
//!
//! A plan is complete before the first byte is written. An index is taken for one of this file only
//! if it begins where its last blob ends: one inside a blob, of a file within the file, does not.
//! Work is bounded by the length of the file.

mod apply;
mod bench;
mod image;
mod older;
mod plan;
mod salvage;
mod tail;

pub use apply::{Applied, apply};
pub use plan::{Action, Edit, Loss, Plan, Proof, plan};

use crate::limits::Limits;

/// What a repair may do.
#[derive(Clone, Copy, Debug, Default)]
pub struct RepairOptions {
    /// How much of the file's claims to believe.
    pub limits: Limits,
    /// Which tensors are taken out of the index.
    pub salvage: Salvage,
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
