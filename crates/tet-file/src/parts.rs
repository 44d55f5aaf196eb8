//! A new file that is written in parts: by several threads or processes, regions in any order.
//!
//! ```text
//!   FilePlan --> RegionWriter: region -> chunks -> FilePart   (a scratch file, or a file for another process)
//!                                                 |
//!            publish: chunks of parts, in row order --> Writer --> the new file, or none
//!               ^
//!              BaseFile: an existing file whose chunks stay where they are; the new file is an edited copy
//! ```
//!
//! The file is the same whatever parts its chunks come from. Payloads of parts are compared with their digests when they are
//! copied; those of the base, and those that a server copies, keep the digests that they have, which tell of damage as before.

mod ahead;
mod base;
mod document;
mod on_server;
mod part;
mod partial;
mod plan;
mod publish;
mod region;
mod region_writer;
mod staying;

pub use base::BaseFile;
pub(crate) use base::unsound;
pub use part::{FilePart, PartChunk};
pub use plan::{FilePlan, PlannedDataset};
pub use publish::{Published, copy_dataset, publish};
pub use region_writer::{RegionOptions, RegionWriter};

#[cfg(test)]
mod tests;
