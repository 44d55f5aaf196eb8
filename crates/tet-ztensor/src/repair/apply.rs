//! Edits become a new file, which is compared with the plan before it takes its name.

use std::io::Write;

use tet_io::{Publish, Source, Watch};

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
    let mut publisher = output.begin(source, publish)?;
    let image = planned.image.to_source();
    let file_len = image.len();
    let watch = planned.options.watch(file_len.saturating_mul(2));
    image.for_windows(0..file_len, &mut Vec::new(), |_, piece| {
        watch.tell(piece.len() as u64)?;
        let written = publisher.write_all(piece);
        written.map_err(|error| publisher.write_fault(error))?;
        Ok::<_, Error>(true)
    })?;
    if let Some(written) = publisher.read_back()? {
        compare(&written, &image, &watch)?;
    }
    source.check_unchanged()?;
    publisher.commit()?;
    Ok(Applied { edit_count: planned.edits.len(), file_len })
}

/// What was written is what was planned.
fn compare(written: &Source, image: &Source, watch: &Watch<'_>) -> Result<()> {
    let (found, wanted) = (written.len(), image.len());
    if found != wanted {
        return Err(Error::Usage { what: "bytes of the repaired file", found, wanted });
    }
    written.for_windows(0..wanted, &mut Vec::new(), |at, window| {
        watch.tell(window.len() as u64)?;
        if image.read_vec(at, window.len() as u64)? == window {
            return Ok(true);
        }
        let what = "offset at which the new file differs from the plan";
        Err(Error::Usage { what, found: at, wanted })
    })
}
