//! Index rows, most of which say what their place says.

use tet_file::{FooterMode, OpenOptions, TetFile};
use tet_format::digest::DigestBlock;
use tet_format::index::{
    IndexRow, ROW_LEN, RowContext, check_dataset_id, check_payload, check_row, check_rows,
};
use tet_format::layout::Align;
use tet_format::{Codec, DType, Digest, Error as Fault, NoteCode, Region, Rule, Span};
use tet_report::{Code, Proof};

use super::bench::Bench;
use super::edit::{Action, put_edit};
use super::flip::flipped_bit;
use crate::error::{Error, Result};

/// The most rows that are looked at beside each other: each takes about 250 bytes of memory.
const ROW_COUNT_MAX: u64 = 1 << 24;

/// How often all rows are looked over.
const ROUNDS_MAX: usize = 8;

/// How many rows of a dataset are asked whether they agree with the directory.
const SAMPLE_MAX: usize = 64;

/// The head as it can be read, without the footer.
pub(super) fn open(bench: &Bench<'_>) -> Result<TetFile> {
    let options = OpenOptions { limits: *bench.limits(), footer: FooterMode::Ignore };
    Ok(TetFile::open(bench.source(), &options)?)
}

/// Makes every page match its digest that can be made to; says whether all do.
pub(super) fn mend_pages(
    bench: &mut Bench<'_>,
    block: &DigestBlock,
    pages: &[Digest],
) -> Result<bool> {
    let mut all_hold = true;
    for (page, &wanted) in (0..).zip(pages) {
        let file = open(bench)?;
        let rows = block.page_rows(page);
        let at = block.page_at(page, file.superblock().index_offset);
        let mut bytes = bench.source().read_vec(at, (rows.end - rows.start) * ROW_LEN)?;
        if tet_codec::digest(&bytes) == wanted {
            continue;
        }
        let place = (Rule::PageDigest, Region::Index);
        if bench.flip(place, at, &mut bytes, wanted)? {
            continue;
        }
        let found = candidates(&file)?;
        let mut broken_only = bytes.clone();
        let mut all = bytes.clone();
        for candidate in found.iter().filter(|it| rows.contains(&it.row)) {
            let start = usize::try_from((candidate.row - rows.start) * ROW_LEN).unwrap_or(0);
            let new = candidate.new.encode();
            if candidate.is_broken {
                broken_only[start..start + new.len()].copy_from_slice(&new);
            }
            all[start..start + new.len()].copy_from_slice(&new);
        }
        let mended = [broken_only, all].into_iter().find_map(|mut page| {
            if let Some(bit) = flipped_bit(&page, wanted) {
                page[bit.byte] ^= 1 << bit.bit;
            }
            (tet_codec::digest(&page) == wanted).then_some(page)
        });
        let Some(mended) = mended else {
            all_hold = false;
            continue;
        };
        let (old, _) = bytes.as_chunks::<{ IndexRow::LEN }>();
        let (new, _) = mended.as_chunks::<{ IndexRow::LEN }>();
        for ((row, old), new) in rows.zip(old).zip(new).filter(|((_, old), new)| old != new) {
            let at = file.index().row_at(row);
            let code = Code::Rule(Rule::PageDigest);
            let edit = put_edit(code, Region::Index, at, new, Action::SetRow { row });
            debug_assert_ne!(old, new);
            bench.apply(edit.proof(Proof::Digest))?;
        }
    }
    Ok(all_hold)
}

/// Sets rows that break a rule to what their place and their neighbors say; for files without
/// digests.
pub(super) fn mend(bench: &mut Bench<'_>) -> Result<()> {
    // A row that is mended may say more of the one before it.
    for _ in 0..ROUNDS_MAX {
        let file = open(bench)?;
        let taken = Taken::of(&file)?;
        let candidates = candidates(&file)?.into_iter();
        let broken: Vec<_> = candidates.filter(|it| it.is_broken && !taken.has(it)).collect();
        if broken.is_empty() {
            break;
        }
        for candidate in broken {
            let at = file.index().row_at(candidate.row);
            let action = match candidate.code {
                Code::Note(_) => Action::Clear,
                Code::Rule(_) | Code::Foreign(_) => Action::SetRow { row: candidate.row },
            };
            let new = candidate.new.encode();
            bench.apply(put_edit(candidate.code, Region::Index, at, &new, action))?;
        }
    }
    Ok(())
}

