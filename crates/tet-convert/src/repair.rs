//! Repairs of files of any container whose stored bytes have checksums: the single flipped bit of a region is found and
//! put back, and the checksum proves it.
//!
//! ```text
//!   verify -- errors --> the regions of the container (Repairer) --> those that do not match
//!   --> search.rs: one bit makes it match --> an edit; none or several --> what cannot be repaired
//!   edits -> the file with all of them, checked again -> RepairPlan -> apply.rs -> new files
//! ```
//!
//! A plan is complete before the first byte is written. `.tet` files have digests of their structure too, and a planner of
//! their own: `tet_verify::repair`.

mod apply;
mod edit;
mod limits;
mod plan;
mod search;

pub use self::apply::folder_refusal;
pub use self::edit::{BitEdit, FlipBit, FlippedByte, Unrepaired, UnrepairedCause};
pub use self::limits::{DIGEST_LEN_MAX, SEARCH_WORK_MAX, SUM_LEN_MAX};
pub use self::plan::{RepairPlan, plan_repair};

use tet_io::Progress;

/// How a repair is planned.
///
/// # Examples
///
/// ```
/// use tet_convert::RepairOptions;
///
/// let options = RepairOptions { memory_budget: 1 << 20, ..RepairOptions::default() };
/// assert_eq!(options.decoded_max, None);
/// ```
#[derive(Clone, Debug)]
pub struct RepairOptions {
    /// Bytes of memory for one region and for the decoders of the check.
    pub memory_budget: u64,
    /// The most bytes that all data may decode to in a check; `None` is
    /// [`usual_decoded_max`](tet_format::usual_decoded_max) of the file.
    pub decoded_max: Option<u64>,
    /// Threads that check; 0 is one per processor.
    pub threads: usize,
    /// Receives the number of bytes read, and may cancel.
    pub progress: Progress,
}

impl Default for RepairOptions {
    fn default() -> Self {
        RepairOptions {
            memory_budget: 1 << 30,
            decoded_max: None,
            threads: 0,
            progress: Progress::default(),
        }
    }
}
