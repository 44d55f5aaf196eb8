//! What lies between the index and the footer, in file order.
//!
//! Rows say where payloads lie, in any order: they are sorted by that, which takes 16 bytes of memory
//! for each.

use tet_format::index::IndexRow;
use tet_format::map::Place;
use tet_format::{NoteCode, Region, Rule, Span, layout};
use tet_report::Code;

use super::{Anatomy, Referred, Remark};
use crate::error::Result;

/// A stretch of a file, and what it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Its name and its bytes.
    pub place: Place,
    /// The row it is in, or the row of the payload that it is.
    pub row: Option<(u64, IndexRow)>,
    /// The key that refers to the spill that it is.
    pub spill: Option<&'static str>,
    /// What is to be said about it.
    pub remarks: Vec<Remark>,
}

/// Payloads, spills and gaps in file order.
///
/// Payloads come as their rows place them, also outside of the body or one over the other; gaps
/// are what none of all reaches.
#[derive(Debug)]
pub struct Body<'a> {
    anatomy: &'a Anatomy<'a>,
    dataset: Option<u64>,
    span: Span,
    /// The next payloads, the first one last: place and row number. None before they are asked for.
    payloads: Option<Vec<(u64, u64)>>,
    /// What the footer refers to, the first one last.
    spills: Vec<Referred>,
    reach: u64,
    /// The payload before, and the farthest end of all before.
    last: Option<Span>,
    last_end: u64,
    pending: Option<Stretch>,
}

impl<'a> Body<'a> {
    pub(super) fn new(anatomy: &'a Anatomy<'a>) -> Body<'a> {
        let span = anatomy.map().body_span();
        let mut spills = anatomy.spills.clone();
        spills.sort_unstable_by_key(|&it| std::cmp::Reverse(it));
        Body {
            anatomy,
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

    /// The payloads of one dataset alone.
    #[must_use]
    pub fn of_dataset(mut self, dataset: u64) -> Body<'a> {
        (self.dataset, self.spills) = (Some(dataset), Vec::new());
        self
    }

    fn step(&mut self) -> Result<Option<Stretch>> {
        if let Some(stretch) = self.pending.take() {
            return Ok(Some(stretch));
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
    fn next_placed(&mut self) -> Result<Option<Stretch>> {
        let payloads = match &mut self.payloads {
            Some(payloads) => payloads,
            None => self.payloads.insert(sorted(self.anatomy, self.dataset)?),
        };
        let payload_at = payloads.last().map(|&(at, _)| at);
        let spill_at = self.spills.last().map(|it| it.span.start());
        if spill_at.is_some_and(|at| payload_at.is_none_or(|payload_at| at < payload_at)) {
            return Ok(self.spills.pop().map(referred));
        }
        let Some((_, number)) = payloads.pop() else { return Ok(None) };
        let Some(row) = self.anatomy.row(number)? else { return Ok(None) };
        let mut stretch = payload(self.anatomy, number, row);
        self.compare(&mut stretch);
        Ok(Some(stretch))
    }

    /// Remarks on a payload that takes bytes of one before it.
    fn compare(&mut self, stretch: &mut Stretch) {
        let Some((number, row)) = &stretch.row else { return };
        let Some(span) = row.payload().filter(|span| !span.is_empty()) else { return };
        let at = layout::row_at(self.anatomy.index().offset, *number);
        let at = at.saturating_add(const { IndexRow::offset_of("payload_offset") });
        let found = span.start();
        if self.last == Some(span) {
            let code = Code::Note(NoteCode::PayloadShared);
            stretch.remarks.push(Remark { code, at, found, wanted: None });
        } else if found < self.last_end {
            let (code, wanted) = (Code::Rule(Rule::PayloadOverlap), Some(self.last_end));
            stretch.remarks.push(Remark { code, at, found, wanted });
        }
        self.last = Some(span);
        self.last_end = self.last_end.max(span.end());
    }
}

impl Iterator for Body<'_> {
    type Item = Result<Stretch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}

/// The payloads of one dataset or all, the first one of the file last.
fn sorted(anatomy: &Anatomy<'_>, dataset: Option<u64>) -> Result<Vec<(u64, u64)>> {
    let mut rows = anatomy.index().rows(anatomy.source);
    let placed = (0..).zip(rows.by_ref()).map(|(number, (_, row))| (row, number));
    let placed = placed.filter(|(row, _)| dataset.is_none_or(|id| id == row.dataset_id));
    let mut keys: Vec<_> = placed.map(|(row, number)| (row.payload_offset, number)).collect();
    rows.finish()?;
    keys.sort_unstable_by_key(|&key| std::cmp::Reverse(key));
    Ok(keys)
}

/// What the byte at `offset` of the body is: the payload of the first row that says so, a spill,
/// or a gap.
pub(super) fn at(anatomy: &Anatomy<'_>, offset: u64) -> Result<Stretch> {
    let span = anatomy.map().body_span();
    let (mut start, mut end) = (span.start(), span.end());
    let mut narrow = |span: Span| {
        if span.end() <= offset {
            start = start.max(span.end());
        } else if offset < span.start() {
            end = end.min(span.start());
        }
    };
    for &it in &anatomy.spills {
        if it.span.contains_byte(offset) {
            return Ok(referred(it));
        }
        narrow(it.span);
    }
    let mut rows = anatomy.index().rows(anatomy.source);
    for (number, (_, row)) in (0..).zip(rows.by_ref()) {
        let Some(span) = row.payload().filter(|span| !span.is_empty()) else { continue };
        if span.contains_byte(offset) {
            return Ok(payload(anatomy, number, row));
        }
        narrow(span);
    }
    rows.finish()?;
    Ok(unused(start, end))
}

fn payload(anatomy: &Anatomy<'_>, number: u64, row: IndexRow) -> Stretch {
    let end = row.payload_offset.saturating_add(row.stored_len).min(anatomy.source.len());
    let len = end.saturating_sub(row.payload_offset);
    let place = Place {
        region: Region::Payload,
        record: Some(number),
        field: "stored",
        offset: row.payload_offset,
        len,
    };
    Stretch { place, row: Some((number, row)), spill: None, remarks: Vec::new() }
}

fn referred(it: Referred) -> Stretch {
    let Referred { span, field, key } = it;
    let (offset, len) = (span.start(), span.len());
    let place = Place { region: Region::Footer, record: None, field, offset, len };
    Stretch { place, row: None, spill: Some(key), remarks: Vec::new() }
}

fn unused(start: u64, end: u64) -> Stretch {
    let len = end.saturating_sub(start);
    let place = Place { region: Region::Gap, record: None, field: "unused", offset: start, len };
    Stretch { place, row: None, spill: None, remarks: Vec::new() }
}
