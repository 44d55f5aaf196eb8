//! Readable contents of a damaged file, in names of datasets and positions of axes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tet_convert::{OpenOptions, Opened, chunk_positions, damaged_chunks};
use tet_file::FooterMode;
use tet_query::Dataset;
use tet_verify::{Finding, Level, Report, Severity};

use crate::context::Context;
use crate::escape::Escaped;
use crate::open;
use crate::size::grouped;

/// The most datasets that a line names.
const NAMES_MAX: usize = 12;

/// No file is so long: what says so is no length.
const FILE_LEN_MAX: u64 = 1 << 62;

/// Loss of a dataset that an error reports.
enum Lost {
    /// It cannot be read.
    All,
    /// These chunks cannot.
    Chunks(BTreeSet<Vec<u64>>),
}

/// The rule of `.tet` files that a payload breaks whose end is not in the file.
const PAYLOAD_END: &str = "TET-P1";

/// How long a file that is cut short is, and how long it was: at least so long, where its parts alone tell.
pub(super) fn truncated(report: &Report) -> Option<String> {
    let errors = report.findings.iter().filter(|it| it.severity == Severity::Error);
    let of_file = errors.filter(|it| it.place.shard.is_none());
    let is_length = |end: &u64| report.file_len < *end && *end < FILE_LEN_MAX;
    let (mut length, mut last, mut least, mut are_past) = (None, None, None, true);
    for finding in of_file {
        let is_past = finding.wanted == Some(report.file_len);
        let end = Some(finding.found).filter(|end| is_past && is_length(end));
        are_past &= end.is_some();
        match () {
            () if finding.found == report.file_len => {
                length = length.max(finding.wanted.filter(is_length));
            }
            () if finding.code.id() == PAYLOAD_END => least = least.max(end),
            () => last = last.max(end),
        }
    }
    // Where each error is of what ends behind the file, the last of these ends was its own.
    let end = match length.or(last.filter(|_| are_past)) {
        Some(length) => grouped(length),
        None => format!("at least {}", grouped(least?)),
    };
    Some(format!("truncated: {} of {end} bytes", grouped(report.file_len)))
}

/// Lines on what cannot be read and what can; none where that is not known.
pub(super) fn lines(path: &Path, report: &Report, context: &Context<'_>) -> Vec<String> {
    let mut options = OpenOptions::default();
    options.footer = FooterMode::Lenient;
    let opened = tet_convert::open(context.env().at(path), &options);
    let Ok(opened) = opened else { return Vec::new() };
    // Of many errors the first are listed: the chunks of the others are looked for.
    let is_listed = report.omitted.is_empty() || report.level != Level::Deep;
    let lost = if is_listed { lost(&report.findings) } else { searched(&opened, context) };
    let (mut gone, mut partly, mut faulty, mut whole) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for dataset in opened.catalog.datasets() {
        match (dataset.why(), lost.get(dataset.name.as_str())) {
            // Elements that nothing reads are not damaged.
            (Some(why), None) if why.is_unsupported() => {}
            (Some(_), _) => gone.push(dataset.name.as_str()),
            (None, Some(Lost::All)) if !is_listed || !has_chunks(dataset) => {
                gone.push(dataset.name.as_str());
            }
            (None, Some(Lost::All)) => faulty.push(dataset.name.as_str()),
            (None, Some(Lost::Chunks(chunks))) => {
                let is_all = u64::try_from(chunks.len()) == Ok(dataset.grid.chunk_count());
                if is_all {
                    gone.push(dataset.name.as_str());
                } else {
                    let positions = chunk_positions(dataset, chunks.iter().cloned());
                    partly.push(format!("{}: {positions}", Escaped(&dataset.name)));
                }
            }
            (None, None) => whole.push(dataset.name.as_str()),
        }
    }
    if gone.is_empty() && partly.is_empty() && faulty.is_empty() {
        return Vec::new();
    }
    let mut lines = Vec::new();
    for part in partly {
        lines.push(format!("cannot be read: {part}"));
    }
    if !gone.is_empty() {
        lines.push(format!("cannot be read: {}", names(&gone)));
    }
    if !faulty.is_empty() {
        lines.push(format!("has errors: {}", names(&faulty)));
    }
    if !whole.is_empty() {
        lines.push(format!("can be read: {}", names(&whole)));
    }
    lines
}

/// Whether the place of a chunk can be found.
fn has_chunks(dataset: &Dataset) -> bool {
    dataset.chunks.locate(&[0], &mut Vec::new()).is_ok()
}

/// The unreadable chunks of each dataset, by its name.
fn searched<'o>(opened: &'o Opened, context: &Context<'_>) -> BTreeMap<&'o str, Lost> {
    let how = open::unflagged(context);
    let mut lost = BTreeMap::new();
    for dataset in opened.catalog.datasets() {
        let damaged = damaged_chunks(dataset, &how).unwrap_or_default();
        let chunks: BTreeSet<Vec<u64>> = damaged.coordinates.into_iter().collect();
        if damaged.is_all || !chunks.is_empty() {
            let of_it = if damaged.is_all { Lost::All } else { Lost::Chunks(chunks) };
            lost.insert(dataset.name.as_str(), of_it);
        }
    }
    lost
}

/// Losses of each dataset that an error is about, by its name.
fn lost(findings: &[Finding]) -> BTreeMap<&str, Lost> {
    let mut lost: BTreeMap<&str, Lost> = BTreeMap::new();
    let of_elements =
        findings.iter().filter(|it| it.severity == Severity::Error && it.place.attribute.is_none());
    for finding in of_elements {
        let Some(name) = finding.place.dataset_name.as_deref() else { continue };
        match (&finding.place.chunk, lost.get_mut(name)) {
            (Some(chunk), Some(Lost::Chunks(chunks))) => drop(chunks.insert(chunk.clone())),
            (Some(_), Some(Lost::All)) => {}
            (Some(chunk), None) => {
                lost.insert(name, Lost::Chunks(BTreeSet::from([chunk.clone()])));
            }
            (None, _) => drop(lost.insert(name, Lost::All)),
        }
    }
    lost
}

fn names(names: &[&str]) -> String {
    let shown = names.iter().take(NAMES_MAX).map(|name| Escaped(name).to_string());
    let text = shown.collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(NAMES_MAX).filter(|more| *more != 0) {
        Some(more) => format!("{text} and {more} more"),
        None => text,
    }
}
