//! Edits become a new file, which is compared with the plan before it takes its name.

use tet_io::{Output, Publish};
use tet_report::Applied;

use super::plan::Plan;
use crate::error::Result;

/// Makes the edits of a plan: writes a new file, compares it with the plan, and publishes it.
///
/// Without an edit to make, nothing is written.
///
/// # Errors
///
/// The new file cannot be written or is not what was planned, the caller asked to stop, or the source
/// changed meanwhile. Nothing is changed then.
pub fn apply(planned: &Plan, output: Output<'_>, publish: &Publish) -> Result<Applied> {
    planned.apply(output, publish, &planned.options.progress)
}
