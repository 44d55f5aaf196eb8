//! Applies edits to a new file, and compares it with the plan before renaming it.

use tet_io::{Output, Publish};
use tet_report::Applied;

use super::plan::Plan;
use crate::error::Result;

/// Applies the edits of a plan: writes a new file, compares it with the plan, and publishes it.
///
/// Without edits, nothing is written.
///
/// # Errors
///
/// The new file cannot be written or differs from the plan, the caller canceled, or the source
/// changed meanwhile. The target is unchanged then.
pub fn apply(planned: &Plan, output: Output<'_>, publish: &Publish) -> Result<Applied> {
    planned.apply(output, publish, &planned.options.progress)
}
