//! The chunks of an array that are stored: from the names of its objects and the indexes of its shards.

use tet_format::Span;

use crate::check::each_object;
use crate::error::{Error, Result};
use crate::finder::{ChunkFinder, Located};

/// Called with the coordinate of a chunk, and returns whether to go on.
type Take<'a> = dyn FnMut(&[u64]) -> bool + 'a;

/// Calls `take` with the coordinate of every chunk of [`ArrayMeta::grid`](crate::ArrayMeta::grid) that is
/// stored, until it returns false. The work follows what is stored, not the extents. An object that cannot be
/// found and a shard without an index count as one chunk.
///
/// # Errors
///
/// Returns errors of the environment.
pub fn each_stored(finder: &ChunkFinder, take: &mut Take<'_>) -> Result<()> {
    let array = finder.array();
    let mut unit = vec![1_u64; array.grid.counts().len()];
    for level in &array.shards {
        unit = unit.iter().zip(&level.counts).map(|(a, b)| a.saturating_mul(*b)).collect();
    }
    let mut goes_on = true;
    each_object(finder, &mut |key, coordinate| {
        let Some(coordinate) = coordinate.filter(|_| goes_on) else { return Ok(()) };
        let origin = coordinate.iter().zip(&unit).map(|(at, unit)| at.saturating_mul(*unit));
        let origin: Vec<u64> = origin.collect();
        goes_on = match finder.find_object(key) {
            Ok(None) => true,
            Ok(Some(located)) => inside(finder, key, 0, located, &origin, &unit, take)?,
            Err(Error::Fault { .. } | Error::Io(_)) => take(&origin),
        };
        Ok(())
    })
}

/// The chunks of a part of an object: a chunk, or a shard of this level.
fn inside(
    finder: &ChunkFinder,
    key: &str,
    number: usize,
    part: Located,
    origin: &[u64],
    unit: &[u64],
    take: &mut Take<'_>,
) -> Result<bool> {
    let array = finder.array();
    let is_inside = origin.iter().zip(array.grid.counts()).all(|(at, count)| at < count);
    let Some(level) = array.shards.get(number).filter(|_| is_inside) else {
        return Ok(!is_inside || take(origin));
    };
    let index = match finder.index(key, &part, number, level) {
        Ok(index) => index,
        Err(Error::Fault { .. }) => return Ok(take(origin)),
        Err(error) => return Err(error),
    };
    let inner = unit.iter().zip(&level.counts).map(|(unit, count)| unit.checked_div(*count));
    let inner: Vec<u64> = inner.map(|it| it.unwrap_or(1).max(1)).collect();
    let is_last = number + 1 == array.shards.len();
    let mut end = 0;
    for entry in 0..index.len() {
        let span = match index.entry(entry) {
            Ok(None) => continue,
            Ok(Some(span)) => span,
            Err(_) => Span::EMPTY,
        };
        // Of shards that share bytes or are not in order those behind the others are walked, so that the bytes
        // bound the work; the check of the structure reports them.
        if !is_last && (span.is_empty() || span.start() < end) {
            continue;
        }
        end = span.end();
        let mut rest = entry as u64;
        let mut at = origin.to_vec();
        for ((at, &count), unit) in at.iter_mut().zip(&level.counts).zip(&inner).rev() {
            *at = at.saturating_add((rest % count.max(1)).saturating_mul(*unit));
            rest /= count.max(1);
        }
        let below = Located { span, ..part };
        if !inside(finder, key, number + 1, below, &at, &inner, take)? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use tet_io::Source;

    use super::*;
    use crate::{Hierarchy, Store};

    #[test]
    fn what_is_listed_is_what_is_found() {
        let files: [&[u8]; 2] = [
            include_bytes!("../tests/fixtures/v2.zarr.zip"),
            include_bytes!("../tests/fixtures/v3.zarr.zip"),
        ];
        let mut total = 0;
        for file in files {
            let store = Store::zip(Source::from_bytes(file)).unwrap();
            let hierarchy = Hierarchy::open(store).unwrap();
            for array in hierarchy.arrays() {
                let finder = hierarchy.finder(array);
                let mut listed = Vec::new();
                each_stored(&finder, &mut |at| {
                    listed.push(at.to_vec());
                    true
                })
                .unwrap();
                listed.sort_unstable();
                let all = (0..array.chunk_count()).map(|linear| array.grid.coord_of(linear));
                let found = all.filter(|at| finder.find(at).unwrap().is_some());
                assert_eq!(listed, found.collect::<Vec<_>>(), "{}", array.path);
                total += listed.len();
                let mut count = 0;
                each_stored(&finder, &mut |_| {
                    count += 1;
                    false
                })
                .unwrap();
                assert_eq!(count, 1, "it ends when it is told to");
            }
        }
        assert_eq!(total, 6);
    }
}
