//! The rules about the positions of payloads (format section 5).

use super::IndexRow;
use crate::codec::{Codec, zstd_decoded_max};
use crate::error::{Error, Faults, Result};
use crate::note::{Note, NoteCode};
use crate::rule::Rule;
use crate::span::Span;
use alloc::vec::Vec;

/// Checks the rules about one payload. `at` is the offset of its row; payloads must be between
/// `index_end` and `payload_end`.
///
/// # Errors
///
/// A fault, only when `faults` asks to stop.
pub fn check_payload(
    row: &IndexRow,
    at: u64,
    index_end: u64,
    payload_end: u64,
    faults: &mut impl Faults,
) -> Result<()> {
    let offset_at = at.saturating_add(const { IndexRow::offset_of("payload_offset") });
    let end = row.payload().map_or(u64::MAX, Span::end);
    if row.payload().is_none() || end > payload_end {
        let [at, found, wanted] = [offset_at, end, payload_end];
        faults.fault(Error { rule: Rule::PayloadBounds, at, found, wanted })?;
    }
    if row.payload_offset < index_end && row.stored_len != 0 {
        let [at, found, wanted] = [offset_at, row.payload_offset, index_end];
        faults.fault(Error { rule: Rule::PayloadStructure, at, found, wanted })?;
    }
    let decoded_max = zstd_decoded_max(row.stored_len);
    if Codec::from_tag(row.codec) == Codec::Zstd && row.raw_len > decoded_max {
        let at = at.saturating_add(const { IndexRow::offset_of("raw_len") });
        let [found, wanted] = [row.raw_len, decoded_max];
        faults.fault(Error { rule: Rule::ZstdBound, at, found, wanted })?;
    }
    Ok(())
}

/// Checks every rule about payloads for all rows of an index, each given with its offset, and notes
/// spans that several rows share. Memory: 24 bytes per row.
///
/// Returns the payloads' spans, sorted, for [`gaps`].
///
/// # Errors
///
/// A fault, only when `faults` asks to stop.
pub fn check_payloads(
    rows: impl IntoIterator<Item = (u64, IndexRow)>,
    index_end: u64,
    payload_end: u64,
    faults: &mut impl Faults,
    notes: &mut Vec<Note>,
) -> Result<Vec<Span>> {
    let mut spans: Vec<(Span, u64)> = Vec::new();
    for (at, row) in rows {
        check_payload(&row, at, index_end, payload_end, faults)?;
        if let Some(span) = row.payload().filter(|span| !span.is_empty()) {
            spans.push((span, at));
        }
    }
    spans.sort_unstable();
    check_overlap(&spans, faults, notes)?;
    Ok(spans.into_iter().map(|(span, _)| span).collect())
}

/// `spans` are sorted by start, then end. Of two that overlap, the later one is reported.
fn check_overlap(
    spans: &[(Span, u64)],
    faults: &mut impl Faults,
    notes: &mut Vec<Note>,
) -> Result<()> {
    let mut reach = 0;
    let mut last = None;
    for &(span, row_at) in spans {
        let at = row_at.saturating_add(const { IndexRow::offset_of("payload_offset") });
        if last == Some(span) {
            notes.push(Note { code: NoteCode::PayloadShared, at, found: span.start() });
        } else if span.start() < reach {
            let [found, wanted] = [span.start(), reach];
            faults.fault(Error { rule: Rule::PayloadOverlap, at, found, wanted })?;
        }
        reach = reach.max(span.end());
        last = Some(span);
    }
    Ok(())
}

