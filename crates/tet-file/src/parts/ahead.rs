//! Chunks of parts, read in the order of the new file: those on a server several at the same time.

use std::collections::VecDeque;

use tet_io::at_once;

use super::base::StoredChunk;
use super::part::{FilePart, PartRow};
use crate::error::Result;

/// Bytes of chunks that are held, or one longer chunk.
const HELD_MAX: u64 = 32 << 20;

/// Chunks that are read in their order.
#[derive(Debug)]
pub(super) struct Ahead<'p> {
    /// Those that are not read yet, with the bytes of their elements.
    left: VecDeque<(&'p FilePart, PartRow, u64)>,
    held: VecDeque<StoredChunk>,
    depth: usize,
}

impl<'p> Ahead<'p> {
    pub(super) fn new(chunks: impl Iterator<Item = (&'p FilePart, PartRow, u64)>) -> Ahead<'p> {
        let left: VecDeque<_> = chunks.collect();
        let depth = left.iter().map(|(part, ..)| part.depth()).max().unwrap_or(1);
        Ahead { left, held: VecDeque::new(), depth }
    }

    /// The next chunk, which matches its digest.
    pub(super) fn next(&mut self) -> Result<Option<StoredChunk>> {
        if self.held.is_empty() {
            self.read()?;
        }
        Ok(self.held.pop_front())
    }

    fn read(&mut self) -> Result<()> {
        let mut len = 0_u64;
        let fits = |(_, row, _): &&(&FilePart, PartRow, u64)| {
            len = len.saturating_add(row.span.len());
            len <= HELD_MAX
        };
        let count = self.left.iter().take(self.depth).take_while(fits).count().max(1);
        let batch: Vec<_> = self.left.drain(..count.min(self.left.len())).collect();
        let read = at_once(batch.len(), self.depth, |nth| {
            let (part, row, decoded_len) = &batch[nth];
            part.stored(row, *decoded_len)
        })?;
        self.held.extend(read);
        Ok(())
    }
}
