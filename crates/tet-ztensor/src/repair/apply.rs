//! Edits become a new file, which is compared with the plan before it takes its name.

use tet_io::Publish;

use super::plan::Plan;
use crate::edit::Output;
use crate::error::{Error, Result};

/// What became of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// How many edits were made.
    pub edit_count: usize,
    /// The length of the new file.
    pub file_len: u64,
}

/// Makes the edits of a plan: writes a new file, compares it with the plan, and publishes it.
///
/// Without an edit to make, nothing is written.
///
/// # Errors
///
/// The new file cannot be written or is not what was planned, the caller asked to stop, or the source
/// changed meanwhile. Nothing is changed then.
pub fn apply(planned: &Plan, output: Output<'_>, publish: &Publish) -> Result<Applied> {
    let source = &planned.source;
    if planned.edits.is_empty() {
        return Ok(Applied { edit_count: 0, file_len: source.len() });
    }
    let file_len = planned.image.len();
    let watch = planned.options.watch(file_len.saturating_mul(2));
    let tell = |len| Ok::<_, Error>(watch.tell(len)?);
    planned.image.publish(source, output, publish, tell, |_| Ok(()))?;
    Ok(Applied { edit_count: planned.edits.len(), file_len })
}
