//! `verify` for every container: one report, whatever the file is.

use tet_format::ForeignRule;
use tet_io::Source;
use tet_verify::{Report, VerifyOptions};

use crate::container::{container, containers, sniff};
use crate::open::open_source;
use crate::{Error, Format, Note, Result};
use tet_container::read::opened::{OpenOptions, path_of};
use tet_container::read::set::part_note;

/// Checks a file and reports what is wrong with it.
///
/// # Errors
///
/// The source cannot be read or changed meanwhile, is of a format that is not checked, or breaks no rule and cannot be
/// opened, such as an archive without arrays. What is
/// wrong with the file's bytes is no error here: it is in the report.
pub fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let format = sniff(source)?;
    let Some(container) = container(format) else {
        return Err(Error::NotVerifiable { path: path_of(source), format });
    };
    let report = container.verify(source, options)?;
    // A file that nobody can open is not in order, whatever rules it keeps.
    if report.is_ok() && !container.is_opened_to_verify() {
        open_source(source.clone(), &OpenOptions::default())?;
    }
    Ok(report)
}

/// The note that a file is one part of a model of several files, which are not checked with it.
///
/// # Errors
///
/// The source cannot be read.
pub fn part_of(source: &Source) -> Result<Option<Note>> {
    if part_note(&path_of(source)).is_none() || container(sniff(source)?).is_none() {
        return Ok(None);
    }
    let opened = open_source(source.clone(), &OpenOptions::default());
    Ok(opened.ok().and_then(|opened| opened.part_of().cloned()))
}

/// The rules of every container that has rules in addition to those of `.tet`.
#[must_use]
pub fn foreign_rules() -> Vec<(Format, &'static [&'static ForeignRule])> {
    let rules = containers().into_iter().map(|it| (it.format(), it.rules()));
    rules.filter(|(_, rules)| !rules.is_empty()).collect()
}
