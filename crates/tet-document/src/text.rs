//! The model -> the tree of a document, which is written as JSON or TOML.

mod json;
mod selection;
mod toml;

use tet_query::{
    AxisRef, AxisSelection, Filter, Number, Op, Position, Selection, SelectionForm, Stop,
    WindowAlign,
};

use super::keys;
use super::query::{
    GroupBy, LabelFilter, Pad, Query, QueryAlign, QueryExecution, QueryReduction, QueryTransform,
    QueryWindow, Write, WriteBase, WriteTarget,
};
use super::tree::{Entry, Node, Value};

/// Writes the query as one line of JSON.
pub(crate) fn json(query: &Query) -> String {
    json::text(&table(document(query)))
}

/// Writes the query as TOML, one line for every key.
pub(crate) fn toml(query: &Query) -> String {
    toml::text(&document(query))
}

/// Keys and their values, in order.
type Members = Vec<(String, Value)>;

fn document(query: &Query) -> Vec<Entry> {
    let Query {
        dataset,
        layout_version,
        selection: selected,
        reduction,
        transform,
        filter,
        group_by,
        window,
        label_filter,
        align,
        nan,
        write,
        execution,
        origin: _,
    } = query;
    let mut members = vec![member("dataset", Value::Text(dataset.clone()))];
    members.extend(layout_version.map(|it| member("layout_version", whole(it))));
    if !selected.is_all() {
        members.push(member("selection", selection(selected)));
    }
    members.extend(filter.iter().map(|it| member("filter", filter_of(it))));
    members.extend(label_filter.iter().map(|it| member("label_filter", label_filter_of(it))));
    members.extend(group_by.iter().map(|it| member("group_by", group_by_of(it))));
    members.extend(window.iter().map(|it| member("window", window_of(it))));
    members.extend(align.iter().map(|it| member("align", align_of(it))));
    members.extend(reduction.iter().map(|it| member(it.op.name(), reduction_of(it))));
    members.extend(transform.iter().map(|it| member("transform", transform_of(it))));
    members.extend(nan.map(|it| member("nan", word(keys::NAN, &it))));
    members.extend(write.iter().map(write_of));
    if *execution != QueryExecution::default() {
        members.push(member("execution", execution_of(execution)));
    }
    entries(members)
}

fn selection(selection: &Selection) -> Value {
    match &selection.form {
        SelectionForm::Around { head, tail } => Value::Text(selection::around(head, tail)),
        SelectionForm::Each(each) if each.iter().any(selection::is_only_text) => {
            Value::Text(selection::around(each, &[]))
        }
        SelectionForm::Each(each) => list(each.iter().map(entry)),
        SelectionForm::Named(named) if named.iter().any(|(_, it)| selection::is_only_text(it)) => {
            Value::Text(selection::named(named))
        }
        SelectionForm::Named(named) => {
            let name = |axis: &AxisRef| match axis {
                AxisRef::Number(number) => number.to_string(),
                AxisRef::Name(name) => name.clone(),
            };
            table(entries(named.iter().map(|(axis, it)| (name(axis), entry(it))).collect()))
        }
    }
}

fn entry(entry: &AxisSelection) -> Value {
    let mut members = Members::new();
    match entry {
        AxisSelection::Point(position) => members.push(place("index", "label", position)),
        AxisSelection::Range { start, stop, step } => {
            members.extend(start.iter().map(|start| place("start", "start_label", start)));
            match stop {
                Stop::End => {}
                Stop::Before(stop) => members.push(place("stop", "stop_label", stop)),
                Stop::Through(stop) => members.push(place("stop", "through_label", stop)),
            }
            if *step != 1 {
                members.push(member("step", whole(*step)));
            }
        }
        // Text alone says these.
        AxisSelection::List(_) | AxisSelection::Among { .. } => {}
    }
    table(entries(members))
}

fn place(by_index: &str, by_label: &str, position: &Position) -> (String, Value) {
    match position {
        Position::Index(index) => member(by_index, Value::Integer(*index)),
        // Without a name a whole number is a position.
        Position::Number(index) => member(by_index, Value::Integer(*index)),
        Position::Label(label) => member(by_label, text(label)),
        // No text reads into a range of these.
        Position::Nearest { label, .. } => member("nearest", text(label)),
    }
}

fn filter_of(filter: &Filter) -> Value {
    let Filter { tests, is_null, is_not_null, fill: _ } = filter;
    let test = |(compare, number)| {
        let Value::Text(key) = word(keys::COMPARE, compare) else { return None };
        Some((key, number_of(number)))
    };
    let mut members: Members =
        tests.iter().map(|(compare, number)| (compare, number)).filter_map(test).collect();
    members.extend(is_null.then(|| member("is_null", Value::Bool(true))));
    members.extend(is_not_null.then(|| member("is_not_null", Value::Bool(true))));
    table(entries(members))
}

fn label_filter_of(filter: &LabelFilter) -> Value {
    table(entries(vec![member("axis", axis(&filter.axis)), member("eq", text(&filter.eq))]))
}

fn group_by_of(group_by: &GroupBy) -> Value {
    match group_by {
        GroupBy::Axes(axes) => list(axes.iter().map(axis)),
        GroupBy::Labels(axes) => table(entries(vec![
            member("by", text("labels")),
            member("axes", list(axes.iter().map(axis))),
        ])),
    }
}

