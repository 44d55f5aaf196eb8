//! The indexes of shards that end with a checksum, those that do not match it too.

use tet_format::Span;
use tet_io::Source;

use crate::check::each_object;
use crate::error::{Error, Result};
use crate::finder::{ChunkFinder, Located};

/// Bytes of the checksum.
const CHECKSUM_LEN: u64 = 4;

/// The index of a shard, and its CRC-32C.
///
/// # Examples
///
/// ```
/// use tet_io::Source;
/// use tet_zarr::CheckedIndex;
///
/// let index = |source: Source, entries| CheckedIndex { source, entries, wanted: 0xE306_9283 };
/// ```
#[derive(Clone, Debug)]
pub struct CheckedIndex {
    /// The object of the shard.
    pub source: Source,
    /// The entries, behind which the checksum is.
    pub entries: Span,
    /// The checksum that is stored there.
    pub wanted: u32,
}

/// Calls `take` with every index of the shards of an array that has a checksum, until it returns false; of shards in
/// shards with those that an intact index leads to.
///
/// # Errors
///
/// Returns errors of the environment.
pub fn each_checked_index(
    finder: &ChunkFinder,
    take: &mut dyn FnMut(CheckedIndex) -> bool,
) -> Result<()> {
    let mut goes_on = !finder.array().shards.is_empty();
    each_object(finder, &mut |key, coordinate| {
        if coordinate.is_none() || !goes_on {
            return Ok(());
        }
        match finder.find_object(key) {
            Ok(Some(shard)) => goes_on = indexes_in(finder, key, shard, 0, take)?,
            Ok(None) | Err(Error::Fault { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    })
}

/// The index of a shard of this level, and those of the shards in it.
fn indexes_in(
    finder: &ChunkFinder,
    key: &str,
    shard: Located,
    number: usize,
    take: &mut dyn FnMut(CheckedIndex) -> bool,
) -> Result<bool> {
    let Some(level) = finder.array().shards.get(number) else { return Ok(true) };
    let Ok(span) = level.index_span(shard.span) else { return Ok(true) };
    if level.has_checksum {
        let source = finder.object(shard.object)?;
        let at = span.end().saturating_sub(CHECKSUM_LEN);
        let stored = source.read_vec(at, CHECKSUM_LEN)?;
        let wanted = stored.first_chunk().copied().map_or(0, u32::from_le_bytes);
        let entries = Span::from_range(span.start()..at).filter(|entries| !entries.is_empty());
        let index = entries.map(|entries| CheckedIndex { source, entries, wanted });
        if !index.is_none_or(&mut *take) {
            return Ok(false);
        }
    }
    let is_last = number + 1 == finder.array().shards.len();
    let index = match finder.index(key, &shard, number, level) {
        Ok(index) if !is_last => index,
        Ok(_) | Err(Error::Fault { .. }) => return Ok(true),
        Err(error) => return Err(error),
    };
    let spans = (0..index.len()).filter_map(|at| index.entry(at).ok().flatten());
    let mut spans: Vec<Span> = spans.filter(|span| !span.is_empty()).collect();
    spans.sort_unstable();
    // Of shards that share bytes the first is walked, so that the bytes bound the work.
    let mut end = 0;
    for span in spans {
        if span.start() < end {
            continue;
        }
        end = span.end();
        if !indexes_in(finder, key, Located { span, ..shard }, number + 1, take)? {
            return Ok(false);
        }
    }
    Ok(true)
}
