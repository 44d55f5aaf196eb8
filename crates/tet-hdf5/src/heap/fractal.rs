//! The fractal heap: links, attributes and shared messages of new files (section III.G).

use std::collections::BTreeSet;

use crate::checksum::lookup3;
use crate::error::{Error, Result, fault};
use crate::reader::{Piece, Reader, width_of};
use crate::rule;
use crate::tree::v2::TreeV2;

/// A fractal heap: blocks of doubling lengths, found by arithmetic.
#[derive(Debug)]
pub(crate) struct FractalHeap {
    at: u64,
    id_len: usize,
    huge_tree: Option<u64>,
    width: u64,
    block_len: u64,
    direct_len_max: u64,
    offset_width: usize,
    len_width: usize,
    root: Option<u64>,
    root_rows: u64,
    /// Whether direct blocks have checksums.
    has_checksums: bool,
}

impl FractalHeap {
    pub(crate) fn read(reader: &Reader, address: u64) -> Result<FractalHeap> {
        let sizes = reader.sizes;
        let len = 4 + 1 + 2 + 2 + 1 + 4 + 12 * sizes.length + 3 * sizes.offset + 2 + 2 + 2 + 2;
        // Heaps with filters are longer; they are not read.
        let head = reader.piece(address, len as u64 + 4, &rule::HEAP_CUT)?;
        let mut fields = head.fields();
        fields.signature(b"FRHP", &rule::HEAP_HEAD)?;
        fields.take(1)?;
        let id_len = usize::from(fields.u16()?);
        let filters_at = fields.at();
        let filters_len = fields.u16()?;
        if filters_len != 0 {
            return Err(fault(&rule::LIMIT_HEAP, filters_at, filters_len.into(), 0));
        }
        let has_checksums = fields.byte()? & 2 != 0;
        let managed_max = fields.u32()?;
        let _next_huge = fields.length()?;
        let huge_tree = fields.address()?;
        let _free = fields.length()?;
        let _free_sections = fields.address()?;
        for _ in 0..8 {
            fields.length()?;
        }
        let at = fields.at();
        let width = u64::from(fields.u16()?);
        let block_len = fields.length()?;
        let direct_len_max = fields.length()?;
        let offset_bits = fields.u16()?;
        let _first_rows = fields.u16()?;
        let root = fields.address()?;
        let root_rows = u64::from(fields.u16()?);
        reader.sealed(address, len as u64 + 4, &rule::HEAP_CUT, &rule::HEAP_CHECKSUM)?;
        let is_power = |it: u64| it.is_power_of_two() && it < 1 << 40;
        let fits = is_power(width) && is_power(block_len) && is_power(direct_len_max);
        if !fits || direct_len_max < block_len || 64 < offset_bits || root_rows > 64 {
            return Err(fault(&rule::HEAP_HEAD, at, block_len, direct_len_max));
        }
        // A length takes the bits that an offset in the longest block takes.
        let len_bits = direct_len_max.checked_ilog2().unwrap_or(0).div_ceil(8);
        let len_width = usize::try_from(len_bits).unwrap_or(8).min(width_of(managed_max.into()));
        let offset_width = usize::from(offset_bits.div_ceil(8));
        Ok(FractalHeap {
            at: head.at,
            id_len,
            huge_tree,
            width,
            block_len,
            direct_len_max,
            offset_width,
            len_width,
            root,
            root_rows,
            has_checksums,
        })
    }

