//! Documents and what becomes of them: `accept.txt` and `reject.txt`, which are read only, and
//! `fits.txt` and `misfits.txt`, which are held against a file.
//!
//! A case is a document, the lines of its result, and an empty line. `BLESS=1`
//! rewrites the files; the difference is then read line by line.

use super::super::*;

/// Reads a document that is accepted, and writes it again.
fn accepted(text: &str) -> String {
    let query = Query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let (json, toml) = (query.to_json(), query.to_toml());
    // Not the queries are compared: NaN, which may be a fill value, equals nothing.
    for again in [Query::from_json(&json), Query::from_toml(&toml)] {
        assert_eq!(again.map(|query| query.to_json()).as_ref(), Ok(&json), "{toml}");
    }
    format!("= {json}\n")
}

/// The message, the place with the characters above the caret, and the hint.
fn refused(text: &str) -> String {
    describe(&Query::parse(text).expect_err(text))
}

/// An error line by line.
pub(crate) fn describe(error: &DocumentError) -> String {
    let text = error.message();
    assert_eq!(error.kind(), tet_io::Kind::Usage, "{text}");
    let line = error.line().expect("a document has places");
    let column = error.column().expect("a document has places");
    let mut lines = format!("! {}\n@ {line}:{column} {}", error.message(), error.path());
    lines.truncate(lines.trim_end().len());
    lines.push('\n');
    if let Some(hint) = error.hint() {
        lines.push_str(&format!("? {hint}\n"));
    }
    lines
}

/// Runs all cases of a file; gives how many there are.
pub(crate) fn check(name: &str, text: &str, tell: impl Fn(&str) -> String) -> usize {
    let mut found = String::new();
    let cases = text.split("\n\n").map(str::trim_end).filter(|case| !case.is_empty());
    let mut count = 0;
    for case in cases {
        let is_result =
            |line: &&str| ["! ", "@ ", "? ", "= ", "> "].iter().any(|mark| line.starts_with(mark));
        let document: Vec<&str> = case.lines().take_while(|line| !is_result(line)).collect();
        let document = document.join("\n");
        if 0 < count {
            found.push('\n');
        }
        found.push_str(&format!("{document}\n{}", tell(&document)));
        count += 1;
    }
    if std::env::var_os("BLESS").is_some() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/");
        std::fs::write(format!("{folder}{name}"), found).unwrap();
    } else {
        for (found, wanted) in found.lines().zip(text.lines()) {
            assert_eq!(found, wanted, "{name}: run with BLESS=1 to rewrite it");
        }
        assert_eq!(found, text, "{name}: run with BLESS=1 to rewrite it");
    }
    count
}

#[test]
fn documents_are_accepted_as_they_are_meant() {
    assert!(60 <= check("accept.txt", include_str!("accept.txt"), accepted));
}

#[test]
fn documents_are_refused_with_these_words_at_these_places() {
    assert!(120 <= check("reject.txt", include_str!("reject.txt"), refused));
}

#[test]
fn an_error_shows_its_place() {
    let text = "{\n  \"dataset\": \"temp\",\n  \"selection\": [{\"strat\": 1}]\n}\n";
    let error = Query::parse(text).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown key \"strat\"\n  line 3, column 18, at selection[0].strat\n      \
         \"selection\": [{\"strat\": 1}]\n                     ^^^^^^^\n  allowed: start, stop, step, \
         index, label, nearest, start_label, stop_label, through_label\n  did you mean \"start\"?"
    );
}

#[test]
fn an_unknown_key_at_the_top_lists_all_keys() {
    let error = Query::parse("{\"dataset\": \"temp\", \"maen\": 0}").unwrap_err();
    let allowed = error.allowed().join(", ");
    assert_eq!(
        allowed,
        "dataset, layout_version, selection, filter, label_filter, group_by, window, align, \
         transform, nan, write, spill, execution, count, sum, product, mean, min, max, arg_min, \
         arg_max, var, std, norm_l1, norm_l2, all_finite, any_nan, any_inf, nan_count, inf_count, \
         null_count, nan_sum, nan_mean, nan_var, nan_std, nan_min, nan_max, median, quantile, \
         histogram, covariance, correlation"
    );
}

/// The manual's documents are queries, but for the one that shows a mistake.
#[test]
fn the_manual_holds() {
    let manual = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/query.md");
    let manual = std::fs::read_to_string(manual).expect("the manual");
    let mut documents: Vec<&str> = Vec::new();
    for block in manual.split("\n```").skip(1).step_by(2) {
        let (sort, body) = block.split_once('\n').expect("a block");
        match sort {
            "json" | "toml" => documents.push(body),
            _ => documents.extend(body.lines().filter_map(|line| {
                line.strip_prefix("$ tet query climate.tet '")?.strip_suffix('\'')
            })),
        }
    }
    let (wrong, sound): (Vec<&str>, Vec<&str>) =
        documents.into_iter().partition(|text| text.contains("maen"));
    assert!(50 < sound.len() && wrong.len() == 1);
    sound.into_iter().for_each(|text| drop(accepted(text)));
    assert!(Query::parse(wrong[0]).is_err());
}
