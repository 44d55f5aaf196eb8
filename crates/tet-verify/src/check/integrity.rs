//! Compares every part of the structure with its digest, starting at the footer's integrity key.
//!
//! ```text
//!   key --> head          (TET-G3)
//!    \----> block         (TET-G9) --> digests of pages (TET-G5) --> pages of rows (TET-G4)
//!     \                        \-----> digests of payloads, with the rows (TET-G7)
//!      \--> spills        (TET-G8)
//! ```

use std::ops::Range;

use tet_codec::{Digester, Strength, digest};
use tet_file::integrity::{
    IntegrityKey, KeyState, Listed, chunk_digests, rows_digest, stale_block,
};
use tet_format::digest::{
    DIGEST_LEN, DigestBlock, WireDigestBlock, block_len, head_end, page_count,
};
use tet_format::footer::Spill;
use tet_format::index::{IndexRow, ROW_LEN};
use tet_format::{Digest, Error as Fault, Faults, Note, NoteCode, Rule, Span};
use tet_io::Source;

use super::footer::Bounds;
use super::index::Index;
use super::subject::Subject;
use crate::collect::Collector;
use crate::error::{Error, Result};

/// The digests of a file after its structure was compared.
#[derive(Debug, Default)]
pub(super) struct Digests {
    /// The block of digests, if it is at its place.
    pub(super) block: Option<DigestBlock>,
    /// Whether the payload digests match their own checksum.
    pub(super) are_sound: bool,
    /// The spans of the block and of the listed spills.
    pub(super) spans: Vec<Span>,
}

/// Compares the structure with its digests. `payloads` are sorted, if they are valid.
pub(super) fn check(
    subject: &Subject<'_>,
    index: Option<Index>,
    bounds: &Bounds,
    payloads: Option<&[Span]>,
    out: &mut Collector,
) -> Result<Digests> {
    let key = match &bounds.record {
        KeyState::Key(key) => key,
        KeyState::Unknown => {
            // A broken key was already reported.
            if out.count(Rule::IntegrityKey) == 0 {
                let at = bounds.gap_end;
                out.push(Note { code: NoteCode::DigestsUnknown, at, found: 0 }.into());
            }
            return Ok(Digests::default());
        }
        KeyState::Absent => return Ok(Digests::default()),
    };
    check_head(subject, key, out)?;
    let mut digests = Digests::default();
    if let Some(index) = index {
        digests.block = check_block(subject, key, index.row_count, bounds, payloads, out)?;
        if let Some(block) = digests.block {
            digests.are_sound = check_rows(subject, key, index, block, out)?;
        }
    }
    check_spills(subject, key, bounds, out)?;
    let listed = key.spills.iter().map(|listed| listed.spill).chain([key.block]);
    digests.spans = listed.filter_map(|Spill { offset, len }| Span::new(offset, len)).collect();
    Ok(digests)
}

/// Searches for digests that the footer does not refer to.
pub(super) fn check_stale(
    subject: &Subject<'_>,
    index: Option<Index>,
    bounds: &Bounds,
    out: &mut Collector,
) -> Result<Option<Span>> {
    let (Some(index), KeyState::Absent, true) = (index, &bounds.record, bounds.is_read) else {
        return Ok(None);
    };
    let (index_end, end) = (subject.superblock.index_end(), bounds.spill_start);
    let note = stale_block(subject.source, index.row_count, index_end, end)?;
    Ok(note.and_then(|note| {
        out.push(note.into());
        Span::from_range(note.at..end)
    }))
}

fn fault(out: &mut Collector, rule: Rule, at: u64, found: u64, wanted: u64) -> Result<()> {
    Ok(out.fault(Fault { rule, at, found, wanted }).map_err(tet_file::Error::from)?)
}

fn check_head(subject: &Subject<'_>, key: &IntegrityKey, out: &mut Collector) -> Result<()> {
    let end = head_end(&subject.superblock);
    match compare_span(subject, 0, end, key.head)? {
        None => Ok(()),
        Some((found, wanted)) => fault(out, Rule::HeadDigest, 0, found, wanted),
    }
}

/// Checks the position of the block and its header.
fn check_block(
    subject: &Subject<'_>,
    key: &IntegrityKey,
    row_count: u64,
    bounds: &Bounds,
    payloads: Option<&[Span]>,
    out: &mut Collector,
) -> Result<Option<DigestBlock>> {
    let Spill { offset, len } = key.block;
    let (rule, at, index_end) = (Rule::DigestBlock, bounds.gap_end, subject.superblock.index_end());
    let wanted_len = block_len(row_count).unwrap_or(u64::MAX);
    if len != wanted_len {
        fault(out, rule, at, len, wanted_len)?;
        return Ok(None);
    }
    let end = offset.saturating_add(len);
    if offset < index_end || bounds.spill_start < end {
        fault(out, rule, at, offset, bounds.spill_start.saturating_sub(len))?;
        return Ok(None);
    }
    let last = payloads.map(|spans| spans.iter().map(|span| span.end()).max().unwrap_or(index_end));
    if let Some(last) = last.filter(|&last| last != offset) {
        fault(out, rule, at, offset, last)?;
    }
    let mut header = [0; WireDigestBlock::LEN];
    subject.source.read_exact_at(offset, &mut header)?;
    match DigestBlock::read(&header, offset, row_count) {
        Ok(block) => Ok(Some(block)),
        Err(broken) => {
            out.fault(broken).map_err(tet_file::Error::from)?;
            Ok(None)
        }
    }
}

