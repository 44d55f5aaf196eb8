//! Shards that other codecs are applied to as a whole: such a shard is one chunk, of which all chunks inside are decoded.
//!
//! ```text
//!   stored -- the codecs of the whole -- shard: chunks, index -- the codecs of each chunk -- elements at their places
//! ```

use crate::{ShardLevel, rule};
use tet_codec::{Decode, Error as Refused, FillValue, Pipeline, Room, Stage};
use tet_format::{Grid, Shape};

/// The name in messages.
pub(super) const NAME: &str = "sharding_indexed";

/// The most bytes that a codec may add to each chunk inside, however short that is.
const GROWTH: u64 = 64;

/// Takes a shard apart.
#[derive(Debug)]
pub(super) struct ShardStage {
    level: ShardLevel,
    /// The chunks in the shard.
    grid: Grid,
    /// Bytes of an element.
    size: u64,
    /// The decoder of a chunk, and that of one that is not stored.
    pipeline: Pipeline,
    fill: FillValue,
    /// Bytes of the elements of the shard, and of a chunk.
    len: u64,
    chunk_len: u64,
}

impl ShardStage {
    /// A shard of these chunks; `None` where their bytes cannot be counted.
    pub(super) fn new(
        level: ShardLevel,
        grid: Grid,
        size: u64,
        pipeline: Pipeline,
        fill: FillValue,
    ) -> Option<ShardStage> {
        let len_of = |shape: &Shape| shape.element_count()?.checked_mul(size);
        let (len, chunk_len) = (len_of(grid.shape())?, len_of(grid.chunk_shape())?);
        Some(ShardStage { level, grid, size, pipeline, fill, len, chunk_len })
    }
}

impl Stage for ShardStage {
    fn name(&self) -> &'static str {
        NAME
    }

    fn written_len(&self, _len: u64) -> Option<u64> {
        None
    }

    fn decoded_max(&self, stored_len: u64) -> u64 {
        // Chunks that are absent take no bytes but those of the index.
        if stored_len < self.level.index_len { 0 } else { self.len }
    }

    fn growth(&self) -> u64 {
        self.level.index_len.saturating_add(self.grid.chunk_count().saturating_mul(GROWTH))
    }

    fn undo(&self, stored: &[u8], room: Room, out: &mut Vec<u8>) -> tet_codec::Result<()> {
        room.check(NAME, self.len)?;
        let places = self.level.places(stored).map_err(|fault| of_rule(fault.rule))?;
        let memory = || Refused::Memory { codec: NAME };
        let len = usize::try_from(self.len).map_err(|_| memory())?;
        let chunk_len = usize::try_from(self.chunk_len).map_err(|_| memory())?;
        let mut chunk = Vec::new();
        out.clear();
        out.try_reserve_exact(len).map_err(|_| memory())?;
        chunk.try_reserve_exact(chunk_len).map_err(|_| memory())?;
        out.resize(len, 0);
        chunk.resize(chunk_len, 0);
        let rank = self.grid.rank();
        let (mut at, mut first) = (vec![0; rank], vec![0; rank]);
        for place in places {
            match place {
                Some(span) => self.pipeline.decode(inside(stored, span), &mut chunk)?,
                None => self.fill.decode(&[], &mut chunk)?,
            }
            self.grid.origin(&at, &mut first);
            self.put(&chunk, &first, out);
            self.grid.advance(&mut at);
        }
        Ok(())
    }
}

impl ShardStage {
    /// Copies the elements of the chunk that begins at `first` to their places.
    fn put(&self, chunk: &[u8], first: &[u64], out: &mut [u8]) {
        let (shard, extents) = (self.grid.shape(), self.grid.chunk_shape());
        let Some((&row, outer)) = extents.split_last() else {
            return out.copy_from_slice(chunk);
        };
        let index = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let row = index(row.saturating_mul(self.size)).max(1);
        let mut inside = vec![0; outer.len()];
        for elements in chunk.chunks_exact(row) {
            let places = first.iter().zip(inside.iter().chain([&0])).zip(shard.iter());
            let place = places.fold(0_u64, |place, ((&first, &inside), &extent)| {
                place.saturating_mul(extent).saturating_add(first).saturating_add(inside)
            });
            let start = index(place.saturating_mul(self.size));
            if let Some(to) = out.get_mut(start..).and_then(|out| out.get_mut(..row)) {
                to.copy_from_slice(elements);
            }
            for (at, &extent) in inside.iter_mut().zip(outer).rev() {
                *at += 1;
                if *at < extent {
                    break;
                }
                *at = 0;
            }
        }
    }
}

/// The bytes of a chunk, which the index has found to be in the shard.
fn inside(shard: &[u8], span: tet_format::Span) -> &[u8] {
    let index = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    shard.get(index(span.start())..index(span.end())).unwrap_or_default()
}

/// A broken rule as the fault of a codec.
fn of_rule(broken: &tet_format::ForeignRule) -> Refused {
    let reason = match broken.id {
        id if id == rule::SHARD_CHECKSUM.id => "the checksum of the index of a shard is wrong",
        id if id == rule::SHARD_CUT.id => "a shard is shorter than its index",
        _ => "the index of a shard has places outside of it",
    };
    Refused::Corrupt { codec: NAME, reason }
}
