//! The shapes of chunks and shards.

use tet_format::Shape;
use tet_zarr::ZarrFormat;

use crate::chunking;
use crate::write::conversion::ConvertOptions;
use crate::write::options::ChunkChoice;
use crate::write::zarr::{ENCODING, ShardChoice};
use crate::{Error, Result};

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

/// Chooses the shapes for a dataset of this shape, with elements of `size` bytes; `automatic` is the chunk
/// shape where none is asked for.
///
/// # Errors
/// The shapes that are asked for do not fit the dataset, or each other.
pub(super) fn of(
    name: &str,
    shape: &[u64],
    (size, automatic): (u64, &dyn Fn() -> Vec<u64>),
    options: &ConvertOptions,
) -> Result<Shapes> {
    let shards = &options.zarr.shards;
    let unfit = |why| {
        let dataset = name.to_owned();
        Err(Error::Unfit { dataset, encoding: ENCODING, why })
    };
    if options.zarr.format == ZarrFormat::V2 && *shards != ShardChoice::None {
        return unfit("version 2 has no shards");
    }
    let chunk = match (&options.tet.chunks, shards) {
        (ChunkChoice::Kept | ChunkChoice::Auto, ShardChoice::Shape(shard)) => dividing(shard, size),
        (ChunkChoice::Kept | ChunkChoice::Auto, _) => automatic(),
        (ChunkChoice::Shape(chunk_shape), _) if chunk_shape.len() != shape.len() => {
            let (dataset, shape) = (name.to_owned(), shape.to_vec());
            return Err(Error::ChunkRank { dataset, shape, chunk_shape: chunk_shape.clone() });
        }
        (ChunkChoice::Shape(chunk_shape), _) if chunk_shape.contains(&0) => {
            return Err(Error::ChunkZero { chunk_shape: chunk_shape.clone() });
        }
        (ChunkChoice::Shape(chunk_shape), _) => chunk_shape.clone(),
    };
    let shard = match shards {
        ShardChoice::None => None,
        ShardChoice::Auto => auto(shape, &chunk, size),
        ShardChoice::Shape(shard) => Some(shard.clone()),
    };
    if let Some(shard) = &shard {
        let fits = |(shard, chunk): (&u64, &u64)| *shard != 0 && shard.is_multiple_of(*chunk);
        if shard.len() != shape.len() || !shard.iter().zip(&chunk).all(fits) {
            let (dataset, shard_shape) = (name.to_owned(), shard.clone());
            return Err(Error::ShardShape { dataset, shard_shape, chunk_shape: chunk });
        }
        let counts = shard.iter().zip(&chunk).map(|(shard, chunk)| shard / chunk);
        if SHARD_COUNT_MAX < counts.fold(1, u64::saturating_mul) {
            return unfit("a shard would have more than 1,048,576 chunks: use larger chunks");
        }
    }
    Ok(Shapes { chunk: chunk.into(), shard: shard.map(Shape::from) })
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
fn auto(shape: &[u64], chunk: &[u64], size: u64) -> Option<Vec<u64>> {
    let chunk_len = chunk.iter().copied().fold(size.max(1), u64::saturating_mul);
    let mut room = (SHARD_LEN / chunk_len.max(1)).min(SHARD_COUNT_MAX);
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
