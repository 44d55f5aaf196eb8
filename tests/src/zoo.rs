//! Hostile files: small bytes, large claims. Each says what must become of it.

mod digests;
mod records;

use tet_format::Rule;

use crate::accept::square;
use crate::assemble::{Dataset, Sheet, Stored, put};
use crate::frame;

/// A hostile file.
#[derive(Clone, Debug)]
pub struct Animal {
    /// The hazard it belongs to, and the claim in words.
    pub name: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
    /// Expected outcome.
    pub fate: Fate,
}

/// Expected outcome of a hostile file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It does not open, by this rule.
    Closed(Rule),
    /// It opens and its first dataset cannot be read, by this rule.
    Unreadable(Rule),
    /// It is read: what is odd about it does no harm.
    Harmless,
}

/// The whole zoo.
#[must_use]
pub fn animals() -> Vec<Animal> {
    [
        counts(),
        products(),
        rows(),
        frames(),
        footers(),
        names(),
        records::animals(),
        digests::animals(),
    ]
    .concat()
}

fn animal(name: &'static str, bytes: Vec<u8>, fate: Fate) -> Animal {
    Animal { name, bytes, fate }
}

fn counts() -> Vec<Animal> {
    let one = Sheet::new(&[square()]).footer("{}").assemble();
    let (record, index, tail) = (one.marks.records[0], one.marks.index, one.marks.tail);
    let max = u32::MAX;
    vec![
        animal("H1: 2^32 datasets", one.with_u32(8, max), Fate::Closed(Rule::RecordCount)),
        animal(
            "H1: a directory of 2^63 bytes",
            one.with_u64(32, 1 << 63),
            Fate::Closed(Rule::IndexOffset),
        ),
        animal(
            "H1: a name of 2 GiB",
            one.with_u32(record, 1 << 31),
            Fate::Closed(Rule::RecordBounds),
        ),
        animal("H1: rank 2^32", one.with_u32(record + 8, max), Fate::Closed(Rule::RecordBounds)),
        animal("H1: 2^64 rows", one.with_u64(index + 8, u64::MAX), Fate::Closed(Rule::IndexLen)),
        animal(
            "H1: an index of 2^63 bytes",
            one.with_u64(24, 1 << 63),
            Fate::Closed(Rule::IndexBounds),
        ),
        animal(
            "H1: JSON of 2^63 bytes",
            one.with_u64(tail, 1 << 63),
            Fate::Closed(Rule::JsonBounds),
        ),
        animal(
            "H12: a flag without a tail",
            Sheet::default().assemble().with_u32(12, 1),
            Fate::Closed(Rule::TailRoom),
        ),
        animal("H12: a tail without a flag", one.with_u32(12, 0), Fate::Harmless),
        animal(
            "H12: the second bit is no footer",
            Sheet::new(&[square()]).assemble().with_u32(12, 2),
            Fate::Harmless,
        ),
        animal(
            "H12: footer version 3",
            one.with_u32(tail + 8, 3),
            Fate::Closed(Rule::FooterVersion),
        ),
    ]
}

/// The first dataset with other extents: its shape, then its chunk shape.
fn extents(all: [u64; 4]) -> Vec<u8> {
    let one = Sheet::new(&[square()]).assemble();
    one.with(one.marks.records[0] + 24, &all.map(u64::to_le_bytes).concat())
}

fn products() -> Vec<Animal> {
    let one = Sheet::new(&[square()]).assemble();
    vec![
        animal(
            "H2: 2^32 by 2^32 elements",
            extents([1 << 32, 1 << 32, 1 << 32, 1 << 32]),
            Fate::Unreadable(Rule::DatasetLen),
        ),
        animal(
            "H2: 2^63 + 2 by 2 elements",
            extents([(1 << 63) + 2, 2, (1 << 63) + 2, 2]),
            Fate::Unreadable(Rule::DatasetLen),
        ),
        animal(
            "H2: 2^33 by 2^33 chunks",
            extents([1 << 33, 1 << 33, 1, 1]),
            Fate::Closed(Rule::ChunkCount),
        ),
        animal(
            "H2: a zero hides a product",
            extents([u64::MAX, 0, 1, 1]),
            Fate::Unreadable(Rule::RowCount),
        ),
        animal(
            "H2: an index end that wraps",
            one.with_u64(16, u64::MAX - 63),
            Fate::Closed(Rule::IndexBounds),
        ),
        animal(
            "H3: 2^60 chunks of one element",
            extents([1 << 60, 1, 1, 1]),
            Fate::Unreadable(Rule::RowCount),
        ),
        animal(
            "H3: 2^30 by 2^30 chunks",
            extents([1 << 30, 1 << 30, 1, 1]),
            Fate::Unreadable(Rule::RowCount),
        ),
        animal(
            "H7: one chunk of 2^60 bytes",
            extents([1 << 57, 1, 1 << 57, 1]),
            Fate::Unreadable(Rule::RowRawLen),
        ),
        animal(
            "H16: a budget of all memory",
            one.with(one.marks.index + 16, &[0xff; 8]),
            Fate::Harmless,
        ),
    ]
}

