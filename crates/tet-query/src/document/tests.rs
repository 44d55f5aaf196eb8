//! Accepted and refused documents, each refusal with its exact words; and the way there and back.

#[cfg(feature = "json")]
mod round_trip;

use proptest::prelude::*;

use super::*;
use crate::op::{NanPolicy, Op};
use crate::selection::{AxisSelection, Selection};

fn mean(axes: &[&str]) -> QueryReduction {
    QueryReduction::new(Op::Mean, axes.iter().copied())
}

/// A document in JSON, the same in TOML, and what they ask for.
type Case = (&'static str, &'static str, Query);

fn all() -> Query {
    Query::new("a")
}

fn plain_cases() -> Vec<Case> {
    vec![
        (r#"{"dataset": "a"}"#, "dataset = 'a'", all()),
        (r#" {"dataset":"a","layout_version":1}"#, "layout_version = 1\ndataset = 'a'", {
            let mut query = all();
            query.layout_version = Some(1);
            query
        }),
        (r#"{"dataset":"a","selection":{}}"#, "dataset='a'\nselection={}", all()),
        (r#"{"dataset":"a","nan":"skip","execution":{}}"#, "dataset='a'\nnan='skip'", {
            let mut query = all();
            query.nan = Some(NanPolicy::Skip);
            query
        }),
        (
            r#"{"dataset":"a","execution":{"memory_budget_percent":12.5,"threads":2,
                "fold_parallel":false,"device":"CUDA:1"}}"#,
            "dataset='a'\n[execution]\nmemory_budget_percent_bps=1250\nthreads=2\n\
             fold_parallel=false\ndevice='cuda:1'",
            {
                let mut query = all();
                query.execution.memory_budget_percent_bps = Some(1250);
                query.execution.threads = Some(2);
                query.execution.fold_parallel = Some(false);
                query.execution.device = Some("cuda:1".to_owned());
                query
            },
        ),
    ]
}

