//! Edits become a new file, which is looked over before it takes its name.

use std::io::Write;

use tet_format::Span;
use tet_io::{Publish, Publisher, Source};

use super::image::Image;
use super::plan::{Plan, plan};
use crate::container::{MAGIC, MAGIC_LEN};
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

/// Makes the edits of a plan: writes a new file, looks it over, and puts it where it is to be.
///
/// Without an edit to make, nothing is written.
///
/// # Errors
///
/// The new file cannot be written or is not what was planned, or the source changed meanwhile.
/// Nothing is changed then.
pub fn apply(planned: &Plan, output: Output<'_>, publish: &Publish) -> Result<Applied> {
    let source = &planned.image.source;
    if planned.edits.is_empty() {
        return Ok(Applied { edit_count: 0, file_len: source.len() });
    }
    let mut publisher = output.begin(source, publish)?;
    write(&planned.image, &mut publisher)?;
    let written = publisher.read_back()?;
    let file_len = planned.image.len();
    if let Some(written) = written {
        look_over(planned, &written)?;
    }
    source.check_unchanged()?;
    publisher.commit()?;
    Ok(Applied { edit_count: planned.edits.len(), file_len })
}

fn write(image: &Image, publisher: &mut Publisher) -> Result<()> {
    put(publisher, &MAGIC)?;
    if let Some(kept) = Span::from_range(MAGIC_LEN..image.kept_len) {
        publisher.copy_from(&image.source, kept)?;
    }
    put(publisher, &image.ending_bytes())
}

/// The new file is as long as planned, and needs nothing more.
fn look_over(planned: &Plan, written: &Source) -> Result<()> {
    let again = plan(written, &planned.options)?;
    let (found, wanted) = (written.len(), planned.image.len());
    if found == wanted && again.edits.is_empty() && again.remaining.is_none() {
        return Ok(());
    }
    Err(Error::Usage { what: "bytes of the repaired file, sound", found, wanted })
}

fn put(publisher: &mut Publisher, bytes: &[u8]) -> Result<()> {
    let written = publisher.write_all(bytes);
    Ok(written.map_err(|error| publisher.write_fault(error))?)
}
