//! The axes of a file: their first and last labels, and the steps of times.

use tet_query::{AxisList, AxisSummary, Calendar};

use crate::context::Context;
use crate::escape::Message;
use crate::exit::Result;
use crate::render::json::AxisEntry;
use crate::render::table::{Side, Table};
use crate::size::{counted, grouped};

/// Prints a row for each axis that has labels.
///
/// # Errors
///
/// Writing to standard output fails.
pub(super) fn write(list: &AxisList, context: &mut Context<'_>) -> Result<()> {
    let AxisList { axes, more } = list;
    if axes.is_empty() {
        return Ok(());
    }
    let mut table =
        Table::new(&[("axis", Side::Left), ("length", Side::Right), ("labels", Side::Left)]);
    for axis in axes {
        table.row([axis.name.clone(), grouped(axis.len), labels(axis)]);
    }
    context.line("")?;
    for line in table.lines(context.table_width(), context.paint) {
        context.line(line)?;
    }
    if 0 < *more {
        let text = format!("  and {} with labels that were not read", counted(*more, "more axis"));
        context.line(context.paint.faint(text.replace("axiss", "axes")))?;
    }
    for axis in axes {
        let Some(fault) = &axis.fault else { continue };
        let text = format!("{}: {fault}", axis.name);
        let mark = context.paint.wrong("!");
        context.line(format!("  {mark} {}", Message(&text)))?;
    }
    Ok(())
}

/// `2001-01-01 .. 2002-12-31, daily, noleap`.
fn labels(axis: &AxisSummary) -> String {
    let (Some(first), Some(last)) = (&axis.first, &axis.last) else { return String::new() };
    let mut text = if axis.len == 1 { first.clone() } else { format!("{first} .. {last}") };
    match (axis.calendar, &axis.units) {
        (Some(calendar), _) => {
            let steps = axis.steps.map(|steps| steps.to_string());
            let is_usual = matches!(calendar, Calendar::Standard | Calendar::Gregorian);
            let calendar = (!is_usual).then(|| calendar.name().to_owned());
            for fact in steps.into_iter().chain(calendar) {
                text = format!("{text}, {fact}");
            }
        }
        (None, Some(units)) => text = format!("{text} {units}"),
        (None, None) => {}
    }
    text
}

/// An axis as JSON.
pub(super) fn entry(axis: &AxisSummary) -> AxisEntry {
    let AxisSummary { name, len, first, last, units, .. } = axis.clone();
    let calendar = axis.calendar.map(Calendar::name);
    let steps = axis.steps.map(|steps| steps.to_string());
    AxisEntry { name, len, first, last, units, calendar, steps, why: axis.fault.clone() }
}
