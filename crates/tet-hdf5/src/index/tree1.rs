//! Chunks in a B-tree of version 1. The path to the chunk that was found last is kept, so a scan reads each
//! node once.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::ChunkAddress;
use crate::error::{Result, fault};
use crate::reader::Reader;
use crate::rule;
use crate::tree::v1::{Keys, Node};

/// A tree of chunks.
#[derive(Debug)]
pub(crate) struct ChunkTree {
    root: u64,
    rank: usize,
    /// The nodes from the root to the last leaf, each with its address.
    path: Mutex<Vec<(u64, Node)>>,
}

impl ChunkTree {
    pub(crate) const fn new(root: u64, rank: usize) -> ChunkTree {
        ChunkTree { root, rank, path: Mutex::new(Vec::new()) }
    }

    /// Where the chunk at this coordinate is.
    pub(crate) fn find(
        &self,
        reader: &Reader,
        coord: &[u64],
        chunk: &[u64],
    ) -> Result<Option<ChunkAddress>> {
        let wanted = coord.iter().zip(chunk).map(|(&at, &extent)| at.saturating_mul(extent));
        let wanted: Vec<u64> = wanted.collect();
        let mut path = self.path.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut address, mut parent, mut depth) = (self.root, None, 0);
        loop {
            let is_kept = path.get(depth).is_some_and(|(kept, _)| *kept == address);
            if !is_kept {
                path.truncate(depth);
                let keys = Keys::Chunks { rank: self.rank };
                path.push((address, Node::read(reader, address, keys, parent)?));
            }
            let Some((_, node)) = path.get(depth) else { return Ok(None) };
            let Some(number) = self.last_not_after(node, &wanted)? else { return Ok(None) };
            let mut entry = node.entry(number)?;
            let Some(child) = entry.child else { return Ok(None) };
            if node.level == 0 {
                let (len, mask) = (entry.key.u32()?, entry.key.u32()?);
                for &wanted in &wanted {
                    if entry.key.uint(8)? != wanted {
                        return Ok(None);
                    }
                }
                return Ok(Some((child, len.into(), mask)));
            }
            (address, parent) = (child, Some(node.level));
            depth += 1;
        }
    }

    /// Calls `take` with the coordinate and the place of every chunk, until it returns false.
    pub(crate) fn each(
        &self,
        reader: &Reader,
        chunk: &[u64],
        take: &mut dyn FnMut(&[u64], ChunkAddress) -> Result<bool>,
    ) -> Result<()> {
        let keys = Keys::Chunks { rank: self.rank };
        let mut seen = BTreeSet::new();
        // Nodes that share bytes could have more entries than the file has bytes.
        let (mut count, count_max) = (0_u64, reader.source.len());
        let mut coord = vec![0; self.rank];
        let mut stack = vec![(Node::read(reader, self.root, keys, None)?, 0_usize)];
        while let Some((node, next)) = stack.last_mut() {
            let number = *next;
            *next += 1;
            if node.len() <= number {
                stack.pop();
                continue;
            }
            let mut entry = node.entry(number)?;
            let Some(child) = entry.child else { continue };
            let at = entry.key.at();
            count = count.saturating_add(1);
            if count_max < count {
                return Err(fault(&rule::TREE_SHARED, at, count, count_max));
            }
            if node.level != 0 {
                if !seen.insert(child) {
                    return Err(fault(&rule::TREE_SHARED, at, child, 0));
                }
                let level = node.level;
                stack.push((Node::read(reader, child, keys, Some(level))?, 0));
                continue;
            }
            let (len, mask) = (entry.key.u32()?, entry.key.u32()?);
            for (to, &extent) in coord.iter_mut().zip(chunk) {
                let offset = entry.key.uint(8)?;
                if offset.checked_rem(extent) != Some(0) {
                    return Err(fault(&rule::INDEX_GRID, at, offset, extent));
                }
                *to = offset / extent;
            }
            if !take(&coord, (child, len.into(), mask))? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The last entry of a node whose key is not after the offset of a chunk.
    fn last_not_after(&self, node: &Node, wanted: &[u64]) -> Result<Option<usize>> {
        let (mut low, mut high) = (0, node.len());
        while low < high {
            let middle = low.midpoint(high);
            let mut key = node.entry(middle)?.key;
            key.take(8)?;
            let mut offset = Vec::with_capacity(self.rank);
            for _ in 0..self.rank {
                offset.push(key.uint(8)?);
            }
            if offset.as_slice() <= wanted { low = middle + 1 } else { high = middle }
        }
        Ok(low.checked_sub(1))
    }
}
