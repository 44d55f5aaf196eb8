use tet_format::footer::Spill;
use tet_format::superblock;

use super::*;
use crate::metadata::{AttrValue, HistoryRow};

/// A file without datasets: superblock, spill, JSON, tail.
fn file(spill: &str, json: &str, version: u32) -> Source {
    let superblock =
        Superblock { dataset_count: 0, flags: 1, index_offset: superblock::LEN, index_len: 0 };
    let mut bytes = superblock.encode().to_vec();
    bytes.extend(spill.as_bytes());
    bytes.extend(json.as_bytes());
    bytes.extend(Tail { json_len: json.len() as u64, version }.encode());
    Source::from_bytes(bytes)
}

fn read_file(source: &Source, limits: &Limits) -> tet_format::Result<Footer> {
    let mut head = [0; 32];
    source.read_exact_at(0, &mut head).unwrap();
    let superblock = Superblock::read(&head, source.len()).unwrap();
    match read(source, &superblock, limits) {
        Ok((_, footer)) => Ok(footer),
        Err(error) => Err(*error.as_format().expect("memory can be read")),
    }
}

fn read_json(json: &str) -> tet_format::Result<Footer> {
    read_file(&file("", json, 1), &Limits::default())
}

/// Every fault of a footer, as `verify` collects them.
fn faults(source: &Source) -> Vec<Fault> {
    let mut head = [0; 32];
    source.read_exact_at(0, &mut head).unwrap();
    let superblock = Superblock::read(&head, source.len()).unwrap();
    let tail = read_tail(source, &superblock).unwrap();
    let mut faults = Vec::new();
    check(source, &superblock, tail, &Limits::default(), &mut faults).unwrap();
    faults
}

