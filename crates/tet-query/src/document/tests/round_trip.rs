//! A query, written as a document and read back, is the same query.

use proptest::prelude::*;

use super::super::*;
use crate::op::{NanPolicy, Op};
use crate::selection::{AxisRef, AxisSelection, Position, Selection, Stop};

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
    prop_oneof![Just(Stop::End), position().prop_map(Stop::Before), word().prop_map(Stop::Through)]
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
    ]
}

fn axis() -> impl Strategy<Value = AxisRef> {
    prop_oneof![any::<i64>().prop_map(AxisRef::Number), word().prop_map(AxisRef::Name)]
}

prop_compose! {
    fn query()(
        dataset in word(),
        layout_version in proptest::option::of(any::<u32>()),
        selection in selection(),
        reduction in proptest::option::of((
            proptest::sample::select(Op::ALL),
            proptest::collection::vec(axis(), 0..4),
        )),
        nan in proptest::option::of(prop_oneof![Just(NanPolicy::Propagate), Just(NanPolicy::Skip)]),
        bytes in proptest::option::of(any::<u64>()),
        bps in proptest::option::of(0..=10_000u16),
        threads in proptest::option::of(0..=65_535usize),
        fold_parallel in proptest::option::of(any::<bool>()),
        device in proptest::option::of(proptest::sample::select(vec!["cpu", "cuda:7", "auto"])),
    ) -> Query {
        let mut query = Query::new(dataset).with_selection(selection);
        query.layout_version = layout_version;
        query.reduction = reduction.map(|(op, axes)| QueryReduction { op, axes });
        query.nan = nan;
        query.execution.memory_budget_bytes = bytes;
        query.execution.memory_budget_percent_bps = bps;
        query.execution.threads = threads;
        query.execution.fold_parallel = fold_parallel;
        query.execution.device = device.map(str::to_owned);
        query
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_query_reads_back_from_its_document(query in query()) {
        let json = query.to_json();
        prop_assert!(!json.contains(char::is_control), "{}", json);
        prop_assert_eq!(Query::from_json(&json), Ok(query), "{}", json);
    }
}