/// The gaps of `within` that no span of `sorted` covers; `sorted` is sorted by start.
pub fn gaps(sorted: &[Span], within: Span) -> impl Iterator<Item = Span> + '_ {
    let mut reach = within.start();
    let ends = Span::new(within.end(), 0);
    sorted.iter().copied().chain(ends).filter_map(move |span| {
        let gap = Span::from_range(reach..span.start().min(within.end()));
        reach = reach.max(span.end());
        gap.filter(|gap| !gap.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    const INDEX_END: u64 = 100;
    const PAYLOAD_END: u64 = 200;

    fn row(payload_offset: u64, stored_len: u64) -> IndexRow {
        let zero = IndexRow::decode(&[0; 104]);
        IndexRow { payload_offset, stored_len, raw_len: stored_len, ..zero }
    }

    fn check(rows: &[IndexRow]) -> (Vec<Error>, Vec<Note>) {
        let (mut faults, mut notes) = (Vec::new(), Vec::new());
        let placed = (0..).zip(rows).map(|(number, &row)| (1000 + 104 * number, row));
        check_payloads(placed, INDEX_END, PAYLOAD_END, &mut faults, &mut notes).unwrap();
        (faults, notes)
    }

    #[test]
    fn each_rule_breaks_alone_and_holds_one_byte_away() {
        let fault = |rule, number: u64, field: u64, found, wanted| {
            vec![Error { rule, at: 1000 + 104 * number + field, found, wanted }]
        };
        let zstd = |raw_len| IndexRow { codec: 1, raw_len, ..row(120, 7) };
        let cases = [
            (vec![row(190, 10)], vec![]),
            (vec![row(190, 11)], fault(Rule::PayloadBounds, 0, 72, 201, 200)),
            (vec![row(200, 0)], vec![]),
            (vec![row(u64::MAX, 1)], fault(Rule::PayloadBounds, 0, 72, u64::MAX, 200)),
            (vec![row(100, 10)], vec![]),
            (vec![row(99, 10)], fault(Rule::PayloadStructure, 0, 72, 99, 100)),
            (vec![row(0, 0)], vec![]),
            (vec![row(120, 10), row(110, 10)], vec![]),
            (vec![row(120, 10), row(111, 10)], fault(Rule::PayloadOverlap, 0, 72, 120, 121)),
            (vec![row(110, 20), row(110, 10)], fault(Rule::PayloadOverlap, 0, 72, 110, 120)),
            (
                vec![row(110, 30), row(120, 5), row(130, 5)],
                [
                    fault(Rule::PayloadOverlap, 1, 72, 120, 140),
                    fault(Rule::PayloadOverlap, 2, 72, 130, 140),
                ]
                .concat(),
            ),
            (vec![zstd(262_144)], vec![]),
            (vec![zstd(262_145)], fault(Rule::ZstdBound, 0, 80, 262_145, 262_144)),
        ];
        for (rows, wanted) in cases {
            assert_eq!(check(&rows), (wanted, vec![]), "{rows:?}");
        }
    }

    #[test]
    fn one_span_in_several_rows_is_noted() {
        let (faults, notes) = check(&[row(110, 10), row(110, 10), row(110, 10)]);
        let note = |number: u64| Note {
            code: NoteCode::PayloadShared,
            at: 1000 + 104 * number + 72,
            found: 110,
        };
        assert_eq!((faults, notes), (vec![], vec![note(1), note(2)]));
    }

    /// Every list of up to two spans in five bytes, checked byte by byte.
    #[test]
    fn gaps_are_the_bytes_that_nothing_covers() {
        let spans: Vec<Span> =
            (0..7).flat_map(|at| (0..4).map(move |len| Span::new(at, len).unwrap())).collect();
        let within = Span::from_range(1..6).unwrap();
        let mut lists = vec![vec![]];
        for &a in &spans {
            lists.push(vec![a]);
            lists.extend(spans.iter().filter(|b| a <= **b).map(|&b| vec![a, b]));
        }
        for list in lists {
            let bare: Vec<u64> = gaps(&list, within).flat_map(Span::range).collect();
            let wanted: Vec<u64> =
                (1..6).filter(|&at| !list.iter().any(|span| span.contains_byte(at))).collect();
            assert_eq!(bare, wanted, "{list:?}");
        }
    }
}
