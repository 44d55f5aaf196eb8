//! The words of a document: which keys are allowed where, and the errors for the others.

use std::ops::Range;

use tet_query::{Compare, NanPolicy, Op, WindowAlign, WindowMode, nearest_word};

use super::error::DocumentError;
use super::query::{Pad, WriteBase, WriteTarget};

/// Keys at the top that are not reductions.
pub(crate) const TOP: &[&str] = &[
    "dataset",
    "layout_version",
    "selection",
    "filter",
    "label_filter",
    "group_by",
    "window",
    "align",
    "transform",
    "nan",
    "write",
    "spill",
    "execution",
];

/// Keys of one entry of a selection.
pub(crate) const ENTRY: &[&str] = &[
    "start",
    "stop",
    "step",
    "index",
    "label",
    "nearest",
    "start_label",
    "stop_label",
    "through_label",
];

/// Keys of `execution`.
pub(crate) const EXECUTION: &[&str] = &[
    "memory_budget_bytes",
    "memory_budget_percent",
    "memory_budget_percent_bps",
    "threads",
    "fold_parallel",
    "device",
];

/// Keys of `filter`.
pub(crate) const FILTER: &[&str] = &["eq", "ne", "lt", "le", "gt", "ge", "is_null", "is_not_null"];

/// Keys of `filter` that compare with a number.
pub(crate) const COMPARE: &[(&str, Compare)] = &[
    (Compare::Eq.name(), Compare::Eq),
    (Compare::Ne.name(), Compare::Ne),
    (Compare::Lt.name(), Compare::Lt),
    (Compare::Le.name(), Compare::Le),
    (Compare::Gt.name(), Compare::Gt),
    (Compare::Ge.name(), Compare::Ge),
];

/// Keys of `group_by` by labels.
pub(crate) const GROUP: &[&str] = &["by", "axis", "axes"];

/// Keys of `label_filter`.
pub(crate) const LABEL_FILTER: &[&str] = &["axis", "eq"];

/// Keys of `align`.
pub(crate) const ALIGN: &[&str] = &["with", "axes"];

/// Keys of `window`.
pub(crate) const WINDOW: &[&str] = &["axis", "size", "mode", "step", "pad", "align", "min_count"];

/// Keys of `transform`.
pub(crate) const TRANSFORM: &[&str] = &["method", "axis", "axes"];

/// Keys of `write`.
pub(crate) const WRITE: &[&str] = &["target", "path", "timestamp"];

/// Words of `nan`.
pub(crate) const NAN: &[(&str, NanPolicy)] =
    &[("propagate", NanPolicy::Propagate), ("skip", NanPolicy::Skip)];

/// Words of `window.mode`.
pub(crate) const MODE: &[(&str, WindowMode)] =
    &[("bins", WindowMode::Bins), ("rolling", WindowMode::Rolling)];

/// Words of `window.pad`.
pub(crate) const PAD: &[(&str, Pad)] =
    &[("none", Pad::None), ("0", Pad::Zero), ("nan", Pad::Nan), ("fill", Pad::Fill)];

/// Words of `window.align`.
pub(crate) const WINDOW_ALIGN: &[(&str, WindowAlign)] =
    &[("start", WindowAlign::Start), ("end", WindowAlign::End)];

/// Words of `write`, and what a relative path starts from with each.
pub(crate) const TARGET: &[(&str, (WriteTarget, WriteBase))] = &[
    ("npy", (WriteTarget::Npy, WriteBase::Working)),
    ("raw", (WriteTarget::Raw, WriteBase::Working)),
    ("tet", (WriteTarget::Tet, WriteBase::Working)),
    ("ram", (WriteTarget::Memory, WriteBase::Working)),
    ("switch", (WriteTarget::Memory, WriteBase::Working)),
    ("spill", (WriteTarget::Raw, WriteBase::File)),
    ("sidecar", (WriteTarget::Tet, WriteBase::File)),
];

/// Numbers that JSON has no digits for, as results write them.
pub(crate) const NOT_FINITE: &[(&str, f64)] =
    &[("NaN", f64::NAN), ("Infinity", f64::INFINITY), ("-Infinity", f64::NEG_INFINITY)];

