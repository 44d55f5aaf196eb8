//! Any bytes are a query or an error that shows, soon.

use proptest::prelude::*;

use tet_query::Selection;

use super::super::*;

/// Documents that say everything, to be damaged.
const SOUND: &[&str] = &[
    r#"{"dataset": "a", "layout_version": 1, "selection": [{"start": 0, "stop": -1, "step": 2}],
        "quantile": {"q": [0.25, 1], "axes": [0, "t"]}, "filter": {"ge": 0.5, "is_not_null": true},
        "group_by": {"by": "labels", "axes": ["t"]}, "label_filter": {"axis": "t", "eq": "x"},
        "nan": "skip", "write": {"target": "npy", "path": "a.npy"}, "execution": {"threads": 1}}"#,
    r#"{"dataset": "a", "window": {"axis": "t", "size": 3, "mode": "rolling", "step": 2,
        "pad": "nan", "align": "end", "min_count": 1}, "var": {"axis": 0, "ddof": 1}}"#,
    r#"{"dataset": "a", "align": {"with": "b", "axes": ["t", 1]}}"#,
    "dataset = 'a'\nspill = 'a.bin'\nselection = '0:3, ...'\n[transform]\nmethod = 'zscore'\n\
     axis = 't'\n[histogram]\nbins = 10\nmin = 0\nmax = 1\n[filter]\nlt = 1e3\n",
];

fn is_told(bytes: &[u8]) -> Result<(), TestCaseError> {
    let text = String::from_utf8_lossy(bytes);
    for read in [Query::parse, Query::from_json, Query::from_toml] {
        match read(&text) {
            Err(error) => prop_assert!(!error.to_string().is_empty()),
            Ok(query) => {
                let json = query.to_json();
                for again in [Query::from_json(&json), Query::from_toml(&query.to_toml())] {
                    prop_assert_eq!(again.map(|query| query.to_json()), Ok(json.clone()));
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_query_or_an_error_that_shows(
        text in "\\PC{0,60}|[{}\\[\\]\":,a-z0-9= \n]{0,60}",
    ) {
        is_told(text.as_bytes())?;
        let _ = Selection::parse(&text);
    }

    #[test]
    fn any_bytes_are_a_query_or_an_error_that_shows(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        is_told(&bytes)?;
    }

    #[test]
    fn a_damaged_document_is_a_query_or_an_error_that_shows(
        (which, cuts) in (0..SOUND.len(), proptest::collection::vec(
            (any::<prop::sample::Index>(), 0..12usize, "[{}\\[\\]\":,.a-z0-9=\\-\n ]{0,6}"), 1..5,
        )),
    ) {
        let mut bytes = SOUND[which].as_bytes().to_vec();
        for (at, len, with) in cuts {
            let start = at.index(bytes.len() + 1);
            let end = (start + len).min(bytes.len());
            bytes.splice(start..end, with.bytes());
        }
        is_told(&bytes)?;
    }

    #[test]
    fn swapped_parts_of_documents_are_a_query_or_an_error_that_shows(
        (one, other) in (0..SOUND.len(), 0..SOUND.len()),
        (from, to) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
    ) {
        let (one, other) = (SOUND[one].as_bytes(), SOUND[other].as_bytes());
        let (head, tail) = (&one[..from.index(one.len())], &other[to.index(other.len())..]);
        is_told(&[head, tail].concat())?;
    }
}

#[test]
fn long_documents_are_read_or_refused_soon() {
    let many = |one: &str| one.repeat((LEN_MAX - 100) / one.len());
    let lines = many("x\n");
    for text in [
        format!("{{\"dataset\": \"a\", \"mean\": [{}0]}}", many("0, ")),
        format!("{{\"dataset\": \"a\", \"selection\": [{}{{}}]}}", many("{}, ")),
        format!("{{\"dataset\": \"a\", \"quantile\": {{\"q\": [{}0]}}}}", many("0,")),
        format!("{{\"dataset\": \"a\", \"{}\": 0}}", many("k")),
        format!("{{\"dataset\": \"a\",\n\"filter\": {{\"{}\": 0}}}}", many("k")),
        format!("{{\"dataset\": \"{}\"}}", many("\\u0041")),
        format!("{{\"dataset\": \"a\", \"mean\": {}", many("[")),
        format!("{{\"dataset\": \"a\", \"histogram\": {{\"bins\": {}}}}}", many("9")),
        format!("dataset = 'a'\n{}", many("# x\n")),
        format!("dataset = 'a'\nmean = [{}0]", many("0, ")),
        format!("dataset = '''\n{lines}'''\nmean = 7.5"),
        format!("dataset = 'a'\n{} = 1", many("a.")),
        format!(
            "dataset = 'a'\n{}",
            (0..40_000).map(|it| format!("k{it} = 1\n")).collect::<String>()
        ),
        format!("{{{}}}", (0..40_000).map(|it| format!("\"k{it}\": 1,\n")).collect::<String>()),
    ] {
        assert!(text.len() <= LEN_MAX, "{}", &text[..40]);
        match Query::parse(&text) {
            Ok(query) => assert!(!query.dataset.is_empty()),
            Err(error) => assert!(error.to_string().len() < 10 * LEN_MAX),
        }
    }
}
