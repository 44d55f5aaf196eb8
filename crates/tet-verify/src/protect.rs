//! Adds digests to a file that has none or stale ones, and statistics where they are missing.

mod measure;

use self::measure::measured;
use tet_file::edit::{FooterEdit, Member, with_footer};
use tet_file::write::DigestChoice;
use tet_file::{OpenOptions, Protection, StatisticsKey, TetFile};
use tet_format::Limits;
use tet_io::{Image, Progress, Publish, Source};

use crate::error::{Error, Result};
use crate::repair::{Output, RepairOptions, remaining, unused};

/// Writes a copy of the source with digests, and with statistics of its chunks where they take at most 0.2 % of the
/// payloads. Returns its length, or `None` if the source already has what it would get: it is not replaced then, and a new
/// file is a copy.
///
/// History, metadata, unknown keys and the footer version do not change.
///
/// # Errors
///
/// Returns [`Error::NotSound`] or [`Error::Unused`] if digests would hide damage, and errors of
/// reading and writing. The target is unchanged then.
pub fn protect(
    source: &Source,
    output: Output<'_>,
    publish: &Publish,
    limits: &Limits,
    progress: &Progress,
) -> Result<Option<u64>> {
    check_sound(source, limits, progress)?;
    let open = OpenOptions { limits: *limits, ..OpenOptions::default() };
    let file = TetFile::open(source.clone(), &open)?;
    let has_digests = matches!(file.protection(), Protection::Digests(_));
    let statistics = match file.statistics() {
        None => measured(&file, progress)?,
        Some(_) => None,
    };
    if has_digests && statistics.is_none() {
        // All digests have been compared.
        source.check_unchanged()?;
        return match output {
            Output::InPlace(_) => Ok(None),
            Output::NewFile(_) => copied(source, output, publish, progress).map(Some),
        };
    }
    if let Some(span) = unused(&file)?.0.first() {
        return Err(Error::Unused { offset: span.start(), len: span.len() });
    }
    let digests = DigestChoice::Written;
    let footer = FooterEdit::from_file(&file, limits)?;
    let mut footer = footer
        .map_or_else(|| FooterEdit::empty(digests), |footer| FooterEdit { digests, ..footer });
    // A key of that name that is no key of statistics belongs to another program.
    let is_free = file.footer().statistics != StatisticsKey::Absent
        || footer.members.iter().all(|(key, _)| key != "statistics");
    if let Some(block) = statistics.filter(|_| is_free) {
        footer.members.retain(|(key, _)| key != "statistics");
        footer.members.push(("statistics".to_owned(), Member::Statistics(block.into())));
    }
    let options = options(limits, progress);
    let image = with_footer(&Image::from_source(source), Some(&footer), limits, progress)?;
    let found =
        image.publish(source, output, publish, progress, |written| remaining(written, &options));
    match found?.into_iter().next() {
        Some(first) => Err(Error::NotSound { first: Box::new(first) }),
        None => Ok(Some(image.len())),
    }
}

/// Checks that a file has no errors, which new digests would hide: its structure, its digests, and that each payload can be
/// decoded.
///
/// # Errors
///
/// Returns [`Error::NotSound`] with the first error, and errors of reading.
pub fn check_sound(source: &Source, limits: &Limits, progress: &Progress) -> Result<()> {
    match remaining(source, &options(limits, progress))?.into_iter().next() {
        Some(first) => Err(Error::NotSound { first: Box::new(first) }),
        None => Ok(()),
    }
}

fn options(limits: &Limits, progress: &Progress) -> RepairOptions {
    RepairOptions { limits: *limits, progress: progress.clone(), ..RepairOptions::default() }
}

/// Writes the source as it is; its length.
fn copied(
    source: &Source,
    output: Output<'_>,
    publish: &Publish,
    progress: &Progress,
) -> Result<u64> {
    output.begin(source, publish)?.commit_image::<Error>(
        &Image::from_source(source),
        source,
        progress,
    )
}

#[cfg(test)]
mod tests;
