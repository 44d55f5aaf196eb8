//! Files that break no rule, but that no careful writer makes: readers take them, `verify` warns.

use tet_format::NoteCode;

use crate::accept::square;
use crate::assemble::{Dataset, Sheet, put, refooted, statistics};
use crate::case::Odd;
use crate::frame;
use crate::reject::payload::of_frame;

/// The odd files, one for each note.
#[must_use]
pub fn cases() -> Vec<Odd> {
    [fields(), names(), payloads(), labels()].concat()
}

fn odd(name: &'static str, bytes: Vec<u8>, code: NoteCode, at: u64) -> Odd {
    Odd { name, bytes, code, at }
}

fn fields() -> Vec<Odd> {
    let one = Sheet::new(&[square()]).assemble();
    let record = one.marks.records[0];
    let (index, row) = (one.marks.index, one.marks.rows[0]);
    let tailed = Sheet::new(&[square()]).footer("{}").assemble();
    let newer = Sheet::new(&[square()]).footer(r#"{"integrity":{"v":2}}"#).assemble();
    let sealed = Sheet::new(&[square()]).footer("{}").sealed().assemble();
    let unbound = statistics::unbound(&square(), &statistics::block(&square()));
    let stale = refooted(&sealed.bytes, sealed.marks.json, "{}");
    vec![
        odd("flag bit 1", one.with_u32(12, 2), NoteCode::UnknownFlags, 12),
        odd(
            "a tail without its flag",
            tailed.with_u32(12, 0),
            NoteCode::UndeclaredTail,
            tailed.marks.tail,
        ),
        odd(
            "a record's reserved field",
            one.with_u32(record + 12, 1),
            NoteCode::RecordReserved,
            record + 12,
        ),
        odd(
            "padding after a name",
            one.with(record + 23, &[1]),
            NoteCode::NamePadding,
            record + 23,
        ),
        odd(
            "a reserved field of the index",
            one.with_u64(index + 24, 1),
            NoteCode::IndexReserved,
            index + 24,
        ),
        odd(
            "a reserved short of the index",
            one.with(index + 18, &[1]),
            NoteCode::IndexReserved,
            index + 18,
        ),
        odd(
            "a hint of more than all memory",
            one.with(index + 16, &10_001_u16.to_le_bytes()),
            NoteCode::MemoryHint,
            index + 16,
        ),
        odd("a row's reserved field", one.with_u32(row + 100, 1), NoteCode::RowReserved, row + 100),
        odd(
            "digests of version 2",
            newer.bytes.clone(),
            NoteCode::DigestsUnknown,
            newer.marks.json,
        ),
        odd(
            "statistics of other payloads",
            unbound.bytes.clone(),
            NoteCode::StatisticsStale,
            unbound.marks.json,
        ),
        odd("a footer that forgot its digests", stale, NoteCode::DigestsStale, sealed.marks.block),
        odd("a slot past the rank", one.with_u64(row + 24, 1), NoteCode::RowSlots, row + 24),
    ]
}

fn names() -> Vec<Odd> {
    let named =
        |name: &str| Sheet::new(&[Dataset { name: name.into(), ..square() }]).assemble().bytes;
    let twice = Sheet::new(&[square(), square()]).assemble();
    let none = Sheet::new(&[Dataset::new("none", 1, 4, &[0])]).assemble();
    vec![
        odd("no name", named(""), NoteCode::NameEmpty, 56),
        odd("one name twice", twice.bytes, NoteCode::NameTwice, twice.marks.records[1] + 16),
        odd("an escape in a name", named("a\u{1b}[31m"), NoteCode::NameUnprintable, 56),
        odd("a name that turns the line", named("a\u{202e}b"), NoteCode::NameUnprintable, 56),
        odd("a name that climbs", named("../a"), NoteCode::NamePath, 56),
        odd("a name from the root", named("/a"), NoteCode::NamePath, 56),
        odd("an extent of zero", none.bytes, NoteCode::ExtentZero, none.marks.records[0] + 24),
    ]
}

fn payloads() -> Vec<Odd> {
    let halves = Dataset::new("a", 2, 8, &[4, 4]).chunked(&[2, 4]);
    let file = Sheet::new(std::slice::from_ref(&halves)).assemble();
    let backwards = Sheet { row_order: vec![1, 0], ..Sheet::new(&[halves]) }.assemble();
    let shared = file.with_u64(file.marks.rows[1] + 72, file.marks.payloads[0].0);
    let mut shared = shared;
    shared.truncate(usize::try_from(file.marks.payloads[1].0).unwrap());
    let content = [7; 40];
    let skipped = [frame::skippable(b"hidden"), frame::plain(&content)].concat();
    let skipped = of_frame(40, &skipped);
    let gap = Sheet { gap_len: 3, ..Sheet::new(&[square()]) }.assemble();
    let hidden = put(&gap.bytes, gap.marks.payloads[0].0 - 2, b"x");
    vec![
        odd("rows in another order", backwards.bytes, NoteCode::RowOrder, backwards.marks.rows[1]),
        odd("one payload of two rows", shared, NoteCode::PayloadShared, file.marks.rows[1] + 72),
        odd(
            "a frame that is skipped",
            skipped.bytes,
            NoteCode::ZstdSkippable,
            skipped.marks.payloads[0].0,
        ),
        odd("bytes in a gap", hidden, NoteCode::BytesUnused, gap.marks.payloads[0].0 - 2),
    ]
}

fn labels() -> Vec<Odd> {
    let odd_json = |name, about: &str, code| {
        let json = format!(r#"{{"metadata":{{"datasets":{{"a":{{{about}}}}}}}}}"#);
        let named = Dataset::new("a", 1, 4, &[2, 2]);
        let file = Sheet::new(&[named]).footer(&json).assemble();
        odd(name, file.bytes, code, file.marks.json)
    };
    vec![
        odd_json("a label twice", r#""coords":{"0":{"labels":["p","p"]}}"#, NoteCode::LabelTwice),
        odd_json("an axis name twice", r#""dim_names":["x","x"]"#, NoteCode::DimNameTwice),
    ]
}
