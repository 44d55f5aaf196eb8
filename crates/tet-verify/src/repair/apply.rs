//! Edits become a new file, which is looked over before it takes its name.

use tet_file::edit::Progress;
use tet_io::{Image, Output, Publish, Source};
use tet_report::{Code, Finding};

use super::plan::{Plan, remaining};
use crate::error::Result;

/// Which edits of a plan are made.
#[derive(Clone, Debug)]
pub enum Chosen {
    /// All.
    All,
    /// Those of these codes.
    Codes(Vec<Code>),
}

impl Chosen {
    /// Whether edits of this code are made.
    #[must_use]
    pub fn has(&self, code: Code) -> bool {
        match self {
            Chosen::All => true,
            Chosen::Codes(codes) => codes.contains(&code),
        }
    }
}

/// What became of a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Applied {
    /// How many edits were made.
    pub edit_count: usize,
    /// The length of the new file.
    pub file_len: u64,
    /// The errors that it still has.
    pub remaining: Vec<Finding>,
}

/// Makes edits of a plan: writes a new file, looks it over, and puts it where it is to be.
///
/// Without an edit to make, nothing is written.
///
/// # Errors
///
/// The new file cannot be written or is not what was planned, the caller asked to stop, or the source
/// changed meanwhile. Nothing is changed then.
pub fn apply(
    plan: &Plan,
    chosen: &Chosen,
    output: Output<'_>,
    publish: &Publish,
    progress: &mut Progress<'_>,
) -> Result<Applied> {
    let edits: Vec<_> = plan.edits.iter().filter(|edit| chosen.has(edit.code)).collect();
    if edits.is_empty() {
        let (edit_count, file_len) = (0, plan.source.len());
        return Ok(Applied { edit_count, file_len, remaining: plan.remaining.clone() });
    }
    let mut image = Image::of(&plan.source);
    for edit in &edits {
        edit.apply(&mut image, &plan.options.limits, progress)?;
    }
    // What all edits leave is known; the new file is compared with the image.
    let is_all = edits.len() == plan.edits.len();
    let remaining = match is_all {
        true => plan.remaining.clone(),
        false => remaining(&image.to_source(), &plan.options)?,
    };
    publish_image(&plan.source, &image, output, publish, progress, |_| Ok(()))?;
    Ok(Applied { edit_count: edits.len(), file_len: image.len(), remaining })
}

/// Writes an image of a source, compares what was written with it, lets `look` look at it, and puts
/// it where it is to be.
pub(crate) fn publish_image<T>(
    source: &Source,
    image: &Image,
    output: Output<'_>,
    publish: &Publish,
    progress: &mut Progress<'_>,
    look: impl FnOnce(&Source) -> Result<T>,
) -> Result<T> {
    let (mut done, all) = (0_u64, image.len().saturating_mul(2));
    let tell = |len: u64| {
        done = done.saturating_add(len);
        Ok(tet_file::edit::tell(progress, done, all)?)
    };
    image.publish(source, output, publish, tell, look)
}
