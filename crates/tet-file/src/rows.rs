//! The index of an opened file: rows on demand (format section 3).

use std::ops::Range;
use std::sync::Arc;

use tet_format::index::{HEADER_LEN, IndexHeader, IndexRow, ROW_LEN};
use tet_format::{Superblock, layout};
use tet_io::Source;

use crate::error::Result;

/// An index up to this long is kept in memory whole.
const KEPT_LEN_MAX: u64 = 2 << 20;

/// Rows are read in blocks of this many, 1 MiB each.
const BLOCK_ROW_COUNT: u64 = (1 << 20) / ROW_LEN;

/// The index of an opened file. Clones are cheap and share what is in memory.
#[derive(Clone, Debug)]
pub struct Index {
    source: Source,
    header: IndexHeader,
    offset: u64,
    /// Header and rows, when they are few.
    kept: Option<Arc<Vec<u8>>>,
}

impl Index {
    /// Reads the header, and the rows if they are few.
    pub(crate) fn read(source: &Source, superblock: &Superblock) -> Result<Self> {
        let source = source.clone();
        let (offset, len) = (superblock.index_offset, superblock.index_len);
        if superblock.dataset_count == 0 {
            return Ok(Self { source, header: IndexHeader::new(0), offset, kept: None });
        }
        // The superblock's rules have bounded the length by that of the file.
        let first_len = if len <= KEPT_LEN_MAX { len } else { HEADER_LEN };
        let mut bytes = vec![0; usize::try_from(first_len).unwrap_or(0)];
        source.read_exact_at(offset, &mut bytes)?;
        let header = IndexHeader::read(&bytes, offset, len)?;
        let kept = (first_len == len).then(|| Arc::new(bytes));
        Ok(Self { source, header, offset, kept })
    }

    /// The header, with its hints.
    #[must_use]
    pub const fn header(&self) -> &IndexHeader {
        &self.header
    }

    /// How many rows there are.
    #[must_use]
    pub const fn row_count(&self) -> u64 {
        self.header.row_count
    }

    /// Where row number `row` starts in the file.
    #[must_use]
    pub const fn row_at(&self, row: u64) -> u64 {
        layout::row_at(self.offset, row)
    }

    /// Appends the rows of `range` to `out`; rows past the last one are left out.
    ///
    /// # Errors
    ///
    /// Returns an error when the bytes cannot be read.
    pub fn rows(&self, range: Range<u64>, out: &mut Vec<IndexRow>) -> Result<()> {
        self.for_blocks(range, |_, rows| out.extend(rows.iter().map(IndexRow::decode)))
    }

    /// Gives the rows of `range` to `visit`, block by block, with the number of the first.
    ///
    /// # Errors
    ///
    /// Returns an error when the bytes cannot be read.
    pub fn for_blocks(
        &self,
        range: Range<u64>,
        mut visit: impl FnMut(u64, &[[u8; IndexRow::LEN]]),
    ) -> Result<()> {
        let end = range.end.min(self.row_count());
        if let Some(kept) = &self.kept {
            let (rows, _) = kept.get(IndexHeader::LEN..).unwrap_or_default().as_chunks();
            let part = usize::try_from(range.start).ok().zip(usize::try_from(end).ok());
            let rows = part.and_then(|(start, end)| rows.get(start..end));
            visit(range.start, rows.unwrap_or(&[]));
            return Ok(());
        }
        let mut start = range.start;
        let mut block = Vec::new();
        while start < end {
            let count = BLOCK_ROW_COUNT.min(end - start);
            block.resize(usize::try_from(count * ROW_LEN).unwrap_or(0), 0);
            self.source.read_exact_at(self.row_at(start), &mut block)?;
            visit(start, block.as_chunks().0);
            start += count;
        }
        Ok(())
    }
}
