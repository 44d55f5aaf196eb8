//! Documents in both syntaxes, and the model they read into.

use tet_query::{
    AxisRef, AxisSelection, Compare, Filter, Method, NanPolicy, Number, Op, Params, Selection,
    WindowAlign, WindowMode,
};

use super::super::*;

fn mean(axes: &[&str]) -> QueryReduction {
    QueryReduction::new(Op::Mean, axes.iter().copied())
}

/// A document in JSON, the same in TOML, and the query they are.
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

fn param_cases() -> Vec<Case> {
    let reduced = |op: Op, axes: &[i64], params: Params| {
        let axes = axes.iter().copied();
        all().with_reduction(QueryReduction::new(op, axes).with_params(params))
    };
    let none = Params::default;
    vec![
        (
            r#"{"dataset":"a","std":{"axis":0,"ddof":1}}"#,
            "dataset='a'\nstd={axis=0, ddof=1}",
            reduced(Op::Std, &[0], Params { ddof: 1, ..none() }),
        ),
        (
            r#"{"dataset":"a","quantile":{"q":[0,0.5]}}"#,
            "dataset='a'\nquantile.q=[0, 0.5]",
            reduced(Op::Quantile, &[], Params { q: vec![0.0, 0.5], ..none() }),
        ),
        (
            r#"{"dataset":"a","quantile":{"q":1,"axes":[1,0]}}"#,
            "dataset='a'\nquantile={q=1, axes=[1, 0]}",
            reduced(Op::Quantile, &[1, 0], Params { q: vec![1.0], one_q: true, ..none() }),
        ),
        (
            r#"{"dataset":"a","histogram":[]}"#,
            "dataset='a'\nhistogram=true",
            reduced(Op::Histogram, &[], Params { bins: 10, ..none() }),
        ),
        (
            r#"{"dataset":"a","histogram":{"bins":3,"min":-1,"max":2.5,"axis":0}}"#,
            "dataset='a'\n[histogram]\nbins=3\nmin=-1\nmax=2.5\naxis=0",
            reduced(Op::Histogram, &[0], Params { bins: 3, range: Some((-1.0, 2.5)), ..none() }),
        ),
        (
            r#"{"dataset":"a","null_count":{"fill":-9999}}"#,
            "dataset='a'\nnull_count.fill=-9999",
            reduced(Op::NullCount, &[], Params { fill: Some(Number::Int(-9999)), ..none() }),
        ),
    ]
}

fn cell_cases() -> Vec<Case> {
    let summed = || all().with_reduction(QueryReduction::new(Op::Sum, [AxisRef::from("y")]));
    vec![
        (
            r#"{"dataset":"a","sum":"y","group_by":["t",1]}"#,
            "dataset='a'\nsum='y'\ngroup_by=['t',1]",
            {
                let mut query = summed();
                query.group_by = Some(GroupBy::Axes(vec!["t".into(), 1.into()]));
                query
            },
        ),
        (
            r#"{"dataset":"a","sum":"y","group_by":{"by":"labels","axes":["t"]}}"#,
            "dataset='a'\nsum='y'\n[group_by]\nby='labels'\naxis='t'",
            {
                let mut query = summed();
                query.group_by = Some(GroupBy::Labels(vec!["t".into()]));
                query
            },
        ),
        (
            r#"{"dataset":"a","sum":"y","window":{"axis":"t","size":3,"mode":"rolling","step":2,
                "pad":"0","align":"end","min_count":2}}"#,
            "dataset='a'\nsum='y'\n[window]\naxis='t'\nsize=3\nmode='rolling'\nstep=2\npad=0\n\
             align='end'\nmin_count=2",
            {
                let mut query = summed();
                query.window = Some(QueryWindow {
                    axis: "t".into(),
                    size: 3,
                    mode: WindowMode::Rolling,
                    step: Some(2),
                    pad: Pad::Zero,
                    align: WindowAlign::End,
                    min_count: Some(2),
                });
                query
            },
        ),
    ]
}

fn array_cases() -> Vec<Case> {
    vec![
        (
            r#"{"dataset":"a","label_filter":{"axis":-1,"eq":"2024-01-01"},"filter":{"ge":0,
                "is_not_null":true}}"#,
            "dataset='a'\n[label_filter]\naxis=-1\neq=2024-01-01\n[filter]\nge=0\nis_not_null=true",
            {
                let mut query = all();
                query.label_filter =
                    Some(LabelFilter { axis: (-1).into(), eq: "2024-01-01".to_owned() });
                let tests = vec![(Compare::Ge, Number::Int(0))];
                query.filter = Some(Filter { tests, is_not_null: true, ..Filter::default() });
                query
            },
        ),
        (
            r#"{"dataset":"a","align":{"with":"b","axes":[0]}}"#,
            "dataset='a'\nalign={with='b', axes=0}",
            {
                let mut query = all();
                query.align = Some(QueryAlign { with: "b".to_owned(), axes: vec![0.into()] });
                query
            },
        ),
        (
            r#"{"dataset":"a","transform":{"method":"minmax","axis":"t"},"write":"sidecar"}"#,
            "dataset='a'\nwrite='sidecar'\n[transform]\nmethod='minmax'\naxes=['t']",
            {
                let mut query = all();
                let axes = vec!["t".into()];
                query.transform = Some(QueryTransform { method: Method::MinMax, axes });
                let (target, base) = (WriteTarget::Tet, WriteBase::File);
                query.write = Some(Write { target, base, path: None, timestamp: false });
                query
            },
        ),
        (r#"{"dataset":"a","spill":"x"}"#, "dataset='a'\nwrite={target='spill', path='x'}", {
            let mut query = all();
            let (target, base) = (WriteTarget::Raw, WriteBase::File);
            let path = Some("x".to_owned());
            query.write = Some(Write { target, base, path, timestamp: false });
            query
        }),
    ]
}

#[test]
fn both_syntaxes_read_into_one_query() {
    let cases = [
        plain_cases(),
        reduction_cases(),
        param_cases(),
        selection_cases(),
        cell_cases(),
        array_cases(),
    ]
    .concat();
    for (json, toml, wanted) in cases {
        #[cfg(feature = "json")]
        assert_eq!(Query::parse(json).as_ref(), Ok(&wanted), "{json}");
        #[cfg(feature = "toml")]
        assert_eq!(Query::parse(toml).as_ref(), Ok(&wanted), "{toml}");
        let _ = (json, toml, wanted);
    }
}
