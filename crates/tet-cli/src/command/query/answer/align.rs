//! The answer of a comparison: which axes agree.

use tet_document::Resolved;
use tet_query::{Alignment, AxisAlignment, LabelAlignment, NanPolicy, StatisticsUse};

use super::axis::axis_name;
use super::{Answer, Extras};
use crate::context::Context;
use crate::escape::Escaped;
use crate::exit::Result;
use crate::render::json::{AlignmentShape, AxisPairShape};
use crate::render::number::Number;
use crate::render::numbers::Numbers;
use crate::render::table::{Side, Table};

impl Answer {
    /// The answer of a comparison.
    pub(crate) fn of_alignment(resolved: &Resolved, alignment: &Alignment) -> Answer {
        let axes: Vec<usize> = alignment.axes.iter().map(|pair| pair.axes[0]).collect();
        let shape = AlignmentShape {
            with: alignment.with.name.clone(),
            agrees: alignment.agrees(),
            axes: alignment.axes.iter().map(pair).collect(),
        };
        Answer {
            op: "align",
            name: resolved.dataset.name.clone(),
            unit: String::new(),
            over: axes.iter().map(|&axis| axis_name(resolved, axis)).collect(),
            axes,
            shape: Vec::new(),
            along: Vec::new(),
            dtype: "bool".to_owned(),
            values: Numbers::Listed(vec![Number::Bool(shape.agrees)]),
            truncated: false,
            count: 0,
            chosen: false,
            nan_count: None,
            nan: NanPolicy::Propagate,
            is_masked: false,
            statistics: StatisticsUse::default(),
            extras: Extras { alignment: Some(shape), ..Extras::default() },
        }
    }
}

fn pair(pair: &AxisAlignment) -> AxisPairShape {
    let (labels, position, found, labeled) = match &pair.labels {
        LabelAlignment::Absent => ("absent", None, None, None),
        LabelAlignment::Equal => ("equal", None, None, None),
        LabelAlignment::OneSided { labeled } => ("one-sided", None, None, Some(*labeled)),
        LabelAlignment::Differ { position, labels } => {
            ("differ", Some(*position), Some(labels.clone()), None)
        }
    };
    AxisPairShape {
        axes: pair.axes,
        agrees: pair.agrees(),
        extents: pair.extents,
        names: pair.names.clone(),
        labels,
        position,
        found,
        labeled,
    }
}

/// Prints the comparison, one line for each pair of axes.
pub(super) fn write_text(
    name: &str,
    alignment: &AlignmentShape,
    context: &mut Context<'_>,
) -> Result<()> {
    let paint = context.paint;
    let (name, with) = (Escaped(name), Escaped(&alignment.with));
    let title = if alignment.agrees {
        format!("{name} and {with} agree")
    } else {
        format!("{name} and {with} do not agree")
    };
    context.line(paint.strong(title))?;
    let columns = [
        ("axis", Side::Left),
        ("extent", Side::Right),
        ("name", Side::Left),
        ("labels", Side::Left),
        ("", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for pair in &alignment.axes {
        let names = [0, 1].map(|at| pair.names[at].as_deref().unwrap_or("(no name)"));
        let verdict = if pair.agrees { "same" } else { "differs" };
        let (axes, extents) =
            (pair.axes.map(|n| n.to_string()), pair.extents.map(|n| n.to_string()));
        let axes = both(&axes[0], &axes[1]);
        let extents = both(&extents[0], &extents[1]);
        table.row([axes, extents, both(names[0], names[1]), labels(pair), verdict.to_owned()]);
    }
    for line in table.lines(None, paint) {
        context.line(line)?;
    }
    Ok(())
}

/// One text if both are the same, else both.
fn both(first: &str, second: &str) -> String {
    if first == second { first.to_owned() } else { format!("{first} / {second}") }
}

fn labels(pair: &AxisPairShape) -> String {
    match (pair.labels, pair.position, &pair.found, pair.labeled) {
        ("absent", ..) => "none".to_owned(),
        ("one-sided", _, _, Some([first, _])) => {
            format!("only the {} has labels", if first { "first" } else { "second" })
        }
        (_, Some(position), Some(found), _) => {
            let [first, second] = [0, 1].map(|at| {
                found[at].as_deref().map_or("nothing".to_owned(), |label| format!("\"{label}\""))
            });
            format!("{first} / {second} at {position}")
        }
        (labels, ..) => labels.to_owned(),
    }
}