/// Words of other tongues, and what they are called here.
const MEANT: &[(&str, &str)] = &[
    ("avg", "mean"),
    ("average", "mean"),
    ("prod", "product"),
    ("variance", "var"),
    ("stddev", "std"),
    ("size", "count"),
    ("percentile", "quantile"),
    ("hist", "histogram"),
    ("cov", "covariance"),
    ("corr", "correlation"),
    ("where", "filter"),
    ("slice", "selection"),
    ("slices", "selection"),
    ("rolling", "window"),
    ("compare", "align"),
    ("normalize", "transform"),
    ("output", "write"),
    ("out", "write"),
    ("==", "eq"),
    ("!=", "ne"),
    ("<", "lt"),
    ("<=", "le"),
    (">", "gt"),
    (">=", "ge"),
    ("end", "stop"),
    ("length", "size"),
    ("width", "size"),
    ("tumbling", "bins"),
    ("sliding", "rolling"),
    ("zero", "0"),
    ("left", "start"),
    ("right", "end"),
    ("min_periods", "min_count"),
    ("file", "path"),
    ("memory", "ram"),
];

/// Keys that belong into a reduction.
const OF_REDUCTION: &[&str] = &["axis", "axes", "ddof", "q", "bins", "fill", "method"];

/// The reduction a key names.
pub(crate) fn op(key: &str) -> Option<Op> {
    Op::ALL.iter().copied().find(|op| op.name() == key)
}

/// Keys of a reduction that is written as an object.
pub(crate) const fn of_op(op: Op) -> &'static [&'static str] {
    match op {
        Op::Quantile => &["q", "axis", "axes", "ddof"],
        Op::Histogram => &["bins", "min", "max", "axis", "axes", "ddof"],
        Op::NullCount => &["fill", "axis", "axes", "ddof"],
        _ => &["axis", "axes", "ddof"],
    }
}

/// Whether `ddof` may be other than 0: something is divided by a count.
pub(crate) const fn takes_ddof(op: Op) -> bool {
    matches!(op, Op::Var | Op::Std | Op::NanVar | Op::NanStd | Op::Covariance)
}

/// All keys at the top.
pub(crate) fn top() -> Vec<&'static str> {
    TOP.iter().copied().chain(Op::ALL.iter().map(|op| op.name())).collect()
}

/// The error for a key at the top that is not among `allowed`.
pub(crate) fn unknown_at_top(
    text: &str,
    span: &Range<usize>,
    key: &str,
    allowed: &[&str],
) -> DocumentError {
    let wrong = || DocumentError::at(text, span, format!("unknown key {key:?}"));
    match key {
        "pipeline" => {
            let message = format!("the key {key:?} is not supported by this version");
            DocumentError::at(text, span, message)
                .advise("write its steps as keys of the document: selection, filter, a reduction")
        }
        "operation" => {
            wrong().advise("write the reduction itself as a key, such as \"mean\" or \"sum\"")
        }
        "output" => wrong().advise("write \"spill\" or \"write\" to write the result to a file"),
        key if OF_REDUCTION.contains(&key) => wrong().advise(format!(
            "write it into the reduction or the transform it is for, as {{..., {key:?}: ...}}"
        )),
        key => return unknown(text, span, key, allowed),
    }
    .with_allowed(allowed)
}

/// The error for a key that is not among `allowed`.
pub(crate) fn unknown(
    text: &str,
    span: &Range<usize>,
    key: &str,
    allowed: &[&str],
) -> DocumentError {
    DocumentError::at(text, span, format!("unknown key {key:?}"))
        .with_allowed(allowed)
        .with_hint(meant(key, allowed))
}

/// The advice for a word that is not among `allowed`.
pub(crate) fn meant(word: &str, allowed: &[&str]) -> Option<String> {
    let known = MEANT.iter().filter(|(theirs, ours)| *theirs == word && allowed.contains(ours));
    let known = known.map(|(_, ours)| format!("write {ours:?}")).next();
    let near = || nearest_word(word, allowed.iter().copied());
    known.or_else(|| near().map(|word| format!("did you mean {word:?}?")))
}

/// Words as a message lists them: `"a", "b" or "c"`.
pub(crate) fn either(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
