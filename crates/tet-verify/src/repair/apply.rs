//! Applies edits to a new file, and verifies it before renaming it.

use tet_io::{Image, Output, Publish};
use tet_report::{Applied, Code};

use super::edit::make;
use super::plan::{Plan, remaining};
use crate::error::Result;

/// Which edits of a plan are applied.
#[derive(Clone, Debug)]
pub enum Chosen {
    /// All.
    All,
    /// Those with these codes.
    Codes(Vec<Code>),
}

impl Chosen {
    /// Whether edits with this code are applied.
    #[must_use]
    pub fn has(&self, code: Code) -> bool {
        match self {
            Chosen::All => true,
            Chosen::Codes(codes) => codes.contains(&code),
        }
    }
}

/// Applies edits of a plan: writes a new file, verifies it, and publishes it.
///
/// Without edits, nothing is written.
///
/// # Errors
///
/// The new file cannot be written or differs from the plan, the caller canceled, or the source
/// changed meanwhile. The target is unchanged then.
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
        part.image = Image::from_source(&plan.source);
        for edit in &part.edits {
            make(edit, &mut part.image, &plan.options.limits, progress)?;
        }
        // The plan knows the remaining findings only if all edits are applied.
        part.remaining = remaining(&part.repaired(), &plan.options)?;
    }
    part.apply(output, publish, progress)
}
