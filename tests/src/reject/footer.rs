//! Rules of the footer's framing.

use tet_format::Rule;

use crate::accept::{spilled, square};
use crate::assemble::{Dataset, Sheet, put};
use crate::case::{Noticed, Reject};

/// The rejected files of this region.
#[must_use]
pub fn cases() -> Vec<Reject> {
    [tail(), spills()].concat()
}

fn tail() -> Vec<Reject> {
    let empty = Sheet::default().assemble();
    let one = Sheet::new(&[square()]).footer("{}").assemble();
    let bare = Sheet::default().footer("{}").assemble();
    let tail = one.marks.tail;
    vec![
        Reject::field(
            "a flag and no tail",
            empty.with_u32(12, 1),
            Rule::TailRoom,
            12,
            &empty.bytes,
        ),
        Reject::field(
            "another tail magic",
            one.with(tail + 12, b"t"),
            Rule::TailMagic,
            tail + 12,
            &one.bytes,
        ),
        Reject::field(
            "footer version 3",
            one.with_u32(tail + 8, 3),
            Rule::FooterVersion,
            tail + 8,
            &one.bytes,
        ),
        Reject::field(
            "footer version 0",
            one.with_u32(tail + 8, 0),
            Rule::FooterVersion,
            tail + 8,
            &one.bytes,
        ),
        Reject::field(
            "JSON that reaches into the superblock",
            bare.with_u64(bare.marks.tail, 3),
            Rule::JsonBounds,
            bare.marks.tail,
            &bare.bytes,
        ),
        Reject::field(
            "JSON that reaches into the index",
            one.with_u64(tail, 200),
            Rule::JsonBounds,
            tail,
            &one.bytes,
        ),
        Reject::field(
            "a JSON start below zero",
            one.with_u64(tail, u64::MAX),
            Rule::JsonBounds,
            tail,
            &one.bytes,
        ),
    ]
}

fn spills() -> Vec<Reject> {
    let good = spilled(1, "").assemble();
    let json = good.marks.json;
    let spill = good.marks.spills[0].to_string();
    let moved = |by: &dyn Fn(u64) -> u64| {
        let there = by(good.marks.spills[0]).to_string();
        assert_eq!(there.len(), spill.len(), "the JSON keeps its length");
        replace(&good.bytes, &format!(":{spill},"), &format!(":{there},"))
    };
    let late = after_a_space();
    let at = late.marks.spills[0];
    let early = replace(&late.bytes, &format!(":{at},"), &format!(":{},", at - 1));
    let twice = overlapping("@0@", "#0#");
    let apart = overlapping("@1@", "#1#");
    vec![
        Reject::field(
            "a spill that reaches into the JSON",
            moved(&|at| at + 1),
            Rule::SpillBounds,
            json,
            &good.bytes,
        ),
        Reject::field(
            "a spill that begins in a payload",
            early,
            Rule::SpillBounds,
            late.marks.json,
            &late.bytes,
        )
        .noticed(Noticed::Verify),
        Reject::field(
            "a spill in the superblock",
            moved(&|_| 100),
            Rule::SpillBounds,
            json,
            &good.bytes,
        ),
        Reject::field(
            "two spills in one place",
            twice.bytes,
            Rule::SpillOverlap,
            twice.marks.json,
            &apart.bytes,
        ),
    ]
}

/// A payload that ends in a space and a spill that does: begun a byte early, it is JSON still.
fn after_a_space() -> crate::assemble::Assembled {
    let dataset = Dataset::new("a", 5, 1, &[8]).elements(vec![b' '; 8]);
    let json = r#"{"metadata_ref":{"offset":@0@,"len":#0#}}"#;
    Sheet::new(&[dataset]).footer_of(1, json, &[b"{} "]).assemble()
}

fn overlapping(offset: &str, len: &str) -> crate::assemble::Assembled {
    let json = format!(
        r#"{{"zone_maps_ref":{{"offset":@0@,"len":#0#}},"secondary_index_ref":{{"offset":{offset},"len":{len}}}}}"#
    );
    Sheet::new(&[square()]).footer_of(2, &json, &[b"12345678", b"12345678"]).assemble()
}

/// The file with the one place that says `old` saying `new` of the same length.
pub(super) fn replace(file: &[u8], old: &str, new: &str) -> Vec<u8> {
    assert_eq!(old.len(), new.len(), "a replacement moves nothing");
    let places: Vec<usize> =
        (0..file.len()).filter(|&at| file[at..].starts_with(old.as_bytes())).collect();
    assert_eq!(places.len(), 1, "{old} stands in one place");
    put(file, places[0] as u64, new.as_bytes())
}
