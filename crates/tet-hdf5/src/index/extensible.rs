//! Chunks in an extensible array: elements in an index block, in data blocks, and in data blocks of super
//! blocks whose lengths double (section VII.D).

use std::sync::Arc;

use super::{ChunkAddress, Element};
use crate::error::{Result, fault};
use crate::lru::LruCache;
use crate::reader::{Piece, Reader};
use crate::rule;

/// Blocks that are kept.
const KEPT: usize = 32;

/// The array.
#[derive(Debug)]
pub(crate) struct ExtensibleArray {
    element: Element,
    offset_width: usize,
    index_count: u64,
    block_count_min: u64,
    pointers_min: u64,
    page_count: u64,
    super_count: u64,
    /// The index block without its head; `None` where no chunk is stored.
    index: Option<Piece>,
    blocks: LruCache<Piece>,
}

/// A data block: its address, how many elements it has, and whether each of its pages was written.
struct DataBlock {
    address: u64,
    count: u64,
    written: Option<Written>,
}

/// Which pages of a data block were written: bits of a map in its super block.
struct Written {
    block: Arc<Piece>,
    /// The first byte of the map.
    start: usize,
    /// The bit of the first page.
    first: u64,
}

impl Written {
    /// Whether a page was written; the highest bit of a byte is the first.
    fn has(&self, page: u64) -> bool {
        let bit = self.first.saturating_add(page);
        let at = usize::try_from(bit / 8).ok().and_then(|at| self.start.checked_add(at));
        let byte = at.and_then(|at| self.block.bytes.get(at));
        byte.is_some_and(|byte| byte & (0x80 >> (bit % 8)) != 0)
    }
}

impl ExtensibleArray {
    pub(crate) fn read(reader: &Reader, address: u64, element: Element) -> Result<ExtensibleArray> {
        let len = 4 + 8 + 6 * reader.sizes.length + reader.sizes.offset + 4;
        let head = reader.sealed(address, len as u64, &rule::INDEX_CUT, &rule::INDEX_CHECKSUM)?;
        let mut fields = head.fields();
        fields.signature(b"EAHD", &rule::INDEX_HEAD)?;
        fields.take(1)?;
        let at = fields.at();
        let (class, size, bits) = (fields.byte()?, fields.byte()?, fields.byte()?);
        let numbers = [fields.byte()?, fields.byte()?, fields.byte()?, fields.byte()?];
        let [index_count, block_count_min, pointers_min, page_bits] = numbers.map(u64::from);
        for _ in 0..6 {
            fields.length()?;
        }
        let block = fields.address()?;
        let wanted = element.len(reader);
        let are_powers = block_count_min.is_power_of_two() && pointers_min.is_power_of_two();
        let fits = class == element.class() && usize::from(size) == wanted && bits <= 64;
        let first_bits = block_count_min.checked_ilog2().map_or(0, u64::from);
        if !fits || !are_powers || 40 < page_bits || u64::from(bits) < first_bits {
            return Err(fault(&rule::INDEX_HEAD, at, size.into(), wanted as u64));
        }
        let super_count = 1 + u64::from(bits) - first_bits;
        let mut array = ExtensibleArray {
            element,
            offset_width: usize::from(bits.div_ceil(8)),
            index_count,
            block_count_min,
            pointers_min,
            page_count: 1 << page_bits,
            super_count,
            index: None,
            blocks: LruCache::new(KEPT),
        };
        if let Some(block) = block {
            array.index = Some(array.index_block(reader, block)?);
        }
        Ok(array)
    }

    /// How many super blocks have their data blocks named in the index block.
    fn direct_supers(&self) -> u64 {
        2 * u64::from(self.pointers_min.ilog2())
    }

