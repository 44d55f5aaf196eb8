//! The workloads of `docs/performance.md`, by group.

mod mapped;
mod reduce;

mod statistics;

mod packed;

mod order;

mod forms;

mod transform;

mod tiny;

mod read;

mod open;

mod write;

mod digests;

mod memory;

mod tensors;

mod containers;

pub(crate) mod messages;

use std::path::Path;

use anyhow::{Result, bail};
use tet_query::{Axis, AxisSlice, DigestPolicy, Execution, Hyperslab, StatisticsPolicy};

use crate::data::{Folder, SLAB, TILED};
use crate::report::ReportRow;

pub(crate) use self::forms::windowed;
pub use self::memory::child;
pub(crate) use self::tensors::{open, scan_views, verify};

/// The first argument of a child of this program.
pub const CHILD: &str = "--child";

/// Environment of the measurements of a group.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// Where the files are.
    pub folder: &'a Folder,
    /// How many rounds count.
    pub rounds: usize,
}

/// Workloads that are measured together.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The name in `docs/performance.md`.
    pub id: &'static str,
    /// Measures them.
    pub measure: fn(Measured<'_>) -> Result<Vec<ReportRow>>,
}

/// How arrays are cut into chunks.
const LAYOUTS: [(&str, [u64; 3]); 2] = [("slab", SLAB), ("tiled", TILED)];

const GROUPS: &[Group] = &[
    Group { id: "R1", measure: reduce::whole },
    Group { id: "R2", measure: statistics::whole },
    Group { id: "R3", measure: reduce::axes },
    Group { id: "R4", measure: packed::whole },
    Group { id: "R5", measure: order::whole },
    Group { id: "Q1", measure: forms::all },
    Group { id: "Q2", measure: transform::scores },
    Group { id: "Q3", measure: tiny::sums },
    Group { id: "S1", measure: read::slabs },
    Group { id: "S2", measure: read::tiles },
    Group { id: "S3", measure: open::window },
    Group { id: "S4", measure: open::points },
    Group { id: "P1", measure: open::plans },
    Group { id: "P2", measure: open::runs },
    Group { id: "O1", measure: open::opens },
    Group { id: "W1", measure: write::raw },
    Group { id: "W2", measure: write::compressed },
    Group { id: "W3", measure: memory::writing },
    Group { id: "V1", measure: digests::verifying },
    Group { id: "D1", measure: digests::reading },
    Group { id: "M1", measure: memory::reducing },
    Group { id: "Z1", measure: tensors::writing },
    Group { id: "Z2", measure: tensors::reading },
    Group { id: "Z3", measure: tensors::verifying },
    Group { id: "Z4", measure: tensors::finding },
    Group { id: "Z5", measure: tensors::packing },
    Group { id: "Z6", measure: memory::writing_tensors },
    Group { id: "A1", measure: containers::sums },
    Group { id: "A2", measure: containers::means },
    Group { id: "A3", measure: containers::writing },
    Group { id: "T1", measure: messages::plain },
    Group { id: "T2", measure: messages::reducing },
    Group { id: "T3", measure: messages::codecs },
    Group { id: "T4", measure: messages::packed },
    Group { id: "T5", measure: messages::finding },
    Group { id: "T6", measure: memory::reducing_packed },
];

/// The group of this name, those whose names start with it, or all.
///
/// # Errors
///
/// Returns an error when there is none.
pub fn groups(name: Option<&str>) -> Result<Vec<Group>> {
    let prefix = name.unwrap_or_default().to_ascii_uppercase();
    let found: Vec<Group> =
        GROUPS.iter().copied().filter(|group| group.id.starts_with(&prefix)).collect();
    if found.is_empty() {
        let known: Vec<&str> = GROUPS.iter().map(|group| group.id).collect();
        bail!("no group {prefix}; there are {}", known.join(", "));
    }
    Ok(found)
}

/// All threads, defaults else.
fn all_threads() -> Execution {
    // The workload measures how elements are read and folded.
    let statistics = StatisticsPolicy::Never;
    Execution { result_max: 1 << 34, statistics, ..Execution::default() }
}

/// Execution without comparing digests.
fn without_digests() -> Execution {
    Execution { digests: DigestPolicy::Never, ..all_threads() }
}

/// A slab out of start, stop and step of each axis.
fn slab(slices: &[(u64, u64, u64)], shape: &[u64]) -> Result<Hyperslab> {
    let slice = |&(start, stop, step)| AxisSlice { start, stop, step, axis: Axis::Kept };
    let slab = Hyperslab::new(slices.iter().map(slice).collect(), shape);
    slab.ok_or_else(|| anyhow::anyhow!("the slab does not fit"))
}

/// The length of a file.
fn file_len(path: &Path) -> Result<u64> {
    Ok(std::fs::metadata(path)?.len())
}
