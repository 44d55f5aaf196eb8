//! The digests of an opened file: those of pages in memory, those of chunks on demand.

use std::ops::Range;
use std::sync::Arc;

use tet_codec::{Digester, Strength, digest};
use tet_format::digest::{
    DIGEST_LEN, DigestBlock, PAGE_ROW_COUNT, WireDigestBlock, block_len, head_end, page_count,
};
use tet_format::index::{IndexRow, ROW_LEN};
use tet_format::{Digest, Error as Fault, Rule, Superblock};
use tet_io::Source;

use super::key::IntegrityKey;
use crate::error::{Error, Result};
use crate::page_cache::PageCache;

/// The digests of an opened file. Clones are cheap and share what is in memory.
#[derive(Clone, Debug)]
pub struct Digests(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    source: Source,
    key: IntegrityKey,
    block: DigestBlock,
    index_offset: u64,
    pages: Vec<Digest>,
    /// The payload digests of pages.
    chunks: PageCache<Vec<Digest>>,
}

impl Digests {
    /// Reads the block of the key and compares the digests of head and pages; the block must
    /// precede the JSON at `json_at`.
    pub(crate) fn open(
        source: &Source,
        superblock: &Superblock,
        key: &IntegrityKey,
        json_at: u64,
        row_count: u64,
        head: &[u8],
    ) -> Result<Self> {
        check_head(superblock, key, head)?;
        let place = key.block;
        let misplaced = |found, wanted| {
            Err(Fault { rule: Rule::DigestBlock, at: json_at, found, wanted }.into())
        };
        let wanted = block_len(row_count).unwrap_or(u64::MAX);
        let is_inside = superblock.index_end() <= place.offset
            && place.offset.checked_add(wanted).is_some_and(|end| end <= json_at);
        if place.len != wanted {
            return misplaced(place.len, wanted);
        } else if !is_inside {
            return misplaced(place.offset, superblock.index_end());
        }
        let mut header = [0; WireDigestBlock::LEN];
        source.read_exact_at(place.offset, &mut header)?;
        let block = DigestBlock::read(&header, place.offset, row_count)?;
        // The length was checked against that of the file.
        let pages = source.read_vec(block.pages_at(), page_count(row_count) * DIGEST_LEN)?;
        if let Some((found, wanted)) = digest(&pages).differs(key.index) {
            let rule = Rule::PagesDigest;
            return Err(Fault { rule, at: block.pages_at(), found, wanted }.into());
        }
        let (source, key, index_offset) = (source.clone(), key.clone(), superblock.index_offset);
        let chunks = PageCache::default();
        Ok(Digests(Arc::new(Inner {
            source,
            key,
            block,
            index_offset,
            pages: Digest::all(&pages).collect(),
            chunks,
        })))
    }

    /// The integrity key of the footer.
    #[must_use]
    pub fn key(&self) -> &IntegrityKey {
        &self.0.key
    }

    /// The position of the digests.
    #[must_use]
    pub fn block(&self) -> &DigestBlock {
        &self.0.block
    }

    /// Compares all rows of a page with their digest.
    ///
    /// # Errors
    ///
    /// Returns the broken rule when they differ.
    pub fn check_page(&self, page: u64, rows: &[u8]) -> Result<()> {
        let wanted = usize::try_from(page).ok().and_then(|page| self.0.pages.get(page));
        match digest(rows).differs(wanted.copied().unwrap_or_default()) {
            None => Ok(()),
            Some((found, wanted)) => {
                let at = self.0.block.page_at(page, self.0.index_offset);
                Err(Fault { rule: Rule::PageDigest, at, found, wanted }.into())
            }
        }
    }

    /// The digest of the payload of a row.
    ///
    /// # Errors
    ///
    /// Returns an error when the digests cannot be read.
    pub fn of_row(&self, row: u64) -> Result<Digest> {
        let page = row / PAGE_ROW_COUNT;
        let Inner { source, block, chunks, .. } = &*self.0;
        let held = chunks.get(page, || chunk_digests(source, block, block.page_rows(page)))?;
        let nth = usize::try_from(row % PAGE_ROW_COUNT).unwrap_or(usize::MAX);
        Ok(held.get(nth).copied().unwrap_or_default())
    }
}

/// Compares the head with its digest.
fn check_head(superblock: &Superblock, key: &IntegrityKey, head: &[u8]) -> Result<()> {
    let end = usize::try_from(head_end(superblock)).unwrap_or(usize::MAX);
    let head = head.get(..end).unwrap_or(head);
    match digest(head).differs(key.head) {
        None => Ok(()),
        Some((found, wanted)) => Err(Fault { rule: Rule::HeadDigest, at: 0, found, wanted }.into()),
    }
}

/// The payload digests of some rows, from the block that lists them.
///
/// # Errors
///
/// Returns an error when they cannot be read.
pub fn chunk_digests(
    source: &Source,
    block: &DigestBlock,
    rows: Range<u64>,
) -> Result<Vec<Digest>> {
    let len = rows.end.saturating_sub(rows.start).saturating_mul(DIGEST_LEN);
    let bytes = source.read_vec(block.chunk_at(rows.start), len)?;
    Ok(Digest::all(&bytes).collect())
}

/// The digest of a range of a file, read in windows.
///
/// # Errors
///
/// Returns an error when it cannot be read.
pub fn digest_of(source: &Source, stretch: Range<u64>) -> Result<Digest> {
    let mut digester = Digester::new(Strength::Full);
    source.for_windows(stretch, &mut Vec::new(), |_, window| {
        digester.update(window);
        Ok::<_, Error>(true)
    })?;
    Ok(digester.finish())
}

/// The digest `chunks`, computed from rows in order, each with the digest of its payload.
///
/// Offsets are not included, so a repacked copy has the same digest.
#[must_use]
pub fn rows_digest(rows: impl Iterator<Item = (IndexRow, Digest)>) -> Digest {
    let mut digester = RowsDigester::default();
    rows.for_each(|(row, digest)| digester.push(&row, digest));
    digester.finish()
}

/// Computes the digest `chunks` row by row.
#[derive(Debug)]
pub struct RowsDigester {
    digester: Digester,
    bytes: Vec<u8>,
}

impl Default for RowsDigester {
    fn default() -> Self {
        let bytes = Vec::with_capacity(ROW_LEN as usize);
        RowsDigester { digester: Digester::new(Strength::Full), bytes }
    }
}

impl RowsDigester {
    /// Adds the next row, with the digest of its payload.
    pub fn push(&mut self, row: &IndexRow, digest: Digest) {
        let bytes = &mut self.bytes;
        bytes.clear();
        bytes.extend_from_slice(&row.dataset_id.to_le_bytes());
        row.coord.iter().for_each(|at| bytes.extend_from_slice(&at.to_le_bytes()));
        bytes.extend_from_slice(&row.codec.to_le_bytes());
        bytes.extend_from_slice(&row.raw_len.to_le_bytes());
        bytes.extend_from_slice(&row.stored_len.to_le_bytes());
        bytes.extend_from_slice(&digest.to_bytes());
        self.digester.update(bytes);
    }

    /// The digest of all added rows.
    #[must_use]
    pub fn finish(&self) -> Digest {
        self.digester.finish()
    }
}
