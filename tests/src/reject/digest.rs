//! Rules of the digests.

use tet_format::Rule;

use crate::accept::{spilled, square};
use crate::assemble::{Assembled, Sheet, Stored, resealed};
use crate::case::{Noticed, Reject};

/// The rejected files of these rules.
#[must_use]
pub fn cases() -> Vec<Reject> {
    [keys(), structure(), block(), spills(), payloads()].concat()
}

fn sealed() -> Assembled {
    Sheet::new(&[square().chunked(&[2, 3])]).footer("{}").sealed().assemble()
}

/// The footer JSON, as text.
fn json(file: &Assembled) -> &str {
    let at = |at: u64| usize::try_from(at).unwrap();
    str::from_utf8(&file.bytes[at(file.marks.json)..at(file.marks.tail)]).unwrap()
}

/// Where some text starts in the footer JSON.
fn place(file: &Assembled, text: &str) -> u64 {
    file.marks.json + json(file).find(text).unwrap() as u64
}

/// The file with some text of its footer JSON replaced, and `self` made to match again.
fn saying(file: &Assembled, text: &str, other: &str) -> Vec<u8> {
    assert!(json(file).contains(text), "{text}");
    resealed(&file.bytes, file.marks.json, &json(file).replacen(text, other, 1))
}

fn keys() -> Vec<Reject> {
    let good = sealed();
    let value = place(&good, "{\"v\"");
    let shape = |name, text: &str, other: &str| {
        let bytes = saying(&good, text, other);
        Reject::shape(name, bytes, Rule::IntegrityKey, value, good.bytes.clone())
    };
    let spaced = json(&good).replace("\"}}", "\"} }");
    let mut spaced = [&good.bytes[..good.marks.json as usize], spaced.as_bytes()].concat();
    spaced.extend((good.marks.tail - good.marks.json + 1).to_le_bytes());
    spaced.extend(&good.bytes[good.marks.tail as usize + 8..]);
    vec![
        shape("digests without those of the pages", "\"index\"", "\"xedni\""),
        shape("a digest of too many digits", "\"head\":\"", "\"head\":\"0"),
        shape("a block that is a number", "\"block\":{", "\"block\":7,\"kcolb\":{"),
        shape("spills that are no list", "\"spills\":[]", "\"spills\":{}"),
        Reject::shape(
            "a seal that is not at the end",
            spaced,
            Rule::IntegrityKey,
            value,
            good.bytes.clone(),
        ),
        Reject::field(
            "a changed digit of the seal",
            good.with(good.marks.tail - 5, b"g"),
            Rule::IntegrityKey,
            value,
            &good.bytes,
        ),
    ]
}

fn structure() -> Vec<Reject> {
    let good = sealed();
    let history = Sheet::new(&[square()]).footer(r#"{"x":"abc"}"#).sealed().assemble();
    let letter = place(&history, "abc");
    vec![
        Reject::field(
            "a letter of the footer",
            history.with(letter, b"x"),
            Rule::SelfDigest,
            place(&history, "{\"v\""),
            &history.bytes,
        ),
        Reject::field("a flag bit", good.with(15, &[1]), Rule::HeadDigest, 0, &good.bytes),
        Reject::field(
            "a hint of the index",
            good.with(good.marks.index + 16, &[1]),
            Rule::HeadDigest,
            0,
            &good.bytes,
        ),
        Reject::field(
            "the padding of a row",
            good.with(good.marks.rows[1] + 100, &[1]),
            Rule::PageDigest,
            good.marks.rows[0],
            &good.bytes,
        ),
        Reject::field(
            "a footer whose flag was cleared",
            good.with_u32(12, 0),
            Rule::FlagCleared,
            12,
            &good.bytes,
        ),
    ]
}

fn block() -> Vec<Reject> {
    let good = sealed();
    let (block, json_at) = (good.marks.block, good.marks.json);
    let offset = format!("\"offset\":{block}");
    vec![
        Reject::field(
            "the digest of a page",
            good.with(block + 30, &[good.bytes[block as usize + 30] ^ 1]),
            Rule::PagesDigest,
            block + 24,
            &good.bytes,
        ),
        Reject::field(
            "the magic of the block",
            good.with(block, b"t"),
            Rule::DigestBlock,
            block,
            &good.bytes,
        ),
        Reject::field(
            "the rows of the block",
            good.with(block + 16, &[3]),
            Rule::DigestBlock,
            block + 16,
            &good.bytes,
        ),
        Reject::shape(
            "a block past the JSON",
            saying(&good, &offset, &format!("\"offset\":{}", json_at - 20)),
            Rule::DigestBlock,
            json_at,
            good.bytes.clone(),
        ),
    ]
}

fn spills() -> Vec<Reject> {
    let spill = spilled(1, "").sealed().assemble();
    let letter = spill.bytes.windows(3).rposition(|it| it == b"far").unwrap() as u64;
    let listed = place(&spill, "\"digest\":\"") + 10;
    let digit = if spill.bytes[usize::try_from(listed).unwrap()] == b'0' { "1" } else { "0" };
    let text = json(&spill);
    let at = usize::try_from(listed - spill.marks.json).unwrap();
    let other = format!("{}{digit}{}", &text[..at], &text[at + 1..]);
    vec![
        Reject::field(
            "a letter of a spill",
            spill.with(letter, b"F"),
            Rule::SpillDigest,
            spill.marks.spills[0],
            &spill.bytes,
        ),
        Reject::shape(
            "a spill with another digest",
            resealed(&spill.bytes, spill.marks.json, &other),
            Rule::SpillDigest,
            spill.marks.spills[0],
            spill.bytes.clone(),
        ),
    ]
}

fn payloads() -> Vec<Reject> {
    let dataset = square().chunked(&[2, 3]).stored(Stored::Frame);
    let zstd = Sheet::new(&[dataset]).footer("{}").sealed().assemble();
    let chunked = Sheet::new(&[square().chunked(&[2, 3])]);
    let gaps = Sheet { gap_len: 5, ..chunked }.footer("{}").sealed().assemble();
    let (start, len) = zstd.marks.payloads[1];
    let last = start + len - 1;
    vec![
        Reject::field(
            "a byte of a payload",
            zstd.with(last, &[zstd.bytes[last as usize] ^ 1]),
            Rule::ChunkDigest,
            start,
            &zstd.bytes,
        )
        .noticed(Noticed::Chunk),
        Reject::shape(
            "rows that were never there",
            saying(&gaps, "\"chunks\":\"", "\"chunks\":\"000000000000000000000000\",\"x\":\""),
            Rule::ChunksDigest,
            gaps.marks.block + 36,
            gaps.bytes.clone(),
        )
        .noticed(Noticed::Verify),
        Reject::field(
            "a byte between payloads",
            gaps.with(gaps.marks.payloads[1].0 - 2, &[7]),
            Rule::GapZero,
            gaps.marks.payloads[1].0 - 2,
            &gaps.bytes,
        )
        .noticed(Noticed::Verify),
    ]
}
