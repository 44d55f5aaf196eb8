//! Computes the digests of a file while it is written.

use tet_codec::{Digester, Strength, digest};
use tet_format::Digest;
use tet_format::digest::{DigestBlock, PAGE_ROW_COUNT};
use tet_format::footer::Spill;
use tet_format::index::IndexRow;

use super::digests::RowsDigester;
use super::key::IntegrityKey;

/// The integrity key of a file, and its block of digests.
#[derive(Debug)]
pub(crate) struct IntegrityBlock {
    pub(crate) key: IntegrityKey,
    pub(crate) block: Vec<u8>,
}

impl IntegrityBlock {
    /// The digests of a file from its head, rows and payload digests; the block is stored at
    /// `block_offset`.
    pub(crate) fn new(
        head: &[u8],
        rows: impl Iterator<Item = IndexRow>,
        chunks: &[Digest],
        block_offset: u64,
    ) -> IntegrityBlock {
        let mut sealer = IntegrityBuilder::default();
        rows.zip(chunks).for_each(|(row, &digest)| sealer.push(&row, digest));
        sealer.finish(head, block_offset)
    }
}

/// Collects the rows of a file, in order, each with the digest of its payload.
#[derive(Debug, Default)]
pub(crate) struct IntegrityBuilder {
    /// The digests of complete pages.
    pages: Vec<u8>,
    /// The digester of the current page.
    page: Option<Digester>,
    chunks: Vec<u8>,
    row_count: u64,
    rows: RowsDigester,
}

impl IntegrityBuilder {
    pub(crate) fn push(&mut self, row: &IndexRow, digest: Digest) {
        let page = self.page.get_or_insert_with(|| Digester::new(Strength::Full));
        page.update(&row.encode());
        self.chunks.extend(digest.to_bytes());
        self.rows.push(row, digest);
        self.row_count += 1;
        if self.row_count.is_multiple_of(PAGE_ROW_COUNT) {
            self.end_page();
        }
    }

    fn end_page(&mut self) {
        self.pages.extend(self.page.take().iter().flat_map(|page| page.finish().to_bytes()));
    }

    pub(crate) fn finish(mut self, head: &[u8], block_offset: u64) -> IntegrityBlock {
        self.end_page();
        let mut block = DigestBlock::header(self.row_count).to_vec();
        block.extend_from_slice(&self.pages);
        block.extend_from_slice(&self.chunks);
        let key = IntegrityKey {
            head: digest(head),
            index: digest(&self.pages),
            chunks: self.rows.finish(),
            block: Spill { offset: block_offset, len: block.len() as u64 },
            spills: Vec::new(),
        };
        IntegrityBlock { key, block }
    }
}
