//! Edits become a new file, which is looked over before it takes its name.

use tet_file::edit::{Image, Progress};
use tet_format::Rule;
use tet_io::{Output, Publish, Source};

use super::plan::{Plan, remaining};
use crate::code::Code;
use crate::error::{Error, Result};
use crate::finding::Finding;

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
/// Without an edit to make, nothing is written. A file that would still have errors is not put in the
/// place of the old one.
///
/// # Errors
///
/// The new file cannot be written or is not what was planned; it would have errors in the place of
/// the old one; or the source changed meanwhile. Nothing is changed then.
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
    let planned = remaining(&image.to_source(), &plan.options)?;
    let in_place = matches!(output, Output::InPlace(_));
    let has_lost = edits.len() == plan.edits.len() && !plan.lost.is_empty();
    if in_place && (has_lost || !planned.is_empty()) {
        return Err(Error::StillBroken { findings: planned.len(), lost: plan.lost.len() });
    }
    let written = publish_image(&plan.source, &image, output, publish, progress, |written| {
        remaining(written, &plan.options)
    })?;
    let (edit_count, file_len) = (edits.len(), image.len());
    debug_assert_eq!(written, planned);
    Ok(Applied { edit_count, file_len, remaining: written })
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
    let mut publisher = output.begin(source, publish)?;
    let target = publisher.target().to_path_buf();
    let fault = |error| tet_io::Error::io(tet_io::Step::Write, &target, error);
    image.write_to(&mut publisher, fault, progress)?;
    let written = publisher.read_back()?.unwrap_or_else(|| image.to_source());
    compare(&written, image)?;
    let seen = look(&written)?;
    source.check_unchanged()?;
    publisher.commit()?;
    Ok(seen)
}

/// What was written is what was meant.
fn compare(source: &Source, image: &Image) -> Result<()> {
    let meant = image.to_source();
    let wrong = |at| {
        Error::from(tet_file::Error::from(tet_format::Error {
            rule: Rule::ChunkDigest,
            at,
            found: source.len(),
            wanted: image.len(),
        }))
    };
    if source.len() != image.len() {
        return Err(wrong(0));
    }
    source.for_windows(0..image.len(), &mut Vec::new(), |at, window| {
        let same = meant.read_vec(at, window.len() as u64)? == window;
        if same { Ok(true) } else { Err(wrong(at)) }
    })
}
