//! The block of digests, and the payloads that it covers.

use tet_file::TetFile;
use tet_file::integrity::{IntegrityKey, RowsDigester, chunk_digests, digest_of};
use tet_format::digest::{BLOCK_HEADER_LEN, DIGEST_LEN, DigestBlock, WireDigestBlock, page_count};
use tet_format::index::{IndexRow, ROW_LEN};
use tet_format::{Digest, Region, Rule};
use tet_io::Source;
use tet_report::{Code, Proof};

use super::context::RepairContext;
use super::edit::{Action, put_edit};
use super::rows;
use crate::error::Result;

/// The digests of the pages, if the header of the block is valid or can be repaired.
pub(super) fn pages(
    context: &mut RepairContext<'_>,
    offset: u64,
    row_count: u64,
) -> Result<Option<(DigestBlock, Vec<Digest>)>> {
    let source = context.source();
    let len = tet_format::digest::block_len(row_count).unwrap_or(u64::MAX);
    if offset.checked_add(len).is_none_or(|end| source.len() < end) {
        return Ok(None);
    }
    let wanted = DigestBlock::header(row_count);
    let header: [u8; WireDigestBlock::LEN] = {
        let bytes = source.read_vec(offset, BLOCK_HEADER_LEN)?;
        bytes.first_chunk().copied().unwrap_or_default()
    };
    if header != wanted {
        let code = Code::Rule(Rule::DigestBlock);
        let action = Action::SetField("the block's header");
        context.apply(put_edit(code, Region::Footer, offset, &wanted, action))?;
    }
    let Ok(block) = DigestBlock::read(&wanted, offset, row_count) else { return Ok(None) };
    let bytes = source.read_vec(block.pages_at(), page_count(row_count) * DIGEST_LEN)?;
    Ok(Some((block, Digest::all(&bytes).collect())))
}

/// Makes the digests of the pages match the key: by one bit, or by recomputing them from rows.
pub(super) fn repair_pages(
    context: &mut RepairContext<'_>,
    block: &DigestBlock,
    pages: &mut Vec<Digest>,
    key: &IntegrityKey,
) -> Result<bool> {
    let mut bytes: Vec<u8> = pages.iter().flat_map(|digest| digest.to_bytes()).collect();
    if tet_codec::digest(&bytes) == key.index {
        return Ok(true);
    }
    if context.flip(Rule::PagesDigest, Region::Footer, block.pages_at(), &mut bytes, key.index)? {
        *pages = Digest::all(&bytes).collect();
        return Ok(true);
    }
    let (source, index) = (context.source(), rows::open(context)?.superblock().index_offset);
    let mut found = Vec::new();
    for page in 0..pages.len() as u64 {
        let rows = block.page_rows(page);
        let bytes =
            source.read_vec(block.page_at(page, index), (rows.end - rows.start) * ROW_LEN)?;
        found.extend(tet_codec::digest(&bytes).to_bytes());
    }
    if tet_codec::digest(&found) != key.index {
        return Ok(false);
    }
    let code = Code::Rule(Rule::PagesDigest);
    let edit = put_edit(code, Region::Footer, block.pages_at(), &found, Action::SetDigest);
    context.apply(edit.proof(Proof::Digest))?;
    *pages = Digest::all(&found).collect();
    Ok(true)
}

/// A payload that does not match its digest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mismatch {
    pub(super) row: u64,
    pub(super) wire: IndexRow,
    /// The digest of the payload in the file; `None` if it cannot be read.
    pub(super) found: Option<Digest>,
    pub(super) wanted: Digest,
}

/// Compares all payloads with the digests of the block.
pub(super) fn mismatches(
    context: &mut RepairContext<'_>,
    file: &TetFile,
    block: &DigestBlock,
) -> Result<Vec<Mismatch>> {
    let source = context.source();
    let progress = context.options.progress.begin(file.index().stored_len()?);
    let mut wrong = Vec::new();
    for_rows(file, block, &source, |row, wire, wanted| {
        let found = digest_of_payload(&source, &wire)?;
        if found != Some(wanted) {
            wrong.push(Mismatch { row, wire, found, wanted });
        }
        Ok(progress.advance(wire.stored_len)?)
    })?;
    Ok(wrong)
}

/// Calls `visit` for every row, with the digest of its payload.
fn for_rows(
    file: &TetFile,
    block: &DigestBlock,
    source: &Source,
    mut visit: impl FnMut(u64, IndexRow, Digest) -> Result<()>,
) -> Result<()> {
    let row_count = file.index().row_count();
    let mut rows = Vec::new();
    for page in 0..page_count(row_count) {
        let range = block.page_rows(page);
        rows.clear();
        file.index().rows(range.clone(), &mut rows)?;
        let digests = chunk_digests(source, block, range.clone())?;
        for ((row, wire), wanted) in range.zip(&rows).zip(digests) {
            visit(row, *wire, wanted)?;
        }
    }
    Ok(())
}

/// Whether rows and digests match the root, with other digests for some rows.
fn is_root(
    file: &TetFile,
    block: &DigestBlock,
    source: &Source,
    root: Digest,
    instead: impl Fn(u64) -> Option<Digest>,
) -> Result<bool> {
    let mut digester = RowsDigester::default();
    for_rows(file, block, source, |row, wire, digest| {
        digester.push(&wire, instead(row).unwrap_or(digest));
        Ok(())
    })?;
    Ok(digester.finish() == root)
}

/// Makes the digests of payloads match the key: damaged digests are recomputed from the payloads.
/// Leaves the damaged payloads in `wrong`.
pub(super) fn repair_chunks(
    context: &mut RepairContext<'_>,
    file: &TetFile,
    block: &DigestBlock,
    key: &IntegrityKey,
    wrong: &mut Vec<Mismatch>,
) -> Result<bool> {
    let source = context.source();
    let root = |instead: &dyn Fn(u64) -> Option<Digest>| {
        is_root(file, block, &source, key.chunks, instead)
    };
    if root(&|_| None)? {
        return Ok(true);
    }
    // If one half of a digest matches, the digest is damaged and its payload is not.
    let half = |it: &Mismatch| {
        it.found.filter(|it2| it2.xxh3 == it.wanted.xxh3 || it2.crc32c == it.wanted.crc32c)
    };
    let instead = |among: &[Mismatch], row: u64| {
        among.iter().find(|it| it.row == row).and_then(|it| it.found)
    };
    let halves: Vec<Mismatch> = wrong.iter().copied().filter(|it| half(it).is_some()).collect();
    let mut sets = vec![halves, wrong.clone()];
    sets.extend(wrong.iter().take(16).map(|&it| vec![it]));
    for set in sets.into_iter().filter(|set| !set.is_empty()) {
        if !root(&|row| instead(&set, row))? {
            continue;
        }
        for Mismatch { row, found, .. } in &set {
            let Some(found) = found else { continue };
            let (at, code) = (block.chunk_at(*row), Code::Rule(Rule::ChunksDigest));
            let new = found.to_bytes();
            let edit = put_edit(code, Region::Footer, at, &new, Action::SetDigest);
            context.apply(edit.proof(Proof::Digest))?;
        }
        wrong.retain(|it| !set.iter().any(|other| other.row == it.row));
        return Ok(true);
    }
    Ok(false)
}

/// The digest of a payload; `None` if the payload is not in the file.
fn digest_of_payload(source: &Source, row: &IndexRow) -> Result<Option<Digest>> {
    let span = row.payload().filter(|span| span.end() <= source.len());
    Ok(span.map(|span| digest_of(source, span.range())).transpose()?)
}
