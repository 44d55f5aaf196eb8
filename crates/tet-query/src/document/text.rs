//! The model -> a JSON document.

use std::fmt::Write;

use super::query::{Query, QueryExecution, QueryReduction};
use crate::op::NanPolicy;
use crate::selection::{AxisRef, AxisSelection, Form, Position, Selection, Stop};

/// Writes the query as one line of JSON.
pub(crate) fn json(query: &Query) -> String {
    let mut members = vec![("dataset", string(&query.dataset))];
    if let Some(version) = query.layout_version {
        members.push(("layout_version", version.to_string()));
    }
    if !query.selection.is_all() {
        members.push(("selection", selection(&query.selection)));
    }
    if let Some(reduction) = &query.reduction {
        members.push((reduction.op.name(), axes(reduction)));
    }
    if let Some(nan) = query.nan {
        let word = match nan {
            NanPolicy::Propagate => "propagate",
            NanPolicy::Skip => "skip",
        };
        members.push(("nan", string(word)));
    }
    let execution = execution(&query.execution);
    if !execution.is_empty() {
        members.push(("execution", object(&execution)));
    }
    object(&members)
}

fn selection(selection: &Selection) -> String {
    match &selection.form {
        Form::Around { head, tail } => string(&positional_text(head, tail)),
        Form::Each(entries) => list(entries.iter().map(entry)),
        Form::Named(entries) => {
            let members: Vec<(String, String)> =
                entries.iter().map(|(axis, it)| (axis_name(axis), entry(it))).collect();
            object(&members)
        }
    }
}

fn axis_name(axis: &AxisRef) -> String {
    match axis {
        AxisRef::Number(number) => number.to_string(),
        AxisRef::Name(name) => name.clone(),
    }
}

fn entry(entry: &AxisSelection) -> String {
    let mut members = Vec::new();
    match entry {
        AxisSelection::Point(position) => members.push(place("index", "label", position)),
        AxisSelection::Range { start, stop, step } => {
            members.extend(start.iter().map(|start| place("start", "start_label", start)));
            match stop {
                Stop::End => {}
                Stop::Before(stop) => members.push(place("stop", "stop_label", stop)),
                Stop::Through(label) => members.push(("through_label", string(label))),
            }
            if *step != 1 {
                members.push(("step", step.to_string()));
            }
        }
    }
    object(&members)
}

fn place(
    by_index: &'static str,
    by_label: &'static str,
    position: &Position,
) -> (&'static str, String) {
    match position {
        Position::Index(index) => (by_index, index.to_string()),
        Position::Label(label) => (by_label, string(label)),
    }
}

fn axes(reduction: &QueryReduction) -> String {
    let one = |axis: &AxisRef| match axis {
        AxisRef::Number(number) => number.to_string(),
        AxisRef::Name(name) => string(name),
    };
    match reduction.axes.as_slice() {
        [axis] => one(axis),
        axes => list(axes.iter().map(one)),
    }
}

fn execution(execution: &QueryExecution) -> Vec<(&'static str, String)> {
    let QueryExecution {
        memory_budget_bytes,
        memory_budget_percent_bps,
        threads,
        fold_parallel,
        device,
    } = execution;
    let mut members = Vec::new();
    members.extend(memory_budget_bytes.map(|it| ("memory_budget_bytes", it.to_string())));
    members
        .extend(memory_budget_percent_bps.map(|it| ("memory_budget_percent_bps", it.to_string())));
    members.extend(threads.map(|it| ("threads", it.to_string())));
    members.extend(fold_parallel.map(|it| ("fold_parallel", it.to_string())));
    members.extend(device.iter().map(|it| ("device", string(it))));
    members
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

fn object<K: AsRef<str>>(members: &[(K, String)]) -> String {
    let member = |(key, value): &(K, String)| format!("{}: {value}", string(key.as_ref()));
    format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
}

/// Text as JSON. Everything that might move or color a terminal is escaped.
fn string(text: &str) -> String {
    let mut json = String::from('"');
    for next in text.chars() {
        match next {
            '"' | '\\' => json.extend(['\\', next]),
            '\'' => json.push(next),
            _ if next.escape_debug().count() == 1 => json.push(next),
            _ => {
                for unit in next.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(json, "\\u{unit:04x}");
                }
            }
        }
    }
    json.push('"');
    json
}

/// Writes a selection by position the way [`Selection::parse`] reads it.
fn positional_text(head: &[AxisSelection], tail: &[AxisSelection]) -> String {
    let mut entries: Vec<String> = head.iter().map(entry_text).collect();
    entries.push("...".to_owned());
    entries.extend(tail.iter().map(entry_text));
    entries.join(", ")
}

fn entry_text(entry: &AxisSelection) -> String {
    match entry {
        AxisSelection::Point(position) => position_text(position),
        AxisSelection::Range { start, stop, step } => {
            let mut text = start.as_ref().map(position_text).unwrap_or_default();
            text.push(':');
            match stop {
                Stop::End => {}
                Stop::Before(position) => text.push_str(&position_text(position)),
                // Text cannot say it; no text reads into it, and builders give other forms.
                Stop::Through(label) => text.push_str(&quoted_text(label)),
            }
            if *step != 1 {
                text.push_str(&format!(":{step}"));
            }
            text
        }
    }
}

fn position_text(position: &Position) -> String {
    match position {
        Position::Index(index) => index.to_string(),
        Position::Label(label) => quoted_text(label),
    }
}

fn quoted_text(label: &str) -> String {
    let mut text = String::from('"');
    for next in label.chars() {
        if matches!(next, '"' | '\\') {
            text.push('\\');
        }
        text.push(next);
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_text_reads_back() {
        for text in ["0:10:3, :, -1, ...", "..., \"a\\\"b\":, ::2", "..."] {
            let Form::Around { head, tail } = Selection::parse(text).unwrap().form else {
                panic!("{text} is by position");
            };
            let written = positional_text(&head, &tail);
            assert_eq!(Selection::parse(&written).unwrap().form, Form::Around { head, tail });
        }
    }
}