fn reduction_cases() -> Vec<Case> {
    let numbered = |axes: &[i64]| QueryReduction::new(Op::Mean, axes.iter().copied());
    vec![
        (r#"{"dataset":"a","mean":[]}"#, "dataset='a'\nmean=[]", all().with_reduction(mean(&[]))),
        (
            r#"{"dataset":"a","mean":true}"#,
            "dataset='a'\nmean=true",
            all().with_reduction(mean(&[])),
        ),
        (
            r#"{"dataset":"a","mean":"t"}"#,
            "dataset='a'\nmean='t'",
            all().with_reduction(mean(&["t"])),
        ),
        (
            r#"{"dataset":"a","mean":-1}"#,
            "dataset='a'\nmean=-1",
            all().with_reduction(numbered(&[-1])),
        ),
        (
            r#"{"dataset":"a","mean":["t","y"]}"#,
            "dataset='a'\nmean=['t','y']",
            all().with_reduction(mean(&["t", "y"])),
        ),
        (
            r#"{"dataset":"a","mean":{"axis":0}}"#,
            "dataset='a'\n[mean]\naxis=0",
            all().with_reduction(numbered(&[0])),
        ),
        (
            r#"{"dataset":"a","mean":{"axes":[0,1]}}"#,
            "dataset='a'\nmean={axes=[0,1]}",
            all().with_reduction(numbered(&[0, 1])),
        ),
    ]
}

fn selection_cases() -> Vec<Case> {
    let some = |start: i64, stop: i64| AxisSelection::range(start, stop);
    vec![
        (
            r#"{"dataset":"a","selection":[{"start":0,"stop":10,"step":2},{"start":null},{}]}"#,
            "dataset='a'\n[[selection]]\nstart=0\nstop=10\nstep=2\n[[selection]]\n[[selection]]",
            all().with_selection(Selection::each([
                some(0, 10).step_by(2),
                AxisSelection::all(),
                AxisSelection::all(),
            ])),
        ),
        (
            r#"{"dataset":"a","selection":{"t":{"index":-1},"y z":{"label":"x"}}}"#,
            "dataset='a'\n[selection]\nt.index=-1\n'y z'.label='x'",
            all().with_selection(Selection::named([
                ("t", AxisSelection::point(-1)),
                ("y z", AxisSelection::point("x")),
            ])),
        ),
        (
            r#"{"dataset":"a","selection":{"t":{"start_label":"b","through_label":"2024-02-01"}}}"#,
            "dataset='a'\nselection.t={start_label='b', through_label=2024-02-01}",
            all().with_selection(Selection::named([(
                "t",
                AxisSelection::through("b", "2024-02-01"),
            )])),
        ),
        (
            r#"{"dataset":"a","selection":"0:10, ..., -1"}"#,
            "dataset='a'\nselection='0:10, ..., -1'",
            all().with_selection(Selection::parse("0:10,...,-1").unwrap()),
        ),
    ]
}

#[test]
fn both_syntaxes_read_into_one_query() {
    for (json, toml, wanted) in [plain_cases(), reduction_cases(), selection_cases()].concat() {
        #[cfg(feature = "json")]
        assert_eq!(Query::parse(json).as_ref(), Ok(&wanted), "{json}");
        #[cfg(feature = "toml")]
        assert_eq!(Query::parse(toml).as_ref(), Ok(&wanted), "{toml}");
        let _ = (json, toml, wanted);
    }
}

/// Message, then `path line:column`, then the hint.
fn told(text: &str) -> (String, String, String) {
    let error = Query::parse(text).expect_err(text);
    let line = error.line().unwrap_or_default();
    let column = error.column().unwrap_or_default();
    let place = format!("{} {line}:{column}", error.path()).trim_start().to_owned();
    (error.message().to_owned(), place, error.hint().unwrap_or_default().to_owned())
}

/// What follows the dataset, the message, `path line:column`, and the hint.
#[cfg(feature = "json")]
const WRONG: &[(&str, &str, &str, &str)] = &[
    (r#","maen":0"#, "unknown key \"maen\"", "maen 1:16", "did you mean \"mean\"?"),
    (r#","datset":"b""#, "unknown key \"datset\"", "datset 1:16", "did you mean \"dataset\"?"),
    (r#","median":0"#, "the key \"median\" is not supported by this version", "median 1:16", ""),
    (r#","filter":{}"#, "the key \"filter\" is not supported by this version", "filter 1:16", ""),
    (
        r#","operation":{}"#,
        "unknown key \"operation\"",
        "operation 1:16",
        "write the reduction itself as a key, such as \"mean\" or \"sum\"",
    ),
    (r#","output":{}"#, "unknown key \"output\"", "output 1:16", ""),
    (r#","dataset":"b""#, "the key \"dataset\" is given twice, first on line 1", "1:16", ""),
    (
        r#","mean":0,"sum":1"#,
        "\"sum\" is a second reduction beside \"mean\"; a query has at \
            most one",
        "sum 1:25",
        "",
    ),
    (
        r#","mean":false"#,
        "an axis, a list of axes, or `true` for all is wanted, not false",
        "mean 1:23",
        "",
    ),
    (
        r#","mean":null"#,
        "an axis, a list of axes, or `true` for all is wanted, not null",
        "mean 1:23",
        "",
    ),
    (
        r#","mean":1.0"#,
        "an axis, a list of axes, or `true` for all is wanted, not 1",
        "mean 1:23",
        "",
    ),
    (r#","mean":[[0]]"#, "an axis by name or number is wanted, not a list", "mean[0] 1:24", ""),
    (r#","mean":{}"#, "\"axis\" or \"axes\" is missing", "mean 1:23", ""),
    (
        r#","mean":{"axis":0,"axes":1}"#,
        "\"axis\" and \"axes\" mean the same; give one of them",
        "mean.axes 1:33",
        "",
    ),
    (r#","mean":{"axis":0,"ddof":1}"#, "unknown key \"ddof\"", "mean.ddof 1:33", ""),
    (
        r#","mean":9223372036854775808"#,
        "a whole number from -9223372036854775808 to \
            9223372036854775807 is wanted, not 9223372036854775808",
        "mean 1:23",
        "",
    ),
    (r#","nan":"ignore""#, "\"propagate\" or \"skip\" is wanted, not \"ignore\"", "nan 1:22", ""),
    (
        r#","layout_version":-1"#,
        "a whole number from 0 to 4294967295 is wanted, not -1",
        "layout_version 1:33",
        "",
    ),
    (
        r#","selection":3"#,
        "a list, an object by dimension name, or text is wanted, not 3",
        "selection 1:28",
        "",
    ),
    (
        r#","selection":[3]"#,
        "what is selected of an axis, an object, is wanted, not 3",
        "selection[0] 1:29",
        "",
    ),
    (
        r#","selection":[{},{"strat":1}]"#,
        "unknown key \"strat\"",
        "selection[1].strat 1:33",
        "did you mean \"start\"?",
    ),
    (r#","selection":{"x":{"filter":1}}"#, "unknown key \"filter\"", "selection.x.filter 1:34", ""),
    (
        r#","selection":[{"start":0.5}]"#,
        "a whole number is wanted, not 0.5",
        "selection[0].start 1:38",
        "",
    ),
    (
        r#","selection":[{"step":0}]"#,
        "a whole number from 1 to 18446744073709551615 is wanted, \
            not 0",
        "selection[0].step 1:37",
        "",
    ),
    (
        r#","selection":[{"start":0,"start_label":"a"}]"#,
        "give either \"start\" or \"start_label\"",
        "selection[0].start_label 1:40",
        "",
    ),
    (
        r#","selection":[{"through_label":"b","stop":0}]"#,
        "give one of \"stop\", \"stop_label\" and \"through_label\"",
        "selection[0].stop 1:50",
        "",
    ),
    (
        r#","selection":[{"index":0,"label":"a"}]"#,
        "give either \"index\" or \"label\"",
        "selection[0].label 1:40",
        "",
    ),
    (
        r#","selection":[{"index":0,"step":2}]"#,
        "\"index\" and \"label\" take one position and stand alone",
        "selection[0].step 1:40",
        "",
    ),
    (
        r#","selection":[{"label":5}]"#,
        "a label in quotes is wanted, not 5",
        "selection[0].label 1:38",
        "",
    ),
    (
        r#","selection":{"a.b":{"label":5}}"#,
        "a label in quotes is wanted, not 5",
        "selection[\"a.b\"].label 1:44",
        "",
    ),
    (
        r#","selection":"0:4:0""#,
        "not a selection: a step of at least 1 is wanted",
        "selection 1:33",
        "write positions as `0:10:2, :, -1`, names as `time=0:10, lat=5`, \
            labels in quotes as `time=\"a\":\"b\"`",
    ),
    (
        r#","execution":{"thread":1}"#,
        "unknown key \"thread\"",
        "execution.thread 1:29",
        "did you mean \"threads\"?",
    ),
    (
        r#","execution":{"threads":70000}"#,
        "a whole number from 0 to 65535 is wanted, not 70000",
        "execution.threads 1:39",
        "",
    ),
    (
        r#","execution":{"memory_budget_percent":101}"#,
        "a whole number from 0 to 100 is wanted, not 101",
        "execution.memory_budget_percent 1:53",
        "",
    ),
    (
        r#","execution":{"memory_budget_percent":-0.5}"#,
        "a number from 0 to 100 is wanted, not -0.5",
        "execution.memory_budget_percent 1:53",
        "",
    ),
    (
        r#","execution":{"memory_budget_percent":5,"memory_budget_percent_bps":5}"#,
        "\"memory_budget_percent\" and \"memory_budget_percent_bps\" mean the same; give one of \
            them",
        "execution.memory_budget_percent_bps 1:55",
        "",
    ),
    (
        r#","execution":{"device":"abacus"}"#,
        "a device is wanted, not \"abacus\"",
        "execution.device 1:38",
        "",
    ),
    (
        r#","execution":{"fold_parallel":1}"#,
        "`true` or `false` is wanted, not 1",
        "execution.fold_parallel 1:45",
        "",
    ),
    (r#","execution":[]"#, "`execution`, an object, is wanted, not a list", "execution 1:28", ""),
];

#[cfg(feature = "json")]
#[test]
fn wrong_documents_are_refused_with_these_words() {
    for (rest, message, place, hint) in WRONG {
        let text = format!("{{\"dataset\":\"a\"{rest}}}");
        let wanted = ((*message).to_owned(), (*place).to_owned(), (*hint).to_owned());
        assert_eq!(told(&text), wanted, "{text}");
    }
    for (text, message, place) in [
        ("{}", "the key \"dataset\" is missing", "1:1"),
        ("{\"dataset\":3}", "a dataset's name is wanted, not 3", "dataset 1:12"),
        ("{\"dataset\":\"a\"}]", "nothing may follow the document", "1:16"),
    ] {
        assert_eq!(told(text), (message.to_owned(), place.to_owned(), String::new()), "{text}");
    }
    let error = Query::from_json("[1]").unwrap_err();
    assert_eq!(error.message(), "a query document, an object, is wanted, not a list");
}

#[cfg(feature = "json")]
#[test]
fn an_error_shows_its_place() {
    let error = Query::parse("{\n  \"dataset\": \"temp\",\n  \"maen\": \"time\"\n}\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown key \"maen\"\n  line 3, column 3, at maen\n      \"maen\": \"time\"\n      ^^^^^^\n  \
         allowed: dataset, layout_version, selection, nan, execution, count, sum, mean, min, max\n  \
         did you mean \"mean\"?"
    );
}

#[cfg(feature = "toml")]
#[test]
fn toml_errors_point_at_their_place() {
    for (text, message, place) in [
        ("dataset = 'a'\nmaen = 0", "unknown key \"maen\"", "maen 2:1"),
        (
            "dataset = 'a'\n[[selection]]\n[[selection]]\nstrat = 1",
            "unknown key \"strat\"",
            "selection[1].strat 4:1",
        ),
        ("mean = 0", "the key \"dataset\" is missing", "1:1"),
        (
            "dataset = 'a'\n[mean]\naxis = 1.5",
            "an axis, a list of axes, or `true` for all is wanted, not 1.5",
            "mean.axis 3:8",
        ),
        ("", "the key \"dataset\" is missing", "1:1"),
    ] {
        let (found, at, _) = told(text);
        assert_eq!((found.as_str(), at.as_str()), (message, place), "{text}");
    }
}

#[test]
fn a_document_past_its_limit_is_a_limit() {
    let text = format!("dataset = 'a' # {}", "x".repeat(LEN_MAX));
    let error = Query::parse(&text).unwrap_err();
    assert_eq!(error.kind(), tet_io::Kind::Limit);
    assert_eq!(error.line(), None);
}

#[test]
fn execution_lies_over_the_callers() {
    let base = crate::budget::Execution { threads: 3, memory_budget: 77, ..Default::default() };
    let mut asked = QueryExecution::default();
    let over = |asked: &QueryExecution| {
        let execution = asked.over(&base, 1 << 40);
        (execution.threads, execution.memory_budget)
    };
    assert_eq!(over(&asked), (3, 77));
    asked.fold_parallel = Some(false);
    asked.memory_budget_percent_bps = Some(2500);
    assert_eq!(over(&asked), (1, 1 << 38));
    asked.threads = Some(5);
    asked.memory_budget_bytes = Some(99);
    assert_eq!(over(&asked), (5, 99));
    asked.memory_budget_bytes = Some(0);
    assert_eq!(over(&asked), (5, 77));
    asked.device = Some("cuda".to_owned());
    assert_eq!(asked.notes(), ["device \"cuda\" is answered by the cpu"]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_query_or_an_error_that_shows(text in "\\PC{0,60}|[{}\\[\\]\":,a-z0-9= \n]{0,60}") {
        for read in [Query::parse, Query::from_json, Query::from_toml] {
            if let Err(error) = read(&text) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
        let _ = Selection::parse(&text);
    }
}
