//! Documents in both syntaxes, and the model they read into.

use super::super::*;
use crate::op::{NanPolicy, Op};
use crate::reduction::{Compare, Filter, Number, Params, WindowAlign, WindowMode};
use crate::selection::{AXES_MAX, AxisRef, AxisSelection, Selection};
use crate::transform::Method;

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