#[test]
fn each_rule_breaks_alone_at_its_place() {
    let cases = [
        ("", Rule::JsonSyntax, 0),
        ("{", Rule::JsonSyntax, 0),
        ("{}x", Rule::JsonSyntax, 2),
        ("[]", Rule::JsonSyntax, 0),
        ("{\"a\":\n\n tru}", Rule::JsonSyntax, 11),
        (r#"{"a":{"b":1},"a":2}"#, Rule::JsonKeyTwice, 15),
        (r#"{"a":{"b":1,"b":2}}"#, Rule::JsonKeyTwice, 14),
        ("{\"a\":1,\"\\u0061\":2}", Rule::JsonKeyTwice, 14),
        (r#"{"history":{}}"#, Rule::JsonType, 11),
        (r#"{"metadata":[]}"#, Rule::JsonType, 12),
        (r#"{"metadata":{"file":7}}"#, Rule::JsonType, 20),
        (r#"{"metadata":{"datasets":{"v":{"dim_names":[1]}}}}"#, Rule::JsonType, 42),
        (r#"{"metadata":{"datasets":{"v":{"coords":{"x":{"labels":"a"}}}}}}"#, Rule::JsonType, 54),
        (r#"{"metadata_ref":{"offset":32}}"#, Rule::SpillRef, 16),
        (r#"{"metadata_ref":{"offset":-1,"len":0}}"#, Rule::SpillRef, 16),
        (r#"{"metadata_ref":{"offset":1.5,"len":0}}"#, Rule::SpillRef, 16),
        (r#"{"metadata_ref":{"offset":31,"len":1}}"#, Rule::SpillBounds, 0),
        (r#"{"history":[{"op":"a","source":"b"}]}"#, Rule::HistoryRow, 12),
        (r#"{"history":[["a","b","c"],["a","b"]]}"#, Rule::HistoryRow, 26),
        (r#"{"history":[{"op":"a","source":"b","at":3}]}"#, Rule::HistoryRow, 12),
    ];
    for (json, rule, offset) in cases {
        let found = faults(&file("", json, 1));
        assert_eq!(found.len(), 1, "{json}: {found:?}");
        assert_eq!((found[0].rule, found[0].at), (rule, 32 + offset), "{json}");
        assert_eq!(read_json(json), Err(found[0]), "{json}");
    }
}

#[test]
fn footers_one_character_away_are_read() {
    let near = [
        "{}",
        " {\n} ",
        r#"{"a":{"b":1},"A":{"b":2}}"#,
        r#"{"history":[]}"#,
        r#"{"history":null,"metadata":null,"metadata_ref":null}"#,
        r#"{"metadata":{"file":{"a":7,"b":[null]}}}"#,
        r#"{"metadata":{"datasets":{"v":{"dim_names":["1"]}}}}"#,
        r#"{"history":[["a","b","c"]]}"#,
        r#"{"history":[{"op":"a","source":"b","at":"c","agent":{"x":1}}]}"#,
    ];
    for json in near {
        assert!(read_json(json).is_ok(), "{json}: {:?}", read_json(json));
    }
}

#[test]
fn what_is_not_utf8_is_refused_where_it_starts() {
    let mut bytes = file("", "{\"a\":\"?\"}", 1);
    let mut all = vec![0; usize::try_from(bytes.len()).unwrap()];
    bytes.read_exact_at(0, &mut all).unwrap();
    all[32 + 6] = 0xFF;
    bytes = Source::from_bytes(all);
    let fault = read_file(&bytes, &Limits::default()).unwrap_err();
    assert_eq!((fault.rule, fault.at), (Rule::JsonSyntax, 32 + 6));
}

#[test]
fn h10_depth_ends_at_the_limit() {
    let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    assert!(read_json(&nested(63)).is_ok());
    let fault = read_json(&nested(64)).unwrap_err();
    assert_eq!((fault.rule, fault.found, fault.wanted), (Rule::LimitDepth, 65, 64));
    // Far beyond what any stack holds.
    assert_eq!(read_json(&nested(1 << 20)).unwrap_err().rule, Rule::LimitDepth);
    let limits = Limits { json_depth_max: 1000, ..Limits::default() };
    let fault = read_file(&file("", &nested(999), 1), &limits).unwrap_err();
    assert_eq!(fault.rule, Rule::JsonSyntax, "the parser has a bound of its own");
}

#[test]
fn h10_lengths_end_at_the_limits() {
    let limits = Limits { json_len_max: 60, spill_len_max: 9, ..Limits::default() };
    let json = |len: usize| format!("{{{}}}", " ".repeat(len - 2));
    assert!(read_file(&file("", &json(60), 1), &limits).is_ok());
    let fault = read_file(&file("", &json(61), 1), &limits).unwrap_err();
    assert_eq!((fault.rule, fault.at, fault.found), (Rule::LimitJson, 32, 61));
    for (spill, is_ok) in [("{       }", true), ("{        }", false)] {
        let json = format!(r#"{{"metadata_ref":{{"offset":32,"len":{}}}}}"#, spill.len());
        let outcome = read_file(&file(spill, &json, 1), &limits);
        assert_eq!(outcome.is_ok(), is_ok, "{outcome:?}");
    }
}

#[test]
fn a_spill_is_metadata_and_wins_over_the_inline_one() {
    let spill = r#"{"file":{"from":"spill"}}"#;
    let len = spill.len();
    let json = format!(
        r#"{{"metadata":{{"file":{{"from":"inline"}}}},"metadata_ref":{{"offset":32,"len":{len}}}}}"#
    );
    let footer = read_file(&file(spill, &json, 1), &Limits::default()).unwrap();
    assert_eq!(footer.metadata().file["from"], AttrValue::from("spill"));
    assert_eq!(footer.metadata_at, 32);
    let mut faults = Vec::new();
    footer.check_metadata_twice(&mut faults).unwrap();
    let wanted = Fault { rule: Rule::MetadataTwice, at: 32 + len as u64, found: 2, wanted: 1 };
    assert_eq!(faults, [wanted]);
}

#[test]
fn h11_a_spill_that_is_no_metadata_is_refused() {
    for spill in ["", "x", "[]", "{\"file\":{}"] {
        let json = format!(r#"{{"metadata_ref":{{"offset":32,"len":{}}}}}"#, spill.len());
        let found = faults(&file(spill, &json, 1));
        assert_eq!(found.len(), 1, "{spill}: {found:?}");
        assert_eq!(found[0].rule, Rule::SpillJson, "{spill}");
    }
    // A reference inside a spill is a member like any other.
    let spill = r#"{"metadata_ref":{"offset":32,"len":38}}"#;
    let json = format!(r#"{{"metadata_ref":{{"offset":32,"len":{}}}}}"#, spill.len());
    let footer = read_file(&file(spill, &json, 1), &Limits::default()).unwrap();
    assert_eq!(footer.metadata().unknown.len(), 1);
}

#[test]
fn spills_of_version_2_count_in_version_2_alone() {
    let json = r#"{"zone_maps_ref":{"offset":32,"len":3},"metadata_ref":{"offset":33,"len":2}}"#;
    let found = faults(&file("{{}", json, 2));
    assert_eq!(found.iter().map(|fault| fault.rule).collect::<Vec<_>>(), [Rule::SpillOverlap]);
    let footer = read_file(&file("{{}", json, 1), &Limits::default()).unwrap();
    assert_eq!(footer.json.spills.zone_maps, Some(Spill { offset: 32, len: 3 }));
}

#[test]
fn what_is_not_known_is_kept_as_it_stands() {
    let json = concat!(
        r#"{"extension": {"v" : 1, "n": 18446744073709551615},"history":"#,
        r#"[{"at":"1","op":"o","source":"s","agent":[1, 2.50],"params":{"a":"b"},"parents":["p"]}],"#,
        r#""metadata":{"zz":null,"datasets":{"v":{"units": 1e2,"coords":{"x":{"labels":[],"u":0}}}},"#,
        r#""file":{"n":10000000000000000000000,"t":"x\ny"},"tet":{"more":[]}}}"#
    );
    let footer = read_json(json).unwrap();
    let pair = |key: &str, text: &str| (key.to_owned(), text.to_owned());
    let extension = pair("extension", r#"{"v" : 1, "n": 18446744073709551615}"#);
    assert_eq!(footer.json.unknown, [extension]);
    let mut row = HistoryRow::new("o", "s", "1");
    row.parents = vec!["p".to_owned()];
    row.params.insert("a".to_owned(), "b".to_owned());
    row.extra = vec![pair("agent", "[1, 2.50]")];
    assert_eq!(footer.json.history, [row]);
    let metadata = footer.metadata();
    assert_eq!(metadata.unknown, [pair("zz", "null")]);
    assert_eq!(metadata.unknown_tet, [pair("more", "[]")]);
    assert_eq!(metadata.file["n"], AttrValue::Json("10000000000000000000000".to_owned()));
    assert_eq!(metadata.file["t"], AttrValue::from("x\ny"));
    let dataset = metadata.dataset("v").unwrap();
    assert_eq!(dataset.unknown, [pair("units", "1e2")]);
    assert_eq!(dataset.unknown_coords["x"], [pair("u", "0")]);
    assert_eq!(dataset.coords["x"], Vec::<String>::new());
}

#[test]
fn verify_sees_every_fault_of_a_footer() {
    let json = r#"{"history":[1,["a","b","c"],2],"metadata":{"file":3},"metadata_ref":4}"#;
    let rules: Vec<Rule> = faults(&file("", json, 1)).iter().map(|fault| fault.rule).collect();
    let wanted = [Rule::HistoryRow, Rule::HistoryRow, Rule::JsonType, Rule::SpillRef];
    assert_eq!(rules, wanted);
}
