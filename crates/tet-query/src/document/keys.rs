//! The words of a document: which keys are allowed where, and what is said of the others.

use std::ops::Range;

use super::error::DocumentError;
use crate::op::Op;
use crate::selection::nearest;

/// Keys at the top that are not reductions.
pub(crate) const TOP: &[&str] = &["dataset", "layout_version", "selection", "nan", "execution"];

/// Keys of one entry of a selection.
pub(crate) const ENTRY: &[&str] =
    &["start", "stop", "step", "index", "label", "start_label", "stop_label", "through_label"];

/// Keys of `execution`.
pub(crate) const EXECUTION: &[&str] = &[
    "memory_budget_bytes",
    "memory_budget_percent",
    "memory_budget_percent_bps",
    "threads",
    "fold_parallel",
    "device",
];

/// Keys of a reduction that is written as an object.
pub(crate) const REDUCTION: &[&str] = &["axis", "axes"];

/// Words that mean something in query documents and that this version does not carry out.
const UNSUPPORTED: &[&str] = &[
    "filter",
    "label_filter",
    "group_by",
    "window",
    "align",
    "pipeline",
    "spill",
    "write",
    "transform",
    "product",
    "var",
    "std",
    "arg_min",
    "arg_max",
    "norm_l1",
    "norm_l2",
    "all_finite",
    "any_nan",
    "any_inf",
    "nan_count",
    "inf_count",
    "null_count",
    "nan_mean",
    "nan_std",
    "nan_sum",
    "nan_var",
    "nan_min",
    "nan_max",
    "median",
    "quantile",
    "histogram",
    "covariance",
    "correlation",
];

/// The reduction a key names.
pub(crate) fn op(key: &str) -> Option<Op> {
    Op::ALL.iter().copied().find(|op| op.name() == key)
}

/// All keys at the top.
pub(crate) fn top() -> Vec<&'static str> {
    TOP.iter().copied().chain(Op::ALL.iter().map(|op| op.name())).collect()
}

/// The error for a key that is not among `allowed`. `path` leads to the key itself.
pub(crate) fn unknown(
    text: &str,
    span: &Range<usize>,
    key: &str,
    path: &str,
    allowed: &[&str],
) -> DocumentError {
    let at_top = path == key;
    let (message, hint) = if at_top && UNSUPPORTED.contains(&key) {
        (format!("the key {key:?} is not supported by this version"), None)
    } else if at_top && key == "operation" {
        let hint = "write the reduction itself as a key, such as \"mean\" or \"sum\"";
        (format!("unknown key {key:?}"), Some(hint.to_owned()))
    } else {
        let near = nearest(key, allowed.iter().copied());
        let hint = near.map(|word| format!("did you mean {word:?}?"));
        (format!("unknown key {key:?}"), hint)
    };
    DocumentError::at(text, span, message).with_path(path).with_allowed(allowed).with_hint(hint)
}
