//! The segments between the index and the footer, in file order.
//!
//! Rows may list payloads in any order: they are sorted by offset, which takes 16 bytes of memory
//! for each.

use tet_format::index::IndexRow;
use tet_format::map::ByteField;
use tet_format::{NoteCode, Region, Rule, Span, layout};
use tet_report::Code;

use super::{Annotation, FileMap, Referred};
use crate::error::Result;

/// A segment of a file, with the row or spill that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its name and its bytes.
    pub place: ByteField,
    /// The row that contains it, or the row of its payload.
    pub row: Option<(u64, IndexRow)>,
    /// The key that refers to it, if it is a spill.
    pub spill: Option<&'static str>,
    /// Broken rules and notes about it.
    pub annotations: Vec<Annotation>,
}

/// Payloads, spills and gaps in file order.
///
/// Payloads are listed by their offset, even outside of the body or overlapping; gaps are the bytes
/// that nothing covers.
#[derive(Debug)]
pub struct Body<'a> {
    map: &'a FileMap<'a>,
    dataset: Option<u64>,
    span: Span,
    /// The remaining payloads, the first one last: offset and row number.
    payloads: Option<Vec<(u64, u64)>>,
    /// The remaining spills and digest fields, the first one last.
    spills: Vec<Referred>,
    reach: u64,
    /// The previous payload, and the largest end so far.
    last: Option<Span>,
    last_end: u64,
    pending: Option<Segment>,
}

impl<'a> Body<'a> {
    pub(super) fn new(map: &'a FileMap<'a>) -> Body<'a> {
        let span = map.map().body_span();
        let mut spills = map.spills.clone();
        spills.sort_unstable_by_key(|&it| std::cmp::Reverse(it));
        Body {
            map,
            dataset: None,
            span,
            payloads: None,
            spills,
            reach: span.start(),
            last: None,
            last_end: 0,
            pending: None,
        }
    }

    /// Only the payloads of one dataset.
    #[must_use]
    pub fn of_dataset(mut self, dataset: u64) -> Body<'a> {
        (self.dataset, self.spills) = (Some(dataset), Vec::new());
        self
    }

    fn step(&mut self) -> Result<Option<Segment>> {
        if let Some(segment) = self.pending.take() {
            return Ok(Some(segment));
        }
        let next = self.next_placed()?;
        let start = next.as_ref().map_or(self.span.end(), |next| next.place.offset);
        let gap = (self.reach, start.min(self.span.end()));
        if let Some(next) = &next {
            self.reach = self.reach.max(next.place.end());
        } else {
            self.reach = self.span.end();
        }
        if self.dataset.is_none() && gap.0 < gap.1 {
            self.pending = next;
            return Ok(Some(unused(gap.0, gap.1)));
        }
        Ok(next)
    }

    /// The next payload or spill.
    fn next_placed(&mut self) -> Result<Option<Segment>> {
        let payloads = match &mut self.payloads {
            Some(payloads) => payloads,
            None => self.payloads.insert(sorted(self.map, self.dataset)?),
        };
        let payload_at = payloads.last().map(|&(at, _)| at);
        let spill_at = self.spills.last().map(|it| it.span.start());
        if spill_at.is_some_and(|at| payload_at.is_none_or(|payload_at| at < payload_at)) {
            return Ok(self.spills.pop().map(referred));
        }
        let Some((_, number)) = payloads.pop() else { return Ok(None) };
        let Some(row) = self.map.row(number)? else { return Ok(None) };
        let mut segment = payload(self.map, number, row);
        self.compare(&mut segment);
        Ok(Some(segment))
    }

    /// Annotates a payload that overlaps an earlier one.
    fn compare(&mut self, segment: &mut Segment) {
        let Some((number, row)) = &segment.row else { return };
        let Some(span) = row.payload().filter(|span| !span.is_empty()) else { return };
        let at = layout::row_at(self.map.index().offset, *number);
        let at = at.saturating_add(const { IndexRow::offset_of("payload_offset") });
        let found = span.start();
        if self.last == Some(span) {
            let code = Code::Note(NoteCode::PayloadShared);
            segment.annotations.push(Annotation { code, at, found, wanted: None });
        } else if found < self.last_end {
            let (code, wanted) = (Code::Rule(Rule::PayloadOverlap), Some(self.last_end));
            segment.annotations.push(Annotation { code, at, found, wanted });
        }
        self.last = Some(span);
        self.last_end = self.last_end.max(span.end());
    }
}

impl Iterator for Body<'_> {
    type Item = Result<Segment>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}

/// The payloads of one dataset or all, the first one in the file last.
fn sorted(map: &FileMap<'_>, dataset: Option<u64>) -> Result<Vec<(u64, u64)>> {
    let mut rows = map.index().rows(map.source);
    let placed = (0..).zip(rows.by_ref()).map(|(number, (_, row))| (row, number));
    let placed = placed.filter(|(row, _)| dataset.is_none_or(|id| id == row.dataset_id));
    let mut keys: Vec<_> = placed.map(|(row, number)| (row.payload_offset, number)).collect();
    rows.finish()?;
    keys.sort_unstable_by_key(|&key| std::cmp::Reverse(key));
    Ok(keys)
}

/// The segment of the byte at `offset` of the body: the payload of the first row that contains it,
/// a spill, or a gap.
pub(super) fn at(map: &FileMap<'_>, offset: u64) -> Result<Segment> {
    let span = map.map().body_span();
    let (mut start, mut end) = (span.start(), span.end());
    let mut narrow = |span: Span| {
        if span.end() <= offset {
            start = start.max(span.end());
        } else if offset < span.start() {
            end = end.min(span.start());
        }
    };
    for &it in &map.spills {
        if it.span.contains_byte(offset) {
            return Ok(referred(it));
        }
        narrow(it.span);
    }
    let mut rows = map.index().rows(map.source);
    for (number, (_, row)) in (0..).zip(rows.by_ref()) {
        let Some(span) = row.payload().filter(|span| !span.is_empty()) else { continue };
        if span.contains_byte(offset) {
            return Ok(payload(map, number, row));
        }
        narrow(span);
    }
    rows.finish()?;
    Ok(unused(start, end))
}

fn payload(map: &FileMap<'_>, number: u64, row: IndexRow) -> Segment {
    let end = row.payload_offset.saturating_add(row.stored_len).min(map.source.len());
    let len = end.saturating_sub(row.payload_offset);
    let place = ByteField {
        region: Region::Payload,
        record: Some(number),
        field: "stored",
        offset: row.payload_offset,
        len,
    };
    Segment { place, row: Some((number, row)), spill: None, annotations: Vec::new() }
}

fn referred(it: Referred) -> Segment {
    let Referred { span, field, key } = it;
    let (offset, len) = (span.start(), span.len());
    let place = ByteField { region: Region::Footer, record: None, field, offset, len };
    Segment { place, row: None, spill: Some(key), annotations: Vec::new() }
}

fn unused(start: u64, end: u64) -> Segment {
    let len = end.saturating_sub(start);
    let place =
        ByteField { region: Region::Gap, record: None, field: "unused", offset: start, len };
    Segment { place, row: None, spill: None, annotations: Vec::new() }
}
