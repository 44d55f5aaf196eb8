//! Ranges of a file of which some blocks are in a [`BlockCache`].
//!
//! Only requests for the version that was opened are answered from it: the requests that open a file always go to
//! the server, which thereby says whether it may be read, and which version it has.

use std::fmt;
use std::ops::Range;

use crate::block_cache::{BlockCache, VersionKey};
use crate::blocks::BLOCK_LEN;
use crate::ranges::{FileVersion, RangeAnswer, RangeFailure, RangeSource, Wanted};

/// A source of ranges with a cache before it.
pub(crate) struct Cached {
    ranges: Box<dyn RangeSource>,
    cache: BlockCache,
    /// Identifies the object among all others. It may have secrets.
    object: String,
}

impl fmt::Debug for Cached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cached").field(&self.ranges).finish()
    }
}

impl Cached {
    pub(crate) fn new(ranges: Box<dyn RangeSource>, cache: BlockCache, object: String) -> Self {
        Cached { ranges, cache, object }
    }

    /// Requests bytes that begin and end with blocks, with one request, and puts those blocks into the cache that
    /// are not `held`.
    fn fetch(
        &self,
        key: &VersionKey,
        pinned: &FileVersion,
        offset: u64,
        bytes: &mut [u8],
        held: &[bool],
    ) -> Result<(), RangeFailure> {
        let mut fresh = Vec::new();
        let wanted = Wanted::From { offset, len: bytes.len() as u64 };
        let answer = self.ranges.get(wanted, Some(pinned), &mut fresh)?;
        if answer.offset != offset || fresh.len() != bytes.len() {
            return Err(RangeFailure::refused("the answer is another range than was asked for"));
        }
        bytes.copy_from_slice(&fresh);
        let blocks = bytes.chunks(block_len()).zip(offset / BLOCK_LEN..);
        for ((block, number), _) in blocks.zip(held).filter(|(_, held)| !**held) {
            self.cache.put(key, number, block);
        }
        Ok(())
    }
}

fn block_len() -> usize {
    usize::try_from(BLOCK_LEN).unwrap_or(usize::MAX)
}

/// From the first block that is not held to the last.
fn missing(held: &[bool]) -> Option<Range<usize>> {
    let first = held.iter().position(|held| !held)?;
    let last = held.iter().rposition(|held| !held)?;
    Some(first..last + 1)
}

impl RangeSource for Cached {
    fn name(&self) -> &str {
        self.ranges.name()
    }

    fn get(
        &self,
        wanted: Wanted,
        pinned: Option<&FileVersion>,
        out: &mut Vec<u8>,
    ) -> Result<RangeAnswer, RangeFailure> {
        let known = pinned.and_then(|it| Some((VersionKey::new(&self.object, it)?, it)));
        let Some((key, pinned)) = known else { return self.ranges.get(wanted, pinned, out) };
        let (offset, len) = wanted.within(pinned.len);
        let (first, last) = (offset / BLOCK_LEN, (offset + len).div_ceil(BLOCK_LEN));
        let start = first * BLOCK_LEN;
        let end = last.saturating_mul(BLOCK_LEN).min(pinned.len);
        let mut bytes = vec![0; usize::try_from(end.saturating_sub(start)).unwrap_or(0)];
        let blocks = bytes.chunks_mut(block_len()).zip(first..);
        let held: Vec<bool> =
            blocks.map(|(block, number)| self.cache.get(&key, number, block)).collect();
        if let Some(missing) = missing(&held) {
            let from = missing.start * block_len();
            let to = (missing.end * block_len()).min(bytes.len());
            self.fetch(&key, pinned, start + from as u64, &mut bytes[from..to], &held[missing])?;
        }
        let at = usize::try_from(offset - start).unwrap_or(usize::MAX);
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let found = bytes.get(at..).and_then(|bytes| bytes.get(..len));
        out.extend_from_slice(found.unwrap_or_default());
        Ok(RangeAnswer { offset, version: pinned.clone() })
    }
}
