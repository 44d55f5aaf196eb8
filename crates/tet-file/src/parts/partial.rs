//! Chunks of which only some elements are written, in memory.

use std::collections::BTreeMap;

use super::part::Key;
use super::plan::PlannedDataset;
use super::region::{Block, Overlap, bytes_of, for_runs};
use crate::error::Result;

/// Chunks of which some elements are written.
#[derive(Debug, Default)]
pub(super) struct Partials {
    pub(super) chunks: BTreeMap<Key, Partial>,
    pub(super) len: u64,
}

/// A chunk of which some elements are written.
#[derive(Debug)]
pub(super) struct Partial {
    pub(super) bytes: Vec<u8>,
    /// A bit for each element that is written.
    pub(super) written: Vec<u64>,
    /// Elements that are not.
    pub(super) left: u64,
}

impl Partials {
    pub(super) fn remove(&mut self, key: Key) -> Option<Partial> {
        let partial = self.chunks.remove(&key)?;
        self.len -= partial.len();
        Some(partial)
    }

    /// Keeps a chunk. Returns the bytes of all.
    pub(super) fn insert(&mut self, key: Key, partial: Partial) -> u64 {
        self.len += partial.len();
        self.chunks.insert(key, partial);
        self.len
    }
}

impl Partial {
    pub(super) fn new(planned: &PlannedDataset, coord: &[u64]) -> Result<Partial> {
        let bytes = planned.empty_chunk(coord)?;
        let left = planned.grid().chunk_elements(coord).unwrap_or(0);
        let words = usize::try_from(left.div_ceil(64)).unwrap_or(usize::MAX);
        Ok(Partial { bytes, written: vec![0; words], left })
    }

    pub(super) fn len(&self) -> u64 {
        (self.bytes.len() + self.written.len() * 8) as u64
    }

    /// Keeps the first elements; `false` where others are written.
    pub(super) fn truncate(&mut self, elements: u64, size: u64) -> bool {
        let is_written = |at: u64| {
            let word = usize::try_from(at / 64).ok().and_then(|at| self.written.get(at));
            word.is_some_and(|word| word >> (at % 64) & 1 == 1)
        };
        let all = self.bytes.len() as u64 / size.max(1);
        if (elements..all).any(is_written) {
            return false;
        }
        self.left -= all.saturating_sub(elements);
        self.bytes.truncate(usize::try_from(elements * size).unwrap_or(usize::MAX));
        true
    }

    /// Copies the elements that the chunk shares with a block.
    pub(super) fn write(&mut self, overlap: &Overlap, block: Block<'_>, size: u64) {
        let (from, to) = overlap.places(block);
        for_runs(&overlap.extents, from, to, |from, to, count| {
            let out = usize::try_from(to * size).unwrap_or(usize::MAX);
            let elements = bytes_of(block.bytes, from, count, size);
            if let Some(out) = self.bytes.get_mut(out..).and_then(|it| it.get_mut(..elements.len()))
            {
                out.copy_from_slice(elements);
            }
            self.mark(to, count);
        });
    }

    /// Marks elements as written.
    pub(super) fn mark(&mut self, first: u64, count: u64) {
        if self.left == 0 {
            return;
        }
        let (mut at, end) = (first, first + count);
        while at < end {
            let stop = end.min((at / 64 + 1) * 64);
            let bits = (u64::MAX >> (64 - (stop - at))) << (at % 64);
            if let Some(word) = self.written.get_mut(usize::try_from(at / 64).unwrap_or(usize::MAX))
            {
                self.left -= u64::from((bits & !*word).count_ones());
                *word |= bits;
            }
            at = stop;
        }
    }
}
