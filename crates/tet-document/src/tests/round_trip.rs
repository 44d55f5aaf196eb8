//! A query, written as a document and read back, is the same query.

use proptest::prelude::*;

use tet_query::{
    AxisRef, AxisSelection, Compare, Filter, Method, NanPolicy, Number, Op, Params, Position,
    Selection, Stop, WindowAlign, WindowMode,
};

use super::super::*;

fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,6}", "\\PC{0,6}", Just("a\"b\\\u{7}\u{202e}\u{1f600}".to_owned())]
}

fn position() -> impl Strategy<Value = Position> {
    let most = i128::from(u64::MAX);
    prop_oneof![
        (-20i128..20).prop_map(Position::Index),
        (-most..=most).prop_map(Position::Index),
        word().prop_map(Position::Label),
    ]
}

fn stop() -> impl Strategy<Value = Stop> {
    prop_oneof![
        Just(Stop::End),
        position().prop_map(Stop::Before),
        word().prop_map(|it| Stop::Through(Position::Label(it)))
    ]
}

fn entry() -> impl Strategy<Value = AxisSelection> {
    let step = prop_oneof![Just(1), 1..=u64::MAX];
    prop_oneof![
        position().prop_map(AxisSelection::Point),
        (proptest::option::of(position()), stop(), step)
            .prop_map(|(start, stop, step)| AxisSelection::Range { start, stop, step }),
    ]
}

fn selection() -> impl Strategy<Value = Selection> {
    let named = proptest::collection::btree_map(word(), entry(), 0..4);
    prop_oneof![
        Just(Selection::all()),
        proptest::collection::vec(entry(), 0..5).prop_map(Selection::each),
        named.prop_map(Selection::named),
        Just(Selection::parse("0:3, ..., \"x\":, -2").unwrap()),
        Just(Selection::parse("lat=40:60, x#-3, lon~8 within 0.5").unwrap()),
    ]
}

fn axis() -> impl Strategy<Value = AxisRef> {
    prop_oneof![any::<i64>().prop_map(AxisRef::Number), word().prop_map(AxisRef::Name)]
}

fn axes(least: usize) -> impl Strategy<Value = Vec<AxisRef>> {
    proptest::collection::vec(axis(), least..4)
}

fn number() -> impl Strategy<Value = Number> {
    let float = any::<f64>().prop_filter("NaN equals nothing", |float| !float.is_nan());
    prop_oneof![any::<i128>().prop_map(Number::Int), float.prop_map(Number::Float)]
}

fn params(op: Op) -> BoxedStrategy<Params> {
    let plain = Params::for_op(op);
    match op {
        Op::Var | Op::Std | Op::NanVar | Op::NanStd | Op::Covariance => {
            any::<u32>().prop_map(move |ddof| Params { ddof, ..plain.clone() }).boxed()
        }
        Op::Quantile => (proptest::collection::vec(0.0..=1.0, 1..5), any::<bool>())
            .prop_map(move |(mut q, one_q)| {
                q.truncate(if one_q { 1 } else { 4 });
                Params { q, one_q, ..plain.clone() }
            })
            .boxed(),
        Op::Histogram => {
            let edges = (-1e300..1e300, 0.0..1e300).prop_map(|(min, wide)| (min, min + wide));
            (1..=Params::BINS_MAX, proptest::option::of(edges))
                .prop_map(move |(bins, range)| Params { bins, range, ..plain.clone() })
                .boxed()
        }
        Op::NullCount => proptest::option::of(number())
            .prop_map(move |fill| Params { fill, ..plain.clone() })
            .boxed(),
        _ => Just(plain).boxed(),
    }
}

fn reduction() -> impl Strategy<Value = QueryReduction> {
    proptest::sample::select(Op::ALL).prop_flat_map(|op| {
        let matrix = matches!(op, Op::Covariance | Op::Correlation);
        let axes = if matrix { axis().prop_map(|it| vec![it]).boxed() } else { axes(0).boxed() };
        (axes, params(op)).prop_map(move |(axes, params)| QueryReduction { op, axes, params })
    })
}

fn filter() -> impl Strategy<Value = Filter> {
    use Compare::{Eq, Ge, Gt, Le, Lt, Ne};
    let compares = proptest::sample::subsequence(vec![Eq, Ne, Lt, Le, Gt, Ge], 1..=6);
    let numbers = proptest::collection::vec(number(), 6);
    (compares, numbers, 0..3).prop_map(|(compares, numbers, null)| Filter {
        tests: compares.into_iter().zip(numbers).collect(),
        is_null: null == 1,
        is_not_null: null == 2,
        fill: None,
    })
}

fn window() -> impl Strategy<Value = QueryWindow> {
    let rolling = proptest::option::of(1..=QueryWindow::SIZE_MAX);
    let size = prop_oneof![1..10_u64, Just(QueryWindow::SIZE_MAX)];
    let pad = proptest::sample::select(Pad::ALL);
    (axis(), size, proptest::option::of(rolling), pad, any::<bool>(), any::<bool>()).prop_map(
        |(axis, size, rolling, pad, end, counted)| {
            let mode = if rolling.is_some() { WindowMode::Rolling } else { WindowMode::Bins };
            let end = end && !(mode == WindowMode::Rolling && pad == Pad::None);
            QueryWindow {
                axis,
                size,
                mode,
                step: rolling.flatten(),
                pad,
                align: if end { WindowAlign::End } else { WindowAlign::Start },
                min_count: counted.then_some(size),
            }
        },
    )
}

