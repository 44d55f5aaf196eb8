//! Blocks of metadata that are kept once they were read: those that were used last.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Result;

/// Blocks by address, or by another number, up to a length in all; the one that was used longest ago goes first.
#[derive(Debug)]
pub(crate) struct LruCache<T> {
    room: usize,
    held: Mutex<LruBlocks<T>>,
}

#[derive(Debug)]
struct LruBlocks<T> {
    blocks: HashMap<u64, Block<T>>,
    /// The addresses by their last use.
    uses: BTreeMap<u64, u64>,
    use_count: u64,
    len: usize,
}

#[derive(Debug)]
struct Block<T> {
    value: Arc<T>,
    len: usize,
    last_use: u64,
}

impl<T> LruCache<T> {
    /// Keeps blocks of `room` bytes in all; a caller that gives each the length 1 counts blocks instead.
    pub(crate) fn new(room: usize) -> LruCache<T> {
        let (blocks, uses) = (HashMap::new(), BTreeMap::new());
        LruCache { room, held: Mutex::new(LruBlocks { blocks, uses, use_count: 0, len: 0 }) }
    }

    /// The block at an address; one that is not kept is read, with its length.
    pub(crate) fn get(
        &self,
        address: u64,
        read: impl FnOnce() -> Result<(T, usize)>,
    ) -> Result<Arc<T>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = held.used(address) {
            return Ok(value);
        }
        let (value, len) = read()?;
        held.make_room(self.room.saturating_sub(len));
        Ok(held.keep(address, value, len))
    }
}

impl<T> LruBlocks<T> {
    /// The block at an address, which is used now.
    fn used(&mut self, address: u64) -> Option<Arc<T>> {
        let block = self.blocks.get_mut(&address)?;
        if block.last_use != self.use_count {
            self.uses.remove(&block.last_use);
            self.use_count += 1;
            block.last_use = self.use_count;
            self.uses.insert(self.use_count, address);
        }
        Some(Arc::clone(&block.value))
    }

    fn make_room(&mut self, len_max: usize) {
        while len_max < self.len
            && let Some((_, address)) = self.uses.pop_first()
        {
            let len = self.blocks.remove(&address).map_or(0, |block| block.len);
            self.len = self.len.saturating_sub(len);
        }
    }

    fn keep(&mut self, address: u64, value: T, len: usize) -> Arc<T> {
        let value = Arc::new(value);
        self.use_count += 1;
        let block = Block { value: Arc::clone(&value), len, last_use: self.use_count };
        self.uses.insert(self.use_count, address);
        self.blocks.insert(address, block);
        self.len = self.len.saturating_add(len);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let kept = LruCache::new(3);
        let mut reads = Vec::new();
        for address in [9, 1, 2, 9, 1, 9, 3, 9, 1, 2, 9] {
            let value = kept.get(address, || {
                reads.push(address);
                Ok((address * 10, 1))
            });
            assert_eq!(*value.unwrap(), address * 10);
        }
        assert_eq!(reads, [9, 1, 2, 3, 2]);
    }

    #[test]
    fn a_block_that_is_longer_than_the_room_is_kept_alone() {
        let kept = LruCache::new(10);
        for (address, len) in [(1, 4), (2, 4), (3, 20), (4, 6)] {
            kept.get(address, || Ok((address, len))).unwrap();
        }
        let mut is_read = false;
        kept.get(4, || {
            is_read = true;
            Ok((4, 6))
        })
        .unwrap();
        assert!(!is_read);
        let held = kept.held.lock().unwrap();
        assert_eq!((held.len, held.blocks.len(), held.uses.len()), (6, 1, 1));
    }
}