/// Compares pages with their digests, and the digests with their own. Returns whether the payload
/// digests match.
fn check_rows(
    subject: &Subject<'_>,
    key: &IntegrityKey,
    index: Index,
    block: DigestBlock,
    out: &mut Collector,
) -> Result<bool> {
    let source = subject.source;
    // One digest for 8192 rows, and the rows are in the file.
    let pages_len = page_count(index.row_count).saturating_mul(DIGEST_LEN);
    let pages = source.read_vec(block.pages_at(), pages_len)?;
    let differing = digest(&pages).differs(key.index);
    if let Some((found, wanted)) = differing {
        fault(out, Rule::PagesDigest, block.pages_at(), found, wanted)?;
    }
    // A damaged list of digests proves nothing about the pages.
    let listed: Vec<Digest> =
        if differing.is_none() { Digest::all(&pages).collect() } else { Vec::new() };
    let mut broken = None;
    let mut are_pages_sound = true;
    let pairs = (0..page_count(index.row_count)).map_while(|page| {
        let rows = block.page_rows(page);
        let read = read_page(source, &block, rows, index.offset);
        let read = subject.options.progress.check().map_err(Error::from).and(read);
        let (bytes, chunks) = read.map_err(|error| broken = Some(error)).ok()?;
        let wanted = usize::try_from(page).ok().and_then(|page| listed.get(page));
        if let Some((found, wanted)) = wanted.and_then(|&wanted| digest(&bytes).differs(wanted)) {
            are_pages_sound = false;
            let at = block.page_at(page, index.offset);
            fault(out, Rule::PageDigest, at, found, wanted).ok()?;
        }
        let rows: Vec<IndexRow> = bytes.as_chunks().0.iter().map(IndexRow::decode).collect();
        Some(rows.into_iter().zip(chunks))
    });
    let found = rows_digest(pairs.flatten());
    if let Some(error) = broken {
        return Err(error);
    }
    // Rows that do not match their pages cannot match here either.
    match found.differs(key.chunks).filter(|_| are_pages_sound) {
        None => Ok(true),
        Some((found, wanted)) => {
            fault(out, Rule::ChunksDigest, block.chunk_at(0), found, wanted)?;
            Ok(false)
        }
    }
}

/// The bytes of a page of rows, and the digests of their payloads.
fn read_page(
    source: &Source,
    block: &DigestBlock,
    rows: Range<u64>,
    index_offset: u64,
) -> Result<(Vec<u8>, Vec<Digest>)> {
    let count = rows.end.saturating_sub(rows.start);
    let at = tet_format::layout::row_at(index_offset, rows.start);
    let bytes = source.read_vec(at, count.saturating_mul(ROW_LEN))?;
    Ok((bytes, chunk_digests(source, block, rows)?))
}

/// Compares the spills that reading the footer did not compare, and reports those not listed.
fn check_spills(
    subject: &Subject<'_>,
    key: &IntegrityKey,
    bounds: &Bounds,
    out: &mut Collector,
) -> Result<()> {
    let rule = Rule::SpillDigest;
    let json_at = bounds.gap_end;
    for &spill in &bounds.spills {
        let is_listed = key.spills.iter().any(|listed| listed.spill == spill);
        if !is_listed && Some(spill) != bounds.metadata_spill {
            fault(out, rule, json_at, spill.offset, 0)?;
        }
    }
    let floor = key.block.offset.saturating_add(key.block.len);
    let mut seen: Vec<Span> = Vec::new();
    for &Listed { spill, digest } in &key.spills {
        let Spill { offset, len } = spill;
        let span = Span::new(offset, len).filter(|span| span.end() <= json_at && floor <= offset);
        let Some(span) = span else {
            let is_low = offset < floor;
            let wanted = if is_low { floor } else { json_at };
            let found = if is_low { offset } else { offset.saturating_add(len) };
            fault(out, Rule::SpillBounds, json_at, found, wanted)?;
            continue;
        };
        if let Some(other) = seen.iter().find(|other| other.overlaps(span)) {
            fault(out, Rule::SpillOverlap, json_at, offset, other.end())?;
        }
        seen.push(span);
        if Some(spill) != bounds.metadata_spill
            && let Some((found, wanted)) = compare_span(subject, offset, len, digest)?
        {
            fault(out, rule, offset, found, wanted)?;
        }
    }
    Ok(())
}

/// Compares a span of the file with its digest, piece by piece.
fn compare_span(
    subject: &Subject<'_>,
    at: u64,
    len: u64,
    wanted: Digest,
) -> Result<Option<(u64, u64)>> {
    let mut digester = Digester::new(Strength::Full);
    let span = Span::new(at, len).filter(|span| span.end() <= subject.source.len());
    let progress = subject.options.progress.begin(len);
    if let Some(span) = span {
        progress.pieces::<Error>(subject.source, span, &mut Vec::new(), |_, bytes| {
            digester.update(bytes);
            true
        })?;
    }
    Ok(digester.compare(wanted))
}