/// What a row should be, where that is not what it is.
struct Candidate {
    row: u64,
    new: IndexRow,
    /// The row breaks a rule as it is, and this one does not.
    is_broken: bool,
    /// The rule.
    code: Code,
}

/// The bytes of the file that are payloads.
struct Taken {
    file_len: u64,
    rows: Vec<IndexRow>,
    /// Where payloads start, and where the last one of those up to there ends.
    ends: Vec<(u64, u64)>,
}

impl Taken {
    fn of(file: &TetFile) -> Result<Self> {
        let (file_len, row_count) = (file.file_len(), file.index().row_count());
        let mut rows = Vec::new();
        if row_count <= ROW_COUNT_MAX {
            file.index().rows(0..row_count, &mut rows)?;
        }
        let spans = rows.iter().filter_map(IndexRow::payload);
        let inside = spans.filter(|span| !span.is_empty() && span.end() <= file_len);
        let mut ends: Vec<(u64, u64)> = inside.map(|span| (span.start(), span.end())).collect();
        ends.sort_unstable();
        let mut last = 0;
        for (_, end) in &mut ends {
            last = last.max(*end);
            *end = last;
        }
        Ok(Taken { file_len, rows, ends })
    }

    /// Whether a payload that is cut off would be set to bytes of another one, as those that were
    /// filled behind it.
    fn has(&self, candidate: &Candidate) -> bool {
        let row = usize::try_from(candidate.row).ok().and_then(|row| self.rows.get(row));
        let is_cut = row.and_then(IndexRow::payload).is_some_and(|it| self.file_len < it.end());
        let Some(new) = candidate.new.payload().filter(|_| is_cut) else { return false };
        let before = self.ends.partition_point(|(start, _)| *start < new.end());
        let last = before.checked_sub(1).and_then(|at| self.ends.get(at));
        last.is_some_and(|(_, end)| new.start() < *end)
    }
}

fn candidates(file: &TetFile) -> Result<Vec<Candidate>> {
    let row_count = file.index().row_count();
    if ROW_COUNT_MAX < row_count {
        return Err(Error::Rows { found: row_count, limit: ROW_COUNT_MAX });
    }
    let counts = file.datasets().iter().map(|dataset| dataset.chunk_count());
    if counts.into_iter().try_fold(0_u64, u64::checked_add) != Some(row_count) {
        return Ok(Vec::new());
    }
    let mut rows = Vec::new();
    file.index().rows(0..row_count, &mut rows)?;
    let expected = expected(file);
    let misplaced = is_misplaced(file, &rows, &expected)?;
    let mut view = View { file, rows, expected: &expected, misplaced };
    let mut found = Vec::new();
    for at in 0..view.rows.len() {
        let Some(candidate) = view.candidate(at) else { continue };
        // The next row is judged beside this one as it should be.
        if let Some(row) = view.rows.get_mut(at).filter(|_| candidate.is_broken) {
            *row = candidate.new;
        }
        found.push(candidate);
    }
    Ok(found)
}

/// What the place of a row says: its dataset and its chunk.
struct Expected {
    dataset: usize,
    rank: usize,
    linear: u64,
    coord: [u64; 8],
    raw_len: Option<u64>,
}

impl Expected {
    fn is_chunk(&self, row: &IndexRow) -> bool {
        row.is_chunk(self.dataset as u64, self.coord.get(..self.rank).unwrap_or_default())
    }
}

fn expected(file: &TetFile) -> Vec<Expected> {
    let mut all = Vec::new();
    for (dataset, entry) in file.datasets().iter().enumerate() {
        let mut coord = [0; 8];
        let rank = entry.grid.rank();
        let size = entry.dtype.and_then(DType::size);
        for linear in 0..entry.chunk_count() {
            let elements = coord.get(..rank).and_then(|coord| entry.grid.chunk_elements(coord));
            let raw_len = elements.zip(size).and_then(|(count, size)| count.checked_mul(size));
            all.push(Expected { dataset, rank, linear, coord, raw_len });
            if let Some(coord) = coord.get_mut(..rank) {
                entry.grid.advance(coord);
            }
        }
    }
    all
}

