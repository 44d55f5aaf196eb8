//! Edits become a new file, which is looked over before it takes its name.

use tet_io::{Image, Output, Publish};
use tet_report::{Applied, Code};

use super::edit::make;
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
) -> Result<Applied> {
    let progress = &plan.options.progress;
    let is_all = plan.edits.iter().all(|edit| chosen.has(edit.code));
    if is_all {
        return plan.apply(output, publish, progress);
    }
    let mut part = plan.clone();
    part.edits.retain(|edit| chosen.has(edit.code));
    if !part.edits.is_empty() {
        part.image = Image::of(&plan.source);
        for edit in &part.edits {
            make(edit, &mut part.image, &plan.options.limits, progress)?;
        }
        // What all edits leave is known; what some of them leave is not.
        part.remaining = remaining(&part.repaired(), &plan.options)?;
    }
    part.apply(output, publish, progress)
}
