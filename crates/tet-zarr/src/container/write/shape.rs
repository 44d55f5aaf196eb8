//! The shapes of chunks and shards.

use crate::ZarrFormat;
use tet_format::Shape;
use tet_query::Dataset;

use super::options::{self, ENCODING};
use tet_container::chunking;
use tet_container::write::chunk_shape::{self, AskedChunks, KEPT_LEN_MIN, chunks_of};
use tet_container::write::conversion::ConvertOptions;
use tet_container::write::storage::ShardChoice;
use tet_container::{Error, Result};

/// A shard of `auto` has at most this many decoded bytes.
const SHARD_LEN: u64 = 64 << 20;
/// Chunks of a shard, at most: readers bound the index of a shard.
const SHARD_COUNT_MAX: u64 = 1 << 20;

/// The shapes of the chunks and shards of a dataset.
#[derive(Debug, PartialEq)]
pub(super) struct Shapes {
    pub(super) chunk: Shape,
    pub(super) shard: Option<Shape>,
}

/// An array whose shapes are chosen.
pub(super) struct Shaped<'s> {
    /// The dataset that it is made of.
    pub(super) dataset: &'s Dataset,
    /// Its extents.
    pub(super) shape: &'s [u64],
    /// Bytes of an element, or what a text counts for.
    pub(super) size: u64,
    /// The chunk shape where none is asked for.
    pub(super) automatic: &'s dyn Fn() -> Vec<u64>,
}

/// Chooses the shapes of an array.
///
/// # Errors
/// The shapes that are asked for do not fit the dataset, or each other.
pub(super) fn shapes(shaped: &Shaped<'_>, options: &ConvertOptions) -> Result<Shapes> {
    let &Shaped { dataset, shape, size, automatic } = shaped;
    let name = || dataset.name.clone();
    let shards = &options.storage.shards;
    let is_older = options::format(options) == ZarrFormat::V2;
    if is_older && matches!(shards, ShardChoice::Auto | ShardChoice::Shape(_)) {
        let why = "version 2 has no shards";
        return Err(Error::Unfit { dataset: name(), encoding: ENCODING, why });
    }
    let asked = chunks_of(dataset, shape, size, options)?;
    let (is_kept, is_auto) = (asked == AskedChunks::Kept, asked == AskedChunks::Auto);
    let given = match asked {
        AskedChunks::Shape(chunk) => Some(chunk),
        AskedChunks::Auto => Some(chunking::auto(shape, size)),
        AskedChunks::Kept => None,
    };
    let (chunk, shard) = match shards {
        ShardChoice::Shape(shard) => {
            let kept = || inside(shaped, shard, options).filter(|_| is_kept);
            let given = given.filter(|_| !is_auto);
            let chunk = given.or_else(kept).unwrap_or_else(|| dividing(shard, size));
            (chunk, Some(shard.clone()))
        }
        ShardChoice::Kept if is_kept && !is_older => {
            kept(shaped, options).unwrap_or_else(|| (automatic(), None))
        }
        choice => {
            let chunk = given.unwrap_or_else(automatic);
            let has_shards = *choice == ShardChoice::Auto;
            let shard = if has_shards { auto(shaped, &chunk, options) } else { None };
            (chunk, shard)
        }
    };
    if let Some(shard) = &shard {
        check(&dataset.name, shape, shard, &chunk)?;
    }
    Ok(Shapes { chunk: chunk.into(), shard: shard.map(Shape::from) })
}

/// Checks that a shard is made of whole chunks, and of not too many.
fn check(name: &str, shape: &[u64], shard: &[u64], chunk: &[u64]) -> Result<()> {
    let fits = |(shard, chunk): (&u64, &u64)| *shard != 0 && shard.is_multiple_of(*chunk);
    if shard.len() != shape.len() || !shard.iter().zip(chunk).all(fits) {
        let (dataset, chunk_shape) = (name.to_owned(), chunk.to_vec());
        return Err(Error::ShardShape { dataset, shard_shape: shard.to_vec(), chunk_shape });
    }
    if SHARD_COUNT_MAX < count(shard, chunk) {
        let why = "a shard would have more than 1,048,576 chunks: use larger chunks";
        return Err(Error::Unfit { dataset: name.to_owned(), encoding: ENCODING, why });
    }
    Ok(())
}

/// Chunks in a shard.
fn count(shard: &[u64], chunk: &[u64]) -> u64 {
    let counts = shard.iter().zip(chunk).map(|(shard, chunk)| shard.div_ceil((*chunk).max(1)));
    counts.fold(1, u64::saturating_mul)
}

/// The shapes of the chunks and shards of the input, without what is beyond the extents; `None` where it has no shards,
/// tiny ones, or long chunks. Shards that are too long become those of `auto`.
fn kept(shaped: &Shaped<'_>, options: &ConvertOptions) -> Option<(Vec<u64>, Option<Vec<u64>>)> {
    let Shaped { dataset, shape, size, .. } = *shaped;
    // How long a shard of texts will be is not known.
    let stored = dataset.chunks.shard_shape().filter(|_| !dataset.is_text());
    let stored = stored.filter(|it| it.rank() == shape.len())?;
    let chunk = chunk_shape::kept(dataset, shape)?;
    let axes = stored.iter().zip(dataset.grid.chunk_shape().iter()).zip(&chunk).zip(shape);
    // A chunk that is cut has no other one next to it.
    let shard = axes.map(|(((&shard, &stored), &chunk), &extent)| match chunk < stored {
        true => Some(chunk),
        false => Some(shard.min(extent.checked_next_multiple_of(chunk)?)),
    });
    let shard = shard.collect::<Option<Vec<u64>>>()?;
    let len = chunk_shape::len_of(&shard, size);
    let is_fit = chunk_shape::is_fit(chunk_shape::len_of(&chunk, size), options);
    if !is_fit || len < KEPT_LEN_MIN {
        return None;
    }
    let is_short = len <= room(options) && count(&shard, &chunk) <= SHARD_COUNT_MAX;
    let shard = if is_short {
        Some(shard).filter(|it| *it != chunk)
    } else {
        auto(shaped, &chunk, options)
    };
    Some((chunk, shard))
}

