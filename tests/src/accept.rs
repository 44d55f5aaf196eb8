//! Files that open, with the values they hold.

use crate::assemble::{Dataset, Sheet, Stored};
use crate::case::{Accept, Holds};
use crate::values::TYPES;

/// A footer that says a little of everything.
pub const FOOTER: &str = concat!(
    r#"{"history":[{"op":"import","source":"a.npy","at":"1700000000"}],"#,
    r#""metadata":{"file":{"title":"a"},"datasets":{"a":{"dim_names":["y","x"],"#,
    r#""coords":{"y":{"labels":["p","q","r","s"]}},"attrs":{"units":"K"}}}}}"#
);

/// All accepted files.
#[must_use]
pub fn cases() -> Vec<Accept> {
    let mut cases = vec![
        case("an empty file is 32 bytes", &Sheet::default()),
        case("an empty file may have a footer", &Sheet::default().footer(r#"{"history":[]}"#)),
        case("one chunk holds a whole dataset", &Sheet::new(&[square()])),
        case("chunks divide the shape", &Sheet::new(&[square().chunked(&[2, 2])])),
        case("edge chunks are clipped", &Sheet::new(&[square().chunked(&[3, 3])])),
        case("a chunk may be larger than the shape", &Sheet::new(&[square().chunked(&[9, 5])])),
        case(
            "chunks of one element",
            &Sheet::new(&[Dataset::new("a", 5, 1, &[3, 2]).chunked(&[1, 1])]),
        ),
        case("a zero extent has no rows", &Sheet::new(&[Dataset::new("none", 1, 4, &[3, 0, 2])])),
        case(
            "a dataset after an empty one",
            &Sheet::new(&[Dataset::new("none", 1, 4, &[0]), square()]),
        ),
        case("a frame without a content size", &Sheet::new(&[square().stored(Stored::Frame)])),
        case("frames follow each other", &Sheet::new(&[square().stored(Stored::Frames)])),
        case(
            "frames in clipped chunks",
            &Sheet::new(&[square().chunked(&[3, 3]).stored(Stored::Frame)]),
        ),
        case(
            "two datasets of different codecs",
            &Sheet::new(&[square(), named("b").stored(Stored::Frame)]),
        ),
        case(
            "payloads at odd offsets",
            &Sheet { gap_len: 3, ..Sheet::new(&[square().chunked(&[2, 2])]) },
        ),
        case("rows in any order", &backwards()),
        case("a footer of version 1", &Sheet::new(&[square()]).footer(FOOTER)),
        case("a footer of version 2", &Sheet::new(&[square()]).footer_of(2, FOOTER, &[])),
        case("an empty footer", &Sheet::new(&[square()]).footer("{}")),
        case(
            "unknown keys in a footer",
            &Sheet::new(&[square()]).footer(r#"{"later":{"x":[1,{}]}}"#),
        ),
        case("history rows of the old form", &Sheet::new(&[square()]).footer(OLD_ROWS)),
        case("metadata in a spill", &spilled(1, "")),
        case("metadata in a spill of version 2", &spilled(2, "")),
        case("other spills of version 2", &two_spills()),
        case("unknown flag bits", &Sheet { flags: 0xfffe, ..Sheet::new(&[square()]) }),
        case("an odd name", &Sheet::new(&[named("\u{1b}[31m/../\u{202e}x\0")])),
        case("an empty name", &Sheet::new(&[named("")])),
        case("a name of 4096 bytes", &Sheet::new(&[named(&"n".repeat(4096))])),
        case("twins share a name", &Sheet::new(&[named("a"), named("a")])),
        case("groups by slashes", &Sheet::new(&[named("group/a"), named("group/b")])),
        unknown_type(),
        unknown_codec(),
        shared_payload(),
        unset_hints(),
    ];
    cases.extend(digests());
    for (tag, name, element_len) in TYPES {
        let dataset = Dataset::new(name, tag, element_len, &[3, 5]).chunked(&[2, 4]);
        cases.push(case("each element type, raw", &Sheet::new(std::slice::from_ref(&dataset))));
        cases.push(case("each element type, zstd", &Sheet::new(&[dataset.stored(Stored::Frame)])));
    }
    for rank in 1..=8 {
        let dataset = Dataset::new("a", 6, 2, &vec![2; rank]).chunked(&chunk_of_rank(rank));
        cases.push(case("each rank", &Sheet::new(&[dataset])));
    }
    cases
}

const OLD_ROWS: &str =
    r#"{"history":[["import","a.npy","1700000000"],{"op":"x","source":"y","at":"1"}]}"#;

/// The dataset most cases are made of: eight-byte floats, 4 by 3.
#[must_use]
pub fn square() -> Dataset {
    named("a")
}

fn named(name: &str) -> Dataset {
    Dataset::new(name, 2, 8, &[4, 3])
}

/// Files with digests of all their bytes, and with some that are not known here.
fn digests() -> Vec<Accept> {
    vec![
        case("digests", &Sheet::new(&[square().chunked(&[2, 2])]).footer(FOOTER).sealed()),
        case("digests of rows in any order", &backwards().footer("{}").sealed()),
        case(
            "digests of frames, and bytes between them",
            &Sheet { gap_len: 5, ..Sheet::new(&[square().chunked(&[3, 3]).stored(Stored::Frame)]) }
                .footer("{}")
                .sealed(),
        ),
        case("digests of a spill", &spilled(1, "").sealed()),
        case("digests of other spills", &two_spills().sealed()),
        case("digests of no datasets", &Sheet::default().footer("{}").sealed()),
        case(
            "digests of another version",
            &Sheet::new(&[square()]).footer(r#"{"integrity":{"v":2,"sum":"x"}}"#),
        ),
        case(
            "digests by another algorithm",
            &Sheet::new(&[square()]).footer(r#"{"integrity":{"v":1,"alg":"blake3"}}"#),
        ),
    ]
}

fn chunk_of_rank(rank: usize) -> Vec<u64> {
    (0..rank).map(|axis| if axis % 3 == 0 { 1 } else { 2 }).collect()
}

fn backwards() -> Sheet {
    let datasets = [square().chunked(&[2, 2]), named("b").chunked(&[4, 1])];
    Sheet { row_order: (0..7).rev().collect(), ..Sheet::new(&datasets) }
}

/// A file whose metadata is in a spill; `more` are further keys of the JSON.
#[must_use]
pub fn spilled(version: u32, more: &str) -> Sheet {
    let json = format!(r#"{{"history":[],"metadata_ref":{{"offset":@0@,"len":#0#}}{more}}}"#);
    let spill = br#"{"file":{"title":"far"},"datasets":{}}"#;
    Sheet::new(&[square()]).footer_of(version, &json, &[spill])
}

fn two_spills() -> Sheet {
    let json = concat!(
        r#"{"zone_maps_ref":{"offset":@0@,"len":#0#},"#,
        r#""secondary_index_ref":{"offset":@1@,"len":#1#},"#,
        r#""metadata_ref":{"offset":@2@,"len":#2#}}"#
    );
    Sheet::new(&[square()]).footer_of(2, json, &[b"zones", b"second", br#"{"file":{"a":"b"}}"#])
}

fn case(name: &'static str, sheet: &Sheet) -> Accept {
    let holds = sheet.datasets.iter().map(holds).collect();
    Accept { name, bytes: sheet.assemble().bytes, holds }
}

fn holds(dataset: &Dataset) -> Holds {
    let dtype = TYPES.iter().find(|(tag, ..)| *tag == dataset.tag).map(|(_, name, _)| *name);
    Holds {
        name: String::from_utf8(dataset.name.clone()).unwrap(),
        dtype,
        shape: dataset.shape.clone(),
        elements: Some(dataset.elements.clone()),
    }
}

/// A tag from a later version: that dataset is listed, the other one is read.
fn unknown_type() -> Accept {
    let file = Sheet::new(&[square(), named("b")]).assemble();
    let mut case = case(
        "an unknown element type spoils its dataset only",
        &Sheet::new(&[square(), named("b")]),
    );
    case.bytes = file.with_u32(file.marks.records[1] + 4, 11);
    case.holds[1].dtype = None;
    case.holds[1].elements = None;
    case
}

/// A codec from a later version: that chunk is closed, the other dataset is read.
fn unknown_codec() -> Accept {
    let sheet = Sheet::new(&[square(), named("b").stored(Stored::Other(7))]);
    let mut case = case("an unknown codec spoils its dataset only", &sheet);
    case.holds[1].elements = None;
    case
}

/// Two rows that name the same bytes.
fn shared_payload() -> Accept {
    let twice = square().elements(crate::values::plain(2, 6).repeat(2)).chunked(&[2, 3]);
    let sheet = Sheet::new(&[twice]);
    let file = sheet.assemble();
    let mut case = case("rows may share a payload", &sheet);
    case.bytes = file.with_u64(file.marks.rows[1] + 72, file.marks.payloads[0].0);
    case
}

/// The hints of the index header say a budget, which readers may follow downward only.
fn unset_hints() -> Accept {
    let sheet = Sheet::new(&[square()]);
    let file = sheet.assemble();
    let mut case = case("memory hints are hints", &sheet);
    case.bytes = file.with(file.marks.index + 16, &[0x10, 0x27, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    case
}
