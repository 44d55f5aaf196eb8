//! A header for each rule that breaks it, and its neighbor that does not.

use std::collections::BTreeSet;

use super::{errors, file, found, refused, with_len};
use crate::header::LEN_MAX;
use crate::rule::ALL;
use tet_verify::VerifyOptions;

/// Outcomes of a file.
#[derive(Clone, Copy)]
enum Fate {
    /// It is refused for this code.
    Refused(&'static str),
    /// It is read, and this code is reported for one tensor or the whole file.
    Reported(&'static str),
    /// It is read, and nothing is wrong.
    Fine,
}
use Fate::{Fine, Refused, Reported};

fn tensor(name: &str, dtype: &str, shape: &str, offsets: &str) -> String {
    format!("\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":{offsets}}}")
}

fn of(tensors: &[String]) -> String {
    format!("{{{}}}", tensors.join(","))
}

/// One tensor `x` of 4 bytes, said in these words.
fn one(dtype: &str, shape: &str, offsets: &str) -> String {
    of(&[tensor("x", dtype, shape, offsets)])
}

fn check(what: &str, bytes: &[u8], fate: Fate, covered: &mut BTreeSet<&'static str>) {
    let options = VerifyOptions::default();
    match fate {
        Refused(code) => {
            assert_eq!(refused(bytes), Some(code), "{what}");
            assert!(errors(bytes).contains(&code), "{what}");
            covered.insert(code);
        }
        Reported(code) => {
            assert_eq!(refused(bytes), None, "{what}");
            assert!(found(bytes, &options).iter().any(|it| it.0 == code), "{what}");
            covered.insert(code);
        }
        Fine => {
            assert_eq!(refused(bytes), None, "{what}");
            assert_eq!(errors(bytes), Vec::<&str>::new(), "{what}");
        }
    }
}

#[test]
fn every_rule_is_broken_and_kept() {
    let mut covered = BTreeSet::from(["ST-N5"]);
    for (header, buffer_len, fate) in headers() {
        check(&header, &file(&header, &vec![0; buffer_len]), fate, &mut covered);
    }
    for (bytes, fate) in frames() {
        check(&format!("{:?}", &bytes[..bytes.len().min(40)]), &bytes, fate, &mut covered);
    }
    // Those of models in several files have `tests/shards.rs`.
    let is_of_index = |id: &&str| {
        id.starts_with("ST-I")
            || matches!(*id, "ST-L3" | "ST-L4" | "ST-L5" | "ST-N6" | "ST-N7" | "ST-N8" | "ST-N9")
    };
    let ids = ALL.iter().map(|rule| rule.id).filter(|id| !is_of_index(id));
    let missing: Vec<&str> = ids.filter(|id| !covered.contains(id)).collect();
    assert_eq!(missing, ["ST-L1"], "its file has 100 MB, and a test of its own");
}

/// Files whose frame is broken.
fn frames() -> Vec<(Vec<u8>, Fate)> {
    let good = one("F32", "[1]", "[0,4]");
    let len = u64::try_from(good.len()).unwrap();
    vec![
        (vec![], Refused("ST-H1")),
        (vec![0; 7], Refused("ST-H1")),
        (with_len(0, b"", b""), Refused("ST-H3")),
        (with_len(1, b"{", b""), Refused("ST-H5")),
        (with_len(2, b"{}", b""), Fine),
        (with_len(2, b"{}", b"x"), Reported("ST-B4")),
        (with_len(3, b"{}", b""), Refused("ST-H2")),
        (with_len(u64::MAX, b"{}", b""), Refused("ST-H2")),
        (with_len(1 << 63, good.as_bytes(), &[0; 4]), Refused("ST-H2")),
        (with_len(len + 5, good.as_bytes(), &[0; 4]), Refused("ST-H2")),
        (with_len(len + 4, good.as_bytes(), &[0; 4]), Refused("ST-H5")),
        (with_len(len - 1, good.as_bytes(), &[0; 4]), Refused("ST-H5")),
        (with_len(len, good.as_bytes(), &[0; 4]), Fine),
        (with_len(2, b"\xff}", b""), Refused("ST-H3")),
        (with_len(6, b"{\"\xff\":1", b"}"), Refused("ST-H4")),
        (with_len(6, b"{\"\xc3\":1", b"}"), Refused("ST-H4")),
    ]
}

/// Headers, with the bytes behind them.
fn headers() -> Vec<(String, usize, Fate)> {
    let mut cases = syntax();
    cases.extend(entries());
    cases.extend(layouts());
    cases
}

fn syntax() -> Vec<(String, usize, Fate)> {
    let text = |text: &str, fate| (text.to_owned(), 0, fate);
    let deep = |depth: usize| {
        let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let entry = "\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]";
        format!("{{\"x\":{{{entry},\"more\":{nested}}}}}")
    };
    vec![
        text("[]", Refused("ST-H3")),
        text(" {}", Refused("ST-H3")),
        text("{} ", Fine),
        text("{}\n", Fine),
        text("{}{}", Refused("ST-H5")),
        text("{} x", Refused("ST-H5")),
        text("{}\0", Refused("ST-H5")),
        text("{,}", Refused("ST-H5")),
        text("{\"x\"}", Refused("ST-H5")),
        text("{\"x\":}", Refused("ST-H5")),
        text("{x:1}", Refused("ST-H5")),
        text("{\"x\":1,}", Refused("ST-T1")),
        text("{\"x\":01}", Refused("ST-H5")),
        text("{\"x\":nul}", Refused("ST-H5")),
        text("{\"a\nb\":1}", Refused("ST-H5")),
        text("{\"\\x\":1}", Refused("ST-H5")),
        text("{\"\\ud800\":1}", Refused("ST-H5")),
        text("{\"\\ud800\\u0041\":1}", Refused("ST-H5")),
        text("{\"\\u12\":1}", Refused("ST-H5")),
        text("{\"__metadata__\":{}}", Fine),
        text("{\"__metadata__\":null}", Fine),
        text("{\"__metadata__\":{\"a\":\"\\ud83d\\ude00\\n\"}}", Fine),
        text("{\"__metadata__\":{\"a\":1}}", Reported("ST-H7")),
        text("{\"__metadata__\":{\"a\":null}}", Reported("ST-H7")),
        text("{\"__metadata__\":[]}", Reported("ST-H7")),
        text("{\"__metadata__\":\"a\"}", Reported("ST-H7")),
        text("{\"__metadata__\":{\"a\":\"1\",\"a\":\"1\"}}", Refused("ST-H6")),
        text("{\"__metadata__\":{\"a\":\"1\",\"\\u0061\":\"1\"}}", Refused("ST-H6")),
        text("{\"__metadata__\":{},\"__metadata__\":{}}", Refused("ST-H6")),
        (deep(1), 0, Reported("ST-N3")),
        (deep(128), 0, Reported("ST-N3")),
        (deep(129), 0, Refused("ST-H5")),
        (deep(100_000), 0, Refused("ST-H5")),
    ]
}

fn entries() -> Vec<(String, usize, Fate)> {
    let good = tensor("x", "U8", "[4]", "[0,4]");
    let twice = "{\"x\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}";
    let many = |rank: usize| format!("[{}]", vec!["1"; rank].join(","));
    let big = (1_u64 << 63).to_string();
    vec![
        (of(std::slice::from_ref(&good)), 4, Fine),
        (of(&[good.clone(), good.clone()]), 4, Refused("ST-H6")),
        (of(&[good.clone(), good.replace("\"x\"", "\"\\u0078\"")]), 4, Refused("ST-H6")),
        (twice.to_owned(), 4, Refused("ST-H6")),
        ("{\"x\":[\"U8\",[4],[0,4]]}".to_owned(), 4, Refused("ST-T1")),
        ("{\"x\":{}}".to_owned(), 0, Refused("ST-T1")),
        ("{\"x\":null}".to_owned(), 0, Refused("ST-T1")),
        ("{\"x\":{\"dtype\":\"U8\",\"shape\":[4]}}".to_owned(), 4, Refused("ST-T1")),
        ("{\"x\":{\"dtype\":8,\"shape\":[4],\"data_offsets\":[0,4]}}".to_owned(), 4, Refused("ST-T1")),
        (one("U8", "4", "[0,4]"), 4, Refused("ST-T1")),
        (one("U8", "[4.0]", "[0,4]"), 4, Refused("ST-T1")),
        (one("U8", "[4e0]", "[0,4]"), 4, Refused("ST-T1")),
        (one("U8", "[-4]", "[0,4]"), 4, Refused("ST-T1")),
        (one("U8", "[\"4\"]", "[0,4]"), 4, Refused("ST-T1")),
        (one("U8", "[18446744073709551616]", "[0,4]"), 4, Refused("ST-T1")),
        (one("U8", "[4]", "[0]"), 4, Refused("ST-T1")),
        (one("U8", "[4]", "[0,4,4]"), 4, Refused("ST-T1")),
        (one("U8", "[4]", "{}"), 4, Refused("ST-T1")),
        (one("U8", "[04]", "[0,4]"), 4, Refused("ST-H5")),
        (one("u8", "[4]", "[0,4]"), 4, Reported("ST-T2")),
        (one("", "[4]", "[0,4]"), 4, Reported("ST-T2")),
        (one("F4", "[7]", "[0,4]"), 4, Reported("ST-T3")),
        (one("F4", "[8]", "[0,4]"), 4, Fine),
        (one("U8", &format!("[{big}]"), "[0,4]"), 4, Reported("ST-T3")),
        (one("F32", "[4611686018427387904,4611686018427387904,4]", "[0,4]"), 4, Reported("ST-T3")),
        (one("F32", "[9223372036854775807,9223372036854775807,0]", "[0,0]"), 0, Fine),
        (one("U8", &many(64), "[0,1]"), 1, Fine),
        (one("U8", &many(65), "[0,1]"), 1, Reported("ST-L2")),
        (of(&[tensor("", "U8", "[4]", "[0,4]")]), 4, Reported("ST-N1")),
        (of(&[tensor("\\u001b[2J", "U8", "[4]", "[0,4]")]), 4, Reported("ST-N2")),
        (of(&[tensor("../x", "U8", "[4]", "[0,4]")]), 4, Reported("ST-N2")),
        ("{\"x\":{\"dtype\":\"U8\",\"more\":[1,{\"a\":[true,-0.5e-3]}],\"shape\":[4],\"data_offsets\":[0,4]}}".to_owned(), 4, Reported("ST-N3")),
    ]
}

fn layouts() -> Vec<(String, usize, Fate)> {
    let two = |a: &str, b: &str| of(&[tensor("a", "U8", "[4]", a), tensor("b", "U8", "[4]", b)]);
    vec![
        (one("U8", "[4]", "[4,0]"), 4, Refused("ST-T4")),
        (one("U8", "[4]", "[0,4]"), 3, Refused("ST-B1")),
        (one("U8", "[4]", "[0,18446744073709551615]"), 4, Refused("ST-B1")),
        (one("U8", "[4]", "[18446744073709551611,18446744073709551615]"), 4, Refused("ST-B1")),
        (one("U8", "[3]", "[0,4]"), 4, Reported("ST-B2")),
        (one("U8", "[5]", "[0,4]"), 4, Reported("ST-B2")),
        (one("F32", "[]", "[0,4]"), 4, Fine),
        (one("F64", "[]", "[0,4]"), 4, Reported("ST-B2")),
        (one("U8", "[4]", "[0,4]"), 5, Reported("ST-B4")),
        (one("U8", "[4]", "[1,5]"), 5, Reported("ST-B3")),
        (two("[0,4]", "[4,8]"), 8, Fine),
        (two("[4,8]", "[0,4]"), 8, Fine),
        (two("[0,4]", "[3,7]"), 8, Refused("ST-B3")),
        (two("[0,4]", "[5,9]"), 9, Reported("ST-B3")),
        (two("[0,4]", "[0,4]"), 4, Refused("ST-B3")),
        (of(&[tensor("a", "U8", "[0]", "[0,0]"), tensor("b", "U8", "[4]", "[0,4]")]), 4, Fine),
        (
            of(&[tensor("a", "U8", "[0]", "[2,2]"), tensor("b", "U8", "[4]", "[0,4]")]),
            4,
            Refused("ST-B3"),
        ),
        (one("U8", "[4]", "[0,4]"), 4, Reported("ST-N4")),
    ]
}

#[test]
fn headers_past_the_limit_are_not_read() {
    let len = LEN_MAX + 1;
    // A sparse file: nothing of it is read but its length.
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), with_len(len, b"{\"", b"")).unwrap();
    file.as_file().set_len(len + 8).unwrap();
    let source = tet_io::Source::open(file.path()).unwrap();
    let error = super::open(file.path(), source.clone()).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("ST-L1"), "{error}");
    assert_eq!(error.kind(), tet_io::Kind::Limit);
}
