//! Repairs index rows: what their digests prove or, without digests, what the format determines.
//!
//! Writers store the chunks dataset by dataset, in row-major order, with their payloads in the same
//! order. In a page that does not match its digest, rows that break this order are corrected, and
//! the digest proves or refutes the result.
//!
//! Without digests, the offset and the length of payloads are not guessed. These values are
//! certain: reserved bytes are zero; a single unordered row belongs to the chunk without a row; the
//! length of a raw chunk, if directory and stored length agree.

use std::ops::Range;

use tet_file::{FooterMode, OpenOptions, TetFile};
use tet_format::digest::DigestBlock;
use tet_format::index::{IndexRow, ROW_LEN};
use tet_format::layout::Align;
use tet_format::{Codec, DType, Digest, NoteCode, Region, Rule};
use tet_report::{Code, Proof};

use super::context::RepairContext;
use super::edit::{Action, put_edit};
use super::flip::flipped_bit;
use crate::error::Result;

/// How many rows are searched for one that determines the end of the previous payload.
const LATER_MAX: usize = 16;

/// The file with its readable head, without the footer.
pub(super) fn open(context: &RepairContext<'_>) -> Result<TetFile> {
    let options = OpenOptions { limits: *context.limits(), footer: FooterMode::Ignore };
    Ok(TetFile::open(context.source(), &options)?)
}

/// Repairs every page that can match its digest. Returns whether all do.
pub(super) fn repair_pages(
    context: &mut RepairContext<'_>,
    block: &DigestBlock,
    pages: &[Digest],
    payload_end: u64,
) -> Result<bool> {
    let (mut all_hold, mut file) = (true, open(context)?);
    for (page, &wanted) in (0..).zip(pages) {
        let rows = block.page_rows(page);
        let at = block.page_at(page, file.superblock().index_offset);
        let mut bytes = context.source().read_vec(at, (rows.end - rows.start) * ROW_LEN)?;
        if tet_codec::digest(&bytes) == wanted {
            continue;
        }
        if context.flip(Rule::PageDigest, Region::Index, at, &mut bytes, wanted)? {
            file = open(context)?;
            continue;
        }
        let Some(repaired) = ordered_page(&file, rows.clone(), payload_end, wanted)? else {
            all_hold = false;
            continue;
        };
        let (old, _) = bytes.as_chunks::<{ IndexRow::LEN }>();
        let (new, _) = repaired.as_chunks::<{ IndexRow::LEN }>();
        for ((row, _), new) in rows.zip(old).zip(new).filter(|((_, old), new)| old != new) {
            let at = file.index().row_at(row);
            let code = Code::Rule(Rule::PageDigest);
            let edit = put_edit(code, Region::Index, at, new, Action::SetRow { row });
            context.apply(edit.proof(Proof::Digest))?;
        }
        file = open(context)?;
    }
    Ok(all_hold)
}

/// The bytes of a page with ordered rows, if they match the digest.
fn ordered_page(
    file: &TetFile,
    range: Range<u64>,
    payload_end: u64,
    wanted: Digest,
) -> Result<Option<Vec<u8>>> {
    let (mut before, mut rows, mut after) = (Vec::new(), Vec::new(), Vec::new());
    file.index().rows(range.start.saturating_sub(1)..range.start, &mut before)?;
    file.index().rows(range.clone(), &mut rows)?;
    file.index().rows(range.end..range.end.saturating_add(1), &mut after)?;
    let start = before.first().and_then(IndexRow::payload).map(|span| span.end());
    let end = after.first().map_or(payload_end, |row| row.payload_offset);
    let room = start.unwrap_or_else(|| file.index_end())..end;
    for align in [Some(Align::A64), Some(Align::A8), Some(Align::A4096), None] {
        let ordered = ordered(chunks(file, range.clone()), &rows, room.clone(), align);
        let mut page: Vec<u8> = ordered.iter().flat_map(IndexRow::encode).collect();
        if let Some(bit) = flipped_bit(&page, wanted)
            && let Some(byte) = page.get_mut(bit.byte)
        {
            *byte ^= 1 << bit.bit;
        }
        if tet_codec::digest(&page) == wanted {
            return Ok(Some(page));
        }
    }
    Ok(None)
}

/// The rows of `chunks`, with consecutive payloads in `room`.
fn ordered(
    chunks: impl Iterator<Item = Chunk>,
    rows: &[IndexRow],
    mut room: Range<u64>,
    align: Option<Align>,
) -> Vec<IndexRow> {
    let (mut ordered, end) = (Vec::with_capacity(rows.len()), room.end);
    let mut later = rows;
    for chunk in chunks {
        let Some((row, rest)) = later.split_first() else { break };
        let starts = rest.iter().take(LATER_MAX).map(|row| row.payload_offset);
        room.end = starts.filter(|&it| room.start < it && it <= end).min().unwrap_or(end);
        let codec_nearby =
            ordered.last().or(rest.first()).map_or(row.codec, |it: &IndexRow| it.codec);
        let row = chunk.ordered(row, &room, align, codec_nearby);
        room.start = row.payload().map_or(room.start, |span| span.end());
        ordered.push(row);
        later = rest;
    }
    ordered
}

/// The chunks of the rows of `range`, in the order in which writers store them.
fn chunks(file: &TetFile, range: Range<u64>) -> impl Iterator<Item = Chunk> {
    let mut end = 0_u64;
    file.datasets().iter().enumerate().flat_map(move |(id, entry)| {
        let start = end;
        end = start.saturating_add(entry.chunk_count());
        let [from, to] = [range.start, range.end].map(|row| row.clamp(start, end) - start);
        (from..to).map(move |linear| {
            let mut coord = [0; 8];
            let (rank, mut raw_len) = (entry.grid.rank(), None);
            if let Some(coord) = coord.get_mut(..rank) {
                entry.grid.coord(linear, coord);
                let elements = entry.grid.chunk_elements(coord);
                let size = entry.dtype.and_then(DType::size);
                raw_len = elements.zip(size).and_then(|(count, size)| count.checked_mul(size));
            }
            Chunk { dataset_id: id as u64, rank, linear, coord, raw_len }
        })
    })
}

