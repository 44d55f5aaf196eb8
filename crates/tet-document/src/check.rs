//! Conflicts of keys in a query, whether it was read or built by hand.

use tet_query::{AXES_MAX, NanPolicy, Op, Params, WindowAlign, WindowMode};

use super::error::DocumentError;
use super::origin::QueryPart;
use super::query::{GroupBy, Pad, Query, QueryReduction, QueryWindow};

type Result<T> = std::result::Result<T, DocumentError>;

/// Checks everything that no dataset is needed for.
pub(crate) fn combinations(query: &Query) -> Result<()> {
    align_stands_alone(query)?;
    if let Some(reduction) = &query.reduction {
        if query.transform.is_some() {
            let message = "a reduction and a transform exclude each other";
            return Err(query.origin.wrong(QueryPart::Op, message).advise("use two queries"));
        }
        params(query, reduction)?;
        policy(query, reduction.op)?;
        matrix(query, reduction)?;
    }
    filter(query)?;
    group_by(query)?;
    window(query)
}

fn align_stands_alone(query: &Query) -> Result<()> {
    let Some(align) = &query.align else { return Ok(()) };
    let op = query.reduction.as_ref().map(|it| it.op.name());
    let computed = op.or(query.transform.as_ref().map(|_| "transform"));
    let to_file = if query.origin.has(QueryPart::Key("spill")) { "spill" } else { "write" };
    let others = [
        (QueryPart::Op, computed.unwrap_or_default(), computed.is_some()),
        (QueryPart::Key("selection"), "selection", !query.selection.is_all()),
        (QueryPart::Key("filter"), "filter", query.filter.is_some()),
        (QueryPart::Key("label_filter"), "label_filter", query.label_filter.is_some()),
        (QueryPart::Key("group_by"), "group_by", query.group_by.is_some()),
        (QueryPart::Key("window"), "window", query.window.is_some()),
        (QueryPart::Key("nan"), "nan", query.nan.is_some()),
        (QueryPart::Key(to_file), to_file, query.write.is_some()),
    ];
    if let Some((part, key, _)) = others.into_iter().find(|(_, _, given)| *given) {
        let message =
            format!("{key:?} cannot be combined with \"align\", which compares whole axes");
        return Err(query.origin.wrong(part, message).advise("use two queries"));
    }
    if align.axes.is_empty() || AXES_MAX < align.axes.len() {
        let message = format!("\"align\" takes 1 to {AXES_MAX} axes, not {}", align.axes.len());
        return Err(query.origin.wrong(QueryPart::Key("align"), message));
    }
    Ok(())
}

