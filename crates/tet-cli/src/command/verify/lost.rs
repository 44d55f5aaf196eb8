//! What of a damaged file can be read, in names of datasets and positions of axes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use tet_query::Dataset;
use tet_verify::{Finding, Report, Severity};

use crate::context::Context;
use crate::escape::Escaped;
use crate::size::grouped;

/// The most datasets that a line names.
const NAMES_MAX: usize = 12;
/// The most parts of a dataset that are named.
const PARTS_MAX: usize = 4;

/// No file is so long: what says so is no length.
const FILE_LEN_MAX: u64 = 1 << 62;

/// What an error says of a dataset.
enum Lost {
    /// It cannot be read.
    All,
    /// These chunks cannot.
    Chunks(BTreeSet<Vec<u64>>),
}

/// How long a file that is cut short is, and how long it was: at least so long, where its parts alone tell.
pub(super) fn truncated(report: &Report) -> Option<String> {
    let errors = report.findings.iter().filter(|it| it.severity == Severity::Error);
    let errors = || errors.clone().filter(|it| it.place.shard.is_none());
    let is_length = |end: &u64| report.file_len < *end && *end < FILE_LEN_MAX;
    let ends = errors().filter(|it| it.found == report.file_len).filter_map(|it| it.wanted);
    // Where each error is of what ends behind the file, all of them are of its end.
    let past = |it: &Finding| (it.wanted == Some(report.file_len)).then_some(it.found);
    let pasts =
        || errors().map(past).collect::<Option<Vec<u64>>>()?.into_iter().filter(is_length).max();
    let end = ends.filter(is_length).max().or_else(pasts)?;
    Some(format!("truncated: {} of {} bytes", grouped(report.file_len), grouped(end)))
}

/// Lines on what cannot be read and what can; none where that is not known.
pub(super) fn lines(path: &Path, report: &Report, context: &Context<'_>) -> Vec<String> {
    let lost = lost(&report.findings);
    let opened = tet_convert::open(context.env().at(path), &tet_convert::OpenOptions::default());
    let Ok(opened) = opened else { return Vec::new() };
    let (mut gone, mut partly, mut faulty, mut whole) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for dataset in opened.catalog.datasets() {
        match (dataset.why(), lost.get(dataset.name.as_str())) {
            // Elements that nothing reads are not damaged.
            (Some(why), None) if why.is_unsupported() => {}
            (Some(_), _) => gone.push(dataset.name.as_str()),
            (None, Some(Lost::All)) if !has_chunks(dataset) => gone.push(dataset.name.as_str()),
            (None, Some(Lost::All)) => faulty.push(dataset.name.as_str()),
            (None, Some(Lost::Chunks(chunks))) => {
                let is_all = u64::try_from(chunks.len()) == Ok(dataset.grid.chunk_count());
                if is_all {
                    gone.push(dataset.name.as_str());
                } else {
                    partly.push(parts(dataset, chunks));
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

/// What is lost of each dataset that an error is about, by its name.
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

/// The positions of chunks: `tas: time 30..59`. Chunks that follow each other along one axis are one part.
fn parts(dataset: &Dataset, chunks: &BTreeSet<Vec<u64>>) -> String {
    let mut boxes: Vec<Vec<Range<u64>>> = Vec::new();
    for coord in chunks {
        let extents = dataset.grid.extents_of(coord);
        let origin = dataset.grid.origin_of(coord);
        let ranges = origin.into_iter().zip(extents).map(|(at, len)| at..at.saturating_add(len));
        let ranges: Vec<Range<u64>> = ranges.collect();
        let joined = boxes.last_mut().is_some_and(|last| join(last, &ranges));
        if !joined {
            boxes.push(ranges);
        }
    }
    let shown = boxes.iter().take(PARTS_MAX).map(|ranges| positions(dataset, ranges));
    let mut text = shown.collect::<Vec<_>>().join("; ");
    if let Some(more) = boxes.len().checked_sub(PARTS_MAX).filter(|more| *more != 0) {
        text += &format!("; and {} more parts", grouped(u64::try_from(more).unwrap_or(u64::MAX)));
    }
    format!("{}: {text}", Escaped(&dataset.name))
}

/// Lengthens a part by one that follows it along one axis, and is the same along the others.
fn join(last: &mut [Range<u64>], next: &[Range<u64>]) -> bool {
    let mut differing = last.iter_mut().zip(next).filter(|(one, other)| *one != *other);
    match (differing.next(), differing.next()) {
        (Some((one, other)), None) if one.end == other.start => {
            one.end = other.end;
            true
        }
        _ => false,
    }
}

/// The axes of a part that it does not have all of, with its first and last position.
fn positions(dataset: &Dataset, ranges: &[Range<u64>]) -> String {
    let axes = ranges.iter().zip(dataset.shape()).enumerate();
    let partial = axes.filter(|(_, (range, extent))| **range != (0..**extent));
    let shown = partial.map(|(axis, (range, _))| {
        let last = range.end.saturating_sub(1);
        let name = dataset.dims.get(axis).filter(|name| !name.is_empty());
        let name = name.map_or_else(|| format!("axis {axis}"), |name| Escaped(name).to_string());
        if range.start == last {
            format!("{name} {last}")
        } else {
            format!("{name} {}..{last}", range.start)
        }
    });
    let shown: Vec<String> = shown.collect();
    shown.join(", ")
}

fn names(names: &[&str]) -> String {
    let shown = names.iter().take(NAMES_MAX).map(|name| Escaped(name).to_string());
    let text = shown.collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(NAMES_MAX).filter(|more| *more != 0) {
        Some(more) => format!("{text} and {more} more"),
        None => text,
    }
}