/// A chunk of the directory.
#[derive(Clone, Copy)]
struct Chunk {
    dataset_id: u64,
    rank: usize,
    linear: u64,
    coord: [u64; 8],
    /// The length of its elements, if their dtype is known.
    raw_len: Option<u64>,
}

impl Chunk {
    fn is_of(&self, row: &IndexRow) -> bool {
        row.is_chunk(self.dataset_id, self.coord.get(..self.rank).unwrap_or_default())
    }

    /// The row of this chunk, with its payload in `room`: as stored, if that is possible; otherwise
    /// the payload starts right after the previous one and ends before the next one.
    fn ordered(
        &self,
        row: &IndexRow,
        room: &Range<u64>,
        align: Option<Align>,
        codec_nearby: u32,
    ) -> IndexRow {
        let Chunk { dataset_id, coord, .. } = *self;
        let raw_len = self.raw_len.unwrap_or(row.raw_len);
        let new = IndexRow { dataset_id, coord, raw_len, reserved: 0, ..*row };
        if is_in(&new, room) {
            return new;
        }
        let align = align.filter(|_| self.linear == 0);
        let behind = align.map_or(Some(room.start), |align| align.place(room.start));
        for codec in [codec_nearby, row.codec] {
            for payload_offset in [Some(row.payload_offset), behind].into_iter().flatten() {
                let rest = room.end.saturating_sub(payload_offset);
                for stored_len in [row.stored_len, rest, raw_len] {
                    let new = IndexRow { codec, payload_offset, stored_len, ..new };
                    if is_in(&new, room) {
                        return new;
                    }
                }
            }
        }
        new
    }

    /// The row with the values that are certain without digests.
    fn certain(&self, row: &IndexRow) -> IndexRow {
        let mut new = IndexRow { reserved: 0, ..*row };
        if self.is_of(row) {
            new.coord = self.coord;
            let is_raw = Codec::from_tag(row.codec) == Codec::Raw;
            let agreed = self.raw_len.filter(|&len| is_raw && len == row.stored_len);
            new.raw_len = agreed.unwrap_or(new.raw_len);
        }
        new
    }
}

/// Whether the payload of a row can be in `room`.
fn is_in(row: &IndexRow, room: &Range<u64>) -> bool {
    let is_whole = match Codec::from_tag(row.codec) {
        Codec::Raw => row.stored_len == row.raw_len,
        Codec::Zstd => row.stored_len != 0,
        Codec::Unknown(_) => false,
    };
    let is_inside = |end| room.start <= row.payload_offset && end <= room.end;
    is_whole && row.payload().is_some_and(|span| is_inside(span.end()))
}

/// Sets the values that are certain in rows without digests.
pub(super) fn repair(context: &mut RepairContext<'_>) -> Result<()> {
    let file = open(context)?;
    let counts = file.datasets().iter().map(|dataset| dataset.chunk_count());
    let row_count = file.index().row_count();
    if counts.into_iter().try_fold(0_u64, u64::checked_add) != Some(row_count) {
        return Ok(());
    }
    let mut chunks = chunks(&file, 0..row_count);
    let (mut stray, mut stray_count) = (None, 0_u64);
    let mut found = Vec::new();
    file.index().for_blocks(0..row_count, |first, rows| {
        for (number, bytes) in (first..).zip(rows) {
            let (Some(chunk), old) = (chunks.next(), IndexRow::decode(bytes)) else { return };
            if !chunk.is_of(&old) {
                (stray, stray_count) = (Some((number, old, chunk)), stray_count.saturating_add(1));
            }
            let new = chunk.certain(&old);
            if new != old {
                found.push((number, old, new));
            }
        }
    })?;
    if let Some((number, old, chunk)) = stray.filter(|_| stray_count == 1) {
        let Chunk { dataset_id, coord, .. } = chunk;
        found.retain(|it| it.0 != number);
        found.push((number, old, chunk.certain(&IndexRow { dataset_id, coord, ..old })));
    }
    for (row, old, new) in found {
        let at = file.index().row_at(row);
        let code = code_of(&file, &old, &new);
        let action = match code {
            Code::Rule(_) => Action::SetRow { row },
            _ => Action::Clear,
        };
        context.apply(put_edit(code, Region::Index, at, &new.encode(), action))?;
    }
    Ok(())
}

/// The rule that a row breaks and its replacement does not.
fn code_of(file: &TetFile, old: &IndexRow, new: &IndexRow) -> Code {
    let id = usize::try_from(old.dataset_id).unwrap_or(usize::MAX);
    let Some(entry) = file.datasets().get(id) else { return Code::Rule(Rule::RowDataset) };
    let (old_coord, rank) = (&old.coord, entry.grid.rank());
    let is_moved =
        old.dataset_id != new.dataset_id || old_coord.get(..rank) != new.coord.get(..rank);
    match old_coord.get(..rank).and_then(|coord| entry.grid.linear(coord)) {
        None => Code::Rule(Rule::RowCoord),
        Some(_) if is_moved => Code::Rule(Rule::RowUnique),
        Some(_) if old.raw_len != new.raw_len => Code::Rule(Rule::RowRawLen),
        Some(_) if old.reserved != 0 => Code::Note(NoteCode::RowReserved),
        Some(_) => Code::Note(NoteCode::RowSlots),
    }
}