/// The numbers of the operation, which a document cannot get wrong any more.
fn params(query: &Query, reduction: &QueryReduction) -> Result<()> {
    let QueryReduction { op, axes, params } = reduction;
    let wrong = |message: String| Err(query.origin.wrong(QueryPart::Op, message));
    if AXES_MAX < axes.len() {
        return wrong(format!("at most {AXES_MAX} axes are allowed"));
    }
    match op {
        Op::Quantile if params.q.is_empty() || Params::Q_MAX < params.q.len() => wrong(format!(
            "a quantile takes 1 to {} numbers, not {}",
            Params::Q_MAX,
            params.q.len()
        )),
        Op::Quantile if !params.q.iter().all(|q| (0.0..=1.0).contains(q)) => {
            wrong("a quantile is a number from 0 to 1".to_owned())
        }
        Op::Histogram if !(1..=Params::BINS_MAX).contains(&params.bins) => {
            wrong(format!("a histogram has 1 to {} bins, not {}", Params::BINS_MAX, params.bins))
        }
        Op::Histogram => match params.range {
            Some((min, max)) if !(min.is_finite() && max.is_finite() && min <= max) => {
                wrong(format!("no histogram goes from {min} to {max}"))
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// The policy for NaN is stated once.
fn policy(query: &Query, op: Op) -> Result<()> {
    let name = op.name();
    let (message, hint) = match query.nan {
        Some(NanPolicy::Propagate) if op.skips_nan() => (
            format!("{name:?} skips NaN by its name, so it cannot propagate them"),
            format!("write {:?}, or leave \"nan\" out", op.plain().name()),
        ),
        Some(NanPolicy::Skip) if matches!(op, Op::Covariance | Op::Correlation) => (
            format!("{name:?} cannot skip NaN: every variable needs every observation"),
            "select or transform the NaN away first".to_owned(),
        ),
        _ => return Ok(()),
    };
    Err(query.origin.wrong(QueryPart::Key("nan"), message).advise(hint))
}

/// A matrix has one axis of observations and takes all elements.
fn matrix(query: &Query, reduction: &QueryReduction) -> Result<()> {
    let name = reduction.op.name();
    if !matches!(reduction.op, Op::Covariance | Op::Correlation) {
        return Ok(());
    }
    if reduction.axes.len() != 1 {
        let message = format!("{name:?} takes one axis, that of the observations");
        let hint = format!("write {{{name:?}: {{\"axis\": 0}}}}");
        return Err(query.origin.wrong(QueryPart::Op, message).advise(hint));
    }
    let others = [
        ("filter", query.filter.is_some()),
        ("label_filter", query.label_filter.is_some()),
        ("group_by", query.group_by.is_some()),
        ("window", query.window.is_some()),
    ];
    match others.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((key, _)) => {
            let message =
                format!("{name:?} takes all elements and cannot be combined with {key:?}");
            Err(query.origin.wrong(QueryPart::Key(key), message))
        }
    }
}

/// A document can say every test once.
fn filter(query: &Query) -> Result<()> {
    let Some(filter) = &query.filter else { return Ok(()) };
    let wrong = |message: String| Err(query.origin.wrong(QueryPart::Key("filter"), message));
    for (nth, (compare, number)) in filter.tests.iter().enumerate() {
        if number.to_f64().is_nan() {
            return wrong("nothing compares with NaN".to_owned());
        }
        if filter.tests[..nth].iter().any(|(before, _)| before == compare) {
            return wrong(format!("the test {:?} is given twice", compare.name()));
        }
    }
    if filter.is_null && filter.is_not_null {
        return wrong("no element is both null and not null".to_owned());
    }
    Ok(())
}

/// Groups need something to be computed of each.
fn group_by(query: &Query) -> Result<()> {
    let Some(group_by) = &query.group_by else { return Ok(()) };
    let wrong = |message: &str| query.origin.wrong(QueryPart::Key("group_by"), message);
    if query.transform.is_some() {
        return Err(wrong(
            "a transform keeps the shape of its array and cannot be combined with \"group_by\"",
        ));
    }
    if query.reduction.is_none() {
        let message = "\"group_by\" says in what groups, but not what is computed of each";
        return Err(wrong(message).advise("add a reduction, such as \"mean\": []"));
    }
    if query.window.is_some() {
        let message = "\"group_by\" and \"window\" both cut axes into cells";
        return Err(wrong(message).advise("give one of them"));
    }
    let (GroupBy::Axes(axes) | GroupBy::Labels(axes)) = group_by;
    if axes.is_empty() || AXES_MAX < axes.len() {
        let message = format!("\"group_by\" takes 1 to {AXES_MAX} axes, not {}", axes.len());
        return Err(wrong(&message));
    }
    Ok(())
}

fn window(query: &Query) -> Result<()> {
    let Some(window) = &query.window else { return Ok(()) };
    let wrong = |message: &str| query.origin.wrong(QueryPart::Key("window"), message);
    if query.transform.is_some() {
        return Err(wrong(
            "a transform keeps the shape of its array and cannot be combined with \"window\"",
        ));
    }
    let Some(reduction) = &query.reduction else {
        let message = "\"window\" says in what windows, but not what is computed of each";
        return Err(wrong(message).advise("add a reduction, such as \"mean\": []"));
    };
    if matches!(reduction.op, Op::Median | Op::Quantile | Op::Histogram) {
        let message =
            format!("{:?} needs all elements at once and has no windows", reduction.op.name());
        return Err(wrong(&message).advise("windows take a streaming reduction, such as \"mean\""));
    }
    laid(query, window, reduction)
}

/// Whether windows can be laid like this.
fn laid(query: &Query, window: &QueryWindow, reduction: &QueryReduction) -> Result<()> {
    let wrong =
        |key, message: String| query.origin.wrong(QueryPart::Member("window", key), message);
    let QueryWindow { axis: _, size, mode, step, pad, align, min_count } = window;
    let most = QueryWindow::SIZE_MAX;
    if !(1..=most).contains(size) {
        return Err(wrong("size", format!("a window has 1 to {most} positions, not {size}")));
    }
    if let Some(step) = step {
        if *mode == WindowMode::Bins {
            let message = "bins stand side by side and take no \"step\"".to_owned();
            return Err(wrong("step", message).advise("write \"mode\": \"rolling\""));
        }
        if !(1..=most).contains(step) {
            return Err(wrong("step", format!("a step is 1 to {most} positions, not {step}")));
        }
    }
    if *mode == WindowMode::Rolling && *align == WindowAlign::End && *pad == Pad::None {
        let message = "rolling windows without \"pad\" reach past neither end".to_owned();
        return Err(wrong("align", message).advise("leave \"align\" out, or give \"pad\""));
    }
    if matches!(reduction.op, Op::ArgMin | Op::ArgMax) && *pad != Pad::None {
        let message =
            format!("{:?} seeks a place in the array, and a pad has none", reduction.op.name());
        return Err(wrong("pad", message).advise("leave \"pad\" out"));
    }
    // Named axes are folded in addition to that of the window, so a window may hold more than its size.
    let most = if reduction.axes.is_empty() { *size } else { u64::MAX };
    match min_count {
        Some(least) if !(1..=most).contains(least) => {
            let message = format!("\"min_count\" is 1 to the size, {size}, not {least}");
            Err(wrong("min_count", message))
        }
        _ => Ok(()),
    }
}