fn window_of(window: &QueryWindow) -> Value {
    let QueryWindow { axis: along, size, mode, step, pad, align, min_count } = window;
    let mut members = vec![
        member("axis", axis(along)),
        member("size", whole(*size)),
        member("mode", word(keys::MODE, mode)),
    ];
    members.extend(step.map(|it| member("step", whole(it))));
    if *pad != Pad::None {
        members.push(member("pad", word(keys::PAD, pad)));
    }
    if *align != WindowAlign::Start {
        members.push(member("align", word(keys::WINDOW_ALIGN, align)));
    }
    members.extend(min_count.map(|it| member("min_count", whole(it))));
    table(entries(members))
}

fn align_of(align: &QueryAlign) -> Value {
    let axes = list(align.axes.iter().map(axis));
    table(entries(vec![member("with", text(&align.with)), member("axes", axes)]))
}

fn reduction_of(reduction: &QueryReduction) -> Value {
    let QueryReduction { op, axes, params } = reduction;
    let mut members = Members::new();
    match op {
        Op::Quantile => {
            let mut q = params.q.iter().copied().map(Value::Float);
            let one = if params.one_q { q.next() } else { None };
            members.push(member("q", one.unwrap_or_else(|| list(q))));
        }
        Op::Histogram => {
            members.push(member("bins", whole(params.bins)));
            if let Some((min, max)) = params.range {
                members
                    .extend([("min", min), ("max", max)].map(|(key, it)| member(key, float(it))));
            }
        }
        Op::NullCount => members.extend(params.fill.iter().map(|it| member("fill", number_of(it)))),
        _ if params.ddof != 0 => members.push(member("ddof", whole(params.ddof))),
        _ => {}
    }
    if members.is_empty() {
        return axes_of(axes);
    }
    if !axes.is_empty() {
        members.push(member(if axes.len() == 1 { "axis" } else { "axes" }, axes_of(axes)));
    }
    table(entries(members))
}

fn transform_of(transform: &QueryTransform) -> Value {
    let QueryTransform { method, axes } = transform;
    let mut members = vec![member("method", text(method.name()))];
    if !axes.is_empty() {
        members.push(member(if axes.len() == 1 { "axis" } else { "axes" }, axes_of(axes)));
    }
    table(entries(members))
}

fn write_of(write: &Write) -> (String, Value) {
    let Write { target, path, base, timestamp } = write;
    if let (WriteTarget::Raw, Some(path), WriteBase::File) = (target, path, base) {
        return member("spill", text(path));
    }
    let target = text(match (target, base) {
        (WriteTarget::Raw, WriteBase::File) => "spill",
        (WriteTarget::Tet, WriteBase::File) => "sidecar",
        (target, _) => target.name(),
    });
    let mut members = vec![member("target", target.clone())];
    members.extend(path.iter().map(|path| member("path", text(path))));
    members.extend(timestamp.then(|| member("timestamp", Value::Bool(true))));
    member("write", if members.len() == 1 { target } else { table(entries(members)) })
}

fn execution_of(execution: &QueryExecution) -> Value {
    let QueryExecution {
        memory_budget_bytes,
        memory_budget_percent_bps,
        threads,
        fold_parallel,
        device,
    } = execution;
    let mut members = Members::new();
    members.extend(memory_budget_bytes.map(|it| member("memory_budget_bytes", whole(it))));
    members
        .extend(memory_budget_percent_bps.map(|it| member("memory_budget_percent_bps", whole(it))));
    let threads = threads.map(|it| u64::try_from(it).unwrap_or(u64::MAX));
    members.extend(threads.map(|it| member("threads", whole(it))));
    members.extend(fold_parallel.map(|it| member("fold_parallel", Value::Bool(it))));
    members.extend(device.iter().map(|it| member("device", text(it))));
    table(entries(members))
}

/// One axis as itself, several or none as a list.
fn axes_of(axes: &[AxisRef]) -> Value {
    match axes {
        [one] => axis(one),
        axes => list(axes.iter().map(axis)),
    }
}

fn axis(axis: &AxisRef) -> Value {
    match axis {
        AxisRef::Number(number) => whole(*number),
        AxisRef::Name(name) => text(name),
    }
}

fn number_of(number: &Number) -> Value {
    match number {
        Number::Int(integer) => Value::Integer(*integer),
        Number::Float(number) => float(*number),
    }
}

/// A float, by its word if it is not finite.
fn float(float: f64) -> Value {
    let same = |known: f64| known == float || known.is_nan() && float.is_nan();
    match keys::NOT_FINITE.iter().find(|(_, known)| same(*known)) {
        Some((word, _)) => text(word),
        None => Value::Float(float),
    }
}

/// The word for a value.
fn word<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> Value {
    let word = words.iter().find(|(_, meant)| meant == value).map(|(word, _)| *word);
    text(word.unwrap_or_default())
}

fn whole(integer: impl Into<i128>) -> Value {
    Value::Integer(integer.into())
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn list(items: impl Iterator<Item = Value>) -> Value {
    Value::List(items.map(node).collect())
}

fn table(entries: Vec<Entry>) -> Value {
    Value::Table(entries)
}

fn member(key: &str, value: Value) -> (String, Value) {
    (key.to_owned(), value)
}

fn entries(members: Members) -> Vec<Entry> {
    members
        .into_iter()
        .map(|(key, value)| Entry { key, key_span: 0..0, node: node(value) })
        .collect()
}

/// A value that comes from no text.
fn node(value: Value) -> Node {
    Node { value, span: 0..0 }
}
