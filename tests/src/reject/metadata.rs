//! Rules of the footer's JSON.

use tet_format::Rule;

use crate::accept::{spilled, square};
use crate::assemble::Sheet;
use crate::case::{Noticed, Reject};

/// The rejected files of this region.
#[must_use]
pub fn cases() -> Vec<Reject> {
    [syntax(), types(), spill(), meaning()].concat()
}

/// A file whose footer says `bad`, beside one whose footer says `good`.
///
/// A caret in `bad` stands before the byte at which the rule is broken, and is left out. That is
/// the first byte of a value of the wrong kind, and the last byte of a word that is wrong in itself.
fn case(name: &'static str, bad: &str, rule: Rule, good: &str) -> Reject {
    let file = |json: &str| Sheet::new(&[square()]).footer(json).assemble();
    let caret = bad.find('^').expect("a caret says where");
    let (bad, good) = (file(&bad.replacen('^', "", 1)), file(good));
    let at = bad.marks.json + caret as u64;
    if bad.bytes.len() == good.bytes.len() {
        return Reject::field(name, bad.bytes, rule, at, &good.bytes);
    }
    Reject::shape(name, bad.bytes, rule, at, good.bytes)
}

fn syntax() -> Vec<Reject> {
    vec![
        case("JSON that does not end", "{^]", Rule::JsonSyntax, "{}"),
        case("no JSON", "^", Rule::JsonSyntax, "{}"),
        case("an array for an object", "^[]", Rule::JsonSyntax, "{}"),
        case("JSON and then more", "{}^{}", Rule::JsonSyntax, "{}  "),
        case("a number past all floats", r#"{"x":1e99^9}"#, Rule::JsonSyntax, r#"{"x":1e99 }"#),
        case("not a number", r#"{"x":^NaN}"#, Rule::JsonSyntax, r#"{"x":123}"#),
        case("half a surrogate", r#"{"x":"\ud800^"}"#, Rule::JsonSyntax, r#"{"x":"\u00e9"}"#),
        case("a key twice", r#"{"x":1,"x^":2}"#, Rule::JsonKeyTwice, r#"{"x":1,"y":2}"#),
        case(
            "a key twice below",
            r#"{"metadata":{"file":{"x":"1","x^":"2"}}}"#,
            Rule::JsonKeyTwice,
            r#"{"metadata":{"file":{"x":"1","y":"2"}}}"#,
        ),
        case(
            "a key twice in an unknown value",
            r#"{"later":[{"x":1,"\u0078^":2}]}"#,
            Rule::JsonKeyTwice,
            r#"{"later":[{"x":1,"\u0079":2}]}"#,
        ),
    ]
}

fn types() -> Vec<Reject> {
    vec![
        case("history that is no list", r#"{"history":^{}}"#, Rule::JsonType, r#"{"history":[]}"#),
        case(
            "metadata that is a list",
            r#"{"metadata":^[]}"#,
            Rule::JsonType,
            r#"{"metadata":{}}"#,
        ),
        case(
            "dimension names that are numbers",
            r#"{"metadata":{"datasets":{"a":{"dim_names":^[1,2]}}}}"#,
            Rule::JsonType,
            r#"{"metadata":{"datasets":{"a":{"dim_names":["1","2"]}}}}"#,
        ),
        case(
            "labels that are no list",
            r#"{"metadata":{"datasets":{"a":{"coords":{"0":{"labels":^{}}}}}}}"#,
            Rule::JsonType,
            r#"{"metadata":{"datasets":{"a":{"coords":{"0":{"labels":["a","b","c","d"]}}}}}}"#,
        ),
        case(
            "a reference that is a number",
            r#"{"metadata_ref":^12}"#,
            Rule::SpillRef,
            r#"{"metadata_raf":12}"#,
        ),
        case(
            "a reference without a length",
            r#"{"metadata_ref":^{"offset":328}}"#,
            Rule::SpillRef,
            r#"{"metadata_raf":{"offset":328}}"#,
        ),
        case(
            "a reference below zero",
            r#"{"metadata_ref":^{"offset":-8,"len":8}}"#,
            Rule::SpillRef,
            r#"{"metadata_raf":{"offset":-8,"len":8}}"#,
        ),
        case(
            "a reference of a fraction",
            r#"{"metadata_ref":^{"offset":328.0,"len":8}}"#,
            Rule::SpillRef,
            r#"{"metadata_raf":{"offset":328.0,"len":8}}"#,
        ),
    ]
}

fn spill() -> Vec<Reject> {
    let good = spilled(1, "").assemble();
    let of = |spill: &[u8]| {
        let json = r#"{"metadata_ref":{"offset":@0@,"len":#0#}}"#;
        Sheet::new(&[square()]).footer_of(1, json, &[spill]).assemble()
    };
    let (list, object) = (of(b"[]"), of(b"{}"));
    let at = list.marks.spills[0];
    let twice = spilled(1, r#","metadata":{}"#).assemble();
    vec![
        Reject::field("a spill that is no object", list.bytes, Rule::SpillJson, at, &object.bytes),
        Reject::shape(
            "metadata here and there",
            twice.bytes,
            Rule::MetadataTwice,
            twice.marks.json,
            good.bytes.clone(),
        )
        .noticed(Noticed::Verify),
    ]
}

fn meaning() -> Vec<Reject> {
    let verify = |name, bad, rule, good| case(name, bad, rule, good).noticed(Noticed::Verify);
    vec![
        case(
            "a history row of two",
            r#"{"history":[^["a","b"]]}"#,
            Rule::HistoryRow,
            r#"{"history":[["a","b","c"]]}"#,
        ),
        case(
            "a history row without a time",
            r#"{"history":[^{"op":"a","source":"b"}]}"#,
            Rule::HistoryRow,
            r#"{"history":[{"op":"a","source":"b","at":"1"}]}"#,
        ),
        verify(
            "a dimension name too few",
            r#"{"metadata":{"datasets":{"a":{"dim_names":^["y"]}}}}"#,
            Rule::DimNames,
            r#"{"metadata":{"datasets":{"a":{"dim_names":["y","x"]}}}}"#,
        ),
        verify(
            "labels of no axis",
            r#"{"metadata":{"datasets":{"a":{"coords":{"7":^{"labels":["p","q","r","s"]}}}}}}"#,
            Rule::CoordAxis,
            r#"{"metadata":{"datasets":{"a":{"coords":{"0":{"labels":["p","q","r","s"]}}}}}}"#,
        ),
        verify(
            "a label too few",
            r#"{"metadata":{"datasets":{"a":{"coords":{"0":{"labels":^["p","q","r"]}}}}}}"#,
            Rule::LabelCount,
            r#"{"metadata":{"datasets":{"a":{"coords":{"0":{"labels":["p","q","r","s"]}}}}}}"#,
        ),
    ]
}