fn rows() -> Vec<Animal> {
    let four = Sheet::new(&[Dataset::new("a", 2, 8, &[4, 4]).chunked(&[2, 2])]).assemble();
    let row = four.marks.rows[1];
    let twins = Sheet {
        row_order: vec![3, 0, 2, 1],
        ..Sheet::new(&[Dataset::new("a", 2, 8, &[4, 4]).chunked(&[2, 2])])
    };
    let shared = four.with_u64(row + 72, four.marks.payloads[0].0);
    vec![
        animal("H4: a chunk twice", four.with_u64(row + 16, 0), Fate::Unreadable(Rule::RowUnique)),
        animal("H4: a chunk outside", four.with_u64(row + 8, 9), Fate::Unreadable(Rule::RowUnique)),
        animal("H4: rows in odd order", twins.assemble().bytes, Fate::Harmless),
        animal(
            "H5: a payload in the superblock",
            four.with_u64(row + 72, 0),
            Fate::Unreadable(Rule::PayloadStructure),
        ),
        animal(
            "H5: a payload in the index",
            four.with_u64(row + 72, row),
            Fate::Unreadable(Rule::PayloadStructure),
        ),
        animal(
            "H5: a payload at an odd byte",
            Sheet { gap_len: 1, ..Sheet::new(&[square()]) }.assemble().bytes,
            Fate::Harmless,
        ),
        animal("H5: one payload of all rows", shared, Fate::Harmless),
        animal(
            "H5: a payload past the end",
            four.with_u64(row + 72, u64::MAX),
            Fate::Unreadable(Rule::PayloadBounds),
        ),
        animal(
            "H7: a row that says 2^62 bytes",
            four.with_u64(row + 80, 1 << 62),
            Fate::Unreadable(Rule::RowRawLen),
        ),
        animal(
            "H9: a raw chunk of 2^62 stored bytes",
            four.with_u64(row + 88, 1 << 62),
            Fate::Unreadable(Rule::RowStoredLen),
        ),
    ]
}

/// A file of `element_count` bytes in one zstd chunk stored as `frame`.
fn packed(element_count: u64, frame: &[u8]) -> Vec<u8> {
    let stored = Dataset::new("z", 5, 1, &[frame.len() as u64]).stored(Stored::Other(1));
    let file = Sheet::new(&[stored.elements(frame.to_vec())]).assemble();
    let record = file.marks.records[0];
    let row = file.marks.rows[0];
    let count = element_count.to_le_bytes();
    let bytes = put(&file.bytes, record + 24, &[count, count].concat());
    put(&bytes, row + 80, &count)
}

fn frames() -> Vec<Animal> {
    let plain = frame::plain(&[1; 32]);
    let skips = [frame::skippable(&[0; 64]), plain.clone(), frame::skippable(&[])].concat();
    vec![
        animal(
            "H6: a gigabyte in 32 KB, said to be 32 bytes",
            packed(32, &frame::bomb(8192)),
            Fate::Unreadable(Rule::ZstdLen),
        ),
        animal(
            "H7: a gigabyte said of a small frame",
            packed(1 << 30, &plain),
            Fate::Unreadable(Rule::ZstdBound),
        ),
        animal(
            "H7: 2^60 bytes said of a small frame",
            packed(1 << 60, &plain),
            Fate::Unreadable(Rule::ZstdBound),
        ),
        animal("H8: skippable frames around", packed(32, &skips), Fate::Harmless),
        animal(
            "H8: a window of 2^31",
            packed(32, &frame::with_window(&[1; 32], 31)),
            Fate::Unreadable(Rule::ZstdWindow),
        ),
        animal(
            "H8: a dictionary",
            packed(32, &frame::with_dictionary(&[1; 32])),
            Fate::Unreadable(Rule::ZstdWindow),
        ),
        animal(
            "H8: a size that lies",
            packed(32, &frame::stating(&[1; 32], 1 << 40)),
            Fate::Unreadable(Rule::ZstdFrames),
        ),
        animal("H8: no frame", packed(32, &[0; 32]), Fate::Unreadable(Rule::ZstdFrames)),
        animal(
            "H8: bytes after the frame",
            packed(32, &[plain, vec![0; 3]].concat()),
            Fate::Unreadable(Rule::ZstdFrames),
        ),
    ]
}

