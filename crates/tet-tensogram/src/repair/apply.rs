//! Edits become a new file, which is looked over before it takes its name.

use tet_io::{Output, Publish};

use super::plan::{Plan, plan};
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

/// Makes the edits of a plan: writes a new file, looks it over, and puts it where it is to be.
///
/// Without an edit to make, nothing is written.
///
/// # Errors
///
/// The new file cannot be written or is not what was planned, or the source changed meanwhile.
/// Nothing is changed then.
pub fn apply(planned: &Plan, output: Output<'_>, publish: &Publish) -> Result<Applied> {
    let source = &planned.source;
    if planned.edits.is_empty() {
        return Ok(Applied { edit_count: 0, file_len: source.len() });
    }
    let mut publisher = output.begin(source, publish)?;
    planned.pieces.write(source, &mut publisher)?;
    let file_len = planned.pieces.len();
    if let Some(written) = publisher.read_back()? {
        let again = plan(&written, &planned.options)?;
        if written.len() != file_len || !again.edits.is_empty() || again.remaining.is_some() {
            let what = "bytes of the repaired file, sound";
            return Err(Error::Usage { what, found: written.len(), wanted: file_len });
        }
    }
    source.check_unchanged()?;
    publisher.commit()?;
    Ok(Applied { edit_count: planned.edits.len(), file_len })
}
