//! Structural checks: stored objects against the grid, shard indexes, and spans.

use tet_format::Span;

use crate::array::join;
use crate::error::{Broken, Error, Result, ZarrFault, broken};
use crate::finder::{ChunkFinder, Located};
use crate::rule;

/// The most names of one folder that are read.
const NAMES_MAX: usize = 1 << 22;

/// How many objects of an array are stored.
///
/// ```
/// let counts = tet_zarr::ChunkCounts::default();
/// assert_eq!(counts.stored, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChunkCounts {
    /// Objects (chunks, or shards) that are stored.
    pub stored: u64,
    /// Objects that the grid has; saturated.
    pub wanted: u64,
    /// Other objects among those of the array: outside of the grid, or with another name.
    pub stray: u64,
}

/// Counts the stored objects of an array by listing them.
///
/// # Errors
///
/// Returns errors of the environment.
pub fn count_chunks(finder: &ChunkFinder) -> Result<ChunkCounts> {
    let wanted = tet_format::Shape::from(finder.array().object_counts()).element_count();
    let mut counts = ChunkCounts { wanted: wanted.unwrap_or(u64::MAX), ..ChunkCounts::default() };
    each_object(finder, &mut |_, coordinate| {
        match coordinate {
            Some(_) => counts.stored += 1,
            None => counts.stray += 1,
        }
        Ok(())
    })?;
    Ok(counts)
}

/// Checks every stored object of an array: its key, its place, and for shards all indexes. Calls
/// `report` with each finding.
///
/// # Errors
///
/// Returns errors of the environment.
pub fn check(finder: &ChunkFinder, report: &mut dyn FnMut(ZarrFault)) -> Result<ChunkCounts> {
    let array = finder.array().clone();
    let wanted = tet_format::Shape::from(array.object_counts()).element_count();
    let mut counts = ChunkCounts { wanted: wanted.unwrap_or(u64::MAX), ..ChunkCounts::default() };
    let wanted_len = plain_len(finder);
    each_object(finder, &mut |key, coordinate| {
        let mut add = |fault: Broken, key: &str| {
            report(ZarrFault { fault, key: key.to_owned(), path: Some(array.path.clone()) });
        };
        if coordinate.is_none() {
            counts.stray += 1;
            add(broken(&rule::STRAY_KEY, 0, 0), key);
            return Ok(());
        }
        counts.stored += 1;
        let located = match finder.find_object(key) {
            Ok(Some(located)) => located,
            Ok(None) => return Ok(()),
            Err(Error::Fault { fault, key }) => {
                add(fault, &key);
                return Ok(());
            }
            // An entry that is no readable file does not keep the others from being checked.
            Err(Error::Io(_)) if !finder.objects().store().is_far() => {
                add(broken(&rule::UNREADABLE, 0, 0), key);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if array.shards.is_empty() {
            let found = located.inflated_len.unwrap_or(located.span.len());
            if let Some(wanted) = wanted_len.filter(|wanted| *wanted != found) {
                let at = located.span.start();
                add(Broken { at, ..broken(&rule::PAYLOAD_LEN, found, wanted) }, key);
            }
            return Ok(());
        }
        check_shard(finder, key, located, 0, wanted_len, &mut |fault| add(fault, key))
    })?;
    Ok(counts)
}

/// The length of a stored chunk, if no codec changes it.
fn plain_len(finder: &ChunkFinder) -> Option<u64> {
    let array = finder.array();
    let is_plain = array.codecs.iter().all(|it| it.is_core("bytes") || it.is_core("transpose"));
    array.chunk_len().filter(|_| is_plain)
}

/// Checks one shard and those inside it: the index, that each chunk is inside, and that no two
/// share bytes.
fn check_shard(
    finder: &ChunkFinder,
    key: &str,
    shard: Located,
    number: usize,
    wanted_len: Option<u64>,
    add: &mut dyn FnMut(Broken),
) -> Result<()> {
    let Some(level) = finder.array().shards.get(number) else { return Ok(()) };
    let index = match finder.index(key, &shard, number, level) {
        Ok(index) => index,
        Err(Error::Fault { fault, .. }) => {
            add(fault);
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let is_last = number + 1 == finder.array().shards.len();
    let mut spans: Vec<Span> = Vec::new();
    for at in 0..index.len() {
        match index.entry(at) {
            Ok(None) => {}
            Ok(Some(span)) => {
                let wrong = wanted_len.filter(|wanted| is_last && *wanted != span.len());
                if let Some(wanted) = wrong {
                    let at = span.start();
                    add(Broken { at, ..broken(&rule::PAYLOAD_LEN, span.len(), wanted) });
                }
                spans.push(span);
            }
            Err(fault) => add(fault),
        }
    }
    spans.sort_unstable();
    for pair in spans.windows(2) {
        if let [before, after] = pair
            && before.overlaps(*after)
        {
            let at = after.start();
            add(Broken { at, ..broken(&rule::SHARD_OVERLAP, at, before.end()) });
        }
    }
    if !is_last {
        // Of shards that share bytes the first is checked, so that the bytes bound the work.
        let mut end = 0;
        for span in spans {
            if span.start() < end || span.is_empty() {
                continue;
            }
            end = span.end();
            check_shard(finder, key, Located { span, ..shard }, number + 1, wanted_len, add)?;
        }
    }
    Ok(())
}

/// Called with a key, and its coordinate in the grid of objects.
pub(crate) type Visit<'a> = dyn FnMut(&str, Option<&[u64]>) -> Result<()> + 'a;

/// Calls `visit` with the key of each object of an array and its coordinate; `None` for a key that
/// is not that of an object inside the grid. Documents are left out.
pub(crate) fn each_object(finder: &ChunkFinder, visit: &mut Visit<'_>) -> Result<()> {
    let array = finder.array();
    let counts = array.object_counts();
    let mut folders = vec![(String::new(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let list = finder.objects().store().list(&join_parts(&array.path, &folder), NAMES_MAX)?;
        for name in list.files.iter().chain(&list.others) {
            if folder.is_empty() && is_document(name) {
                continue;
            }
            let relative = join(&folder, name);
            let coordinate = array.keys.coordinate(&relative, counts.len());
            let inside = coordinate.filter(|it| it.iter().zip(&counts).all(|(at, n)| at < n));
            visit(&join(&array.path, &relative), inside.as_deref())?;
        }
        // A folder with the name of an object is no object.
        for name in &list.folders {
            let relative = join(&folder, name);
            let coordinate = array.keys.coordinate(&relative, counts.len());
            if let Some(at) = coordinate.filter(|it| it.iter().zip(&counts).all(|(at, n)| at < n)) {
                visit(&join(&array.path, &relative), Some(&at))?;
            }
        }
        // A key has at most a part for each axis and one before them.
        if depth <= counts.len() {
            folders.extend(list.folders.iter().map(|name| (join(&folder, name), depth + 1)));
        }
    }
    Ok(())
}

fn join_parts(path: &str, below: &str) -> String {
    if below.is_empty() { path.to_owned() } else { join(path, below) }
}

/// Whether a name is that of a metadata document.
fn is_document(name: &str) -> bool {
    matches!(name, "zarr.json" | ".zarray" | ".zattrs" | ".zgroup" | ".zmetadata")
}
