//! The index of an opened file: reads rows on demand (format section 3).

use std::ops::Range;
use std::sync::Arc;

use tet_format::digest::PAGE_ROW_COUNT;
use tet_format::index::{HEADER_LEN, IndexHeader, IndexRow, ROW_LEN};
use tet_format::{Superblock, layout};
use tet_io::Source;

use crate::error::Result;
use crate::integrity::Digests;
use crate::page_cache::PageCache;

/// The longest index that is loaded into memory as a whole.
const MEMORY_LEN_MAX: u64 = 2 << 20;

/// The length of a page of rows.
const PAGE_LEN: usize = PAGE_ROW_COUNT as usize * IndexRow::LEN;

/// Rows are read in blocks of this many, 1 MiB each.
pub(crate) const BLOCK_ROW_COUNT: u64 = (1 << 20) / ROW_LEN;

/// The index of an opened file. Clones are cheap and share what is in memory.
#[derive(Clone, Debug)]
pub struct Index {
    source: Source,
    header: IndexHeader,
    offset: u64,
    /// Header and rows, if they are few.
    in_memory: Option<Arc<Vec<u8>>>,
    /// Pages that are compared with their digests, if rows are many.
    pages: Option<Arc<Pages>>,
}

/// A cache of row pages that match their digests.
#[derive(Debug)]
struct Pages {
    digests: Digests,
    cache: PageCache<Vec<u8>>,
}

impl Index {
    /// Reads the header, and the rows if they are few.
    pub(crate) fn read(source: &Source, superblock: &Superblock) -> Result<Self> {
        let source = source.clone();
        let (offset, len) = (superblock.index_offset, superblock.index_len);
        if superblock.dataset_count == 0 {
            return Ok(Self {
                source,
                header: IndexHeader::new(0),
                offset,
                in_memory: None,
                pages: None,
            });
        }
        // The superblock's rules bound the length by that of the file.
        let first_len = if len <= MEMORY_LEN_MAX { len } else { HEADER_LEN };
        let mut bytes = vec![0; usize::try_from(first_len).unwrap_or(0)];
        source.read_exact_at(offset, &mut bytes)?;
        let header = IndexHeader::read(&bytes, offset, len)?;
        let in_memory = (first_len == len).then(|| Arc::new(bytes));
        Ok(Self { source, header, offset, in_memory, pages: None })
    }

    /// Compares rows with digests: those in memory at once, the others when they are read.
    pub(crate) fn protect(&mut self, digests: &Digests) -> Result<()> {
        let Some(in_memory) = &self.in_memory else {
            let pages = Pages { digests: digests.clone(), cache: PageCache::default() };
            self.pages = Some(Arc::new(pages));
            return Ok(());
        };
        let rows = in_memory.get(IndexHeader::LEN..).unwrap_or_default();
        let pages = rows.chunks(PAGE_LEN);
        (0..).zip(pages).try_for_each(|(page, rows)| digests.check_page(page, rows))
    }

    /// The header, with its hints.
    #[must_use]
    pub const fn header(&self) -> &IndexHeader {
        &self.header
    }

    /// The number of rows.
    #[must_use]
    pub const fn row_count(&self) -> u64 {
        self.header.row_count
    }

    /// The total length of all payloads, saturated.
    ///
    /// # Errors
    ///
    /// Returns an error when the bytes cannot be read.
    pub fn stored_len(&self) -> Result<u64> {
        let mut all = 0_u64;
        self.for_blocks(0..self.row_count(), |_, rows| {
            let lens = rows.iter().map(|row| IndexRow::decode(row).stored_len);
            all = lens.fold(all, u64::saturating_add);
        })?;
        Ok(all)
    }

    /// The file offset of row number `row`.
    #[must_use]
    pub const fn row_at(&self, row: u64) -> u64 {
        layout::row_at(self.offset, row)
    }

    /// Appends the rows of `range` to `out`, without those past the last one.
    ///
    /// # Errors
    ///
    /// Returns an error when the bytes cannot be read.
    pub fn rows(&self, range: Range<u64>, out: &mut Vec<IndexRow>) -> Result<()> {
        self.for_blocks(range, |_, rows| out.extend(rows.iter().map(IndexRow::decode)))
    }

    /// Calls `visit` with the rows of `range`, block by block, and the number of the first row.
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
        if let Some(in_memory) = &self.in_memory {
            let (rows, _) = in_memory.get(IndexHeader::LEN..).unwrap_or_default().as_chunks();
            let part = usize::try_from(range.start).ok().zip(usize::try_from(end).ok());
            let rows = part.and_then(|(start, end)| rows.get(start..end));
            visit(range.start, rows.unwrap_or(&[]));
            return Ok(());
        }
        if let Some(pages) = &self.pages {
            return self.for_pages(pages, range.start..end, visit);
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

    /// Calls back with the pages that match their digests.
    fn for_pages(
        &self,
        pages: &Pages,
        range: Range<u64>,
        mut visit: impl FnMut(u64, &[[u8; IndexRow::LEN]]),
    ) -> Result<()> {
        let mut start = range.start;
        while start < range.end {
            let page = start / PAGE_ROW_COUNT;
            let first = page * PAGE_ROW_COUNT;
            let end = range.end.min(first + PAGE_ROW_COUNT);
            let held = self.page(pages, page)?;
            let part = |row: u64| usize::try_from(row - first).unwrap_or(usize::MAX);
            let rows = held.as_chunks().0.get(part(start)..part(end));
            visit(start, rows.unwrap_or(&[]));
            start = end;
        }
        Ok(())
    }

    /// A page, cached or read and compared.
    fn page(&self, pages: &Pages, page: u64) -> Result<Arc<Vec<u8>>> {
        pages.cache.get(page, || {
            let rows = pages.digests.block().page_rows(page);
            let len = (rows.end - rows.start) * ROW_LEN;
            let bytes = self.source.read_vec(self.row_at(rows.start), len)?;
            pages.digests.check_page(page, &bytes)?;
            Ok(bytes)
        })
    }
}
