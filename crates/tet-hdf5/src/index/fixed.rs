//! Chunks in a fixed array: one list, in pages where it is long (section VII.C).

use std::sync::Arc;

use super::{ChunkAddress, Element};
use crate::error::{Result, fault};
use crate::lru::LruCache;
use crate::reader::{Piece, Reader};
use crate::rule;

/// Pages that are kept.
const KEPT: usize = 16;

/// The list.
#[derive(Debug)]
pub(crate) struct FixedArray {
    element: Element,
    count: u64,
    /// The elements of a page; all where there are no pages.
    page_count: u64,
    /// Whether each page was written, where there are pages.
    written: Option<Vec<u8>>,
    /// The address of the first element or page; `None` where no chunk is stored.
    first: Option<u64>,
    pages: LruCache<Piece>,
}

impl FixedArray {
    pub(crate) fn read(reader: &Reader, address: u64, element: Element) -> Result<FixedArray> {
        let len = 4 + 4 + reader.sizes.length + reader.sizes.offset + 4;
        let head = reader.sealed(address, len as u64, &rule::INDEX_CUT, &rule::INDEX_CHECKSUM)?;
        let mut fields = head.fields();
        fields.signature(b"FAHD", &rule::INDEX_HEAD)?;
        fields.take(1)?;
        let at = fields.at();
        let (class, size, bits) = (fields.byte()?, fields.byte()?, fields.byte()?);
        let count = fields.length()?;
        let block = fields.address()?;
        let wanted = element.len(reader);
        if class != element.class() || usize::from(size) != wanted || 40 < bits {
            return Err(fault(&rule::INDEX_HEAD, at, size.into(), wanted as u64));
        }
        let page_count = 1_u64 << bits;
        let has_pages = page_count < count;
        let mut array = FixedArray {
            element,
            count,
            page_count: if has_pages { page_count } else { count },
            written: None,
            first: None,
            pages: LruCache::new(KEPT),
        };
        let Some(block) = block else { return Ok(array) };
        let head_len = (4 + 2 + reader.sizes.offset) as u64;
        let head = reader.piece(block, head_len, &rule::INDEX_CUT)?;
        head.fields().signature(b"FADB", &rule::INDEX_HEAD)?;
        array.first = Some(block.saturating_add(head_len));
        if has_pages {
            let map_len = count.div_ceil(page_count).div_ceil(8);
            let prefix_len = head_len.saturating_add(map_len).saturating_add(4);
            let prefix =
                reader.sealed(block, prefix_len, &rule::INDEX_CUT, &rule::INDEX_CHECKSUM)?;
            let map = prefix.bytes.get(usize::try_from(head_len).unwrap_or(0)..);
            array.written = Some(map.unwrap_or_default().to_vec());
            array.first = Some(block.saturating_add(prefix_len));
        }
        Ok(array)
    }

    /// Where the chunk of this number is.
    pub(crate) fn find(&self, reader: &Reader, number: u64) -> Result<Option<ChunkAddress>> {
        let Some(first) = self.first.filter(|_| number < self.count) else { return Ok(None) };
        let size = self.element.len(reader) as u64;
        let page = number / self.page_count.max(1);
        if let Some(written) = &self.written {
            let byte = usize::try_from(page / 8).ok().and_then(|at| written.get(at));
            // The highest bit is the first page.
            if byte.is_none_or(|byte| byte & (0x80 >> (page % 8)) == 0) {
                return Ok(None);
            }
        }
        let piece = self.page(reader, first, page, size)?;
        let within = usize::try_from((number % self.page_count.max(1)).saturating_mul(size));
        let mut fields = piece.fields();
        fields.take(within.unwrap_or(usize::MAX))?;
        self.element.read(&mut fields)
    }

    /// The number behind that of the last chunk that can be stored.
    pub(crate) fn end(&self) -> u64 {
        if self.first.is_none() { 0 } else { self.count }
    }

    /// The next number after this one whose page was written.
    pub(crate) fn next(&self, number: u64) -> u64 {
        let Some(written) = &self.written else { return number.saturating_add(1) };
        let page_count = self.page_count.max(1);
        let page = number / page_count;
        let byte = usize::try_from(page / 8).ok().and_then(|at| written.get(at));
        match byte {
            Some(byte) if byte & (0x80 >> (page % 8)) != 0 => number.saturating_add(1),
            _ => page.saturating_add(1).saturating_mul(page_count),
        }
    }

    /// A page, or the whole list, whose checksum is right.
    fn page(&self, reader: &Reader, first: u64, page: u64, size: u64) -> Result<Arc<Piece>> {
        self.pages.get(page, || Ok((self.read_page(reader, first, page, size)?, 1)))
    }

    fn read_page(&self, reader: &Reader, first: u64, page: u64, size: u64) -> Result<Piece> {
        let left = self.count.saturating_sub(page.saturating_mul(self.page_count));
        let elements_len = self.page_count.min(left).saturating_mul(size);
        let page_len = self.page_count.saturating_mul(size).saturating_add(4);
        let at = first.saturating_add(page.saturating_mul(page_len));
        if self.written.is_some() {
            return reader.sealed(
                at,
                elements_len.saturating_add(4),
                &rule::INDEX_CUT,
                &rule::INDEX_CHECKSUM,
            );
        }
        // The checksum is of the head of the block too.
        let head_len = (4 + 2 + reader.sizes.offset) as u64;
        let len = head_len.saturating_add(elements_len).saturating_add(4);
        let block = reader.sealed(
            at.saturating_sub(head_len),
            len,
            &rule::INDEX_CUT,
            &rule::INDEX_CHECKSUM,
        )?;
        let head_len = usize::try_from(head_len).unwrap_or(0);
        block.part(head_len, block.bytes.len().saturating_sub(head_len), &rule::INDEX_CUT)
    }
}