    /// The object of an id.
    pub(crate) fn object(&self, reader: &Reader, id: &[u8]) -> Result<Piece> {
        let lost = |found: u64| fault(&rule::HEAP_OBJECT, self.at, found, 0);
        let (&head, rest) = id.split_first().ok_or_else(|| lost(0))?;
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte));
        match head >> 4 & 3 {
            0 => {
                let (offset, rest) =
                    rest.split_at_checked(self.offset_width).ok_or_else(|| lost(0))?;
                let len = number(rest.get(..self.len_width).ok_or_else(|| lost(0))?);
                let address = self.locate(reader, number(offset), len)?;
                reader.piece(address, len, &rule::HEAP_OBJECT)
            }
            1 => self.huge(reader, rest),
            // A tiny object is its id; those of ids over 17 bytes have a length of 12 bits.
            2 => {
                let wide = usize::from(self.id_len > 17);
                let len = usize::from(head & 15) << (8 * wide)
                    | rest.first().filter(|_| wide == 1).map_or(0, |&byte| usize::from(byte));
                let bytes = rest.get(wide..).and_then(|rest| rest.get(..len + 1));
                let bytes = bytes.ok_or_else(|| lost(len as u64))?;
                let mut piece = reader.piece(0, 0, &rule::HEAP_OBJECT)?;
                piece.bytes = bytes.to_vec();
                Ok(piece)
            }
            kind => Err(lost(kind.into())),
        }
    }

    /// A huge object: outside the blocks, its place in its id or in a tree.
    fn huge(&self, reader: &Reader, rest: &[u8]) -> Result<Piece> {
        let lost = |found: u64| fault(&rule::HEAP_OBJECT, self.at, found, 0);
        let sizes = reader.sizes;
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte));
        let direct_len = sizes.offset + sizes.length;
        if direct_len <= self.id_len.saturating_sub(1) {
            let (address, rest) = rest.split_at_checked(sizes.offset).ok_or_else(|| lost(0))?;
            let len = number(rest.get(..sizes.length).ok_or_else(|| lost(0))?);
            return reader.piece(number(address), len, &rule::HEAP_OBJECT);
        }
        let key_len = sizes.length.min(self.id_len.saturating_sub(1));
        let key = number(rest.get(..key_len).ok_or_else(|| lost(0))?);
        let tree = self.huge_tree.ok_or_else(|| lost(key))?;
        let mut found = None;
        TreeV2::read(reader, tree, 1)?.each(reader, &mut |record| {
            let mut fields = record.fields();
            let (address, len) = (fields.address()?, fields.length()?);
            if fields.length()? == key {
                found = address.map(|address| (address, len));
            }
            Ok(())
        })?;
        let (address, len) = found.ok_or_else(|| lost(key))?;
        reader.piece(address, len, &rule::HEAP_OBJECT)
    }

    /// The length of the blocks of a row of the table.
    fn row_len(&self, row: u64) -> Option<u64> {
        let shift = u32::try_from(row.saturating_sub(1)).ok()?;
        self.block_len.checked_mul(1_u64.checked_shl(shift)?)
    }

    /// Where in the heap a row begins.
    fn row_start(&self, row: u64) -> Option<u64> {
        if row == 0 { Some(0) } else { self.row_len(row)?.checked_mul(self.width) }
    }

    /// The first fault of its blocks: their bytes may not be those that were written.
    pub(crate) fn fault(&self, reader: &Reader) -> Result<Option<Error>> {
        let mut first = None;
        self.check(reader, &mut |error| match error {
            Error::Fault(_) => {
                first.get_or_insert(error);
                Ok(())
            }
            error => Err(error),
        })?;
        Ok(first)
    }

    /// Compares the checksums of all blocks; faults go to `found`.
    pub(crate) fn check(
        &self,
        reader: &Reader,
        found: &mut dyn FnMut(Error) -> Result<()>,
    ) -> Result<()> {
        let width = reader.sizes.offset;
        let head_len = 5 + width + self.offset_width;
        // Blocks with their lengths, and their rows: 0 for a direct block.
        let mut left = Vec::from_iter(self.root.map(|it| (it, self.block_len, self.root_rows)));
        let mut seen = BTreeSet::new();
        while let Some((address, len, rows)) = left.pop() {
            if !seen.insert(address) {
                found(fault(&rule::TREE_SHARED, self.at, address, 0))?;
                continue;
            }
            if rows == 0 {
                if let Err(error) = self.check_direct(reader, address, len, head_len) {
                    found(error)?;
                }
                continue;
            }
            let entries = rows.saturating_mul(self.width);
            let len = entries.saturating_mul(width as u64).saturating_add(head_len as u64 + 4);
            let block = match reader.sealed(address, len, &rule::HEAP_CUT, &rule::HEAP_CHECKSUM) {
                Ok(block) => block,
                Err(error) => {
                    found(error)?;
                    continue;
                }
            };
            let mut fields = block.fields();
            fields.take(head_len)?;
            for row in 0..rows {
                let Some(len) = self.row_len(row) else { break };
                for _ in 0..self.width {
                    let Some(child) = fields.address()? else { continue };
                    left.push((child, len, self.rows_of(len).unwrap_or(0)));
                }
            }
        }
        Ok(())
    }

    /// The rows of a block of this length; 0 for a direct block.
    fn rows_of(&self, len: u64) -> Option<u64> {
        if len <= self.direct_len_max {
            return Some(0);
        }
        let first = self.block_len.saturating_mul(self.width);
        let rows = len.checked_div(first).and_then(u64::checked_ilog2)?;
        Some(u64::from(rows) + 1)
    }

    fn check_direct(&self, reader: &Reader, address: u64, len: u64, head_len: usize) -> Result<()> {
        let mut block = reader.piece(address, len, &rule::HEAP_CUT)?;
        block.fields().signature(b"FHDB", &rule::HEAP_HEAD)?;
        if !self.has_checksums {
            return Ok(());
        }
        let mut fields = block.fields();
        fields.take(head_len)?;
        let wanted = fields.u32()?;
        // The checksum is of the block with zeros in its place.
        if let Some(place) = block.bytes.get_mut(head_len..head_len + 4) {
            place.fill(0);
        }
        let found = lookup3(&block.bytes);
        if found == wanted {
            return Ok(());
        }
        let at = block.at.saturating_add(head_len as u64);
        Err(fault(&rule::HEAP_CHECKSUM, at, found.into(), wanted.into()))
    }

    /// The address of bytes of the heap.
    fn locate(&self, reader: &Reader, offset: u64, len: u64) -> Result<u64> {
        let lost = || fault(&rule::HEAP_OBJECT, self.at, offset, 0);
        let mut block = self.root.ok_or_else(lost)?;
        let mut rows = self.root_rows;
        let mut offset = offset;
        let mut block_len = self.block_len;
        while rows != 0 {
            let last_row = |row: &u64| self.row_start(*row).is_some_and(|start| start <= offset);
            let row = (0..rows).rev().find(last_row).ok_or_else(lost)?;
            let row_len = self.row_len(row).ok_or_else(lost)?;
            let inside = offset - self.row_start(row).ok_or_else(lost)?;
            let column = inside / row_len;
            if self.width <= column {
                return Err(lost());
            }
            // The entries follow signature, version, the heap's address and the offset of the block.
            let head_len = (5 + reader.sizes.offset + self.offset_width) as u64;
            let entry = row.saturating_mul(self.width).saturating_add(column);
            let at = entry.saturating_mul(reader.sizes.offset as u64).saturating_add(head_len);
            let head = reader.piece(block, 4, &rule::HEAP_CUT)?;
            head.fields().signature(b"FHIB", &rule::HEAP_HEAD)?;
            let child = reader.piece(
                block.saturating_add(at),
                reader.sizes.offset as u64,
                &rule::HEAP_CUT,
            )?;
            block = child.fields().address()?.ok_or_else(lost)?;
            offset = inside % row_len;
            block_len = row_len;
            // The rows of a child that is no direct block follow from its length.
            rows = self.rows_of(row_len).ok_or_else(lost)?;
        }
        let head = reader.piece(block, 4, &rule::HEAP_CUT)?;
        head.fields().signature(b"FHDB", &rule::HEAP_HEAD)?;
        if block_len < offset.saturating_add(len) {
            return Err(lost());
        }
        Ok(block.saturating_add(offset))
    }
}
