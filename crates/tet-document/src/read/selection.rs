//! The selection of a document: a list, one entry per axis; an object by dimension; or a string.

use tet_query::{
    AXES_MAX, AxisRef, AxisSelection, Position, Selection, SelectionFault, SelectionForm, Stop,
};

use super::super::error::DocumentError;
use super::super::keys;
use super::super::origin::{Origin, QueryPart};
use super::super::tree::{Entry, Value};
use super::{Cursor, Result};

/// Reads the value of `selection`.
pub(super) fn read(at: &Cursor<'_>, origin: &mut Origin) -> Result<Selection> {
    origin.mark(QueryPart::Key("selection"), &at.node.span, &at.path);
    let given = match &at.node.value {
        Value::Text(text) => return written(at, text),
        Value::List(items) => items.len(),
        Value::Table(entries) => entries.len(),
        _ => return Err(at.wanted("a list, an object by dimension name, or text")),
    };
    if AXES_MAX < given {
        return Err(at.wrong(format!("at most {AXES_MAX} axes are allowed")));
    }
    let form = match &at.node.value {
        Value::List(items) => {
            let entries = at.items(items).enumerate().map(|(place, item)| {
                origin.mark(QueryPart::Entry(place), &item.node.span, &item.path);
                entry(&item)
            });
            SelectionForm::Each(entries.collect::<Result<_>>()?)
        }
        Value::Table(axes) => {
            let entries = axes.iter().enumerate().map(|(place, axis)| {
                let item = at.child(axis);
                origin.mark(QueryPart::Entry(place), &axis.key_span, &item.path);
                Ok((AxisRef::Name(axis.key.clone()), entry(&item)?))
            });
            SelectionForm::Named(entries.collect::<Result<_>>()?)
        }
        _ => SelectionForm::Named(Vec::new()),
    };
    Ok(Selection { form })
}

/// A selection as text; an error points into the text where its characters stand for themselves.
fn written(at: &Cursor<'_>, text: &str) -> Result<Selection> {
    Selection::parse(text).map_err(|error| {
        let hint = error.fault.hint();
        let (SelectionFault::Syntax { at: column, wanted, .. }, span) =
            (&*error.fault, &at.node.span)
        else {
            return at.wrong(error.to_string()).with_hint(hint);
        };
        let before: usize = text.chars().take(*column).map(char::len_utf8).sum();
        let start = span.start + 1 + before;
        let verbatim = at.text.get(span.start + 1..).is_some_and(|rest| rest.starts_with(text));
        let narrow = if verbatim { start..start + 1 } else { span.clone() };
        at.wrong_at(&narrow, format!("not a selection: {wanted}")).with_hint(hint)
    })
}

/// The parts of an entry as they are met.
#[derive(Default)]
struct Parts {
    start: Option<Position>,
    stop: Option<Stop>,
    step: Option<u64>,
    point: Option<Position>,
}

/// One entry: `{start, stop, step, start_label, stop_label, through_label}` or `{index}` or
/// `{label}` or `{nearest}`, all optional; `null` is the same as leaving a key out.
fn entry(at: &Cursor<'_>) -> Result<AxisSelection> {
    let mut parts = Parts::default();
    for entry in at.table("what is selected of an axis")? {
        let value = at.child(entry);
        if !keys::ENTRY.contains(&entry.key.as_str()) {
            return Err(at.unknown_key(entry, keys::ENTRY));
        }
        if value.node.value == Value::Null {
            continue;
        }
        let clashes = match entry.key.as_str() {
            "start" => parts.start.replace(index(&value)?).is_some(),
            "start_label" => parts.start.replace(label(&value)?).is_some(),
            "stop" => parts.stop.replace(Stop::Before(index(&value)?)).is_some(),
            "stop_label" => parts.stop.replace(Stop::Before(label(&value)?)).is_some(),
            "through_label" => {
                let label = value.text("a label")?.to_owned();
                parts.stop.replace(Stop::Through(Position::Label(label))).is_some()
            }
            "index" => parts.point.replace(index(&value)?).is_some(),
            "label" => parts.point.replace(label(&value)?).is_some(),
            "nearest" => {
                let label = value.text("a label in quotes")?.to_owned();
                parts.point.replace(Position::nearest(label)).is_some()
            }
            _ => parts.step.replace(value.integer(1, u64::MAX.into())?).is_some(),
        };
        if clashes {
            return Err(clash(&value, entry));
        }
        let ranged = parts.start.is_some() || parts.stop.is_some() || parts.step.is_some();
        if ranged && parts.point.is_some() {
            let message = "\"index\", \"label\" and \"nearest\" take one position and stand alone";
            return Err(value.wrong_at(&entry.key_span, message));
        }
    }
    let Parts { start, stop, step, point } = parts;
    Ok(match point {
        Some(position) => AxisSelection::Point(position),
        None => {
            let (stop, step) = (stop.unwrap_or_default(), step.unwrap_or(1));
            AxisSelection::Range { start, stop, step }
        }
    })
}

fn clash(value: &Cursor<'_>, entry: &Entry) -> DocumentError {
    let message = match entry.key.as_str() {
        "start" | "start_label" => "give either \"start\" or \"start_label\"",
        "index" | "label" | "nearest" => "give one of \"index\", \"label\" and \"nearest\"",
        _ => "give one of \"stop\", \"stop_label\" and \"through_label\"",
    };
    value.wrong_at(&entry.key_span, message)
}

fn index(at: &Cursor<'_>) -> Result<Position> {
    let most = i128::from(u64::MAX);
    at.integer(-most, most).map(Position::Index)
}

fn label(at: &Cursor<'_>) -> Result<Position> {
    Ok(Position::Label(at.text("a label in quotes")?.to_owned()))
}