/// Whether rows that are not at their place are damaged, and not only in another order.
fn is_misplaced(file: &TetFile, rows: &[IndexRow], expected: &[Expected]) -> Result<bool> {
    let odd = rows.iter().zip(expected).filter(|(row, it)| !it.is_chunk(row)).count();
    if odd == 0 {
        return Ok(false);
    }
    let contexts: Vec<RowContext<'_>> = file
        .datasets()
        .iter()
        .map(|it| RowContext { record_at: it.at, grid: &it.grid, element_size: None })
        .collect();
    let mut faults: Vec<Fault> = Vec::new();
    let placed = (0..).zip(rows).map(|(row, it)| (file.index().row_at(row), *it));
    check_rows(placed, &contexts, &mut faults).map_err(tet_file::Error::from)?;
    let rules = [Rule::RowDataset, Rule::RowCoord, Rule::RowUnique, Rule::RowCount];
    let is_broken = faults.iter().any(|fault| rules.contains(&fault.rule));
    Ok(is_broken && (odd * 2 <= rows.len() || rows.len() == 1))
}

/// All rows beside each other, those before the one that is looked at as they should be.
struct View<'a> {
    file: &'a TetFile,
    rows: Vec<IndexRow>,
    expected: &'a [Expected],
    misplaced: bool,
}

