//! Builds the query document from options.

use tet_document::{
    GroupBy, LabelFilter, Pad, Query, QueryAlign, QueryReduction, QueryTransform, QueryWindow,
};
use tet_query::{AxisRef, Method, NanPolicy, Op, Params, Selection, WindowAlign, WindowMode};

use super::filter;
use crate::args::{AskArgs, CellArgs, EndName, NanName, PadName, flag};
use crate::elsewhere;
use crate::exit::{Failure, Result};
use crate::target;

/// Refuses query options together with a document.
///
/// # Errors
///
/// An option is part of a query.
pub(super) fn refuse(ask: &AskArgs) -> Result<()> {
    let AskArgs { part, op, params, cells, other } = ask;
    let given = [
        ("--select", part.select.is_some()),
        ("--where", !part.tests.is_empty()),
        ("--label-filter", part.label_filter.is_some()),
        ("--nan", part.nan.is_some()),
        ("--dataset", part.dataset.is_some()),
        ("--over", params.over.is_some()),
        ("--ddof", params.ddof.is_some()),
        ("--fill", params.fill.is_some()),
        ("--range", params.range.is_some()),
        ("--group-by", cells.group_by.is_some()),
        ("--group-by-labels", cells.group_by_labels.is_some()),
        ("--window", cells.window.is_some()),
        ("--rolling", cells.rolling.is_some()),
        ("--transform", other.transform.is_some()),
        ("--align", other.align.is_some()),
    ];
    let reduction = op.asked.as_ref().map(|(op, _)| format!("--{}", flag(*op)));
    let given = given.iter().find(|(_, given)| *given).map(|(flag, _)| (*flag).to_owned());
    match given.or(reduction) {
        None => Ok(()),
        Some(flag) => {
            let text = format!("{flag} cannot be used with a document");
            Err(Failure::usage("two-questions", text).hint("set it in the document"))
        }
    }
}

/// Builds the document of these options; `second` may name the dataset, with a slice in brackets.
///
/// # Errors
///
/// Options contradict each other, or have an invalid value.
pub(super) fn query(ask: &AskArgs, second: Option<&str>) -> Result<Query> {
    let (name, select) = dataset_and_slice(ask, second)?;
    let mut query = Query::new(name);
    if let Some(text) = select {
        query.selection = Selection::parse(text).map_err(tet_query::Error::from)?;
    }
    query.reduction = reduction(ask)?;
    query.transform = transform(ask)?;
    query.align = ask.other.align.as_deref().map(align).transpose()?;
    query.filter = filter::parse(&ask.part.tests)?;
    query.group_by = group_by(&ask.cells);
    query.window = window(&ask.cells)?;
    query.label_filter = ask.part.label_filter.as_deref().map(label_filter).transpose()?;
    query.nan = ask.part.nan.map(|nan| match nan {
        NanName::Propagate => NanPolicy::Propagate,
        NanName::Skip => NanPolicy::Skip,
    });
    let folds = [("--group-by", query.group_by.is_some()), ("--window", query.window.is_some())];
    let fold = folds.iter().find(|(_, given)| *given).filter(|_| query.reduction.is_none());
    match fold {
        None => Ok(query),
        Some((flag, _)) => {
            let text = format!("{flag} needs a reduction to compute for each group");
            Err(Failure::usage("no-reduction", text).hint("add a reduction, such as --mean"))
        }
    }
}

fn dataset_and_slice<'a>(
    ask: &'a AskArgs,
    second: Option<&'a str>,
) -> Result<(&'a str, Option<&'a str>)> {
    let (name, slice) = match (&ask.part.dataset, second) {
        (Some(name), None) => (name.as_str(), None),
        (None, Some(second)) => target::split(second, |_| false),
        (None, None) => ("", None),
        (Some(name), Some(second)) => {
            let text = format!("--dataset names {name:?}, so {second:?} is one argument too many");
            return Err(Failure::usage("two-questions", text));
        }
    };
    match (slice, ask.part.select.as_deref()) {
        (Some(_), Some(_)) => {
            let text = "the dataset has a slice already, and --select sets another one";
            Err(Failure::usage("two-slices", text).hint("use one of them"))
        }
        (slice, select) => Ok((name, slice.or(select))),
    }
}