/// The chunk shape of the input inside of a shard that is asked for; `None` where it does not divide that, or is not kept.
fn inside(shaped: &Shaped<'_>, shard: &[u64], options: &ConvertOptions) -> Option<Vec<u64>> {
    let Shaped { dataset, shape, size, .. } = *shaped;
    let chunk = chunk_shape::kept(dataset, shape).filter(|chunk| chunk.len() == shard.len())?;
    let divides = |(shard, chunk): (&u64, &u64)| *chunk != 0 && shard.is_multiple_of(*chunk);
    let is_fit = chunk_shape::is_fit(chunk_shape::len_of(&chunk, size), options);
    let is_short = count(shard, &chunk) <= SHARD_COUNT_MAX;
    // Many short chunks are what shards are for, but not those of a file without them.
    let is_sharded = dataset.chunks.shard_shape().is_some();
    let is_long = is_sharded || KEPT_LEN_MIN <= chunk_shape::len_of(&chunk, size);
    (is_fit && is_short && is_long && shard.iter().zip(&chunk).all(divides)).then_some(chunk)
}

/// Bytes of an object whose shape no option sets, at most: a quarter of the memory is for the one that is written, and a
/// quarter of the rest for those that are read.
fn room(options: &ConvertOptions) -> u64 {
    options.execution.memory_budget.saturating_mul(3) / 16
}

/// The chunk shape of `auto` inside of a shard, which it divides.
fn dividing(shard: &[u64], size: u64) -> Vec<u64> {
    let mut room = (chunking::AUTO_LEN_MAX / size.max(1)).max(1);
    let mut chunk = vec![1; shard.len()];
    for (chunk, &extent) in chunk.iter_mut().zip(shard).rev() {
        let fitting = (1..=room.min(extent)).rev().find(|part| extent.is_multiple_of(*part));
        *chunk = fitting.unwrap_or(1);
        if *chunk != extent {
            break;
        }
        room = (room / extent.max(1)).max(1);
    }
    chunk
}

/// The shard shape of `auto`; `None` where one chunk is all, or is as long as a shard.
fn auto(shaped: &Shaped<'_>, chunk: &[u64], options: &ConvertOptions) -> Option<Vec<u64>> {
    made_of(shaped.shape, shaped.size, chunk, SHARD_LEN.min(room(options)))
}

/// The shape of the longest shard of whole chunks that has at most `len_max` bytes.
fn made_of(shape: &[u64], size: u64, chunk: &[u64], len_max: u64) -> Option<Vec<u64>> {
    let chunk_len = chunk_shape::len_of(chunk, size);
    let mut room = (len_max / chunk_len.max(1)).min(SHARD_COUNT_MAX);
    let mut shard = chunk.to_vec();
    let mut chunk_count = 1;
    for ((shard, &chunk), &extent) in shard.iter_mut().zip(chunk).zip(shape).rev() {
        let wanted = extent.div_ceil(chunk.max(1)).max(1);
        let count = wanted.min(room.max(1));
        *shard = chunk.checked_mul(count)?;
        chunk_count *= count;
        if count < wanted {
            break;
        }
        room /= count;
    }
    (1 < chunk_count).then_some(shard)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto(shape: &[u64], chunk: &[u64], size: u64) -> Option<Vec<u64>> {
        made_of(shape, size, chunk, SHARD_LEN)
    }

    #[test]
    fn shards_are_whole_multiples_of_chunks() {
        // 64 MiB are 16 chunks of 4 MiB.
        assert_eq!(auto(&[1 << 30], &[1 << 20], 4), Some(vec![16 << 20]));
        assert_eq!(auto(&[5, 7], &[2, 3], 4), Some(vec![6, 9]));
        assert_eq!(auto(&[5, 7], &[5, 7], 4), None);
        assert_eq!(auto(&[10, 1 << 20], &[1, 1 << 20], 8), Some(vec![8, 1 << 20]));
        assert_eq!(auto(&[1 << 40], &[1 << 30], 8), None);
        assert_eq!(auto(&[], &[], 8), None);
        assert_eq!(auto(&[0, 3], &[1, 1], 8), Some(vec![1, 3]));
    }

    #[test]
    fn chunks_divide_the_shard_they_are_in() {
        for (shard, size, wanted) in [
            (&[100, 100][..], 4, &[100, 100][..]),
            (&[1 << 30], 4, &[1 << 20]),
            (&[2, 1_000_003], 8, &[1, 1]),
            (&[7, 1_000_000], 4, &[1, 1_000_000]),
            (&[7, 100_000], 8, &[1, 100_000]),
            (&[0, 4], 8, &[1, 4]),
        ] {
            let chunk = dividing(shard, size);
            assert_eq!(chunk, wanted, "{shard:?}");
            assert!(shard.iter().zip(&chunk).all(|(shard, chunk)| shard % chunk == 0));
        }
    }
}