fn footers() -> Vec<Animal> {
    let of = |json: &str| Sheet::new(&[square()]).footer(json).assemble().bytes;
    let nest = |depth: usize| format!("{{\"x\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    let objects = format!("{}1{}", "{\"x\":".repeat(100_000), "}".repeat(100_000));
    let history = vec![r#"{"op":"a","source":"b","at":"1"}"#; 50_000].join(",");
    let to_self = r#"{"metadata_ref":{"offset":@0@,"len":2}}"#;
    let chained = br#"{"metadata_ref":{"offset":40,"len":8}}"#;
    let spill = |spill: &[u8]| {
        let json = r#"{"metadata_ref":{"offset":@0@,"len":#0#}}"#;
        Sheet::new(&[square()]).footer_of(1, json, &[spill]).assemble().bytes
    };
    vec![
        animal("H10: a million brackets", of(&nest(1_000_000)), Fate::Closed(Rule::LimitDepth)),
        animal("H10: a hundred thousand objects", of(&objects), Fate::Closed(Rule::LimitDepth)),
        animal(
            "H10: fifty thousand history rows",
            of(&format!("{{\"history\":[{history}]}}")),
            Fate::Harmless,
        ),
        animal(
            "H10: a key twice",
            of(r#"{"history":[],"history":[]}"#),
            Fate::Closed(Rule::JsonKeyTwice),
        ),
        animal("H10: not a number", of(r#"{"x":-Infinity}"#), Fate::Closed(Rule::JsonSyntax)),
        animal("H10: integers past 2^53", of(r#"{"x":18446744073709551615}"#), Fate::Harmless),
        animal(
            "H11: a reference to the JSON itself",
            of(to_self.replace("@0@", "328").as_str()),
            Fate::Closed(Rule::SpillBounds),
        ),
        animal(
            "H11: a reference to the superblock",
            of(r#"{"metadata_ref":{"offset":0,"len":32}}"#),
            Fate::Closed(Rule::SpillBounds),
        ),
        animal(
            "H11: a reference that wraps",
            of(r#"{"metadata_ref":{"offset":18446744073709551608,"len":16}}"#),
            Fate::Closed(Rule::SpillBounds),
        ),
        animal("H11: a reference in a spill is no reference", spill(chained), Fate::Harmless),
    ]
}

fn names() -> Vec<Animal> {
    let named =
        |name: &[u8]| Sheet::new(&[Dataset { name: name.to_vec(), ..square() }]).assemble().bytes;
    let gap = Sheet { gap_len: 16, ..Sheet::new(&[square()]) }.assemble();
    let hidden = put(&gap.bytes, gap.marks.payloads[0].0 - 16, b"#!/bin/sh hidden");
    let trailing = [Sheet::new(&[square()]).assemble().bytes, vec![0xaa; 64]].concat();
    vec![
        animal("H13: bytes that are no text", named(b"\xff\xfe"), Fate::Closed(Rule::NameUtf8)),
        animal("H13: a terminal command", named(b"\x1b]52;c;aGk=\x07"), Fate::Harmless),
        animal("H13: a line of a log", named(b"a\r\nok: all is well"), Fate::Harmless),
        animal(
            "H13: text that runs backwards",
            named("a\u{202e}txt.exe".as_bytes()),
            Fate::Harmless,
        ),
        animal("H14: a way out of the folder", named(b"../../etc/passwd"), Fate::Harmless),
        animal("H15: a formula", named(b"=cmd|' /C calc'!A0"), Fate::Harmless),
        animal("H18: a script in a gap", hidden, Fate::Harmless),
        animal("H18: bytes after the end", trailing, Fate::Harmless),
    ]
}