    fn index_block(&self, reader: &Reader, address: u64) -> Result<Piece> {
        let blocks = 2 * self.pointers_min.saturating_sub(1);
        let supers = self.super_count.saturating_sub(self.direct_supers());
        let addresses = (blocks + supers).saturating_mul(reader.sizes.offset as u64);
        let elements = self.index_count.saturating_mul(self.element.len(reader) as u64);
        let head_len = 4 + 2 + reader.sizes.offset;
        let len = (head_len as u64).saturating_add(elements).saturating_add(addresses);
        let block = reader.sealed(
            address,
            len.saturating_add(4),
            &rule::INDEX_CUT,
            &rule::INDEX_CHECKSUM,
        )?;
        block.fields().signature(b"EAIB", &rule::INDEX_HEAD)?;
        block.part(head_len, block.bytes.len().saturating_sub(head_len), &rule::INDEX_CUT)
    }

    /// Where the chunk of this number is.
    pub(crate) fn find(&self, reader: &Reader, number: u64) -> Result<Option<ChunkAddress>> {
        let Some(index) = &self.index else { return Ok(None) };
        let size = self.element.len(reader);
        if number < self.index_count {
            let at = usize::try_from(number).unwrap_or(usize::MAX).saturating_mul(size);
            let mut fields = index.fields();
            fields.take(at)?;
            return self.element.read(&mut fields);
        }
        let Some((block, within)) = self.data_block(reader, index, number - self.index_count)?
        else {
            return Ok(None);
        };
        self.in_block(reader, &block, within)
    }

    /// Where the chunk of this number is, and the next number that can be stored.
    pub(crate) fn find_or_next(
        &self,
        reader: &Reader,
        number: u64,
    ) -> Result<(Option<ChunkAddress>, u64)> {
        let place = self.find(reader, number)?;
        let following = number.saturating_add(1);
        let Some(index) = self.index.as_ref().filter(|_| place.is_none()) else {
            return Ok((place, if self.index.is_none() { u64::MAX } else { following }));
        };
        let Some(behind) = number.checked_sub(self.index_count) else {
            return Ok((None, following));
        };
        if let Some((block, within)) = self.data_block(reader, index, behind)? {
            if block.count <= self.page_count {
                return Ok((None, following));
            }
            let page = within / self.page_count;
            let is_written = block.written.as_ref().is_none_or(|written| written.has(page));
            let left = self.page_count.saturating_sub(within % self.page_count);
            let step = if is_written { 1 } else { left };
            return Ok((None, number.saturating_add(step)));
        }
        // No data block is there: the next one, or that of the next super block.
        let row = (behind / self.block_count_min).checked_add(1).and_then(u64::checked_ilog2);
        let row = row.unwrap_or(0);
        if self.super_count <= u64::from(row) {
            return Ok((None, u64::MAX));
        }
        let count = self.block_count_min.checked_shl(row.div_ceil(2)).unwrap_or(u64::MAX).max(1);
        let start = self.block_count_min.saturating_mul((1_u64 << row) - 1);
        let within = behind.saturating_sub(start) % count;
        Ok((None, number.saturating_add(count.saturating_sub(within))))
    }

    /// The data block that has an element, and the element's number in it; elements are counted behind
    /// those of the index block.
    fn data_block(
        &self,
        reader: &Reader,
        index: &Piece,
        number: u64,
    ) -> Result<Option<(DataBlock, u64)>> {
        let row = (number / self.block_count_min).checked_add(1).and_then(u64::checked_ilog2);
        let row = row.unwrap_or(0);
        if self.super_count <= u64::from(row) {
            return Ok(None);
        }
        let outside = || fault(&rule::INDEX_HEAD, index.at, number, 0);
        // Super block `row` has 2^(row/2) data blocks of 2^((row+1)/2) times the least count.
        let count = self.block_count_min.checked_shl(row.div_ceil(2)).ok_or_else(outside)?;
        let start = self.block_count_min.saturating_mul((1_u64 << row) - 1);
        let within = number.checked_sub(start).ok_or_else(outside)?;
        let (block, within) = (within / count, within % count);
        let width = reader.sizes.offset;
        let elements = usize::try_from(self.index_count).unwrap_or(usize::MAX);
        let mut fields = index.fields();
        fields.take(elements.saturating_mul(self.element.len(reader)))?;
        let is_direct = u64::from(row) < self.direct_supers();
        let before: u64 = (0..row).map(|row| 1_u64 << (row / 2)).sum();
        let slot = if is_direct {
            before.saturating_add(block)
        } else {
            2 * self.pointers_min.saturating_sub(1) + u64::from(row) - self.direct_supers()
        };
        fields.take(usize::try_from(slot).unwrap_or(usize::MAX).saturating_mul(width))?;
        let Some(address) = fields.address()? else { return Ok(None) };
        if is_direct {
            return Ok(Some((DataBlock { address, count, written: None }, within)));
        }
        let (address, written) = match self.super_block(reader, address, row, count, block)? {
            (Some(address), written) => (address, written),
            (None, _) => return Ok(None),
        };
        Ok(Some((DataBlock { address, count, written }, within)))
    }

