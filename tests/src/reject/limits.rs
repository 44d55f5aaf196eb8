//! Limits of the reader: a file may be sound and yet more than was asked for.
//!
//! Each limit is met exactly by the twin and passed by one by the case.

use tet_format::{Limits, Rule};

use crate::accept::{spilled, square};
use crate::assemble::{Dataset, Sheet};
use crate::case::Reject;

/// The rejected files.
#[must_use]
pub fn cases() -> Vec<Reject> {
    let long = |len: usize| Sheet::new(&[Dataset { name: vec![b'n'; len], ..square() }]).assemble();
    let deep = |levels: usize| {
        let json = format!("{{\"x\":{}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1));
        Sheet::new(&[square()]).footer(&json).assemble()
    };
    let json = |len: usize| {
        let json = format!("{{\"x\":\"{}\"}}", "j".repeat(len - 8));
        Sheet::new(&[square()]).footer(&json).assemble()
    };
    let two = Sheet::new(&[square(), Dataset::new("none", 1, 4, &[0])]).assemble();
    let one = Sheet::new(&[square()]).assemble();
    let far = spilled(1, "").assemble();
    let spill_len = far.marks.json - far.marks.spills[0];
    let near = Sheet::new(&[square()])
        .footer_of(1, r#"{"metadata_ref":{"offset":@0@,"len":#0#}}"#, &[b"{}"])
        .assemble();
    let tail = json(101).marks.json;
    // `{"x":` and 64 brackets stand before what is too deep.
    let deepest = deep(65).marks.json + 5 + 64;
    vec![
        Reject::shape(
            "a name of 4097 bytes",
            long(4097).bytes,
            Rule::LimitName,
            40,
            long(4096).bytes,
        ),
        Reject::shape("a directory over the limit", two.bytes, Rule::LimitDirectory, 32, one.bytes)
            .limits(Limits { directory_len_max: 64, ..Limits::default() }),
        Reject::shape(
            "JSON over the limit",
            json(101).bytes,
            Rule::LimitJson,
            tail,
            json(100).bytes,
        )
        .limits(Limits { json_len_max: 100, ..Limits::default() }),
        Reject::shape(
            "a spill over the limit",
            far.bytes,
            Rule::LimitSpill,
            far.marks.spills[0],
            near.bytes,
        )
        .limits(Limits { spill_len_max: spill_len - 1, ..Limits::default() }),
        Reject::shape("JSON 65 deep", deep(65).bytes, Rule::LimitDepth, deepest, deep(64).bytes),
        Reject::shape(
            "JSON 9999 deep",
            deep(9999).bytes,
            Rule::LimitDepth,
            deepest - 1,
            deep(64).bytes,
        ),
    ]
}