fn reduction(ask: &AskArgs) -> Result<Option<QueryReduction>> {
    let Some((op, text)) = &ask.op.asked else {
        return match first_unused(ask, None) {
            Some(wrong) => Err(unused(wrong, "without a reduction")),
            None => Ok(None),
        };
    };
    if let Some(wrong) = first_unused(ask, Some(*op)) {
        return Err(unused(wrong, &format!("with --{}", flag(*op))));
    }
    let behind = match op {
        Op::Quantile | Op::Histogram => "",
        _ => text.as_str(),
    };
    let axes = match (&ask.params.over, behind) {
        (Some(_), axes) if !axes.is_empty() => {
            let text = format!("--{} {axes} and --over both name axes", flag(*op));
            return Err(Failure::usage("two-questions", text).hint("give one of them"));
        }
        (Some(over), _) => split_axes(over),
        (None, axes) => split_axes(axes),
    };
    Ok(Some(QueryReduction::new(*op, axes).with_params(params(ask, *op, text)?)))
}

/// The first option that this reduction does not use.
fn first_unused(ask: &AskArgs, op: Option<Op>) -> Option<&'static str> {
    let ddof = [Op::Var, Op::Std, Op::NanVar, Op::NanStd, Op::Covariance];
    let is = |known: &[Op]| op.is_some_and(|op| known.contains(&op));
    let params = &ask.params;
    let given = [
        ("--ddof", params.ddof.is_some() && !is(&ddof)),
        ("--fill", params.fill.is_some() && !is(&[Op::NullCount])),
        ("--range", params.range.is_some() && !is(&[Op::Histogram])),
        ("--over", params.over.is_some() && op.is_none() && ask.other.transform.is_none()),
    ];
    given.iter().find(|(_, wrong)| *wrong).map(|(flag, _)| *flag)
}

fn unused(flag: &str, place: &str) -> Failure {
    let hint = match flag {
        "--ddof" => "it belongs to --var, --std and --covariance",
        "--fill" => "it belongs to --null-count",
        "--range" => "it belongs to --histogram",
        _ => "it names the axes of a reduction or a --transform",
    };
    Failure::usage("no-effect", format!("{flag} has no effect {place}")).hint(hint)
}

fn params(ask: &AskArgs, op: Op, text: &str) -> Result<Params> {
    let mut params = Params::for_op(op);
    if let Some(ddof) = ask.params.ddof {
        params.ddof = ddof;
    }
    if let Some(fill) = &ask.params.fill {
        let number = filter::number(fill);
        params.fill = Some(number.ok_or_else(|| not_a(fill, "number", "--fill"))?);
    }
    match op {
        Op::Quantile => {
            let number = |text: &str| text.trim().parse::<f64>().ok();
            let q: Option<Vec<f64>> = text.split(',').map(number).collect();
            params.q = q.ok_or_else(|| not_a(text, "list of numbers from 0 to 1", "--quantile"))?;
            if let Some(q) = params.q.iter().find(|q| !(0.0..=1.0).contains(*q)) {
                return Err(not_a(&q.to_string(), "number from 0 to 1", "--quantile"));
            }
            params.one_q = !text.contains(',');
        }
        Op::Histogram => {
            let bins = text.trim().parse::<u32>().ok().filter(|&bins| bins > 0);
            let wrong = || not_a(text, "number of bins", "--histogram").hint("--over names axes");
            params.bins = bins.ok_or_else(wrong)?;
            params.range = ask.params.range.as_deref().map(range).transpose()?;
        }
        _ => {}
    }
    Ok(params)
}

fn not_a(text: &str, what: &str, flag: &str) -> Failure {
    Failure::usage("flag", format!("{text:?} is not a {what}, which {flag} takes"))
}

fn range(text: &str) -> Result<(f64, f64)> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let edges = text.split_once(':').and_then(|(min, max)| Some((number(min)?, number(max)?)));
    match edges {
        Some((min, max)) if min <= max => Ok((min, max)),
        _ => Err(not_a(text, "range MIN:MAX", "--range")),
    }
}

fn transform(ask: &AskArgs) -> Result<Option<QueryTransform>> {
    let Some(name) = &ask.other.transform else { return Ok(None) };
    let method = Method::ALL.iter().copied().find(|method| method.name() == name);
    let method = method.ok_or_else(|| not_a(name, "transform", "--transform"))?;
    let axes = ask.params.over.as_deref().map(split_axes).unwrap_or_default();
    Ok(Some(QueryTransform { method, axes }))
}

