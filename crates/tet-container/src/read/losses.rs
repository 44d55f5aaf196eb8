//! Parts of an open file that cannot be read and are no dataset: the one rule by which all commands, and the libraries
//! for Rust and Python, report them.
//!
//! ```text
//!   a finding of opening                   reading some datasets    reading or writing all of them
//!   error, of a dataset that has a fault   the dataset has it       an error, by the fault of the dataset
//!   error, of no dataset of the catalog    a warning                an error: Opened::check_complete
//!   another error, or a warning            a warning                a warning
//! ```

use std::collections::HashSet;

use tet_format::ForeignFault;
use tet_io::Writers;
use tet_query::Dataset;
use tet_verify::{Finding, Integrity, Severity};

use super::opened::{Opened, path_of};
use crate::{Error, Note, Result};

impl Opened {
    /// The errors that concern no dataset of the catalog, and no attribute: a part of the file cannot be read, and what
    /// it has is not known.
    pub fn losses(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|it| self.is_loss(it))
    }

    /// Whether a finding is one of the [`Opened::losses`].
    #[must_use]
    pub fn is_loss(&self, finding: &Finding) -> bool {
        let is_error = finding.severity == Severity::Error && !self.is_form(finding);
        if !is_error || finding.place.attribute.is_some() {
            return false;
        }
        let is_listed = |name: &String| self.catalog.has(name);
        let place = &finding.place;
        !place.dataset_name.as_ref().map_or(place.dataset.is_some(), is_listed)
    }

    /// Errors and warnings of opening the file, for those who read it. Those of datasets that have a fault are
    /// left out, since reading these fails.
    pub fn warnings(&self) -> impl Iterator<Item = &Finding> {
        let faulty = self.catalog.datasets().iter().filter(|it| it.fault.is_some());
        let faulty: HashSet<&str> = faulty.map(|it| it.name.as_str()).collect();
        let of_faulty = move |it: &Finding| {
            let name = it.place.dataset_name.as_deref();
            it.place.attribute.is_none() && name.is_some_and(|name| faulty.contains(name))
        };
        let shown = self.findings.iter().filter(|it| it.severity != Severity::Note);
        shown.filter(move |it| !of_faulty(it))
    }

    /// Checks that the catalog has all of the file: those who copy, compare or count all datasets would leave out the
    /// rest without a word.
    ///
    /// # Errors
    /// A part of the file cannot be read, and what it has is not known.
    pub fn check_complete(&self) -> Result<()> {
        let loss = self.losses().find_map(|it| {
            let (rule, at, found) = (it.rule()?, it.place.offset, it.found);
            let wanted = it.wanted.unwrap_or_default();
            Some((ForeignFault { rule, at, found, wanted }, without_severity(it)))
        });
        let Some((fault, what)) = loss else { return Ok(()) };
        let (path, format) = (path_of(self.catalog.source()), self.format);
        Err(Error::Incomplete { path, format, fault, what })
    }

    /// Whether another program has a file of the container open for writing, and its values have no checksums to
    /// compare: what is read may mix two states.
    #[must_use]
    pub fn is_being_written(&self) -> bool {
        let mut sources = std::iter::once(self.catalog.source()).chain(self.catalog.shards());
        let is_compared = |it: &Dataset| it.chunks.integrity() == Integrity::Verified;
        sources.any(|source| source.writers() == Writers::Present)
            && !self.catalog.datasets().iter().all(is_compared)
    }

    /// Notes for those who write what they read.
    pub fn warning_notes(&self) -> Vec<Note> {
        let note = |it: &Finding| match self.is_form(it) {
            true => Note::Malformed { what: it.to_string() },
            false => Note::Warned { what: without_severity(it) },
        };
        let written = self.is_being_written().then_some(Note::BeingWritten);
        self.warnings().map(note).chain(written).collect()
    }
}

/// A finding as one line, without the word for its severity.
fn without_severity(finding: &Finding) -> String {
    let text = finding.to_string();
    text.split_once(' ').map_or_else(|| text.clone(), |(_, text)| text.to_owned())
}
