//! Checks where payloads are: inside the file, outside of structures and of each other, and before
//! the spills.

use tet_format::footer::check_spills;
use tet_format::index::check_payloads;
use tet_format::{Codec, Error as Fault, Faults, Rule, Span, layout};

use super::footer::Bounds;
use super::index::Index;
use super::subject::Subject;
use crate::collect::Collector;
use crate::error::Result;

/// The positions of the payloads.
#[derive(Debug, Default)]
pub(super) struct Payloads {
    /// Their spans, sorted; a span that rows share is repeated.
    pub(super) spans: Vec<Span>,
    /// Whether each is at a valid place.
    pub(super) are_sound: bool,
    /// Spans that several rows share.
    shared: Vec<Span>,
    /// Spans that start inside another span.
    tangled: Vec<Span>,
    /// The length of all payloads; shared ones count once.
    pub(super) stored_len: u64,
    /// The decoded length of all payloads, according to their rows.
    pub(super) decoded_len: u64,
}

impl Payloads {
    fn new(spans: Vec<Span>) -> Self {
        let mut payloads = Payloads::default();
        let (mut reach, mut last) = (0, None);
        for &span in &spans {
            let list = if last == Some(span) {
                Some(&mut payloads.shared)
            } else {
                payloads.stored_len = payloads.stored_len.saturating_add(span.len());
                (span.start() < reach).then_some(&mut payloads.tangled)
            };
            list.filter(|list| list.last() != Some(&span)).into_iter().for_each(|it| it.push(span));
            reach = reach.max(span.end());
            last = Some(span);
        }
        Payloads { spans, ..payloads }
    }

    /// Whether several rows share the span.
    pub(super) fn is_shared(&self, span: Span) -> bool {
        self.shared.binary_search(&span).is_ok()
    }

    /// Whether the span starts inside another one. Other spans share no byte.
    pub(super) fn is_tangled(&self, span: Span) -> bool {
        self.tangled.binary_search(&span).is_ok()
    }
}

/// Checks the positions of all payloads, and of the spills after them.
pub(super) fn check(
    subject: &Subject<'_>,
    index: Index,
    bounds: &Bounds,
    out: &mut Collector,
) -> Result<Payloads> {
    let index_end = subject.superblock.index_end();
    let before = out.fault_count();
    let (mut odd, mut decoded_len, mut raw_len) = (Vec::new(), 0_u64, 0_u64);
    let mut rows = index.rows(subject.source);
    let summed = rows.by_ref().inspect(|(_, row)| {
        decoded_len = decoded_len.saturating_add(row.raw_len);
        if Codec::from_tag(row.codec) == Codec::Raw {
            raw_len = raw_len.saturating_add(row.raw_len);
        }
    });
    let spans = check_payloads(summed, index_end, bounds.payload_end, out, &mut odd)
        .map_err(tet_file::Error::from)?;
    rows.finish()?;
    out.notes(&mut odd);
    let mut payloads = Payloads { decoded_len, ..Payloads::new(spans) };
    if before != out.fault_count() {
        return Ok(payloads);
    }
    let file_len = subject.source.len();
    if file_len < raw_len {
        let (rule, at) = (Rule::RawSum, layout::row_at(index.offset, 0));
        let fault = Fault { rule, at, found: raw_len, wanted: file_len };
        out.fault(fault).map_err(tet_file::Error::from)?;
    }
    if let Some((tail, footer)) = &bounds.footer {
        let last = payloads.spans.iter().map(|span| span.end()).max().unwrap_or(index_end);
        let (spills, json_at) = (&footer.json.spills, footer.json_at);
        check_spills(spills, tail.version, last, json_at, out).map_err(tet_file::Error::from)?;
    }
    payloads.are_sound = before == out.fault_count();
    Ok(payloads)
}