fn group_by() -> impl Strategy<Value = GroupBy> {
    prop_oneof![axes(1).prop_map(GroupBy::Axes), axes(1).prop_map(GroupBy::Labels)]
}

/// An operation, with the keys that may come with it.
#[derive(Clone, Debug)]
enum Computed {
    Nothing,
    Reduction(QueryReduction, Option<GroupBy>, Option<QueryWindow>),
    Transform(QueryTransform),
    Align(QueryAlign),
}

fn computed() -> impl Strategy<Value = Computed> {
    let method = proptest::sample::select(Method::ALL);
    let transform = (method, axes(0)).prop_map(|(method, axes)| QueryTransform { method, axes });
    let with = word().prop_filter("a name", |name| !name.is_empty());
    let align = (with, axes(1)).prop_map(|(with, axes)| QueryAlign { with, axes });
    let cut = (proptest::option::of(group_by()), proptest::option::of(window()));
    let reduced = (reduction(), cut).prop_map(|(reduction, (group_by, window))| {
        // No place is sought among pads.
        let seeks = matches!(reduction.op, Op::ArgMin | Op::ArgMax);
        let window = window.filter(|it| group_by.is_none() && (!seeks || it.pad == Pad::None));
        match reduction.op {
            Op::Covariance | Op::Correlation => Computed::Reduction(reduction, None, None),
            Op::Median | Op::Quantile | Op::Histogram => {
                Computed::Reduction(reduction, group_by, None)
            }
            _ => Computed::Reduction(reduction, group_by, window),
        }
    });
    prop_oneof![
        1 => Just(Computed::Nothing),
        6 => reduced,
        1 => transform.prop_map(Computed::Transform),
        1 => align.prop_map(Computed::Align),
    ]
}

fn write() -> impl Strategy<Value = Write> {
    let written = |text: &str| Query::from_json(&format!("{{\"dataset\":\"a\",{text}}}")).unwrap();
    let writes = [
        r#""write":"ram""#,
        r#""write":"spill""#,
        r#""write":"sidecar""#,
        r#""write":{"target":"sidecar","timestamp":true}"#,
        r#""write":{"target":"sidecar","path":"a\u001b b"}"#,
        r#""write":{"target":"npy","path":"\"\""}"#,
        r#""write":{"target":"raw","path":"a"}"#,
        r#""write":{"target":"tet","path":"a"}"#,
        r#""spill":"a""#,
    ];
    proptest::sample::select(writes.map(|text| written(text).write.unwrap()).to_vec())
}

prop_compose! {
    fn execution()(
        bytes in proptest::option::of(any::<u64>()),
        bps in proptest::option::of(0..=10_000u16),
        threads in proptest::option::of(0..=65_535usize),
        fold_parallel in proptest::option::of(any::<bool>()),
        device in proptest::option::of(proptest::sample::select(vec!["cpu", "cuda:7", "auto"])),
    ) -> QueryExecution {
        QueryExecution {
            memory_budget_bytes: bytes,
            memory_budget_percent_bps: bps,
            threads,
            fold_parallel,
            device: device.map(str::to_owned),
        }
    }
}

prop_compose! {
    fn query()(
        dataset in word().prop_filter("a name", |name| !name.is_empty()),
        layout_version in proptest::option::of(any::<u32>()),
        selection in selection(),
        computed in computed(),
        filter in proptest::option::of(filter()),
        label in proptest::option::of((axis(), word())),
        skip in any::<bool>(),
        write in proptest::option::of(write()),
        execution in execution(),
    ) -> Query {
        let mut query = Query::new(dataset);
        query.layout_version = layout_version;
        query.execution = execution;
        if let Computed::Align(align) = computed {
            query.align = Some(align);
            return query;
        }
        query.selection = selection;
        query.filter = filter;
        query.label_filter = label.map(|(axis, eq)| LabelFilter { axis, eq });
        query.write = write;
        query.nan = skip.then_some(NanPolicy::Skip);
        match computed {
            Computed::Reduction(reduction, group_by, window) => {
                if matches!(reduction.op, Op::Covariance | Op::Correlation) {
                    query.filter = None;
                    query.label_filter = None;
                    query.nan = skip.then_some(NanPolicy::Propagate);
                }
                if let Some(window) = window {
                    query.window = Some(window);
                }
                query.group_by = group_by;
                query.reduction = Some(reduction);
            }
            Computed::Transform(transform) => query.transform = Some(transform),
            Computed::Nothing | Computed::Align(_) => {}
        }
        query
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[cfg(feature = "json")]
    #[test]
    fn a_query_reads_back_from_its_document(query in query()) {
        let json = query.to_json();
        prop_assert!(!json.contains(char::is_control), "{}", json);
        prop_assert_eq!(Query::from_json(&json), Ok(query), "{}", json);
    }

    #[cfg(all(feature = "json", feature = "toml"))]
    #[test]
    fn a_query_reads_back_from_toml(query in query()) {
        let toml = query.to_toml();
        prop_assert_eq!(Query::from_toml(&toml), Ok(query), "{}", toml);
    }
}
