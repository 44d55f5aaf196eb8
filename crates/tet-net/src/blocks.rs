//! Blocks of a file in memory: those of the last small reads.

use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of a block.
pub(crate) const BLOCK_LEN: u64 = 64 << 10;

/// Blocks that are held at most, 32 MiB.
const COUNT_MAX: usize = 512;

/// The blocks that were used last.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    held: HashMap<u64, (Arc<[u8]>, u64)>,
    /// Counts uses.
    clock: u64,
}

impl Blocks {
    /// The block of this number.
    pub(crate) fn get(&mut self, number: u64) -> Option<Arc<[u8]>> {
        self.clock += 1;
        let (bytes, used) = self.held.get_mut(&number)?;
        *used = self.clock;
        Some(Arc::clone(bytes))
    }

    /// Holds the blocks of `bytes`, which begin with the block `first`.
    pub(crate) fn put(&mut self, first: u64, bytes: &[u8]) {
        let len = usize::try_from(BLOCK_LEN).unwrap_or(usize::MAX);
        for (number, block) in (first..).zip(bytes.chunks(len)) {
            while COUNT_MAX <= self.held.len() {
                let oldest = self.held.iter().min_by_key(|(_, (_, used))| *used);
                let Some(oldest) = oldest.map(|(&number, _)| number) else { break };
                self.held.remove(&oldest);
            }
            self.clock += 1;
            self.held.insert(number, (block.into(), self.clock));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_that_was_not_used_for_longest_goes() {
        let mut blocks = Blocks::default();
        let count = COUNT_MAX as u64;
        for number in 0..count {
            blocks.put(number, &[1]);
        }
        assert!(blocks.get(0).is_some());
        blocks.put(count, &[2]);
        assert!(blocks.get(0).is_some() && blocks.get(1).is_none() && blocks.get(count).is_some());
        assert_eq!(blocks.held.len(), COUNT_MAX);
    }
}