impl View<'_> {
    fn candidate(&self, at: usize) -> Option<Candidate> {
        let (old, expected) = (self.rows.get(at)?, self.expected.get(at)?);
        let mut new = IndexRow { reserved: 0, ..*old };
        if self.misplaced || expected.is_chunk(old) {
            new.dataset_id = expected.dataset as u64;
            new.coord = expected.coord;
            new.raw_len = self.raw_len(old, expected).unwrap_or(new.raw_len);
        }
        let before = self.faults(at, old);
        let is_odd = new != *old && before.is_empty();
        if !self.faults(at, &new).is_empty() {
            new = self.placed(at, &new).unwrap_or(new);
        }
        if new == *old {
            return None;
        }
        let is_broken = is_odd || self.faults(at, &new).is_empty();
        let code = match before.first() {
            Some(fault) => Code::Rule(fault.rule),
            None if old.reserved != 0 => Code::Note(NoteCode::RowReserved),
            None => Code::Note(NoteCode::RowSlots),
        };
        Some(Candidate { row: at as u64, new, is_broken, code })
    }

    /// The length of the chunk, where the row is more likely wrong about it than the directory.
    fn raw_len(&self, row: &IndexRow, expected: &Expected) -> Option<u64> {
        let wanted = expected.raw_len?;
        let is_raw = Codec::from_tag(row.codec) == Codec::Raw;
        // No chunk is empty: zeros agree with each other, and with nothing.
        if is_raw && row.stored_len == row.raw_len && row.raw_len != 0 {
            return None;
        }
        if row.raw_len == wanted {
            return Some(wanted);
        }
        let same = self.expected.iter().zip(&self.rows);
        let same = same.filter(|(it, _)| it.dataset == expected.dataset);
        let (mut right, mut wrong) = (0_u64, 0_u64);
        for (it, row) in same.take(SAMPLE_MAX) {
            let count = if it.raw_len == Some(row.raw_len) { &mut right } else { &mut wrong };
            *count += 1;
        }
        let is_stored = is_raw && row.stored_len == wanted;
        (wrong <= right || is_stored).then_some(wanted)
    }

    /// The row with a payload that fits between those beside it: where the row says, if that can
    /// be, else directly behind the one before.
    fn placed(&self, at: usize, row: &IndexRow) -> Option<IndexRow> {
        let (start, end) = (self.before(at), self.after(at));
        let codecs = [Codec::from_tag(row.codec), self.neighbor(at)];
        let codecs = codecs.into_iter().filter(|codec| matches!(codec, Codec::Raw | Codec::Zstd));
        let offsets = [row.payload_offset].into_iter().chain(self.packed(at));
        let offsets: Vec<u64> = offsets.filter(|&offset| start <= offset).collect();
        for codec in codecs {
            for &offset in &offsets {
                let lens = match codec {
                    Codec::Raw => [row.raw_len, row.raw_len],
                    _ => [row.stored_len, end.saturating_sub(offset)],
                };
                for stored_len in lens {
                    let (codec, payload_offset) = (codec.tag(), offset);
                    let new = IndexRow { codec, payload_offset, stored_len, ..*row };
                    let is_last = self.rows.len() == at.saturating_add(1);
                    let is_moved = offset != row.payload_offset && !is_last;
                    let gap = new.payload().and_then(|span| end.checked_sub(span.end()));
                    let fits = gap.is_some_and(|gap| !is_moved || gap <= self.gap_max(at));
                    if fits && self.faults(at, &new).is_empty() {
                        return Some(new);
                    }
                }
            }
        }
        None
    }

    /// Where a writer puts the payload behind the one before.
    fn packed(&self, at: usize) -> impl Iterator<Item = u64> {
        let start = self.before(at);
        let is_first = self.expected.get(at).is_none_or(|it| it.linear == 0);
        let aligns = [Align::A64, Align::A8, Align::A4096].into_iter().filter(move |_| is_first);
        aligns.filter_map(move |align| align.place(start)).chain([start])
    }

    /// The widest gap that may follow a payload.
    fn gap_max(&self, at: usize) -> u64 {
        let next = self.expected.get(at.saturating_add(1));
        if next.is_some_and(|it| it.linear == 0) { Align::A4096.bytes() } else { 0 }
    }

    /// The codec of a row beside this one, in the same dataset.
    fn neighbor(&self, at: usize) -> Codec {
        let dataset = self.expected.get(at).map(|it| it.dataset);
        let beside = [at.checked_sub(1), at.checked_add(1)].into_iter().flatten();
        let beside = beside.filter(|&at| self.expected.get(at).map(|it| it.dataset) == dataset);
        let codec = beside.filter_map(|at| self.rows.get(at)).map(|row| row.codec).next();
        Codec::from_tag(codec.unwrap_or(Codec::Raw.tag()))
    }

    fn span(&self, at: usize) -> Option<Span> {
        self.rows.get(at)?.payload().filter(|span| !span.is_empty())
    }

    /// One past the last byte of the payload before this one.
    fn before(&self, at: usize) -> u64 {
        let row = at.checked_sub(1).and_then(|at| self.rows.get(at));
        let end = row.and_then(IndexRow::payload).map(|span| span.end());
        end.unwrap_or_else(|| self.file.index_end())
    }

    /// The first byte of the payload behind this one, or the file's end.
    fn after(&self, at: usize) -> u64 {
        let row = self.rows.get(at.saturating_add(1));
        row.map_or(self.file.file_len(), |row| row.payload_offset)
    }

    /// Whether the first of two payloads that overlap is the wrong one: it stands alone, or the
    /// second one leads on to a third.
    fn is_first_wrong(&self, first: usize, span: Span) -> bool {
        let second = self.span(first.saturating_add(1));
        let third = self.span(first.saturating_add(2));
        let leads_on = second.zip(third).is_some_and(|(it, third)| it.end() == third.start());
        leads_on || !self.packed(first).any(|place| place == span.start())
    }

    /// The rules that a row breaks at its place, and the overlaps that it is to blame for.
    fn faults(&self, at: usize, row: &IndexRow) -> Vec<Fault> {
        let mut faults: Vec<Fault> = Vec::new();
        let row_at = self.file.index().row_at(at as u64);
        let count = u32::try_from(self.file.datasets().len()).unwrap_or(u32::MAX);
        // A list takes every fault, so that these checks cannot stop.
        let _ = check_dataset_id(row, row_at, count, &mut faults);
        let id = usize::try_from(row.dataset_id).unwrap_or(usize::MAX);
        if let Some(entry) = self.file.datasets().get(id) {
            let element_size = entry.dtype.and_then(DType::size);
            let context = RowContext { record_at: entry.at, grid: &entry.grid, element_size };
            let _ = check_row(row, row_at, &context, &mut faults);
        }
        let mut fault = |rule, found, wanted| {
            faults.push(Fault { rule, at: row_at, found, wanted });
        };
        if self.misplaced && self.expected.get(at).is_some_and(|it| !it.is_chunk(row)) {
            fault(Rule::RowUnique, 0, 0);
        }
        let (offset, file_len) = (row.payload_offset, self.file.file_len());
        let Some(span) = row.payload() else {
            fault(Rule::PayloadBounds, offset, file_len);
            return faults;
        };
        // A row that leads on where the file has been cut short is right.
        if file_len < span.end() && !self.packed(at).any(|place| place == offset) {
            fault(Rule::PayloadBounds, span.end(), file_len);
        }
        let first = at.checked_sub(1).and_then(|first| Some((first, self.span(first)?)));
        let is_after = |(first, other): (usize, Span)| {
            other != span && other.overlaps(span) && !self.is_first_wrong(first, other)
        };
        let is_before =
            |other: Span| other != span && other.overlaps(span) && self.is_first_wrong(at, span);
        let second = self.span(at.saturating_add(1));
        if first.is_some_and(is_after) || second.is_some_and(is_before) {
            fault(Rule::PayloadOverlap, offset, 0);
        }
        let _ = check_payload(row, row_at, self.file.index_end(), u64::MAX, &mut faults);
        faults
    }
}