    /// The address of a data block of a super block, and which of its pages were written.
    fn super_block(
        &self,
        reader: &Reader,
        address: u64,
        row: u32,
        count: u64,
        block: u64,
    ) -> Result<(Option<u64>, Option<Written>)> {
        let blocks = 1_u64 << (row / 2);
        let pages = if self.page_count < count { count / self.page_count } else { 0 };
        let map_len = pages.div_ceil(8);
        let head_len = (4 + 2 + reader.sizes.offset + self.offset_width) as u64;
        let maps_len = blocks.saturating_mul(map_len);
        let addresses_len = blocks.saturating_mul(reader.sizes.offset as u64);
        let len = head_len.saturating_add(maps_len).saturating_add(addresses_len).saturating_add(4);
        let piece = self.blocks.get(address, || {
            let piece = reader.sealed(address, len, &rule::INDEX_CUT, &rule::INDEX_CHECKSUM)?;
            piece.fields().signature(b"EASB", &rule::INDEX_HEAD)?;
            Ok((piece, 1))
        })?;
        let place = |len: u64| usize::try_from(len).unwrap_or(usize::MAX);
        let mut fields = piece.fields();
        let skipped = block.saturating_mul(reader.sizes.offset as u64);
        fields.take(place(head_len.saturating_add(maps_len).saturating_add(skipped)))?;
        let address = fields.address()?;
        // One map of the pages of all data blocks, though it is as long as one for each.
        let first = block.saturating_mul(pages);
        Ok((address, Some(Written { block: piece, start: place(head_len), first })))
    }

    /// An element of a data block.
    fn in_block(
        &self,
        reader: &Reader,
        block: &DataBlock,
        within: u64,
    ) -> Result<Option<ChunkAddress>> {
        let size = self.element.len(reader) as u64;
        let head_len = (4 + 2 + reader.sizes.offset + self.offset_width) as u64;
        let has_pages = self.page_count < block.count;
        let (at, len, skipped) = if has_pages {
            let page = within / self.page_count;
            if block.written.as_ref().is_some_and(|written| !written.has(page)) {
                return Ok(None);
            }
            let page_len = self.page_count.saturating_mul(size).saturating_add(4);
            let first = block.address.saturating_add(head_len).saturating_add(4);
            let at = first.saturating_add(page.saturating_mul(page_len));
            (at, page_len, (within % self.page_count).saturating_mul(size))
        } else {
            let len = head_len.saturating_add(block.count.saturating_mul(size)).saturating_add(4);
            (block.address, len, head_len.saturating_add(within.saturating_mul(size)))
        };
        let piece = self.blocks.get(at, || {
            let head = reader.piece(block.address, 4, &rule::INDEX_CUT)?;
            head.fields().signature(b"EADB", &rule::INDEX_HEAD)?;
            Ok((reader.sealed(at, len, &rule::INDEX_CUT, &rule::INDEX_CHECKSUM)?, 1))
        })?;
        let mut fields = piece.fields();
        fields.take(usize::try_from(skipped).unwrap_or(usize::MAX))?;
        self.element.read(&mut fields)
    }
}