/// `OTHER:AXES`.
fn align(text: &str) -> Result<QueryAlign> {
    let axes = |(with, axes): (&str, &str)| (with.to_owned(), split_axes(axes));
    match text.rsplit_once(':').map(axes) {
        Some((with, axes)) if !axes.is_empty() => Ok(QueryAlign { with, axes }),
        _ => {
            let failure = not_a(text, "comparison OTHER:AXES", "--align");
            Err(failure.hint("name the axes to compare, as in --align elevation:lat,lon"))
        }
    }
}

fn label_filter(text: &str) -> Result<LabelFilter> {
    let Some((axis, label)) = text.split_once('=') else {
        return Err(not_a(text, "test AXIS=LABEL", "--label-filter"));
    };
    Ok(LabelFilter { axis: axis.trim().into(), eq: label.to_owned() })
}

fn group_by(cells: &CellArgs) -> Option<GroupBy> {
    let positions = cells.group_by.as_deref().map(|axes| GroupBy::Axes(split_axes(axes)));
    let labels = || cells.group_by_labels.as_deref().map(|axes| GroupBy::Labels(split_axes(axes)));
    positions.or_else(labels)
}

fn window(cells: &CellArgs) -> Result<Option<QueryWindow>> {
    let (text, mode, flag) = match (&cells.window, &cells.rolling) {
        (Some(text), _) => (text, WindowMode::Bins, "--window"),
        (None, Some(text)) => (text, WindowMode::Rolling, "--rolling"),
        (None, None) => return no_window(cells),
    };
    let size = text.rsplit_once(':').and_then(|(axis, size)| Some((axis, size.parse().ok()?)));
    let Some((axis, size)) = size.filter(|&(_, size)| 1_u64 <= size) else {
        let wrong = not_a(text, "window AXIS:SIZE", flag);
        let is_of_dates = size_text(text).is_some();
        let hint = format!("a size is a number of positions, as time:24; {}", elsewhere::MONTHS);
        return Err(if is_of_dates { wrong.hint(hint) } else { wrong });
    };
    Ok(Some(QueryWindow {
        axis: axis.into(),
        size,
        mode,
        step: cells.step,
        pad: cells.pad.map_or(Pad::None, |pad| match pad {
            PadName::None => Pad::None,
            PadName::Zero => Pad::Zero,
            PadName::Nan => Pad::Nan,
            PadName::Fill => Pad::Fill,
        }),
        align: cells.window_align.map_or(WindowAlign::Start, |end| match end {
            EndName::Start => WindowAlign::Start,
            EndName::End => WindowAlign::End,
        }),
        min_count: cells.min_count,
    }))
}

/// The size of a window that is no number, as in `time:month` or `time:1M`.
fn size_text(text: &str) -> Option<&str> {
    let (_, size) = text.rsplit_once(':')?;
    size.ends_with(|last: char| last.is_ascii_alphabetic()).then_some(size)
}

/// Refuses options of windows without a window.
fn no_window(cells: &CellArgs) -> Result<Option<QueryWindow>> {
    let given = [
        ("--pad", cells.pad.is_some()),
        ("--window-align", cells.window_align.is_some()),
        ("--min-count", cells.min_count.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(None),
        Some((flag, _)) => {
            let text = format!("{flag} has no effect without --window or --rolling");
            Err(Failure::usage("no-effect", text))
        }
    }
}

/// The axes of a comma-separated list.
pub(super) fn split_axes(axes: &str) -> Vec<AxisRef> {
    axes.split(',').map(str::trim).filter(|name| !name.is_empty()).map(AxisRef::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_split_at_commas() {
        assert_eq!(split_axes(""), []);
        assert_eq!(split_axes("time, -1"), [AxisRef::from("time"), AxisRef::from("-1")]);
    }

    #[test]
    fn another_dataset_may_hold_colons() {
        let with = |text: &str| align(text).map(|align| align.with).ok();
        assert_eq!([with("a:x,y"), with("a:b:x")], [Some("a".into()), Some("a:b".into())]);
        assert_eq!([with("a"), with("a:")], [None, None]);
    }
}
