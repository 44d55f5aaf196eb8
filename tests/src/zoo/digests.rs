//! Digests that claim more than there is, and footers that hide from them.

use tet_format::Rule;

use super::{Animal, Fate, animal};
use crate::accept::{spilled, square};
use crate::assemble::{Assembled, Sheet, Stored, refooted, resealed};

fn sealed() -> Assembled {
    Sheet::new(&[square()]).footer("{}").sealed().assemble()
}

/// The file whose footer says other things, sealed again.
fn saying(file: &Assembled, changes: &[(&str, &str)]) -> Vec<u8> {
    let at = |at: u64| usize::try_from(at).unwrap();
    let json = &file.bytes[at(file.marks.json)..at(file.marks.tail)];
    let mut json = str::from_utf8(json).unwrap().to_owned();
    for (from, to) in changes {
        assert!(json.contains(from), "{from} in {json}");
        json = json.replacen(from, to, 1);
    }
    resealed(&file.bytes, file.marks.json, &json)
}

/// Digests of a hostile hand, or of one that lost some.
pub(super) fn animals() -> Vec<Animal> {
    [claims(), keys(), changes()].concat()
}

fn claims() -> Vec<Animal> {
    let file = sealed();
    let block = file.marks.block;
    let offset = format!("\"offset\":{block}");
    let place = |to: &str| saying(&file, &[(&offset, to)]);
    vec![
        animal(
            "H1: 2^64 pages of digests",
            file.with_u64(block + 8, u64::MAX),
            Fate::Closed(Rule::DigestBlock),
        ),
        animal(
            "H1: 2^64 digests of chunks",
            file.with_u64(block + 16, u64::MAX),
            Fate::Closed(Rule::DigestBlock),
        ),
        animal(
            "H1: a block of 2^64 bytes",
            saying(&file, &[("\"len\":48", "\"len\":18446744073709551615")]),
            Fate::Closed(Rule::DigestBlock),
        ),
        animal(
            "H1: a block of no bytes",
            saying(&file, &[("\"len\":48", "\"len\":0")]),
            Fate::Closed(Rule::DigestBlock),
        ),
        animal(
            "H2: a block whose end wraps",
            place("\"offset\":18446744073709551600"),
            Fate::Closed(Rule::DigestBlock),
        ),
        animal(
            "H11: digests that lie in the superblock",
            place("\"offset\":0"),
            Fate::Closed(Rule::DigestBlock),
        ),
        animal(
            "H11: digests that lie in the index",
            place("\"offset\":80"),
            Fate::Closed(Rule::DigestBlock),
        ),
        animal(
            "H11: digests that lie in a payload",
            place(&format!("\"offset\":{}", file.marks.payloads[0].0)),
            Fate::Closed(Rule::DigestBlock),
        ),
        animal(
            "H11: digests that lie in the JSON",
            place(&format!("\"offset\":{}", file.marks.json)),
            Fate::Closed(Rule::DigestBlock),
        ),
    ]
}

fn keys() -> Vec<Animal> {
    let file = sealed();
    let spills = vec![r#"{"offset":0,"len":0,"digest":"000000000000000000000000"}"#; 10_000];
    let spills = format!("\"spills\":[{}]", spills.join(","));
    vec![
        animal(
            "H10: ten thousand spills that are not",
            saying(&file, &[("\"spills\":[]", &spills)]),
            Fate::Harmless,
        ),
        animal(
            "H10: digests of a thousand digits",
            saying(&file, &[("\"head\":\"", &format!("\"head\":\"{}", "0".repeat(1000)))]),
            Fate::Closed(Rule::IntegrityKey),
        ),
        animal("H10: digests in capitals", capitals(&file), Fate::Closed(Rule::IntegrityKey)),
        animal(
            "H10: digests twice",
            refooted(&file.bytes, file.marks.json, r#"{"integrity":{},"integrity":{}}"#),
            Fate::Closed(Rule::JsonKeyTwice),
        ),
        animal(
            "H10: digests that are a list",
            refooted(&file.bytes, file.marks.json, r#"{"integrity":[1,2]}"#),
            Fate::Closed(Rule::IntegrityKey),
        ),
        animal(
            "H10: digests that are null",
            refooted(&file.bytes, file.marks.json, r#"{"integrity":null}"#),
            Fate::Closed(Rule::IntegrityKey),
        ),
        animal(
            "H10: version 1.5 of the digests",
            refooted(&file.bytes, file.marks.json, r#"{"integrity":{"v":1.5}}"#),
            Fate::Closed(Rule::IntegrityKey),
        ),
    ]
}

fn changes() -> Vec<Animal> {
    let file = sealed();
    let block = file.marks.block;
    let empty = Sheet::default().footer("{}").sealed().assemble();
    vec![
        animal(
            "H12: a cleared flag over a sealed footer",
            file.with_u32(12, 0),
            Fate::Closed(Rule::FlagCleared),
        ),
        animal(
            "H12: a cleared flag over an empty sealed file",
            empty.with_u32(12, 0),
            Fate::Closed(Rule::FlagCleared),
        ),
        animal(
            "H18: a flag bit under the digests",
            file.with_u32(12, 3),
            Fate::Closed(Rule::HeadDigest),
        ),
        animal(
            "H18: a hint under the digests",
            file.with(file.marks.index + 16, &[9]),
            Fate::Closed(Rule::HeadDigest),
        ),
        animal(
            "H18: padding of a name under the digests",
            file.with(file.marks.records[0] + 23, &[1]),
            Fate::Closed(Rule::HeadDigest),
        ),
        animal(
            "H18: a slot past the rank under the digests",
            file.with(file.marks.rows[0] + 71, &[1]),
            Fate::Closed(Rule::PageDigest),
        ),
        animal(
            "H18: a digest of a page",
            file.with(block + 24, &[file.bytes[usize::try_from(block).unwrap() + 24] ^ 1]),
            Fate::Closed(Rule::PagesDigest),
        ),
        animal(
            "H6: a frame changed under the digests",
            frame(),
            Fate::Unreadable(Rule::ChunkDigest),
        ),
        animal("H11: a spill changed under the digests", spill(), Fate::Closed(Rule::SpillDigest)),
    ]
}

fn capitals(file: &Assembled) -> Vec<u8> {
    let at = |at: u64| usize::try_from(at).unwrap();
    let json = str::from_utf8(&file.bytes[at(file.marks.json)..at(file.marks.tail)]).unwrap();
    let start = json.find("\"head\":\"").unwrap() + 8;
    let digits =
        json[start..start + 24].to_uppercase().replacen(|it: char| it.is_numeric(), "A", 1);
    let json = format!("{}{digits}{}", &json[..start], &json[start + 24..]);
    resealed(&file.bytes, file.marks.json, &json)
}

fn frame() -> Vec<u8> {
    let file = Sheet::new(&[square().stored(Stored::Frame)]).footer("{}").sealed().assemble();
    let (start, len) = file.marks.payloads[0];
    let last = start + len - 1;
    file.with(last, &[!file.bytes[usize::try_from(last).unwrap()]])
}

fn spill() -> Vec<u8> {
    let file = spilled(1, "").sealed().assemble();
    let at = file.bytes.windows(3).rposition(|it| it == b"far").unwrap();
    file.with(at as u64, b"F")
}
