//! The digests of a file that is being written.

use tet_codec::{Digester, Strength, digest};
use tet_format::Digest;
use tet_format::digest::{DigestBlock, PAGE_ROW_COUNT};
use tet_format::footer::Spill;
use tet_format::index::IndexRow;

use super::digests::rows_digest;
use super::key::IntegrityKey;

/// The digests of a file, and the block that lists them.
#[derive(Debug)]
pub(crate) struct Seal {
    pub(crate) key: IntegrityKey,
    pub(crate) block: Vec<u8>,
}

impl Seal {
    /// The digests of a file with this head and these rows, whose payloads have these digests; the
    /// block goes to `block_offset`.
    pub(crate) fn new(
        head: &[u8],
        rows: impl Iterator<Item = IndexRow> + Clone,
        chunks: &[Digest],
        block_offset: u64,
    ) -> Seal {
        let pages: Vec<u8> = page_digests(rows.clone()).flat_map(Digest::to_bytes).collect();
        let mut block = DigestBlock::header(chunks.len() as u64).to_vec();
        block.extend_from_slice(&pages);
        block.extend(chunks.iter().flat_map(|digest| digest.to_bytes()));
        let len = block.len() as u64;
        let key = IntegrityKey {
            head: digest(head),
            index: digest(&pages),
            chunks: rows_digest(rows.zip(chunks.iter().copied())),
            block: Spill { offset: block_offset, len },
            spills: Vec::new(),
        };
        Seal { key, block }
    }
}

/// The digest of each page of rows.
fn page_digests(mut rows: impl Iterator<Item = IndexRow>) -> impl Iterator<Item = Digest> {
    std::iter::from_fn(move || {
        let mut digester = None;
        for row in rows.by_ref().take(PAGE_ROW_COUNT as usize) {
            let digester = digester.get_or_insert_with(|| Digester::new(Strength::Full));
            digester.update(&row.encode());
        }
        digester.map(|digester| digester.finish())
    })
}
