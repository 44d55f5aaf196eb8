//! Chunks in a B-tree of version 2. The path to the chunk that was found last is kept.

use std::cmp::Ordering;
use std::sync::{Mutex, PoisonError};

use super::ChunkAddress;
use crate::error::{Result, fault};
use crate::reader::{Piece, Reader};
use crate::rule;
use crate::tree::v2::{Node, TreeV2};

/// A tree of chunks.
#[derive(Debug)]
pub(crate) struct ChunkTree {
    tree: TreeV2,
    rank: usize,
    /// Bytes of the stored length, where chunks have filters.
    len_width: Option<usize>,
    path: Mutex<Vec<(u64, Node)>>,
}

impl ChunkTree {
    pub(crate) fn read(
        reader: &Reader,
        address: u64,
        rank: usize,
        has_filters: bool,
    ) -> Result<ChunkTree> {
        let tree = TreeV2::read(reader, address, if has_filters { 11 } else { 10 })?;
        let fixed = reader.sizes.offset + 8 * rank + if has_filters { 4 } else { 0 };
        let width = tree.record_len.checked_sub(fixed);
        let fits = |width: &usize| if has_filters { (1..=8).contains(width) } else { *width == 0 };
        let width = width.filter(fits).ok_or_else(|| {
            fault(
                &rule::INDEX_HEAD,
                reader.base.saturating_add(address),
                tree.record_len as u64,
                fixed as u64,
            )
        })?;
        let len_width = has_filters.then_some(width);
        Ok(ChunkTree { tree, rank, len_width, path: Mutex::default() })
    }

    /// Where the chunk at this coordinate is.
    pub(crate) fn find(&self, reader: &Reader, coord: &[u64]) -> Result<Option<ChunkAddress>> {
        let mut path = self.path.lock().unwrap_or_else(PoisonError::into_inner);
        if path.is_empty() {
            let Some(root) = self.tree.root(reader)? else { return Ok(None) };
            path.push((u64::MAX, root));
        }
        let mut depth = 0;
        loop {
            let Some((_, node)) = path.get(depth) else { return Ok(None) };
            let mut next = node.records.len();
            let (mut low, mut high) = (0, next);
            while low < high {
                let middle = low.midpoint(high);
                let (place, found) = self.record(&node.records[middle])?;
                match found.as_slice().cmp(coord) {
                    Ordering::Equal => return Ok(place),
                    Ordering::Less => low = middle + 1,
                    Ordering::Greater => high = middle,
                }
                next = low;
            }
            let Some(&(address, count)) = node.children.get(next) else { return Ok(None) };
            let level = node.level.saturating_sub(1);
            depth += 1;
            if path.get(depth).is_none_or(|(kept, _)| *kept != address) {
                path.truncate(depth);
                path.push((address, self.tree.node(reader, address, count, level)?));
            }
        }
    }

    /// Calls `take` with the coordinate and the place of every chunk, until it returns false.
    pub(crate) fn each(
        &self,
        reader: &Reader,
        take: &mut dyn FnMut(&[u64], ChunkAddress) -> Result<bool>,
    ) -> Result<()> {
        let mut goes_on = true;
        self.tree.each(reader, &mut |record| {
            let (place, coord) = self.record(record)?;
            if let Some(place) = place.filter(|_| goes_on) {
                goes_on = take(&coord, place)?;
            }
            Ok(())
        })
    }

    fn record(&self, record: &Piece) -> Result<(Option<ChunkAddress>, Vec<u64>)> {
        let mut fields = record.fields();
        let address = fields.address()?;
        let (len, mask) = match self.len_width {
            Some(width) => (fields.uint(width)?, fields.u32()?),
            None => (0, 0),
        };
        let mut coord = Vec::with_capacity(self.rank);
        for _ in 0..self.rank {
            coord.push(fields.uint(8)?);
        }
        Ok((address.map(|address| (address, len, mask)), coord))
    }
}
